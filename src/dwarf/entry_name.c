/*
 * Names of functions. An inlined subroutine or an out-of-line copy refers to its abstract instance, which refers to its
 * declaration; the linkage name may stand in any of them. Each DIE is looked up once.
 */
#include "dwarf/private.h"

#include "base/buf.h"
#include "base/hash.h"

/* Three are enough for honest files; a chain in a circle must end. */
#define HOPS_MAX 12

struct dwarf_named {
	const struct dwarf_file *file;
	uint64_t offset;
	const struct dwarf_name *name;
};

struct name_values {
	struct dwarf_value linkage, name, line, origin, specification;
};

static bool read_values(struct dwarf_unit *unit, uint64_t offset, struct name_values *values)
{
	if (offset - unit->offset < unit->header_size)
		return false;
	struct cursor cursor = cursor_at(unit->file->sections.info, offset);
	cursor.end = unit->file->sections.info.data + unit->end;
	const struct dwarf_abbrevs *table = dwarf_unit_abbrevs(unit);
	const struct dwarf_abbrev *abbrev = dwarf_abbrevs_find(table, cursor_uleb(&cursor));
	for (unsigned i = 0; abbrev && i < abbrev->attribute_count; i++) {
		struct dwarf_attribute attribute = table->attributes[abbrev->first_attribute + i];
		struct dwarf_value ignored, *value = &ignored;
		switch (attribute.name) {
		case DW_AT_linkage_name:
		case DW_AT_MIPS_linkage_name:
			value = &values->linkage;
			break;
		case DW_AT_name:
			value = &values->name;
			break;
		case DW_AT_decl_line:
			value = &values->line;
			break;
		case DW_AT_abstract_origin:
			value = &values->origin;
			break;
		case DW_AT_specification:
			value = &values->specification;
			break;
		}
		dwarf_attribute_read(&cursor, unit, attribute, value);
	}
	return abbrev;
}

bool dwarf_follow(struct dwarf_unit **unit, uint64_t *offset, const struct dwarf_value *reference)
{
	struct dwarf_file *file = (*unit)->file;
	switch (reference->kind) {
	case VALUE_REF_UNIT:
		*offset = (*unit)->offset + reference->number;
		return reference->number < (*unit)->end - (*unit)->offset;
	case VALUE_REF_INFO:
		break;
	case VALUE_REF_ALTERNATE:
		file = file->alternate;
		break;
	default:
		return false;
	}
	*offset = reference->number;
	*unit = file ? dwarf_file_unit(file, *offset) : NULL;
	return *unit;
}

/* A name that has to be made is appended to `made`, and is then the whole of it. */
static struct dwarf_name resolve(struct dwarf_file *file, uint64_t offset, struct buf *made)
{
	struct dwarf_name name = {0};
	struct dwarf_unit *unit = dwarf_file_unit(file, offset);
	for (unsigned hops = 0; unit && hops < HOPS_MAX; hops++) {
		dwarf_unit_root(unit); /* strings by index need its bases */
		struct name_values values = {0};
		if (!read_values(unit, offset, &values))
			break;
		/* The nearest counts: a constructor's copy says C1 or C2, its abstract instance C4 (no symbol). */
		const char *linkage = name.is_linkage ? NULL : dwarf_value_string(unit, &values.linkage);
		if (linkage && *linkage) {
			name.text = linkage;
			name.is_linkage = true;
		} else if (!name.text) {
			name.text = dwarf_value_string(unit, &values.name);
		}
		if (!name.declared_line && values.line.kind == VALUE_NUMBER)
			name.declared_line = (uint32_t)values.line.number;
		if (name.is_linkage && name.declared_line)
			break;
		bool has_origin = values.origin.kind != VALUE_NONE;
		struct dwarf_unit *next = unit;
		uint64_t next_offset = offset;
		if (!dwarf_follow(&next, &next_offset, has_origin ? &values.origin : &values.specification))
			break;
		unit = next;
		offset = next_offset;
	}
	if (unit && name.text && !name.is_linkage && file->dwarf->files.qualify && dwarf_qualify(made, unit, offset))
		name.text = made->data;
	return name;
}

static const struct dwarf_name *find_named(const struct dwarf_names *names, const struct dwarf_file *file,
					   uint64_t offset, uint64_t hash)
{
	struct index_probe probe;
	for (uint32_t i = index_map_first(&names->map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&names->map, &probe))
		if (names->items[i].offset == offset && names->items[i].file == file)
			return names->items[i].name;
	return NULL;
}

const struct dwarf_name *dwarf_name_of(struct dwarf_file *file, uint64_t origin)
{
	static const struct dwarf_name unknown;
	uint64_t offset = origin & ~ORIGIN_ALTERNATE;
	struct dwarf *dwarf = file->dwarf;
	if (origin & ORIGIN_ALTERNATE)
		file = file->alternate;
	if (!file)
		return &unknown;
	uint64_t hash = hash_mix(offset ^ HASH_K0, (uintptr_t)file ^ HASH_K1);
	struct dwarf_names *names = &dwarf->names[hash % DWARF_NAME_PARTS];
	pthread_mutex_lock(&names->lock);
	const struct dwarf_name *name = find_named(names, file, offset, hash);
	pthread_mutex_unlock(&names->lock);
	if (name)
		return name;
	struct buf made CLEANUP_BUF = {0};
	struct dwarf_name resolved = resolve(file, offset, &made);
	pthread_mutex_lock(&names->lock);
	name = find_named(names, file, offset, hash);
	if (!name) {
		struct dwarf_name *kept = arena_alloc(&names->arena, sizeof *kept, _Alignof(struct dwarf_name));
		*kept = resolved;
		if (made.data && resolved.text == made.data)
			kept->text = arena_copy(&names->arena, made.data, made.size);
		name = kept;
		MEM_ROOM(names->items, names->count, names->capacity);
		index_map_insert(&names->map, hash, (uint32_t)names->count);
		names->items[names->count++] = (struct dwarf_named){file, offset, name};
	}
	pthread_mutex_unlock(&names->lock);
	return name;
}
