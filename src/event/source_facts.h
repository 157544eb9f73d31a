/* What samples need to know of the event they are of. */
#ifndef WICK_EVENT_SOURCE_FACTS_H
#define WICK_EVENT_SOURCE_FACTS_H

#include "base/strpool.h"

#include <linux/perf_event.h>
#include <stdbool.h>

struct source_facts {
	str_id name; /* in a pool of the owner's */
	uint32_t chain_max;
	bool weighs_one; /* a sample counts as one, whatever its period */
	const char *unit; /* of the weight */
	uint32_t stack_bytes; /* of the copies of the stack */
	bool monotonic; /* times are of CLOCK_MONOTONIC */
	bool each; /* a sample for each time it happens */
	uint64_t frequency; /* 0: a period */
	bool waits; /* samples are taken at the end of the time that is their period */
	bool clock; /* of the CPU or a task: the period is a time */
	uint64_t period; /* of a clock, nanoseconds; 0: not known */
	bool user_only; /* the kernel is not sampled */
};

/* Clocks of the CPU or a task, whose period is a time. */
bool attr_is_clock(const struct perf_event_attr *attr);
/* An event that counts nothing: it brings mappings and tasks, and never samples. */
bool attr_is_dummy(const struct perf_event_attr *attr);
/* All but the name. */
struct source_facts source_facts_of(const struct perf_event_attr *attr, const char *name, bool weighs_one);

#endif
