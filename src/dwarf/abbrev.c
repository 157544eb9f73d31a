/*
 * Tables of abbreviations. A table is decoded once per shape of units (sizes of offsets and addresses), and each
 * abbreviation is turned into the few steps that lead over the attributes of its DIEs: neighbours of fixed size are one
 * step. What a walk does with such a DIE is decided here too.
 */
#include "dwarf/private.h"

#include "base/bisect.h"
#include "base/hash.h"

/* Compilers use some thirty at most; without a bound, a hostile DIE of one byte could cost thousands of attributes. */
#define ATTRIBUTES_MAX 250
#define STEP_MAX 0xfff

static void add_step(struct dwarf_abbrevs *table, struct dwarf_abbrev *abbrev, unsigned rule, unsigned amount)
{
	if (rule == STEP_FIXED && abbrev->step_count) {
		uint16_t *last = &table->steps[table->step_count - 1];
		if (*last >> 12 == STEP_FIXED && *last + amount <= STEP_MAX) {
			*last = (uint16_t)(*last + amount);
			return;
		}
	}
	if (rule == STEP_FIXED && !amount)
		return;
	MEM_ROOM(table->steps, table->step_count, table->step_capacity);
	table->steps[table->step_count++] = DWARF_STEP(rule, amount);
	abbrev->step_count++;
}

static void add_attribute_step(struct dwarf_abbrevs *table, struct dwarf_abbrev *abbrev,
			       const struct dwarf_attribute *attribute)
{
	unsigned size = attribute->size;
	if (attribute->name == DW_AT_sibling && attribute->kind == VALUE_REF_UNIT && abbrev->children) {
		add_step(table, abbrev, STEP_SIBLING, size == SIZE_ULEB ? 0 : size);
		return;
	}
	switch (size) {
	case SIZE_IMPLICIT:
		break;
	case SIZE_ULEB:
	case SIZE_SLEB:
		add_step(table, abbrev, STEP_LEB, 0);
		break;
	case SIZE_STRING:
		add_step(table, abbrev, STEP_STRING, 0);
		break;
	case SIZE_BLOCK:
		add_step(table, abbrev, STEP_BLOCK, 0);
		break;
	case SIZE_BLOCK1:
	case SIZE_BLOCK2:
		add_step(table, abbrev, STEP_BLOCK, size - SIZE_BLOCK1 + 1);
		break;
	case SIZE_BLOCK4:
		add_step(table, abbrev, STEP_BLOCK, 4);
		break;
	case SIZE_INDIRECT:
		add_step(table, abbrev, STEP_INDIRECT, 0);
		break;
	case SIZE_UNKNOWN:
		abbrev->usable = false;
		break;
	default:
		add_step(table, abbrev, STEP_FIXED, size);
	}
}

static enum dwarf_die_kind kind_of(unsigned tag, bool has_code)
{
	switch (tag) {
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_skeleton_unit:
	case DW_TAG_namespace:
	case DW_TAG_module:
		return DIE_SCOPE;
	case DW_TAG_subprogram:
		return has_code ? DIE_FUNCTION : DIE_OTHER;
	case DW_TAG_inlined_subroutine:
		return has_code ? DIE_INLINED : DIE_BLOCK;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return DIE_BLOCK;
	default:
		return DIE_OTHER;
	}
}

/* One abbreviation behind its code; false when it is damaged. */
static bool read_abbrev(struct dwarf_abbrevs *table, const struct dwarf_unit *unit, struct cursor *cursor)
{
	uint64_t tag = cursor_uleb(cursor);
	struct dwarf_abbrev abbrev = {
		.first_attribute = (uint32_t)table->attribute_count,
		.first_step = (uint32_t)table->step_count,
		.tag = (uint16_t)(tag > UINT16_MAX ? 0 : tag),
		.children = cursor_u8(cursor) == 1,
		.usable = true,
	};
	bool has_code = false;
	for (unsigned count = 0;; count++) {
		uint64_t name = cursor_uleb(cursor), form = cursor_uleb(cursor);
		int64_t implicit = form == DW_FORM_implicit_const ? cursor_sleb(cursor) : 0;
		if (cursor->bad || count > ATTRIBUTES_MAX)
			return false;
		if (!name && !form)
			break;
		struct dwarf_attribute attribute = dwarf_attribute_of(unit, name, form, implicit);
		has_code |= name == DW_AT_low_pc || name == DW_AT_ranges;
		MEM_ROOM(table->attributes, table->attribute_count, table->attribute_capacity);
		table->attributes[table->attribute_count++] = attribute;
		abbrev.attribute_count++;
		add_attribute_step(table, &abbrev, &attribute);
	}
	abbrev.kind = kind_of(abbrev.tag, has_code);
	MEM_ROOM(table->items, table->count, table->capacity);
	table->items[table->count++] = abbrev;
	return true;
}

