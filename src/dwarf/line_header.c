/* The header of a line table: directories and files in the old form and in that of DWARF 5 (section 6.2.4). */
#include "dwarf/private.h"

/* Attributes a directory or file has in DWARF 5: path, directory, size, time, checksum, and what vendors add. */
#define CONTENTS_MAX 16

static void add_directory(struct dwarf_lines *lines, const char *name)
{
	MEM_ROOM(lines->directories, lines->directory_count, lines->directory_capacity);
	lines->directories[lines->directory_count++] = name;
}

static void add_file(struct dwarf_lines *lines, const char *name, uint64_t directory)
{
	MEM_ROOM(lines->files, lines->file_count, lines->file_capacity);
	lines->files[lines->file_count++] = (struct dwarf_line_file){
		.name = name,
		.directory = directory > UINT32_MAX ? UINT32_MAX : (uint32_t)directory,
	};
}

/* Versions 2 to 4 count both from 1: 0 is the compilation's directory, and no file. */
static bool read_old_tables(struct dwarf_lines *lines, struct cursor *cursor)
{
	add_directory(lines, "");
	add_file(lines, NULL, 0);
	for (const char *name; (name = cursor_string(cursor)) && *name;)
		add_directory(lines, name);
	for (const char *name; (name = cursor_string(cursor)) && *name;) {
		uint64_t directory = cursor_uleb(cursor);
		cursor_skip_leb(cursor);
		cursor_skip_leb(cursor);
		if (cursor->bad)
			break;
		add_file(lines, name, directory);
	}
	return !cursor->bad;
}

/* Entries as their format says; `files` or directories. */
static bool read_table(struct dwarf_lines *lines, const struct dwarf_unit *unit, struct cursor *cursor, bool files)
{
	struct dwarf_attribute contents[CONTENTS_MAX];
	unsigned content_count = cursor_u8(cursor);
	if (content_count > CONTENTS_MAX)
		return false;
	for (unsigned i = 0; i < content_count; i++) {
		uint64_t type = cursor_uleb(cursor), form = cursor_uleb(cursor);
		contents[i] = dwarf_attribute_of(unit, type, form, 0);
	}
	uint64_t count = cursor_uleb(cursor);
	for (uint64_t entry = 0; entry < count && content_count && cursor_left(cursor); entry++) {
		struct dwarf_value path = {0}, directory = {0}, ignored = {0};
		const uint8_t *start = cursor->at;
		for (unsigned i = 0; i < content_count; i++) {
			bool is_path = contents[i].name == DW_LNCT_path;
			bool is_directory = contents[i].name == DW_LNCT_directory_index;
			struct dwarf_value *value = is_path ? &path : is_directory ? &directory : &ignored;
			dwarf_attribute_read(cursor, unit, contents[i], value);
		}
		/* Entries without a byte of their own could be any number. */
		if (cursor->bad || cursor->at == start)
			return false;
		if (files)
			add_file(lines, dwarf_value_string(unit, &path), directory.number);
		else
			add_directory(lines, dwarf_value_string(unit, &path));
	}
	return !cursor->bad;
}

static bool read_tables(struct dwarf_lines *lines, const struct dwarf_unit *unit, struct cursor *cursor)
{
	if (lines->version < 5)
		return read_old_tables(lines, cursor);
	/* Forms have the sizes of the line table's header, strings are those of the unit's file. */
	struct dwarf_unit shape = {
		.file = unit->file,
		.version = 5,
		.offset_size = lines->offset_size,
		.address_size = lines->address_size,
		.root = atomic_load(&unit->root),
	};
	return read_table(lines, &shape, cursor, false) && read_table(lines, &shape, cursor, true);
}

bool dwarf_line_header(struct dwarf_lines *lines, struct dwarf_unit *unit)
{
	const struct dwarf_root *root = dwarf_unit_root(unit);
	struct cursor cursor = cursor_at(unit->file->sections.line, root->lines_offset);
	if (!root->has_lines || cursor.bad)
		return false;
	uint64_t length = cursor_unit_length(&cursor, &lines->offset_size);
	if (cursor.bad || length > cursor_left(&cursor))
		return false;
	cursor.end = cursor.at + length;
	/* Any number of units may claim the same table. */
	if (atomic_fetch_sub(&unit->file->dwarf->lines_left, (int64_t)length) <= 0)
		return false;
	lines->version = cursor_u16(&cursor);
	lines->address_size = unit->address_size;
	if (lines->version < 2 || lines->version > 5)
		return false;
	if (lines->version == 5) {
		lines->address_size = cursor_u8(&cursor);
		cursor_u8(&cursor);
	}
	uint64_t header_length = cursor_number(&cursor, lines->offset_size);
	if (cursor.bad || header_length > cursor_left(&cursor))
		return false;
	lines->program = (struct cursor){.at = cursor.at + header_length, .end = cursor.end};
	cursor.end = lines->program.at;
	lines->instruction_length = cursor_u8(&cursor);
	lines->operations = lines->version >= 4 ? cursor_u8(&cursor) : 1;
	cursor_u8(&cursor); /* whether rows begin statements, until changed: not used */
	lines->line_base = (int8_t)cursor_u8(&cursor);
	lines->line_range = cursor_u8(&cursor);
	lines->opcode_base = cursor_u8(&cursor);
	lines->opcode_lengths = cursor.at;
	cursor_skip(&cursor, lines->opcode_base ? lines->opcode_base - 1u : 0);
	if (cursor.bad || !lines->line_range || !lines->opcode_base)
		return false;
	if (!lines->operations)
		lines->operations = 1;
	/* Without the files the lines are still right. */
	read_tables(lines, unit, &cursor);
	return lines->address_size == 4 || lines->address_size == 8;
}
