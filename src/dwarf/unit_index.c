/*
 * Which units may cover an address. .debug_aranges says it for the units it lists; of the others the unit's own DIE is
 * asked; where that says nothing either and the file has no .debug_aranges, the ranges of its functions count.
 */
#include "dwarf/private.h"

#include "base/bisect.h"

/* Ranges looked at on the way back to one that reaches far: one such range must not make each look-up long. */
#define STEPS_MAX 10000

static void add_unit_range(struct dwarf_index *index, struct dwarf_unit *unit, uint64_t low, uint64_t high)
{
	MEM_ROOM(index->ranges, index->count, index->capacity);
	index->ranges[index->count++] = (struct dwarf_unit_range){.low = low, .high = high, .unit = unit};
}

/* One set of .debug_aranges (section 6.1.2). */
static void read_set(struct dwarf *dwarf, struct cursor set, const uint8_t *start, unsigned offset_size, bool *listed)
{
	unsigned version = cursor_u16(&set);
	uint64_t offset = cursor_number(&set, offset_size);
	unsigned address_size = cursor_u8(&set), selector_size = cursor_u8(&set);
	if (set.bad || version != 2 || selector_size || (address_size != 4 && address_size != 8))
		return;
	struct dwarf_unit *units = dwarf->main.units;
	struct dwarf_unit *unit = dwarf_file_unit(&dwarf->main, offset);
	if (!unit || unit->offset != offset)
		return;
	size_t tuple = 2 * address_size, used = (size_t)(set.at - start) % tuple;
	cursor_skip(&set, used ? tuple - used : 0);
	while (cursor_left(&set) >= tuple) {
		uint64_t low = cursor_number(&set, address_size), length = cursor_number(&set, address_size), high;
		if (!low && !length)
			break;
		listed[unit - units] = true;
		if (length && dwarf_is_code(dwarf, low) && !__builtin_add_overflow(low, length, &high))
			add_unit_range(&dwarf->index, unit, low, high);
	}
}

static void read_aranges(struct dwarf *dwarf, struct span aranges, bool *listed)
{
	struct cursor cursor = cursor_at(aranges, 0);
	while (!cursor.bad && cursor_left(&cursor)) {
		const uint8_t *start = cursor.at;
		uint8_t offset_size;
		uint64_t length = cursor_unit_length(&cursor, &offset_size);
		if (cursor.bad || length > cursor_left(&cursor))
			return;
		struct cursor set = {.at = cursor.at, .end = cursor.at + length};
		read_set(dwarf, set, start, offset_size, listed);
		cursor.at += length;
	}
}

static void add_segments(struct dwarf_index *index, struct dwarf_unit *unit, const struct dwarf_segments *segments)
{
	for (size_t i = 0; i + 1 < segments->count; i++)
		if (segments->owners[i] != DWARF_NONE)
			add_unit_range(index, unit, segments->starts[i], segments->starts[i + 1]);
}

static void ask_unit(struct dwarf *dwarf, struct dwarf_unit *unit, bool ask_functions)
{
	if (unit->type == DW_UT_partial)
		return;
	struct dwarf_root root; /* not kept: most units are never hit */
	dwarf_root_read(&root, unit);
	struct dwarf_unit self = dwarf_unit_with_root(unit, &root);
	bool has_extent = root.extent.ranges.kind != VALUE_NONE ||
			  (root.extent.low.kind != VALUE_NONE && root.extent.high.kind != VALUE_NONE);
	struct dwarf_range_list list = {0};
	dwarf_extent_ranges(&self, &root.extent, &list, 0, 0);
	for (size_t i = 0; i < list.count; i++)
		add_unit_range(&dwarf->index, unit, list.items[i].low, list.items[i].high);
	free(list.items);
	if (!has_extent && ask_functions && root.has_lines)
		add_segments(&dwarf->index, unit, &dwarf_unit_code(unit)->segments);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct dwarf_unit_range *one = a, *two = b;
	if (one->low != two->low)
		return one->low < two->low ? -1 : 1;
	if (one->high != two->high)
		return one->high > two->high ? -1 : 1;
	return one->unit < two->unit ? -1 : one->unit > two->unit;
}

void dwarf_index_build(struct dwarf *dwarf, struct span aranges)
{
	CLEANUP_FREE bool *listed = mem_zalloc(dwarf->main.unit_count, sizeof *listed);
	read_aranges(dwarf, aranges, listed);
	for (size_t i = 0; i < dwarf->main.unit_count; i++)
		if (!listed[i])
			ask_unit(dwarf, &dwarf->main.units[i], !aranges.size);
	struct dwarf_index *index = &dwarf->index;
	if (index->count)
		qsort(index->ranges, index->count, sizeof *index->ranges, compare_ranges);
	uint64_t reach = 0;
	for (size_t i = 0; i < index->count; i++) {
		reach = index->ranges[i].high > reach ? index->ranges[i].high : reach;
		index->ranges[i].reach = reach;
	}
}

size_t dwarf_index_find(const struct dwarf_index *index, uint64_t address, size_t from)
{
	size_t next = BISECT(from == SIZE_MAX ? index->count : from + 1, i, index->ranges[i].low <= address);
	unsigned steps = 0;
	for (; next && index->ranges[next - 1].reach > address && steps < STEPS_MAX; next--, steps++)
		if (index->ranges[next - 1].high > address)
			return next - 1;
	return SIZE_MAX;
}
