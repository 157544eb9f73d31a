/*
 * Where threads wait: switches → samples that weigh nanoseconds. It takes the samples and records that report when a
 * thread leaves a CPU (with its stack), is woken up and gets a CPU again, and gives one sample for each time that a
 * thread did not run, or two when it was woken up in between: until then it was blocked, from then on it only waited
 * for a CPU. With a clock's samples it also reports what ran, so that the times of a thread add up to its wall time.
 *
 * The stack of a thread that waits is kept until it runs again. That memory is bounded: beyond the limit stacks lose
 * their user part.
 */
#ifndef WICK_EVENT_OFFCPU_H
#define WICK_EVENT_OFFCPU_H

#include "event/trace_fields.h"

/* What a thread does; the derived event of each is `source_of` its number. */
enum thread_state {
	STATE_RUNNING,
	STATE_RUNNABLE, /* could run, but has no CPU */
	STATE_SLEEPING, /* waits for something that may never come, as all interruptible waits do */
	STATE_DISK, /* uninterruptible: disks, page faults, locks in the kernel */
	THREAD_STATES,
};

struct offcpu_options {
	uint32_t source_of[THREAD_STATES]; /* of the samples it gives */
	bool waits; /* time off the CPUs is reported */
	bool running; /* time on them too: offcpu_clock() is called */
	bool wakers; /* a wait is reported with the stack of who ended it */
	bool unseen; /* waits that began before the recording are reported, with a stack if offcpu_asleep() got it */
	uint64_t min_block, max_block; /* nanoseconds: other waits are omitted; max 0: no limit */
	int32_t except_pid; /* a process that is omitted; 0: none */
	size_t held_max; /* bytes of stacks that are kept; 0: 64 MiB */
	/* Of sched:sched_switch and, the last one, of sched:sched_waking. Those that are not known have no size. */
	struct trace_field prev_state, next_pid, woken_pid;
};

struct offcpu;

/* Samples go to `next`, which must stay. */
struct offcpu *offcpu_new(const struct offcpu_options *options, const struct event_sink *next);
void offcpu_free(struct offcpu *offcpu);

/* When the recording begins: what threads did before is not reported. Without it the first record's time is that. */
void offcpu_begin(struct offcpu *offcpu, uint64_t time);

/* Each returns what the sink returned. A thread that waits when the recording begins: */
int offcpu_asleep(struct offcpu *offcpu, const struct event_sample *sample);
/* The sample of a thread that leaves its CPU: */
int offcpu_switch(struct offcpu *offcpu, const struct event_sample *sample);
/* The sample of a thread that wakes another one up: */
int offcpu_waking(struct offcpu *offcpu, const struct event_sample *sample);
/* A sample of what runs: gives it the time that its thread ran since the one before. */
int offcpu_clock(struct offcpu *offcpu, const struct event_sample *sample);
int offcpu_record(struct offcpu *offcpu, const struct event_switch *change);
int offcpu_comm(struct offcpu *offcpu, const struct event_comm *comm);
int offcpu_fork(struct offcpu *offcpu, const struct event_task *task);
int offcpu_exit(struct offcpu *offcpu, const struct event_task *task);

/* The recording ended: threads that still wait have waited until now. Time 0: that of the last record. */
int offcpu_finish(struct offcpu *offcpu, uint64_t time);

struct offcpu_counts {
	uint64_t waits; /* reported */
	uint64_t skipped; /* shorter or longer than wanted */
	uint64_t without_stack; /* reported, but the stack is not known */
	uint64_t cut; /* stacks that lost their user part for want of memory */
};
struct offcpu_counts offcpu_counts(const struct offcpu *offcpu);

#endif
