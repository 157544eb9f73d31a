/* Builds the segment tree of code ranges, and finds a range by address and time. */
#include "symbol/code_ranges.h"

#include "base/bisect.h"
#include "base/mem.h"
#include "base/radix_sort.h"

#include <string.h>

#define RANGES_MAX ((size_t)1 << 23)

bool code_ranges_add(struct code_ranges *ranges, uint64_t start, uint64_t size, uint64_t time, uint32_t value)
{
	if (!size || ranges->count >= RANGES_MAX)
		return false;
	uint64_t end = start + size < start ? UINT64_MAX : start + size;
	MEM_ROOM(ranges->ranges, ranges->count, ranges->capacity);
	ranges->ranges[ranges->count++] = (struct code_range){start, end, time, value};
	return true;
}

static void sort_by_time(struct code_ranges *ranges, struct radix_key *keys)
{
	for (size_t i = 0; i < ranges->count; i++)
		keys[i] = (struct radix_key){ranges->ranges[i].time, (uint32_t)i};
	radix_sort(keys, ranges->count);
	struct code_range *sorted = mem_realloc(NULL, ranges->count, sizeof *sorted);
	for (size_t i = 0; i < ranges->count; i++)
		sorted[i] = ranges->ranges[keys[i].index];
	free(ranges->ranges);
	ranges->ranges = sorted;
	ranges->capacity = ranges->count;
}

static void collect_bounds(struct code_ranges *ranges, struct radix_key *keys)
{
	size_t count = 0;
	for (size_t i = 0; i < ranges->count; i++) {
		keys[count++] = (struct radix_key){ranges->ranges[i].start, 0};
		keys[count++] = (struct radix_key){ranges->ranges[i].end, 0};
	}
	radix_sort(keys, count);
	ranges->bounds = mem_realloc(NULL, count, sizeof *ranges->bounds);
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (!kept || ranges->bounds[kept - 1] != keys[i].key)
			ranges->bounds[kept++] = keys[i].key;
	ranges->leaves = kept - 1;
}

/* Index of the last bound ≤ address, or SIZE_MAX. */
static size_t bound_before(const struct code_ranges *ranges, uint64_t address)
{
	size_t next = BISECT(ranges->leaves + 1, i, ranges->bounds[i] <= address);
	return next - 1;
}

/*
 * Leaf i of the tree is node leaves + i, the parent of node n is n / 2. Calls `visit` for the nodes that make up a
 * range.
 */
static void for_nodes(struct code_ranges *ranges, uint32_t index, void (*visit)(struct code_ranges *, size_t, uint32_t))
{
	const struct code_range *range = &ranges->ranges[index];
	size_t left = bound_before(ranges, range->start) + ranges->leaves;
	size_t right = bound_before(ranges, range->end) + ranges->leaves;
	for (; left < right; left /= 2, right /= 2) {
		if (left & 1)
			visit(ranges, left++, index);
		if (right & 1)
			visit(ranges, --right, index);
	}
}

static void count_member(struct code_ranges *ranges, size_t node, uint32_t index)
{
	(void)index;
	ranges->first[node]++;
}

static void place_member(struct code_ranges *ranges, size_t node, uint32_t index)
{
	ranges->members[--ranges->first[node]] = index;
}

void code_ranges_finish(struct code_ranges *ranges)
{
	if (!ranges->count)
		return;
	struct radix_key *keys = mem_realloc(NULL, 2 * ranges->count, sizeof *keys);
	sort_by_time(ranges, keys);
	collect_bounds(ranges, keys);
	free(keys);
	size_t nodes = 2 * ranges->leaves;
	ranges->first = mem_zalloc(nodes + 1, sizeof *ranges->first);
	for (size_t i = 0; i < ranges->count; i++)
		for_nodes(ranges, (uint32_t)i, count_member);
	/* `first` becomes the end of each node's members, and counts down to their beginning as they are placed. */
	for (size_t i = 1; i <= nodes; i++)
		ranges->first[i] += ranges->first[i - 1];
	ranges->members = mem_realloc(NULL, (size_t)ranges->first[nodes] + 1, sizeof *ranges->members);
	for (size_t i = ranges->count; i--;)
		for_nodes(ranges, (uint32_t)i, place_member);
}

size_t code_ranges_bytes(const struct code_ranges *ranges)
{
	size_t nodes = 2 * ranges->leaves;
	return ranges->capacity * sizeof *ranges->ranges + 2 * ranges->count * sizeof *ranges->bounds +
	       (nodes + 1) * sizeof *ranges->first +
	       (ranges->first ? ranges->first[nodes] : 0) * sizeof *ranges->members;
}

void code_ranges_release(struct code_ranges *ranges)
{
	free(ranges->ranges);
	free(ranges->bounds);
	free(ranges->first);
	free(ranges->members);
	*ranges = (struct code_ranges){0};
}

/* How many ranges have a time ≤ `time`. */
static uint32_t ranges_until(const struct code_ranges *ranges, uint64_t time)
{
	size_t next = BISECT(ranges->count, i, ranges->ranges[i].time <= time);
	return (uint32_t)next;
}

const struct code_range *code_ranges_find(const struct code_ranges *ranges, uint64_t address, uint64_t time)
{
	if (!ranges->count || address < ranges->bounds[0] || address >= ranges->bounds[ranges->leaves])
		return NULL;
	uint32_t until = ranges_until(ranges, time);
	uint32_t before = 0,
		 after = UINT32_MAX; /* best so far: index + 1 of one below `until`, index of one from there on */
	for (size_t node = bound_before(ranges, address) + ranges->leaves; node; node /= 2) {
		uint32_t low = ranges->first[node], high = ranges->first[node + 1], first = low, end = high;
		while (low < high) {
			uint32_t middle = low + (high - low) / 2;
			if (ranges->members[middle] < until)
				low = middle + 1;
			else
				high = middle;
		}
		if (low > first && ranges->members[low - 1] + 1 > before)
			before = ranges->members[low - 1] + 1;
		if (low < end && ranges->members[low] < after)
			after = ranges->members[low];
	}
	if (before)
		return &ranges->ranges[before - 1];
	return after == UINT32_MAX ? NULL : &ranges->ranges[after];
}
