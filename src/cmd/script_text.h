/* Samples as text in the layout of `perf script`. */
#ifndef WICK_CMD_SCRIPT_TEXT_H
#define WICK_CMD_SCRIPT_TEXT_H

#include "base/outfile.h"
#include "collect/stack.h"
#include "profile/profile.h"

struct script_text;

/* The columns of perf script -F. */
enum script_field {
	SCRIPT_COMM = 1 << 0,
	SCRIPT_PID = 1 << 1,
	SCRIPT_TID = 1 << 2,
	SCRIPT_CPU = 1 << 3,
	SCRIPT_TIME = 1 << 4,
	SCRIPT_PERIOD = 1 << 5,
	SCRIPT_EVENT = 1 << 6,
	SCRIPT_IP = 1 << 7,
	SCRIPT_SYM = 1 << 8,
	SCRIPT_SYMOFF = 1 << 9,
	SCRIPT_DSO = 1 << 10,
};
#define SCRIPT_USUAL ((unsigned)((1 << 11) - 1) & ~(unsigned)SCRIPT_PID)

struct script_format {
	unsigned fields; /* of enum script_field */
	bool nanoseconds; /* in times, instead of microseconds */
	bool short_names; /* each by itself: its address is beside it */
	bool no_stacks; /* only the innermost frame, on the line of the event */
};

/*
 * Changes `fields` by the argument of -F: "comm,tid,time", "+pid,-period". What wick does not have is an error, named
 * in `err`.
 */
int script_fields_parse(unsigned *fields, const char *text, struct err *err);

/*
 * Writes to `out` what fits the filter and, unless it is NULL, is of that event. All must outlive it. `format` NULL: as
 * perf script does without options.
 */
struct script_text *script_text_new(struct outfile *out, const struct profile_filter *filter, const char *event,
				    const struct script_format *format);
void script_text_free(struct script_text *text);
/* To be called before the samples of another recording: modules are numbered again in each. */
void script_text_next_recording(struct script_text *text);
/* One sample; has the signature of the `each` of cmd/read_recording.h. */
void script_text_sample(void *text, struct module_store *codes, const struct batch_sample *sample,
			const struct stack_frame *frames, size_t count);
bool script_text_printed(const struct script_text *text); /* at least one sample */

#endif
