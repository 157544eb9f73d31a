/* Units of .debug_info: their headers, and what their own DIE says. */
#include "dwarf/private.h"

#include "base/bisect.h"

#include <stdio.h>

/* A unit's own DIE mostly has the first abbreviation: so many bytes are tried before the whole table is decoded. */
#define ROOT_ABBREV_BYTES 4096

/* Reads a header (section 7.5.1) and moves to the end of its unit. */
static bool read_header(struct cursor *cursor, const uint8_t *section, struct dwarf_unit *unit)
{
	const uint8_t *start = cursor->at;
	uint64_t length = cursor_unit_length(cursor, &unit->offset_size);
	if (cursor->bad || length > cursor_left(cursor) || length > UINT32_MAX - 64)
		return false;
	struct cursor header = {.at = cursor->at, .end = cursor->at + length};
	cursor->at = header.end;
	unit->offset = (uint64_t)(start - section);
	unit->end = (uint64_t)(header.end - section);
	unit->version = (uint8_t)cursor_u16(&header);
	if (unit->version >= 5) {
		unit->type = cursor_u8(&header);
		unit->address_size = cursor_u8(&header);
		unit->abbrev_offset = cursor_number(&header, unit->offset_size);
		if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile)
			unit->id = cursor_u64(&header);
	} else {
		unit->type = DW_UT_compile;
		unit->abbrev_offset = cursor_number(&header, unit->offset_size);
		unit->address_size = cursor_u8(&header);
	}
	unit->header_size = (uint8_t)(header.at - start);
	bool known = unit->version >= 2 && unit->version <= 5 && unit->type != DW_UT_type &&
		     unit->type != DW_UT_split_type;
	bool sized = unit->address_size == 4 || unit->address_size == 8;
	if (header.bad || !cursor_left(&header) || !known || !sized)
		unit->version = 0;
	return true;
}

static struct span section_of(struct elf_file *elf, const char *name, const char *suffix)
{
	char full[64];
	struct elf_section section;
	snprintf(full, sizeof full, "%s%s", name, suffix);
	if (!elf_section(elf, full, &section) || !section.data)
		return (struct span){0};
	return (struct span){section.data, section.size};
}

void dwarf_sections_read(struct dwarf_sections *sections, struct elf_file *elf, const char *suffix)
{
	*sections = (struct dwarf_sections){
		.info = section_of(elf, ".debug_info", suffix),
		.abbrev = section_of(elf, ".debug_abbrev", suffix),
		.line = section_of(elf, ".debug_line", suffix),
		.line_str = section_of(elf, ".debug_line_str", suffix),
		.str = section_of(elf, ".debug_str", suffix),
		.str_offsets = section_of(elf, ".debug_str_offsets", suffix),
		.addr = section_of(elf, ".debug_addr", suffix),
		.ranges = section_of(elf, ".debug_ranges", suffix),
		.rnglists = section_of(elf, ".debug_rnglists", suffix),
	};
}

void dwarf_file_list_units(struct dwarf_file *file)
{
	file->table_bytes_left = 2 * file->sections.abbrev.size;
	struct cursor cursor = cursor_at(file->sections.info, 0);
	while (!cursor.bad && cursor_left(&cursor)) {
		struct dwarf_unit unit = {.file = file};
		if (!read_header(&cursor, file->sections.info.data, &unit))
			break;
		if (!unit.version)
			continue;
		MEM_ROOM(file->units, file->unit_count, file->unit_capacity);
		file->units[file->unit_count++] = unit;
	}
}

void dwarf_file_release(struct dwarf_file *file)
{
	for (size_t i = 0; i < file->unit_count; i++) {
		struct dwarf_unit *unit = &file->units[i];
		struct dwarf_code *code = atomic_load(&unit->code);
		struct dwarf_lines *lines = atomic_load(&unit->lines);
		if (code)
			dwarf_code_free(code);
		if (lines)
			dwarf_lines_free(lines);
		dwarf_scopes_free(atomic_load(&unit->scopes));
		free(atomic_load(&unit->root));
	}
	free(file->units);
	for (size_t i = 0; i < file->table_count; i++)
		dwarf_abbrevs_free(file->tables[i]);
	free(file->tables);
	index_map_release(&file->table_map);
}

struct dwarf_unit *dwarf_file_unit(const struct dwarf_file *file, uint64_t offset)
{
	size_t next = BISECT(file->unit_count, i, file->units[i].end <= offset);
	struct dwarf_unit *unit = &file->units[next];
	return next < file->unit_count && offset >= unit->offset ? unit : NULL;
}

struct cursor dwarf_unit_dies(const struct dwarf_unit *unit)
{
	struct cursor cursor = cursor_at(unit->file->sections.info, unit->offset + unit->header_size);
	if (!cursor.bad)
		cursor.end = unit->file->sections.info.data + unit->end;
	return cursor;
}

/* The unit's DIE while it is read: bases may come behind the values that need them. */
struct root_values {
	struct dwarf_value directory, split_name, lines, ranges_base, str_offsets_base, address_base, rnglists_base,
		split_id;
	struct dwarf_extent extent;
};

