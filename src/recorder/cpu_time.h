/*
 * The CPU time that the kernel accounts to a target while it is recorded, with threads and processes that came and went
 * meanwhile: what samples of a clock should stand for.
 */
#ifndef WICK_RECORDER_CPU_TIME_H
#define WICK_RECORDER_CPU_TIME_H

#include "capture/target.h"
#include "engine/engine.h"

struct cpu_time {
	struct engine *engine; /* adds it up itself; NULL: counters do */
	uint64_t from, sum; /* by the engine: since it runs, and before that */
	bool runs;
	int *fds; /* counters of the threads that are there from the beginning; the others are added to theirs */
	size_t count, capacity;
};

/*
 * Opens a counter for each thread of the target, stopped; `children` counts theirs too, and `on_exec` starts at the
 * command's exec. Counts nothing where the target is a set of CPUs. An engine that adds up the time of its members
 * knows it better, and must stay as long; NULL: none.
 */
void cpu_time_open(struct cpu_time *time, struct engine *engine, const struct target *target, bool children,
		   bool on_exec);
void cpu_time_close(struct cpu_time *time);
/* Whether it is counted at all. */
bool cpu_time_is_known(const struct cpu_time *time);
void cpu_time_run(struct cpu_time *time, bool run);
/* Nanoseconds; false where it is not known. */
bool cpu_time_read(const struct cpu_time *time, uint64_t *ret_nanoseconds);

#endif
