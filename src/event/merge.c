/* Records of several sources in one order of time. */
#include "event/merge.h"

#include "base/clock.h"

#define NUMBER_MASK ((1ull << MERGE_NUMBER_BITS) - 1)
#define ROUND_MIN 20000000ull /* nanoseconds */

void merge_add_source(struct merge *merge, const struct source *source)
{
	merge->sources[merge->source_count++] = *source;
}

void merge_release(struct merge *merge)
{
	order_release(&merge->waiting);
	order_release(&merge->fresh);
	*merge = (struct merge){0};
}

static const struct source *source_of(const struct merge *merge, uint64_t place)
{
	return &merge->sources[place >> MERGE_NUMBER_BITS];
}

void merge_add(struct merge *merge, uint64_t time, uint64_t number)
{
	uint64_t place = (uint64_t)merge->current << MERGE_NUMBER_BITS | number;
	if (time > merge->largest_time)
		merge->largest_time = time;
	order_add(&merge->waiting, time, place);
	if (merge->early.take && merge->sources[merge->current].ops->announce)
		order_add(&merge->fresh, time, place);
}

bool merge_next_waiting(const struct merge *merge, size_t *at, uint64_t *ret_number)
{
	const struct order *waiting = &merge->waiting;
	while (waiting->head + *at < waiting->count) {
		uint64_t place = waiting->entries[waiting->head + (*at)++].place;
		*ret_number = place & NUMBER_MASK;
		if (place >> MERGE_NUMBER_BITS == merge->current)
			return true;
	}
	return false;
}

static void look(struct merge *merge)
{
	merge->until = clock_now();
	for (merge->current = 0; merge->current < merge->source_count; merge->current++) {
		const struct source *source = &merge->sources[merge->current];
		if (source->ops->look)
			source->ops->look(source->context, merge);
	}
}

static void announce(struct merge *merge)
{
	order_sort(&merge->fresh);
	for (const struct order_entry *entry; (entry = order_next(&merge->fresh, UINT64_MAX));) {
		const struct source *source = source_of(merge, entry->place);
		source->ops->announce(source->context, entry->place & NUMBER_MASK, &merge->early);
	}
	order_compact(&merge->fresh);
	for (size_t i = 0; i < merge->source_count; i++)
		if (merge->sources[i].ops->settle)
			merge->sources[i].ops->settle(merge->sources[i].context);
}

static int deliver(struct merge *merge, const struct event_sink *sink, uint64_t limit)
{
	int result = 0;
	order_sort(&merge->waiting);
	for (const struct order_entry *entry; result >= 0 && (entry = order_next(&merge->waiting, limit));) {
		const struct source *source = source_of(merge, entry->place);
		result = source->ops->deliver(source->context, entry->place & NUMBER_MASK, sink);
	}
	order_compact(&merge->waiting);
	return result;
}

/* Who gets records early may be in a hurry: rounds then follow faster than a record gets into its buffer. */
static void move_limit(struct merge *merge)
{
	uint64_t time = clock_now();
	if (merge->early.take && time < merge->limit_set + ROUND_MIN)
		return;
	merge->limit = merge->largest_time;
	merge->limit_set = time;
	merge->rounds++;
}

/* Also after a failure: buffers are given back. */
static int release(struct merge *merge, const struct event_sink *sink, bool last, int result)
{
	const struct event_sink nobody = {0};
	for (merge->current = 0; merge->current < merge->source_count; merge->current++) {
		const struct source *source = &merge->sources[merge->current];
		if (!source->ops->release)
			continue;
		int code = source->ops->release(source->context, merge, result < 0 ? &nobody : sink, last);
		result = result < 0 ? result : code;
	}
	return result;
}

int merge_round(struct merge *merge, const struct event_sink *sink, bool last)
{
	look(merge);
	announce(merge);
	int result = deliver(merge, sink, last ? UINT64_MAX : merge->limit);
	move_limit(merge);
	return release(merge, sink, last, result);
}

int merge_flush(struct merge *merge, const struct event_sink *sink, bool last)
{
	int result = 0;
	for (merge->current = 0; merge->current < merge->source_count && result >= 0; merge->current++) {
		const struct source *source = &merge->sources[merge->current];
		if (source->ops->flush)
			result = source->ops->flush(source->context, merge, sink, last);
	}
	return result;
}
