/*
 * Functions of a unit, and what was inlined into one of them.
 *
 * A walk over DIEs is where the time goes, so as few as possible are looked at: first only those on the way to
 * functions, stepping over whole types and bodies where DW_AT_sibling allows it; the body of a function when an address
 * hits it. Functions inside of functions or types (nested functions of GNU C, Ada and Pascal) are found by a second
 * walk over all DIEs, which dwarf_find() requests when an address has a line but no function.
 */
#include "dwarf/private.h"

struct walk {
	struct dwarf_unit *unit;
	const struct dwarf_abbrevs *table;
	struct cursor cursor;
	const struct dwarf_abbrev *abbrev; /* of the DIE at hand */
	const uint8_t *die; /* where it begins */
	const uint8_t *sibling; /* the DIE behind its children; NULL: it does not say */
};

/* Reads the next DIE's code; 0 at the end of children, -1 at the end of the unit or where it is damaged. */
static inline int next_die(struct walk *walk)
{
	walk->die = walk->cursor.at;
	if (walk->cursor.at >= walk->cursor.end)
		return -1;
	uint64_t code = cursor_uleb(&walk->cursor);
	if (!code)
		return walk->cursor.bad ? -1 : 0;
	walk->abbrev = dwarf_abbrevs_find(walk->table, code);
	return walk->abbrev ? 1 : -1;
}

static inline void take_sibling(struct walk *walk, unsigned size)
{
	uint64_t offset = size ? cursor_number(&walk->cursor, size) : cursor_uleb(&walk->cursor);
	const uint8_t *unit = walk->unit->file->sections.info.data + walk->unit->offset;
	if (offset < (uint64_t)(walk->cursor.end - unit))
		walk->sibling = unit + offset;
}

/* Steps over the attributes of the DIE at hand; false when they are damaged. */
static inline bool skip_attributes(struct walk *walk)
{
	struct cursor *cursor = &walk->cursor;
	uint32_t first = walk->abbrev->first_step, last = first + walk->abbrev->step_count;
	walk->sibling = NULL;
	for (uint32_t i = first; i < last; i++) {
		uint16_t step = walk->table->steps[i];
		unsigned amount = step & 0xfff;
		switch (step >> 12) {
		case STEP_FIXED:
			cursor_skip(cursor, amount);
			break;
		case STEP_LEB:
			cursor_skip_leb(cursor);
			break;
		case STEP_STRING:
			cursor_string(cursor);
			break;
		case STEP_BLOCK:
			cursor_skip(cursor, amount ? cursor_number(cursor, amount) : cursor_uleb(cursor));
			break;
		case STEP_SIBLING:
			take_sibling(walk, amount);
			break;
		default:
			dwarf_attribute_skip(cursor, walk->unit, (struct dwarf_attribute){.size = SIZE_INDIRECT});
		}
	}
	/* Only forwards: a walk must end. */
	if (walk->sibling && walk->sibling < cursor->at)
		walk->sibling = NULL;
	return !cursor->bad;
}

/* What a DIE with code says, functions and inlined ones alike. */
struct code_values {
	struct dwarf_extent extent;
	struct dwarf_value origin, call_file, call_line;
};

static void read_values(const struct walk *walk, struct code_values *values)
{
	*values = (struct code_values){0};
	struct cursor cursor = walk->cursor;
	uint32_t first = walk->abbrev->first_attribute, last = first + walk->abbrev->attribute_count;
	for (uint32_t i = first; i < last; i++) {
		struct dwarf_attribute attribute = walk->table->attributes[i];
		struct dwarf_value *value;
		switch (attribute.name) {
		case DW_AT_low_pc:
			value = &values->extent.low;
			break;
		case DW_AT_high_pc:
			value = &values->extent.high;
			break;
		case DW_AT_ranges:
			value = &values->extent.ranges;
			break;
		case DW_AT_abstract_origin:
			value = &values->origin;
			break;
		case DW_AT_call_file:
			value = &values->call_file;
			break;
		case DW_AT_call_line:
			value = &values->call_line;
			break;
		default:
			dwarf_attribute_skip(&cursor, walk->unit, attribute);
			continue;
		}
		dwarf_attribute_read(&cursor, walk->unit, attribute, value);
	}
}

