/*
 * What is recorded: "cpu-clock", "cycles:u", "L1-dcache-load-misses", "r1a8", "sched:sched_switch", "cpu/event=0x3c/pp"
 * → the attributes with which the kernel is asked for it.
 */
#ifndef WICK_CAPTURE_EVENTS_H
#define WICK_CAPTURE_EVENTS_H

#include "base/err.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

struct capture_event {
	struct perf_event_attr attr; /* type, config and what modifiers say */
	char *name; /* as people write it, with the modifiers that hold */
	bool modes_chosen; /* u, k or h was given: not to be narrowed silently */
};

struct capture_events {
	struct capture_event *items;
	size_t count, capacity;
};

void capture_events_release(struct capture_events *events);

/*
 * Adds the events of a list separated by commas. Tracepoints are looked up in tracefs, other PMUs in sysfs. On failure
 * the message names what is wrong and what would be right; events before it stay added.
 */
int capture_events_parse(struct capture_events *events, const char *text, struct err *err);

/* True when all of them are clocks, whose samples stand for equal times. */
bool capture_events_are_clocks(const struct capture_events *events);

/* Only what runs in user space; the name says so. */
void capture_event_user_only(struct capture_event *event);

#endif
