/* Samples as text in the layout of `perf script`. */
#ifndef WICK_CMD_SCRIPT_TEXT_H
#define WICK_CMD_SCRIPT_TEXT_H

#include "base/outfile.h"
#include "event/stack.h"
#include "profile/profile.h"

struct script_text;

/*
 * Writes to `out` what fits the filter and, unless it is NULL, is of that event. All must outlive it. `shorten`: names
 * in their short form, each by itself: its address is beside it.
 */
struct script_text *script_text_new(struct outfile *out, const struct profile_filter *filter, const char *event,
				    bool shorten);
void script_text_free(struct script_text *text);
/* To be called before the samples of another recording: modules are numbered anew in each. */
void script_text_next_recording(struct script_text *text);
/* One sample; has the signature of the `each` of cmd/recording.h. */
void script_text_sample(void *text, struct codes *codes, const struct batch_sample *sample,
			const struct stack_frame *frames, size_t count);
bool script_text_printed(const struct script_text *text); /* at least one sample */

#endif