/* --- the functions of a unit --- */

struct functions {
	struct dwarf_function *items;
	size_t count, capacity;
	struct dwarf_range_list ranges;
};

static void add_function(struct functions *functions, const struct walk *walk, uint32_t depth)
{
	struct code_values values;
	read_values(walk, &values);
	size_t before = functions->ranges.count;
	dwarf_extent_ranges(walk->unit, &values.extent, &functions->ranges, (uint32_t)functions->count, depth);
	if (functions->ranges.count == before)
		return;
	const uint8_t *unit = walk->unit->file->sections.info.data + walk->unit->offset;
	MEM_ROOM(functions->items, functions->count, functions->capacity);
	functions->items[functions->count++] = (struct dwarf_function){.die = (uint32_t)(walk->die - unit)};
}

static void list_functions(struct functions *functions, struct walk *walk, bool whole)
{
	uint32_t depth = 0;
	for (int found; (found = next_die(walk)) >= 0;) {
		if (!found) {
			if (depth <= 1)
				return;
			depth--;
			continue;
		}
		if (walk->abbrev->kind == DIE_FUNCTION)
			add_function(functions, walk, depth);
		if (!skip_attributes(walk))
			return;
		if (!walk->abbrev->children)
			continue;
		if (walk->sibling && !whole && walk->abbrev->kind != DIE_SCOPE)
			walk->cursor.at = walk->sibling;
		else
			depth++;
	}
}

static struct dwarf_code *build_code(struct dwarf_unit *unit, bool whole, struct dwarf_code *previous)
{
	struct dwarf_unit *full = previous ? previous->unit : dwarf_split_unit(unit);
	struct dwarf_code *code = mem_zalloc(1, sizeof *code);
	code->unit = full ? full : unit;
	code->whole = whole;
	code->previous = previous;
	dwarf_unit_root(code->unit);
	struct walk walk = {
		.unit = code->unit,
		.table = dwarf_unit_abbrevs(code->unit),
		.cursor = dwarf_unit_dies(code->unit),
	};
	struct functions functions = {0};
	list_functions(&functions, &walk, whole);
	dwarf_segments_build(&code->segments, &functions.ranges);
	free(functions.ranges.items);
	code->functions = functions.items;
	code->count = functions.count;
	return code;
}

const struct dwarf_code *dwarf_unit_code(struct dwarf_unit *unit)
{
	struct dwarf_code *code = atomic_load_explicit(&unit->code, memory_order_acquire);
	if (code)
		return code;
	pthread_mutex_t *lock = dwarf_build_lock(unit);
	pthread_mutex_lock(lock);
	code = atomic_load(&unit->code);
	if (!code) {
		code = build_code(unit, false, NULL);
		atomic_store_explicit(&unit->code, code, memory_order_release);
	}
	pthread_mutex_unlock(lock);
	return code;
}

const struct dwarf_code *dwarf_unit_whole_code(struct dwarf_unit *unit)
{
	pthread_mutex_t *lock = dwarf_build_lock(unit);
	pthread_mutex_lock(lock);
	struct dwarf_code *code = atomic_load(&unit->code);
	if (!code || !code->whole) {
		code = build_code(unit, true, code);
		atomic_store_explicit(&unit->code, code, memory_order_release);
	}
	pthread_mutex_unlock(lock);
	return code;
}

/* --- what was inlined into a function --- */

struct inlines {
	struct dwarf_inlined *items;
	size_t count, capacity;
	struct dwarf_range_list ranges;
	uint32_t *parents; /* by depth: the inlined subroutine that the DIE there is, or is in */
	size_t parent_count, parent_capacity;
};

static void enter(struct inlines *inlines, uint32_t parent)
{
	MEM_ROOM(inlines->parents, inlines->parent_count, inlines->parent_capacity);
	inlines->parents[inlines->parent_count++] = parent;
}

/* The DIE where its name is looked for: what it refers to, else itself. */
static uint64_t origin_of(const struct walk *walk, const struct dwarf_value *origin)
{
	switch (origin->kind) {
	case VALUE_REF_UNIT:
		return (walk->unit->offset + origin->number) & ~ORIGIN_ALTERNATE;
	case VALUE_REF_INFO:
		return origin->number & ~ORIGIN_ALTERNATE;
	case VALUE_REF_ALTERNATE:
		return origin->number | ORIGIN_ALTERNATE;
	default:
		return (uint64_t)(walk->die - walk->unit->file->sections.info.data);
	}
}

