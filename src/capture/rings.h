/*
 * The ring buffers into which the kernel writes, one per CPU, and the events that write to them. Records stay where
 * the kernel put them until it is their turn: they are looked at in rounds over all rings, and what a round brought
 * may be delivered, in the order of time, after the next.
 */
#ifndef WICK_CAPTURE_RINGS_H
#define WICK_CAPTURE_RINGS_H

#include "capture/attr.h"
#include "capture/events.h"
#include "capture/target.h"
#include "event/event.h"

struct rings;

/* Another source of records, which are delivered in one order of time with those of the rings. */
struct rings_guest {
	void *context;
	/* A round: takes what is new and calls `add` with the time and a number below 2^44 for each. */
	void (*look)(void *context, void (*add)(void *rings, uint64_t time, uint64_t number), void *rings);
	/* Then gets the records of the rings that are new, as soon as they are seen, in the order of time. */
	struct event_sink early;
	bool early_samples; /* samples too */
	/* Then is told that this was all. */
	void (*settle)(void *context);
	/* It is the turn of one of its records. */
	int (*deliver)(void *context, uint64_t number, const struct event_sink *sink);
};

struct rings_options {
	const struct target *target;
	struct capture_events *events; /* attributes are completed */
	struct attr_shape shape; /* what the kernel lacks is taken out */
	uint64_t most; /* bytes of all rings */
	bool derives; /* derived events are described too, behind the others */
};

/* Opens all events, disabled. ERR_SYSTEM and a message with the remedy when the kernel refuses. */
int rings_open(struct rings **ret_rings, struct rings_options *options, struct err *err);
void rings_close(struct rings *rings);
/* Of a target that was found by a pattern: how many threads were left out because this user may not record them. */
size_t rings_denied(const struct rings *rings);

/* The events, the one that tells of mappings, and those that are derived. */
const struct event_source *rings_sources(const struct rings *rings, size_t *ret_count);

/* Before the first round; the guest must stay. */
void rings_invite(struct rings *rings, const struct rings_guest *guest);

/* From now on records of mappings and tasks come, or samples too. */
void rings_enable_tracking(struct rings *rings);
void rings_enable_samples(struct rings *rings);
/* No samples any more; mappings and tasks are still told. */
void rings_disable_samples(struct rings *rings);
/* The same for events on all threads, which no exec of a command enables. */
void rings_enable_everywhere(struct rings *rings);
void rings_disable(struct rings *rings);

/* Adds the rings to an epoll instance; their events have `data` as data. */
int rings_poll(struct rings *rings, int epoll, uint64_t data, struct err *err);

/*
 * A CPU that was offline, or is new: opens the events that the kernel took away, or all, and enables them; those of
 * samples with `samples`. On failure it is as if the CPU was still offline, and can be tried again.
 */
int rings_return(struct rings *rings, int32_t cpu, bool samples, struct err *err);

/* A round: looks at all rings and delivers what is in order. With `all` nothing is left behind. Returns as the sink. */
int rings_drain(struct rings *rings, const struct event_sink *sink, bool all);
/* The number of the last round. What is in the rings during a round has been delivered two rounds later. */
uint64_t rings_round(const struct rings *rings);
/* Gives what the kernel dropped and did not tell of in the rings; after the last round. Returns as the sink. */
int rings_last_losses(struct rings *rings, const struct event_sink *sink);

#endif
