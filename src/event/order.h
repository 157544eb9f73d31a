/*
 * Records that wait for their turn: a time and where the record lies. Records with equal times keep the order of
 * adding.
 */
#ifndef WICK_EVENT_ORDER_H
#define WICK_EVENT_ORDER_H

#include "base/mem.h"

struct order_entry {
	uint64_t time;
	uint64_t place;
};

struct order {
	struct order_entry *entries;
	size_t head, count, capacity; /* entries[head…count) wait */
	size_t sorted; /* entries[head…sorted) are in order */
	struct order_entry *merged; /* room for merging */
	size_t merged_capacity;
	size_t *runs;
	size_t run_capacity;
};

void order_release(struct order *order);

static inline void order_add(struct order *order, uint64_t time, uint64_t place)
{
	MEM_ROOM(order->entries, order->count, order->capacity);
	if (order->sorted == order->count &&
	    (order->count == order->head || order->entries[order->count - 1].time <= time))
		order->sorted++;
	order->entries[order->count++] = (struct order_entry){time, place};
}

static inline size_t order_waiting(const struct order *order)
{
	return order->count - order->head;
}

/* Puts all that wait in order. */
void order_sort(struct order *order);
/*
 * After order_sort(): the next entry if its time is not after `limit`, else NULL. Valid until the next call of
 * order_add().
 */
const struct order_entry *order_next(struct order *order, uint64_t limit);
/* Forgets what was taken. */
void order_compact(struct order *order);

#endif
