/* DIEs as names need them, and what is in what. */
#include "dwarf/private.h"

#include "base/bisect.h"

#define SCOPES_DEEPEST 1024 /* each look-up goes up from one to the next; honest files have less */

/* A flag may be a form without a value. */
static bool flag_of(const struct dwarf_value *value)
{
	return value->kind == VALUE_NONE || value->number;
}

static void take_value(struct dwarf_die *die, unsigned attribute, const struct dwarf_value *value)
{
	switch (attribute) {
	case DW_AT_name:
		die->name = dwarf_value_string(die->unit, value);
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		die->linkage = dwarf_value_string(die->unit, value);
		break;
	case DW_AT_artificial:
		die->artificial = flag_of(value);
		break;
	case DW_AT_external:
		die->external = flag_of(value);
		break;
	case DW_AT_decl_line:
		die->line = (uint32_t)value->number;
		break;
	case DW_AT_decl_column:
		die->column = (uint32_t)value->number;
		break;
	case DW_AT_language:
		die->language = (uint32_t)value->number;
		break;
	case DW_AT_const_value:
		die->value = value->number;
		die->has_value = value->kind == VALUE_NUMBER;
		break;
	case DW_AT_type:
		die->type = *value;
		break;
	case DW_AT_abstract_origin:
		die->origin = *value;
		break;
	case DW_AT_specification:
		die->specification = *value;
		break;
	default:
		break;
	}
}

bool dwarf_die_may_read(struct dwarf_unit *unit)
{
	return atomic_fetch_sub_explicit(&unit->file->dwarf->dies_left, 1, memory_order_relaxed) > 0;
}

bool dwarf_die_next(struct dwarf_die *die, struct dwarf_unit *unit, struct cursor *cursor)
{
	*die = (struct dwarf_die){.unit = unit};
	if (cursor->bad || cursor->at >= cursor->end || !dwarf_die_may_read(unit))
		return false;
	die->offset = (uint64_t)(cursor->at - unit->file->sections.info.data);
	const struct dwarf_abbrevs *table = dwarf_unit_abbrevs(unit);
	uint64_t code = cursor_uleb(cursor);
	const struct dwarf_abbrev *abbrev = code && !cursor->bad ? dwarf_abbrevs_find(table, code) : NULL;
	for (unsigned i = 0; abbrev && i < abbrev->attribute_count; i++) {
		struct dwarf_attribute attribute = table->attributes[abbrev->first_attribute + i];
		struct dwarf_value value = {0};
		dwarf_attribute_read(cursor, unit, attribute, &value);
		take_value(die, attribute.name, &value);
	}
	if (!abbrev || cursor->bad)
		return false;
	die->tag = abbrev->tag;
	die->children = abbrev->children;
	die->next = *cursor;
	return true;
}

bool dwarf_die_read(struct dwarf_die *die, struct dwarf_unit *unit, uint64_t offset)
{
	*die = (struct dwarf_die){.unit = unit};
	if (offset < unit->offset + unit->header_size || offset >= unit->end)
		return false;
	dwarf_unit_root(unit); /* strings by index need its bases */
	struct cursor cursor = cursor_at(unit->file->sections.info, offset);
	cursor.end = unit->file->sections.info.data + unit->end;
	return dwarf_die_next(die, unit, &cursor);
}

/* Steps over one DIE; 1: it has children, 0: none, −1: the end of children, −2: the end of the unit. */
static int step(struct dwarf_unit *unit, const struct dwarf_abbrevs *table, struct cursor *cursor, uint16_t *ret_tag)
{
	if (cursor->bad || cursor->at >= cursor->end)
		return -2;
	uint64_t code = cursor_uleb(cursor);
	if (!code)
		return cursor->bad ? -2 : -1;
	const struct dwarf_abbrev *abbrev = dwarf_abbrevs_find(table, code);
	if (!abbrev)
		return -2;
	for (unsigned i = 0; i < abbrev->attribute_count; i++)
		dwarf_attribute_skip(cursor, unit, table->attributes[abbrev->first_attribute + i]);
	*ret_tag = abbrev->tag;
	return cursor->bad ? -2 : abbrev->children;
}

void dwarf_die_skip_children(const struct dwarf_die *die, struct cursor *cursor)
{
	const struct dwarf_abbrevs *table = dwarf_unit_abbrevs(die->unit);
	uint16_t tag;
	for (size_t depth = die->children; depth;) {
		int found = dwarf_die_may_read(die->unit) ? step(die->unit, table, cursor, &tag) : -2;
		if (found == -2) {
			cursor_fail(cursor);
			return;
		}
		if (found)
			depth += (size_t)(long)found;
	}
}

/* --- the scopes of a unit --- */

static struct dwarf_scopes *build_scopes(struct dwarf_unit *unit)
{
	struct dwarf_scopes *scopes = mem_zalloc(1, sizeof *scopes);
	const struct dwarf_abbrevs *table = dwarf_unit_abbrevs(unit);
	const uint8_t *start = unit->file->sections.info.data + unit->offset;
	struct cursor cursor = dwarf_unit_dies(unit);
	uint32_t open = DWARF_NONE, depth = 0;
	for (;;) {
		uint32_t here = (uint32_t)(cursor.at - start);
		uint16_t tag = 0;
		int found = step(unit, table, &cursor, &tag);
		if (found == 1) {
			MEM_ROOM(scopes->items, scopes->count, scopes->capacity);
			scopes->items[scopes->count] = (struct dwarf_scope){here, UINT32_MAX, open, tag};
			open = (uint32_t)scopes->count++;
			depth++;
		} else if (found == -1 && open != DWARF_NONE) {
			scopes->items[open].end = (uint32_t)(cursor.at - start);
			open = scopes->items[open].parent;
			depth--;
		}
		if (found == -2 || open == DWARF_NONE || depth == SCOPES_DEEPEST)
			return scopes;
	}
}

const struct dwarf_scopes *dwarf_unit_scopes(struct dwarf_unit *unit)
{
	struct dwarf_scopes *scopes = atomic_load_explicit(&unit->scopes, memory_order_acquire), *none = NULL;
	if (scopes)
		return scopes;
	/* Without a lock, as bodies of functions: two threads seldom want the same one at once. */
	scopes = build_scopes(unit);
	if (atomic_compare_exchange_strong(&unit->scopes, &none, scopes))
		return scopes;
	dwarf_scopes_free(scopes);
	return none;
}

void dwarf_scopes_free(struct dwarf_scopes *scopes)
{
	if (!scopes)
		return;
	free(scopes->items);
	free(scopes);
}

uint32_t dwarf_scopes_find(const struct dwarf_scopes *scopes, const struct dwarf_unit *unit, uint64_t offset)
{
	uint32_t wanted = (uint32_t)(offset - unit->offset);
	size_t at = BISECT(scopes->count, i, scopes->items[i].start < wanted);
	uint32_t found = at ? (uint32_t)at - 1 : DWARF_NONE;
	while (found != DWARF_NONE && scopes->items[found].end <= wanted)
		found = scopes->items[found].parent;
	return found;
}
