/*
 * What the kernel dropped because a ring was full: samples, or records of mappings and tasks. A LOST record in a ring
 * has only a number for all of them. Since Linux 6.0 the kernel also counts for each event what it could not write.
 */
#ifndef WICK_CAPTURE_LOSSES_H
#define WICK_CAPTURE_LOSSES_H

#include "event/event.h"

#include <stddef.h>

struct losses_event {
	int fd;
	size_t ring;
	bool samples; /* else it brings mappings and tasks */
};

struct losses_ring {
	bool samples, others; /* what comes in it */
	uint64_t emitted_samples, emitted_others; /* given to the sink */
	uint64_t closed_samples, closed_others; /* of events that are closed */
};

struct losses {
	bool counted; /* a read() of an event gives its value and what was lost of it */
	struct losses_ring *rings;
	size_t ring_count;
	struct losses_event *events;
	size_t event_count, event_capacity;
};

void losses_init(struct losses *losses, size_t rings, bool counted);
void losses_release(struct losses *losses);
/* Events are closed: none writes to the rings any more. */
void losses_clear(struct losses *losses);
/* An event that writes to a ring, which may be a new one. Its descriptor stays the caller's. */
void losses_add(struct losses *losses, size_t ring, int fd, bool samples);
/* The event will be closed: what was lost of it still counts. */
void losses_remove(struct losses *losses, int fd);

/* A LOST record was found in a ring. Its number is of use where the kernel does not count. Returns as the sink. */
int losses_record(struct losses *losses, size_t ring, uint64_t time, uint64_t dropped, const struct event_sink *sink);
/* A ring was found full. The kernel writes a LOST record before the next one, and that may not come for a long time. */
int losses_check(struct losses *losses, size_t ring, uint64_t time, const struct event_sink *sink);
/* At the end: what was dropped in all rings since. */
int losses_last(struct losses *losses, uint64_t time, const struct event_sink *sink);

#endif