static struct dwarf_value *root_value(struct root_values *values, unsigned attribute)
{
	switch (attribute) {
	case DW_AT_comp_dir:
		return &values->directory;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		return &values->split_name;
	case DW_AT_GNU_dwo_id:
		return &values->split_id;
	case DW_AT_stmt_list:
		return &values->lines;
	case DW_AT_GNU_ranges_base:
		return &values->ranges_base;
	case DW_AT_str_offsets_base:
		return &values->str_offsets_base;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		return &values->address_base;
	case DW_AT_rnglists_base:
		return &values->rnglists_base;
	case DW_AT_low_pc:
		return &values->extent.low;
	case DW_AT_high_pc:
		return &values->extent.high;
	case DW_AT_ranges:
		return &values->extent.ranges;
	default:
		return NULL;
	}
}

static void read_root_attribute(struct root_values *values, const struct dwarf_unit *unit, struct cursor *die,
				struct dwarf_attribute attribute)
{
	struct dwarf_value *value = root_value(values, attribute.name);
	if (value)
		dwarf_attribute_read(die, unit, attribute, value);
	else
		dwarf_attribute_skip(die, unit, attribute);
}

/* Looks for the abbreviation in the undecoded table; false when it is not near its beginning. */
static bool read_root_quickly(struct root_values *values, const struct dwarf_unit *unit, struct cursor die)
{
	struct cursor cursor = cursor_at(unit->file->sections.abbrev, unit->abbrev_offset);
	if (cursor_left(&cursor) > ROOT_ABBREV_BYTES)
		cursor.end = cursor.at + ROOT_ABBREV_BYTES;
	uint64_t wanted = cursor_uleb(&die);
	while (!cursor.bad) {
		uint64_t code = cursor_uleb(&cursor);
		if (!code)
			return false;
		cursor_skip_leb(&cursor);
		cursor_u8(&cursor);
		for (;;) {
			uint64_t name = cursor_uleb(&cursor), form = cursor_uleb(&cursor);
			int64_t implicit = form == DW_FORM_implicit_const ? cursor_sleb(&cursor) : 0;
			if (cursor.bad)
				return false;
			if (!name && !form)
				break;
			if (code == wanted)
				read_root_attribute(values, unit, &die, dwarf_attribute_of(unit, name, form, implicit));
		}
		if (code == wanted)
			return true;
	}
	return false;
}

static void read_root_by_table(struct root_values *values, struct dwarf_unit *unit, struct cursor die)
{
	const struct dwarf_abbrevs *table = dwarf_unit_abbrevs(unit);
	const struct dwarf_abbrev *abbrev = dwarf_abbrevs_find(table, cursor_uleb(&die));
	for (unsigned i = 0; abbrev && i < abbrev->attribute_count; i++)
		read_root_attribute(values, unit, &die, table->attributes[abbrev->first_attribute + i]);
}

static uint64_t number_or(const struct dwarf_value *value, uint64_t otherwise)
{
	return value->kind == VALUE_NUMBER || value->kind == VALUE_OFFSET ? value->number : otherwise;
}

/*
 * A split unit of DWARF 5 says no bases: its tables begin behind the header of its contribution, and its addresses are
 * the skeleton's (sections 7.26, 7.28, and 3.1.2). Those of the GNU version have no header.
 */
static void set_bases(struct dwarf_root *root, const struct dwarf_unit *unit, const struct root_values *values)
{
	bool headed = unit->skeleton && unit->version >= 5, wide = unit->offset_size == 8;
	root->str_offsets_base = number_or(&values->str_offsets_base, headed ? (wide ? 16 : 8) : 0);
	root->rnglists_base = number_or(&values->rnglists_base, headed ? (wide ? 20 : 12) : 0);
	root->address_base = number_or(&values->address_base, 0);
	root->ranges_base = number_or(&values->ranges_base, 0);
	if (unit->skeleton) {
		const struct dwarf_root *skeleton = dwarf_unit_root(unit->skeleton);
		root->address_base = skeleton->address_base;
		root->ranges_base = skeleton->ranges_base;
		root->low = skeleton->low;
	}
}

void dwarf_root_read(struct dwarf_root *root, struct dwarf_unit *unit)
{
	struct root_values values = {0};
	if (!read_root_quickly(&values, unit, dwarf_unit_dies(unit))) {
		values = (struct root_values){0};
		read_root_by_table(&values, unit, dwarf_unit_dies(unit));
	}
	*root = (struct dwarf_root){
		.directory = values.directory,
		.split_name = values.split_name,
		.split_id = unit->version >= 5 ? unit->id : number_or(&values.split_id, 0),
		.has_lines = values.lines.kind == VALUE_OFFSET || values.lines.kind == VALUE_NUMBER,
		.lines_offset = values.lines.number,
		.extent = values.extent,
	};
	set_bases(root, unit, &values);
	struct dwarf_unit self = dwarf_unit_with_root(unit, root);
	dwarf_value_address(&self, &values.extent.low, &root->low);
}

struct dwarf_unit dwarf_unit_with_root(const struct dwarf_unit *unit, struct dwarf_root *root)
{
	return (struct dwarf_unit){
		.file = unit->file,
		.version = unit->version,
		.address_size = unit->address_size,
		.offset_size = unit->offset_size,
		.skeleton = unit->skeleton,
		.root = root,
	};
}

const struct dwarf_root *dwarf_unit_root(struct dwarf_unit *unit)
{
	struct dwarf_root *root = atomic_load_explicit(&unit->root, memory_order_acquire);
	if (root)
		return root;
	struct dwarf_root *none = NULL;
	root = mem_alloc(sizeof *root);
	dwarf_root_read(root, unit);
	if (!atomic_compare_exchange_strong(&unit->root, &none, root)) {
		free(root);
		root = none;
	}
	return root;
}
