/*
 * How good a profile is: counters that travel with it, are merged with it and are shown by every output. Nothing is
 * dropped without being counted here.
 */
#ifndef WICK_PROFILE_QUALITY_H
#define WICK_PROFILE_QUALITY_H

#include "base/buf.h"
#include "base/strpool.h"

#include <stdint.h>

struct quality_module {
	str_id module; /* in the profile's strings */
	uint64_t frames; /* frames of this module without a symbol, over all samples */
	str_id advice; /* why, and what would fix it; 0: unknown */
};

struct quality {
	uint64_t samples; /* samples read one by one */
	uint64_t stacks; /* lines of folded text: how many samples are behind each is not known */
	uint64_t lost; /* samples the kernel dropped, as the source says */
	uint64_t lost_records; /* the same of records that are no samples: mappings, names, forks, exits */
	uint64_t truncated; /* samples (or such stacks) whose outermost frame is unknown: the unwinder gave up */
	uint64_t unresolved; /* samples (or such stacks) with at least one frame without a symbol */
	uint64_t derived; /* samples with at least one frame whose unwind rule was derived from its code */
	uint64_t late; /* samples with functions of an interpreter that were gone before wick had read them */
	uint64_t bad_lines; /* lines of text input that fit no known layout */
	uint64_t cut_stacks; /* stacks the input ends in the middle of; they are omitted */
	uint64_t overflows; /* sums that did not fit 64 bits and were held at the limit */
	uint64_t filtered; /* samples of other events, skipped by the event filter */
	struct quality_module *modules; /* unresolved frames by module */
	size_t module_count, module_capacity;
	str_id truncated_advice, lost_advice, lost_records_advice; /* why, and what would fix it; 0: not known */
	str_id names_advice; /* what would name functions that cannot be seen at all; 0: nothing */
};

void quality_release(struct quality *quality);
/* Counts `frames` frames of `module` without a symbol. The entry stays where it is until the next call. */
struct quality_module *quality_unresolved(struct quality *quality, str_id module, uint64_t frames);
/* Adds the counters of `from`, except modules and advice (whose string ids are another profile's). */
void quality_add(struct quality *quality, const struct quality *from);

/*
 * One line for people, e.g. "1,234 samples · 12 lost · 3 truncated · 40 with unresolved frames (libfoo.so: 38)".
 * Parts that are zero are omitted. `strings` are the profile's.
 */
void quality_line(const struct quality *quality, const struct strpool *strings, struct buf *out);
/*
 * What would make the profile better, as far as it is known, a line each: "3 truncated stacks: …", and for the `max`
 * modules with the most frames without a symbol "libfoo.so, 38 frames without a symbol: stripped; …". Every line ends
 * with a newline.
 */
#define QUALITY_ADVICE_MAX 3 /* modules that outputs name */
void quality_advice(const struct quality *quality, const struct strpool *strings, size_t max, struct buf *out);

#endif
