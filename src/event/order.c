/* Merges sorted runs of records by time. */
#include "event/order.h"

#include <string.h>

void order_release(struct order *order)
{
	free(order->entries);
	free(order->merged);
	free(order->runs);
	*order = (struct order){0};
}

static void merge(const struct order_entry *a, size_t a_count, const struct order_entry *b, size_t b_count,
		  struct order_entry *out)
{
	const struct order_entry *a_end = a + a_count, *b_end = b + b_count;
	while (a < a_end && b < b_end)
		*out++ = b->time < a->time ? *b++ : *a++;
	memcpy(out, a, (size_t)(a_end - a) * sizeof *a);
	memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

/* Ends of the ascending runs, relative to head. A ring buffer's records are one run, so there are few. */
static size_t find_runs(struct order *order)
{
	const struct order_entry *entries = order->entries + order->head;
	size_t waiting = order_waiting(order), found = 0;
	size_t at = order->sorted - order->head;
	for (;;) {
		MEM_ROOM(order->runs, found, order->run_capacity);
		order->runs[found++] = at;
		if (at == waiting)
			return found;
		for (at++; at < waiting && entries[at - 1].time <= entries[at].time; at++)
			;
	}
}

/* One pass over the runs: pairs of neighbours become one. The runs are then in `merged`, which changes its role. */
static size_t merge_pairs(struct order *order, size_t count)
{
	const struct order_entry *from = order->entries + order->head;
	struct order_entry *to = order->merged + order->head;
	size_t start = 0, kept = 0;
	for (size_t i = 0; i < count; i += 2) {
		size_t middle = order->runs[i], end = i + 1 < count ? order->runs[i + 1] : middle;
		merge(from + start, middle - start, from + middle, end - middle, to + start);
		order->runs[kept++] = start = end;
	}
	struct order_entry *entries = order->entries;
	size_t capacity = order->capacity;
	order->entries = order->merged;
	order->capacity = order->merged_capacity;
	order->merged = entries;
	order->merged_capacity = capacity;
	return kept;
}

void order_sort(struct order *order)
{
	if (order->sorted == order->count)
		return;
	order->merged = mem_grow(order->merged, &order->merged_capacity, order->count, sizeof *order->merged);
	for (size_t count = find_runs(order); count > 1;)
		count = merge_pairs(order, count);
	order->sorted = order->count;
}

const struct order_entry *order_next(struct order *order, uint64_t limit)
{
	if (order->head == order->count || order->entries[order->head].time > limit)
		return NULL;
	return &order->entries[order->head++];
}

void order_compact(struct order *order)
{
	if (!order->head)
		return;
	memmove(order->entries, order->entries + order->head, order_waiting(order) * sizeof *order->entries);
	order->count -= order->head;
	order->sorted -= order->head;
	order->head = 0;
}
