/* What the kernel is asked for, so that the profile types of profile/types.h can be shown. */
#ifndef WICK_CAPTURE_TYPES_H
#define WICK_CAPTURE_TYPES_H

#include "capture/events.h"
#include "profile/types.h"
#include "system/limits.h"

struct record_types_options {
	unsigned types; /* of profile/types.h */
	const char *weight; /* field of a tracepoint that its samples weigh; NULL: each weighs one */
	bool wakers; /* with their stacks */
	void (*note)(void *context, const char *text); /* a step down that was taken, one line each */
	void (*detail)(void *context, const char *text); /* one that the result shows by itself */
	void *context;
};

/*
 * Completes the list: `events` holds those that were asked for by name, which belong to a type that needs
 * TYPE_EACH_EVENT if there is one, and else replace the clock. Every event gets what is made of its samples.
 */
int record_types_events(struct capture_events *events, const struct record_types_options *options,
			const struct capture_limits *limits, struct err *err);

/* One line for each thing about waits that neither the events nor the engine can tell. After the engine was chosen. */
void record_types_note_missing(const struct capture_events *events, const struct record_types_options *options);

#endif
