/*
 * The CPU time of members (bpf/members.h), as the scheduler accounts it to tasks. It is exact also for processes of a
 * few milliseconds, of which counters of perf events miss the end. Only in builds with libbpf.
 */
#ifndef WICK_ENGINE_BPF_TIMES_H
#define WICK_ENGINE_BPF_TIMES_H

#include "engine/bpf_load.h"

/*
 * Nanoseconds that all members ran up to now, with those that have ended: the difference of the two is what they ran
 * between them. The second waits for the end of processes that are on their way out, half a second at most.
 */
uint64_t bpf_times_begin(struct bpf_programs *programs);
uint64_t bpf_times_end(struct bpf_programs *programs);

#endif