/* Codes that are not 1, 2, 3, …: from here on each abbreviation's code is written down. */
static void keep_codes(struct dwarf_abbrevs *table, size_t *code_capacity, uint64_t code)
{
	if (!table->codes && code == table->count + 1)
		return;
	if (!table->codes) {
		table->codes = mem_grow(NULL, code_capacity, table->count + 1, sizeof *table->codes);
		for (size_t i = 0; i < table->count; i++)
			table->codes[i] = i + 1;
	}
	if (table->count == *code_capacity)
		table->codes = mem_grow(table->codes, code_capacity, table->count + 1, sizeof *table->codes);
	table->codes[table->count] = code;
}

struct coded {
	uint64_t code;
	struct dwarf_abbrev abbrev;
};

static int compare_codes(const void *a, const void *b)
{
	const struct coded *one = a, *two = b;
	return one->code < two->code ? -1 : one->code > two->code;
}

static void sort_by_code(struct dwarf_abbrevs *table)
{
	CLEANUP_FREE struct coded *coded = mem_zalloc(table->count, sizeof *coded);
	for (size_t i = 0; i < table->count; i++)
		coded[i] = (struct coded){table->codes[i], table->items[i]};
	qsort(coded, table->count, sizeof *coded, compare_codes);
	for (size_t i = 0; i < table->count; i++) {
		table->codes[i] = coded[i].code;
		table->items[i] = coded[i].abbrev;
	}
}

const struct dwarf_abbrev *dwarf_abbrevs_search(const struct dwarf_abbrevs *table, uint64_t code)
{
	size_t at = BISECT(table->count, i, table->codes[i] < code);
	return at < table->count && table->codes[at] == code ? &table->items[at] : NULL;
}

/* Decodes the table at the unit's offset; returns how many bytes it has. */
static size_t decode(struct dwarf_abbrevs *table, const struct dwarf_unit *unit, size_t max)
{
	struct cursor cursor = cursor_at(unit->file->sections.abbrev, unit->abbrev_offset);
	const uint8_t *start = cursor.at;
	if (cursor_left(&cursor) > max)
		cursor.end = cursor.at + max;
	size_t code_capacity = 0;
	for (;;) {
		uint64_t code = cursor_uleb(&cursor);
		if (cursor.bad || !code)
			break;
		keep_codes(table, &code_capacity, code);
		if (!read_abbrev(table, unit, &cursor))
			break;
	}
	if (table->codes)
		sort_by_code(table);
	return (size_t)(cursor.at - start);
}

void dwarf_abbrevs_free(struct dwarf_abbrevs *table)
{
	free(table->items);
	free(table->attributes);
	free(table->steps);
	free(table->codes);
	free(table);
}

static const struct dwarf_abbrevs *find_or_decode(struct dwarf_file *file, const struct dwarf_unit *unit)
{
	uint32_t shape = (uint32_t)unit->offset_size << 16 | (uint32_t)unit->address_size << 8 | (unit->version < 3);
	uint64_t hash = hash_u64(unit->abbrev_offset ^ (uint64_t)shape << 40);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&file->table_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&file->table_map, &probe))
		if (file->tables[i]->offset == unit->abbrev_offset && file->tables[i]->shape == shape)
			return file->tables[i];
	struct dwarf_abbrevs *table = mem_zalloc(1, sizeof *table);
	table->offset = unit->abbrev_offset;
	table->shape = shape;
	file->table_bytes_left -= decode(table, unit, file->table_bytes_left);
	MEM_ROOM(file->tables, file->table_count, file->table_capacity);
	index_map_insert(&file->table_map, hash, (uint32_t)file->table_count);
	file->tables[file->table_count++] = table;
	return table;
}

const struct dwarf_abbrevs *dwarf_unit_abbrevs(struct dwarf_unit *unit)
{
	const struct dwarf_abbrevs *table = atomic_load_explicit(&unit->abbrevs, memory_order_acquire);
	if (!table) {
		struct dwarf *dwarf = unit->file->dwarf;
		pthread_mutex_lock(&dwarf->lock);
		table = find_or_decode(unit->file, unit);
		pthread_mutex_unlock(&dwarf->lock);
		atomic_store_explicit(&unit->abbrevs, table, memory_order_release);
	}
	return table;
}
