/*
 * Tables of lines, in three formats. All describe ranges of bytecode one after the other, with lines relative to the
 * range before, so that they are read from the start. A range may have no line.
 */
#include "base/cursor.h"
#include "runtime/python/code.h"

enum {
	VERSION_RANGES = 0x030a, /* pairs (length, change of the line), before: (distance, change from there on) */
	VERSION_LOCATIONS = 0x030b, /* entries with columns, too */
	NO_LINE = -128,
	UNIT = 2, /* bytes of an instruction */
};

/* What the first byte of a location says about the rest. */
enum {
	LOCATION_SHORT_MAX = 9, /* the same line, one byte with columns */
	LOCATION_LINE_0 = 10, /* up to two lines further, two bytes with columns */
	LOCATION_LINE_2 = 12,
	LOCATION_NO_COLUMNS = 13,
	LOCATION_LONG = 14,
	LOCATION_NONE = 15,
};

struct position {
	uint32_t offset; /* that is looked for */
	int64_t line;
	bool found; /* the line is that of the offset */
};

static void find_in_pairs(struct cursor *table, struct position *position)
{
	uint64_t start = 0;
	position->found = true;
	while (cursor_left(table) >= 2) {
		start += cursor_u8(table);
		int64_t change = cursor_int(table, 1);
		if (start > position->offset)
			break;
		position->line += change;
	}
}

static void find_in_ranges(struct cursor *table, struct position *position)
{
	uint64_t end = 0;
	while (cursor_left(table) >= 2) {
		end += cursor_u8(table);
		int64_t change = cursor_int(table, 1);
		if (change != NO_LINE)
			position->line += change;
		if (position->offset >= end)
			continue;
		position->found = change != NO_LINE;
		return;
	}
}

/* Six bits in each byte, the lowest first. */
static uint64_t varint(struct cursor *table)
{
	uint64_t value = 0;
	for (unsigned shift = 0; cursor_left(table); shift += 6) {
		uint8_t byte = cursor_u8(table);
		if (shift < 32)
			value |= (uint64_t)(byte & 0x3f) << shift;
		if (!(byte & 0x40))
			break;
	}
	return value;
}

static int64_t signed_varint(struct cursor *table)
{
	uint64_t value = varint(table);
	int64_t magnitude = (int64_t)(value >> 1);
	return value & 1 ? -magnitude : magnitude;
}

/* Returns by how much the line changes, and moves behind the location. */
static int64_t location_change(struct cursor *table, unsigned kind)
{
	int64_t change = 0;
	if (kind <= LOCATION_SHORT_MAX) {
		cursor_skip(table, 1);
	} else if (kind <= LOCATION_LINE_2) {
		change = kind - LOCATION_LINE_0;
		cursor_skip(table, 2);
	} else if (kind <= LOCATION_LONG) {
		change = signed_varint(table);
		for (int i = 0; kind == LOCATION_LONG && i < 3; i++)
			varint(table);
	}
	return change;
}

static void find_in_locations(struct cursor *table, struct position *position)
{
	uint64_t end = 0;
	while (cursor_left(table)) {
		uint8_t first = cursor_u8(table);
		unsigned kind = first >> 3 & 15;
		if (!(first & 0x80))
			return; /* not where a location begins */
		end += ((first & 7) + 1) * UNIT;
		position->line += location_change(table, kind);
		if (position->offset >= end)
			continue;
		position->found = kind != LOCATION_NONE;
		return;
	}
}

uint32_t python_code_line(const struct python_code *code, const struct python_layout *layout, uint32_t offset)
{
	if (!code->lines || offset > INT32_MAX)
		return code->first_line; /* without a table, or before the first instruction */
	struct cursor table = cursor_over(code->lines, code->lines_size);
	struct position position = {.offset = offset, .line = code->first_line};
	if (layout->version >= VERSION_LOCATIONS)
		find_in_locations(&table, &position);
	else if (layout->version >= VERSION_RANGES)
		find_in_ranges(&table, &position);
	else
		find_in_pairs(&table, &position);
	if (!position.found || position.line < 0 || position.line > INT32_MAX)
		return code->first_line;
	return (uint32_t)position.line;
}
