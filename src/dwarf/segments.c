/* Overlapping and nested ranges → disjoint pieces, so that a look-up is one binary search. */
#include "dwarf/private.h"

#include "base/bisect.h"

/* A range that begins before what surrounds it is put below it. Few lie above it, except in hostile files. */
#define SHIFT_MAX 64
#define SORT_RUN 12

/* Where they begin together, what surrounds comes first. */
static inline bool before(const struct dwarf_range *one, const struct dwarf_range *two)
{
	return one->low != two->low ? one->low < two->low : one->depth < two->depth;
}

static void insertion_sort(struct dwarf_range *items, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct dwarf_range range = items[i];
		size_t at = i;
		for (; at && before(&range, &items[at - 1]); at--)
			items[at] = items[at - 1];
		items[at] = range;
	}
}

/* Merges the sorted halves [0, middle) and [middle, count) of `from` into `to`. */
static void merge(struct dwarf_range *to, const struct dwarf_range *from, size_t middle, size_t count)
{
	size_t left = 0, right = middle;
	for (size_t i = 0; i < count; i++)
		to[i] = left < middle && (right == count || !before(&from[right], &from[left])) ? from[left++] :
												  from[right++];
}

/* A stable merge sort of its own: qsort() with its calls took a tenth of all time. */
static void sort_ranges(struct dwarf_range_list *list)
{
	size_t count = list->count;
	for (size_t at = 0; at < count; at += SORT_RUN)
		insertion_sort(list->items + at, count - at < SORT_RUN ? count - at : SORT_RUN);
	if (count <= SORT_RUN)
		return;
	struct dwarf_range *from = list->items, *to = mem_alloc(count * sizeof *to);
	for (size_t width = SORT_RUN; width < count; width *= 2) {
		for (size_t at = 0; at < count; at += 2 * width) {
			size_t size = count - at < 2 * width ? count - at : 2 * width;
			merge(to + at, from + at, width < size ? width : size, size);
		}
		struct dwarf_range *swap = from;
		from = to;
		to = swap;
	}
	list->items = from;
	list->capacity = count;
	free(to);
}

/* The ranges that are open at the sweep's place, deepest last. Those below the last may have ended already. */
struct sweep {
	const struct dwarf_range **open;
	size_t count, capacity;
	struct dwarf_segments *out;
	size_t out_capacity;
};

static void begin_piece(struct sweep *sweep, uint64_t start)
{
	struct dwarf_segments *out = sweep->out;
	uint32_t owner = sweep->count ? sweep->open[sweep->count - 1]->owner : DWARF_NONE;
	if (out->count && out->starts[out->count - 1] == start)
		out->count--;
	if (out->count ? out->owners[out->count - 1] == owner : owner == DWARF_NONE)
		return;
	out->starts[out->count] = start;
	out->owners[out->count++] = owner;
}

static void close_until(struct sweep *sweep, uint64_t address)
{
	while (sweep->count && sweep->open[sweep->count - 1]->high <= address) {
		uint64_t end = sweep->open[sweep->count - 1]->high;
		while (sweep->count && sweep->open[sweep->count - 1]->high <= end)
			sweep->count--;
		begin_piece(sweep, end);
	}
}

static void open_range(struct sweep *sweep, const struct dwarf_range *range)
{
	MEM_ROOM(sweep->open, sweep->count, sweep->capacity);
	size_t at = sweep->count++, min = at > SHIFT_MAX ? at - SHIFT_MAX : 0;
	for (; at > min && sweep->open[at - 1]->depth > range->depth; at--)
		sweep->open[at] = sweep->open[at - 1];
	sweep->open[at] = range;
	if (at == sweep->count - 1)
		begin_piece(sweep, range->low);
}

void dwarf_segments_build(struct dwarf_segments *segments, struct dwarf_range_list *list)
{
	*segments = (struct dwarf_segments){0};
	if (!list->count)
		return;
	sort_ranges(list);
	/* A range begins one piece and ends one. */
	segments->starts = mem_zalloc(list->count, 2 * sizeof *segments->starts);
	segments->owners = mem_zalloc(list->count, 2 * sizeof *segments->owners);
	struct sweep sweep = {.out = segments};
	for (size_t i = 0; i < list->count; i++) {
		close_until(&sweep, list->items[i].low);
		open_range(&sweep, &list->items[i]);
	}
	close_until(&sweep, UINT64_MAX);
	free(sweep.open);
	segments->starts = mem_realloc(segments->starts, segments->count, sizeof *segments->starts);
	segments->owners = mem_realloc(segments->owners, segments->count, sizeof *segments->owners);
}

void dwarf_segments_release(struct dwarf_segments *segments)
{
	free(segments->starts);
	free(segments->owners);
}

uint32_t dwarf_segments_find(const struct dwarf_segments *segments, uint64_t address)
{
	size_t next = BISECT(segments->count, i, segments->starts[i] <= address);
	return next ? (uint32_t)(next - 1) : DWARF_NONE;
}
