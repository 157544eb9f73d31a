/*
 * What a recording extends over: its duration, who took part in it, and how much of the CPU time that the kernel
 * accounted to them the samples stand for. Describes the whole recording, whatever part of it is shown.
 */
#ifndef WICK_PROFILE_EXTENT_H
#define WICK_PROFILE_EXTENT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct extent {
	uint64_t duration; /* nanoseconds; 0: not known */
	uint64_t processes, threads; /* that took part; 0: not known */
	uint64_t cpu_time; /* nanoseconds that the kernel accounted to them; 0: not known */
	uint64_t sampled; /* nanoseconds that the samples of a clock stand for */
	uint64_t samples; /* of the clock */
	bool user_only; /* the clock does not sample the kernel */
};

/* One recording after the other. */
void extent_add(struct extent *extent, const struct extent *from);
/* "2.35 s, 0.27 CPUs used, 3 processes, 12 threads"; nothing where nothing is known. */
void extent_time_text(const struct extent *extent, struct buf *out);
/* "CPU time 2.19 s, sampled 2.15 s (98 %)"; nothing where the CPU time is not known. */
void extent_cpu_text(const struct extent *extent, struct buf *out);
/* Both in one line, separated by " · ". */
void extent_line(const struct extent *extent, struct buf *out);
/* The share of the CPU time that the samples stand for. The CPU time must be known. */
double extent_coverage(const struct extent *extent);
/* Less than this share is worth a warning, unless chance explains it. */
double extent_coverage_min(bool user_only);
/*
 * Whether the samples miss so much of the CPU time that chance does not explain it. Some samples are enough to decide:
 * of fewer nobody expects more.
 */
bool extent_misses_time(const struct extent *extent);
/* "the samples cover 52 % of the CPU time: …" when extent_misses_time(). */
void extent_advice(const struct extent *extent, struct buf *out);

#endif
