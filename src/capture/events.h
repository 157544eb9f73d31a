/*
 * What is recorded: "cpu-clock", "cycles:u", "L1-dcache-load-misses", "r1a8", "sched:sched_switch",
 * "cpu/event=0x3c/pp", "/usr/lib/libc.so.6:malloc" → the attributes with which it is requested from the kernel.
 */
#ifndef WICK_CAPTURE_EVENTS_H
#define WICK_CAPTURE_EVENTS_H

#include "base/err.h"
#include "event/derive.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

struct capture_event {
	struct perf_event_attr attr; /* type, config and what modifiers say */
	char *name; /* as people write it, with the modifiers that hold */
	bool modes_chosen; /* u, k or h was given: not to be narrowed silently */
	bool trace; /* was requested as a trace: each of its samples counts */
	bool everywhere; /* on all threads, whoever is recorded */
	bool bare; /* its samples need no stack */
	bool by_engine; /* a BPF program takes its samples; else they come by a ring */
	bool by_cpu; /* it is opened on CPUs, not on the threads of the target, and its samples are of members only */
	struct derive_source derive; /* what is made of its samples */
	char *path; /* of a uprobe: the attributes point to it; else NULL */
};

struct capture_events {
	struct capture_event *items;
	size_t count, capacity;
	bool switches; /* records of switches are needed too */
	bool waits_counted; /* the BPF engine adds up the times of threads */
	bool kinds_missing, wakings_missing; /* why a thread waits, and since when it waits for a CPU only */
	struct trace_field prev_state, next_pid, woken_pid; /* of sched:sched_switch and sched:sched_waking */
};

void capture_events_release(struct capture_events *events);

/* There must be one. */
void capture_events_drop_last(struct capture_events *events);

/*
 * Adds the events of a list separated by commas. Tracepoints are looked up in tracefs, other PMUs in sysfs. On failure
 * the message names what is wrong and what would be right; events before it stay added.
 */
int capture_events_parse(struct capture_events *events, const char *text, struct err *err);

/* Only what runs in user space; the name says so. */
void capture_event_user_only(struct capture_event *event);

#endif
