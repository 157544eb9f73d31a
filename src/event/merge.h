/*
 * Puts the records of several sources into one order of time. Records stay where they are until it is their turn: a
 * source adds the time and a number of each. They are looked at in rounds, and what a round brought may be delivered
 * after the next, because a record may get into its buffer after others that are younger.
 */
#ifndef WICK_EVENT_MERGE_H
#define WICK_EVENT_MERGE_H

#include "event/order.h"
#include "event/source.h"

#define MERGE_SOURCES_MAX 8
#define MERGE_NUMBER_BITS 61

struct merge {
	struct source sources[MERGE_SOURCES_MAX];
	size_t source_count;
	struct event_sink early; /* gets new records at once, in the order of time within a round; empty: nobody does */
	struct order waiting;
	struct order fresh; /* not announced yet */
	size_t current; /* the source that is being called */
	uint64_t largest_time; /* of the records so far */
	uint64_t limit; /* records up to this time may be delivered */
	uint64_t limit_set; /* when, by CLOCK_MONOTONIC */
	uint64_t rounds; /* times that the limit was set: what is in a buffer now has been delivered two later */
	uint64_t until; /* what happened before this, by CLOCK_MONOTONIC, was in a buffer in the last round */
};

/* The sources look for new records in this order. They stay their owner's. */
void merge_add_source(struct merge *merge, const struct source *source);
void merge_release(struct merge *merge);

/* A new record of the source that looks. */
void merge_add(struct merge *merge, uint64_t time, uint64_t number);
/* Lists the records of the source that is called which wait for their turn. `*at` begins with 0. */
bool merge_next_waiting(const struct merge *merge, size_t *at, uint64_t *ret_number);

/*
 * A round: looks at all sources and delivers what is in order. With `last` nothing is left behind. Returns as the sink.
 */
int merge_round(struct merge *merge, const struct event_sink *sink, bool last);
/* What the sources have beside records. Returns as the sink. */
int merge_flush(struct merge *merge, const struct event_sink *sink, bool last);

#endif
