/*
 * The ring buffers into which the kernel writes, one per CPU, and the events that write to them. Records stay where
 * the kernel put them until it is their turn (event/merge.h).
 */
#ifndef WICK_CAPTURE_RINGS_H
#define WICK_CAPTURE_RINGS_H

#include "capture/attr.h"
#include "capture/events.h"
#include "capture/target.h"
#include "event/event.h"

struct merge;
struct rings;

struct rings_options {
	const struct target *target;
	struct capture_events *events; /* attributes are completed */
	struct attr_shape shape; /* what the kernel lacks is taken out */
	uint64_t max_bytes; /* of all rings */
	bool wake_each; /* the reader is woken up by each sample */
	bool derives; /* derived events are described too, behind the others */
};

/* Opens all events, disabled. ERR_SYSTEM and a message with the remedy when the kernel refuses. */
int rings_open(struct rings **ret_rings, struct rings_options *options, struct err *err);
void rings_close(struct rings *rings);
/* Of a target that was found by a pattern: how many threads were omitted because this user may not record them. */
size_t rings_denied(const struct rings *rings);

/* The events, the one that reports mappings, and those that are derived. */
const struct event_source *rings_sources(const struct rings *rings, size_t *ret_count);

/* Before the first round: samples are announced too, not only mappings and tasks. */
void rings_announce_samples(struct rings *rings);

/* From now on records of mappings and tasks come, or samples too. */
void rings_enable_tracking(struct rings *rings);
void rings_enable_samples(struct rings *rings);
/* No samples any more; mappings and tasks are still reported. */
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

/* As struct source_ops has them. */
void rings_look(struct rings *rings, struct merge *merge);
void rings_announce(struct rings *rings, uint64_t place, const struct event_sink *early);
int rings_deliver(struct rings *rings, uint64_t place, const struct event_sink *sink);
int rings_release(struct rings *rings, const struct merge *merge, const struct event_sink *sink, bool last);
/* Gives what the kernel dropped and did not report in the rings; after the last round. Returns as the sink. */
int rings_last_losses(struct rings *rings, uint64_t time, const struct event_sink *sink);

#endif
