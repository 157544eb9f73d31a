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
	/* Of a cgroup: */
	double cpu_limit; /* CPUs that it may use; 0: as many as there are, or not known */
	uint64_t watched; /* nanoseconds that the following are of */
	uint64_t periods, throttled_periods; /* in which the limit applies, and those in which it was reached */
	uint64_t throttled; /* nanoseconds that it was not allowed to run, added up over CPUs */
	uint64_t pressure; /* nanoseconds in which one of its threads waited for a CPU */
	uint64_t stolen; /* nanoseconds that the host of the virtual machine took, on average of the CPUs */
};

/* One recording after the other. */
void extent_add(struct extent *extent, const struct extent *from);
/* "2.35 s, 0.27 CPUs used, 3 processes, 12 threads"; nothing where nothing is known. */
void extent_time_text(const struct extent *extent, struct buf *out);
/* "CPU time 2.19 s, sampled 2.15 s (98 %)"; nothing where the CPU time is not known. */
void extent_cpu_text(const struct extent *extent, struct buf *out);
/* "throttled 41 % of the time by its CPU limit of 0.5 CPUs, …": why a cgroup did not run; nothing if nothing did it. */
void extent_limits_text(const struct extent *extent, struct buf *out);
/* All in one line, separated by " · ". */
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