/* Adds the inlined subroutine at hand and returns its index. */
static uint32_t add_inlined(struct inlines *inlines, const struct walk *walk, uint32_t parent)
{
	struct code_values values;
	read_values(walk, &values);
	uint32_t index = (uint32_t)inlines->count;
	dwarf_extent_ranges(walk->unit, &values.extent, &inlines->ranges, index, (uint32_t)inlines->parent_count);
	MEM_ROOM(inlines->items, inlines->count, inlines->capacity);
	inlines->items[inlines->count++] = (struct dwarf_inlined){
		.origin = origin_of(walk, &values.origin),
		.parent = parent,
		.call_file = (uint32_t)values.call_file.number,
		.call_line = (uint32_t)values.call_line.number,
	};
	return index;
}

static void list_inlines(struct inlines *inlines, struct walk *walk)
{
	if (next_die(walk) != 1 || !skip_attributes(walk) || !walk->abbrev->children)
		return;
	enter(inlines, DWARF_NONE);
	size_t foreign = SIZE_MAX; /* depth of a nested function, whose inlines are not ours */
	for (int found; (found = next_die(walk)) >= 0;) {
		if (!found) {
			if (--inlines->parent_count == 0)
				return;
			if (inlines->parent_count == foreign)
				foreign = SIZE_MAX;
			continue;
		}
		uint32_t parent = inlines->parents[inlines->parent_count - 1];
		enum dwarf_die_kind kind = walk->abbrev->kind;
		if (kind == DIE_INLINED && foreign == SIZE_MAX)
			parent = add_inlined(inlines, walk, parent);
		if (!skip_attributes(walk))
			return;
		if (!walk->abbrev->children)
			continue;
		if (walk->sibling && kind != DIE_INLINED && kind != DIE_BLOCK) {
			walk->cursor.at = walk->sibling;
			continue;
		}
		if (kind == DIE_FUNCTION && foreign == SIZE_MAX)
			foreign = inlines->parent_count;
		enter(inlines, parent);
	}
}

static void body_free(struct dwarf_body *body)
{
	dwarf_segments_release(&body->segments);
	free(body->inlines);
	free(body);
}

static struct dwarf_body *build_body(const struct dwarf_code *code, const struct dwarf_function *function)
{
	struct dwarf_unit *unit = code->unit;
	struct walk walk = {
		.unit = unit,
		.table = dwarf_unit_abbrevs(unit),
		.cursor = cursor_at(unit->file->sections.info, unit->offset + function->die),
	};
	walk.cursor.end = unit->file->sections.info.data + unit->end;
	struct inlines inlines = {0};
	list_inlines(&inlines, &walk);
	free(inlines.parents);
	struct dwarf_body *body = mem_zalloc(1, sizeof *body);
	body->inlines = mem_realloc(inlines.items, inlines.count, sizeof *inlines.items);
	body->count = inlines.count;
	dwarf_segments_build(&body->segments, &inlines.ranges);
	free(inlines.ranges.items);
	return body;
}

const struct dwarf_body *dwarf_function_body(const struct dwarf_code *code, struct dwarf_function *function)
{
	struct dwarf_body *body = atomic_load_explicit(&function->body, memory_order_acquire), *none = NULL;
	if (body)
		return body;
	/* Without a lock: two threads seldom want the same one at once, and often two of one unit. */
	body = build_body(code, function);
	if (atomic_compare_exchange_strong(&function->body, &none, body))
		return body;
	body_free(body);
	return none;
}

void dwarf_code_free(struct dwarf_code *code)
{
	while (code) {
		for (size_t i = 0; i < code->count; i++) {
			struct dwarf_body *body = atomic_load(&code->functions[i].body);
			if (body)
				body_free(body);
		}
		struct dwarf_code *previous = code->previous;
		dwarf_segments_release(&code->segments);
		free(code->functions);
		free(code);
		code = previous;
	}
}
