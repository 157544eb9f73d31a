/* Which addresses a DIE covers: DW_AT_low_pc and DW_AT_high_pc, or a list in .debug_ranges or .debug_rnglists. */
#include "dwarf/private.h"

bool dwarf_is_code(const struct dwarf *dwarf, uint64_t address)
{
	for (size_t i = 0; i < dwarf->code_count; i++)
		if (address >= dwarf->code[i].low && address < dwarf->code[i].high)
			return address != 0;
	return !dwarf->code_count && address && address < UINT64_MAX - 1;
}

struct range_sink {
	const struct dwarf_unit *unit;
	struct dwarf_range_list *list;
	uint32_t owner, depth;
};

static void add_range(const struct range_sink *sink, uint64_t low, uint64_t high)
{
	if (low >= high || !dwarf_is_code(sink->unit->file->dwarf, low))
		return;
	struct dwarf_range_list *list = sink->list;
	MEM_ROOM(list->items, list->count, list->capacity);
	list->items[list->count++] = (struct dwarf_range){low, high, sink->owner, sink->depth};
}

/* Measured on big programs: 1 per pair, and 1 per 4 bytes of the lists of DWARF 5, whose entries have 2 to 17. */
int64_t dwarf_ranges_allowance(const struct dwarf_sections *sections)
{
	return (int64_t)(sections->ranges.size / 2 + sections->rnglists.size * 2);
}

static bool may_read_entry(const struct dwarf_unit *unit)
{
	return atomic_fetch_sub_explicit(&unit->file->dwarf->ranges_left, 1, memory_order_relaxed) > 0;
}

/* Pairs of addresses until 0, 0 (DWARF 4, section 2.17.3). */
static void read_pairs(const struct range_sink *sink, uint64_t offset, uint64_t base)
{
	const struct dwarf_unit *unit = sink->unit;
	struct cursor cursor = cursor_at(unit->file->sections.ranges, offset);
	uint64_t highest = unit->address_size == 8 ? UINT64_MAX : UINT32_MAX;
	while (may_read_entry(unit)) {
		uint64_t low = cursor_number(&cursor, unit->address_size);
		uint64_t high = cursor_number(&cursor, unit->address_size);
		if (cursor.bad || (!low && !high))
			return;
		if (low == highest)
			base = high;
		else
			add_range(sink, base + low, base + high);
	}
}

/* One entry of a list (section 2.17.3); false at its end. */
static bool read_entry(const struct range_sink *sink, struct cursor *cursor, uint64_t *base)
{
	const struct dwarf_unit *unit = sink->unit;
	uint64_t low = 0, high = 0;
	bool known = true;
	switch (cursor_u8(cursor)) {
	case DW_RLE_base_addressx:
		*base = 0;
		dwarf_indexed_address(unit, cursor_uleb(cursor), base);
		return !cursor->bad;
	case DW_RLE_startx_endx:
		known = dwarf_indexed_address(unit, cursor_uleb(cursor), &low);
		known &= dwarf_indexed_address(unit, cursor_uleb(cursor), &high);
		break;
	case DW_RLE_startx_length:
		known = dwarf_indexed_address(unit, cursor_uleb(cursor), &low);
		high = low + cursor_uleb(cursor);
		break;
	case DW_RLE_offset_pair:
		low = *base + cursor_uleb(cursor);
		high = *base + cursor_uleb(cursor);
		break;
	case DW_RLE_base_address:
		*base = cursor_number(cursor, unit->address_size);
		return !cursor->bad;
	case DW_RLE_start_end:
		low = cursor_number(cursor, unit->address_size);
		high = cursor_number(cursor, unit->address_size);
		break;
	case DW_RLE_start_length:
		low = cursor_number(cursor, unit->address_size);
		high = low + cursor_uleb(cursor);
		break;
	default:
		return false;
	}
	if (known && !cursor->bad)
		add_range(sink, low, high);
	return !cursor->bad;
}

/* Where in .debug_rnglists the list with this number begins; false when the number or its offset is out of bounds. */
static bool list_offset(const struct dwarf_unit *unit, const struct dwarf_root *root, uint64_t index,
			uint64_t *ret_offset)
{
	uint64_t at;
	if (__builtin_mul_overflow(index, unit->offset_size, &at) ||
	    __builtin_add_overflow(at, root->rnglists_base, &at))
		return false;
	struct cursor cursor = cursor_at(unit->file->sections.rnglists, at);
	uint64_t offset = cursor_number(&cursor, unit->offset_size);
	return !cursor.bad && !__builtin_add_overflow(offset, root->rnglists_base, ret_offset);
}

static void read_list(const struct range_sink *sink, const struct dwarf_value *value)
{
	const struct dwarf_unit *unit = sink->unit;
	const struct dwarf_root *root = atomic_load(&unit->root);
	uint64_t offset = value->number, base = root->low;
	if (unit->version < 5) {
		read_pairs(sink, offset + (unit->skeleton ? root->ranges_base : 0), base);
		return;
	}
	if (value->kind == VALUE_LIST_INDEX && !list_offset(unit, root, value->number, &offset))
		return;
	struct cursor cursor = cursor_at(unit->file->sections.rnglists, offset);
	while (!cursor.bad && may_read_entry(unit) && read_entry(sink, &cursor, &base))
		;
}

void dwarf_extent_ranges(const struct dwarf_unit *unit, const struct dwarf_extent *extent,
			 struct dwarf_range_list *list, uint32_t owner, uint32_t depth)
{
	struct range_sink sink = {.unit = unit, .list = list, .owner = owner, .depth = depth};
	if (extent->ranges.kind != VALUE_NONE) {
		read_list(&sink, &extent->ranges);
		return;
	}
	uint64_t low, high;
	if (!dwarf_value_address(unit, &extent->low, &low))
		return;
	if (extent->high.kind == VALUE_NUMBER)
		high = low + extent->high.number;
	else if (!dwarf_value_address(unit, &extent->high, &high))
		return;
	add_range(&sink, low, high);
}
