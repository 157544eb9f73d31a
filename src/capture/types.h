/* Types of profiles: what the kernel is asked for so that time on CPUs, waits or page faults can be told. */
#ifndef WICK_CAPTURE_TYPES_H
#define WICK_CAPTURE_TYPES_H

#include "capture/events.h"
#include "system/limits.h"

enum record_type {
	RECORD_CPU = 1,
	RECORD_OFFCPU = 2,
	RECORD_WALL = 4,
	RECORD_FAULTS = 8,
	RECORD_TRACE = 16,
};
#define RECORD_WAITS (RECORD_OFFCPU | RECORD_WALL) /* need to know when threads switch */

/* "cpu,offcpu": sets the bits in `ret_types`. On failure the message names the types that there are. */
int record_types_parse(const char *text, unsigned *ret_types, struct err *err);

struct record_types_options {
	unsigned types; /* of enum record_type; 0 is RECORD_CPU */
	const char *weight; /* field of a tracepoint that its samples weigh; NULL: each weighs one */
	bool wakers; /* with their stacks */
	void (*note)(void *context, const char *text); /* a step down that was taken, one line each */
	void (*detail)(void *context, const char *text); /* one that the result shows by itself */
	void *context;
};

/*
 * Completes the list: `events` holds those that were asked for by name, which belong to RECORD_TRACE if that is among
 * the types and else to RECORD_CPU. Every event gets what is made of its samples.
 */
int record_types_events(struct capture_events *events, const struct record_types_options *options,
			const struct capture_limits *limits, struct err *err);

/* One line for each thing about waits that neither the events nor the engine can tell. After the engine was chosen. */
void record_types_note_missing(const struct capture_events *events, const struct record_types_options *options);

#endif
