/*
 * A source of a recording: perf rings, the BPF engine. How one is opened is its own affair. From then on all are used
 * alike: they are enabled and waited for together, and event/merge.h puts their records into one order of time.
 *
 * A perf.data file is not one. It is read alone and to its end, so that there is nothing to enable, to wait for or to
 * merge. Its own marks say up to where its records are in order (perfdata/read.c), not the time at which they are seen.
 * What it shares with the sources is the decoder, the sort (event/order.h) and the sink.
 *
 * A function that a source does not need is NULL, but for deliver().
 */
#ifndef WICK_EVENT_SOURCE_H
#define WICK_EVENT_SOURCE_H

#include "base/buf.h"
#include "base/err.h"
#include "event/event.h"

struct merge;
struct module_store;
struct stack_needs;

enum source_state {
	SOURCE_TRACKING, /* mappings and tasks are recorded, samples not yet */
	SOURCE_ON_EXEC, /* samples begin when the command executes its program */
	SOURCE_SAMPLING,
	SOURCE_PAUSED, /* no samples for a while; mappings and tasks are still recorded */
	SOURCE_ENDED,
};

/* What the consumer of the records knows, for sources that depend on it. Both must stay until stop(). */
struct source_consumer {
	struct module_store *codes; /* unwind tables of the modules of the records */
	struct stack_needs *needs; /* which stacks were copied in part */
};

struct source_ops {
	/* Before the first round. */
	void (*start)(void *source, const struct source_consumer *consumer);
	/* `time` is now, by CLOCK_MONOTONIC. */
	void (*enable)(void *source, enum source_state state, uint64_t time);
	/* Adds its descriptors to an epoll instance, with `data` as the data of their events. */
	int (*poll)(void *source, int epoll, uint64_t data, struct err *err);
	/*
	 * A CPU that was offline, or is new: opens its events, and enables them if samples are taken now. On failure it
	 * is as if the CPU was still offline, and can be tried again.
	 */
	int (*reopen)(void *source, int32_t cpu, bool samples, struct err *err);

	/*
	 * A sink for new records of all sources, which gets them before their turn: see announce(). Only one source of
	 * a recording may have one.
	 */
	struct event_sink (*early)(void *source);
	/* A stage that all records pass in the order of time, before they get to `next`. */
	struct event_sink (*stage)(void *source, const struct event_sink *next);

	/* --- a round of the merge, in this order --- */

	/* Calls merge_add() for each new record, with a number below 2^MERGE_NUMBER_BITS. */
	void (*look)(void *source, struct merge *merge);
	/* Gives a new record to those who want it before its turn: mappings and tasks. */
	void (*announce)(void *source, uint64_t number, const struct event_sink *early);
	/* All new records were announced. */
	void (*settle)(void *source);
	/* It is the turn of a record, which comes once. Returns as the sink. */
	int (*deliver)(void *source, uint64_t number, const struct event_sink *sink);
	/* All but what merge_next_waiting() lists was delivered; with `last` nothing waits. Returns as the sink. */
	int (*release)(void *source, const struct merge *merge, const struct event_sink *sink, bool last);

	/* After a round: what is not in records, such as counts. Returns as the sink. */
	int (*flush)(void *source, struct merge *merge, const struct event_sink *sink, bool last);
	/* After the last round. `note` and `detail` get what users should know, or might want to: one line each. */
	void (*stop)(void *source, struct buf *note, struct buf *detail);
	void (*close)(void *source);
};

struct source {
	const struct source_ops *ops;
	void *context;
};

#endif
