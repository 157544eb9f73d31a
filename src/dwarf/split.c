/* Split DWARF: the full unit of a skeleton, in a .dwo file or in a .dwp package with an index (section 7.3.5). */
#include "dwarf/private.h"

/* A package's index: a hash table of the ids of units, and per unit a row with its part of each section. */
struct package {
	uint32_t section_count, unit_count, slot_count;
	unsigned version;
	struct span hashes, rows, columns, offsets, sizes;
};

static struct span take(struct cursor *cursor, uint64_t count, uint64_t size)
{
	struct span span = {cursor->at, 0};
	uint64_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes) || bytes > cursor_left(cursor)) {
		cursor_fail(cursor);
		return span;
	}
	span.size = (size_t)bytes;
	cursor->at += bytes;
	return span;
}

static bool read_package(struct package *package, struct span index)
{
	struct cursor cursor = cursor_at(index, 0);
	/* 2 in four bytes (GNU), or 5 in two and two of padding */
	package->version = cursor_u16(&cursor);
	cursor_u16(&cursor);
	package->section_count = cursor_u32(&cursor);
	package->unit_count = cursor_u32(&cursor);
	package->slot_count = cursor_u32(&cursor);
	package->hashes = take(&cursor, package->slot_count, 8);
	package->rows = take(&cursor, package->slot_count, 4);
	package->columns = take(&cursor, package->section_count, 4);
	package->offsets = take(&cursor, package->unit_count, 4 * (uint64_t)package->section_count);
	package->sizes = take(&cursor, package->unit_count, 4 * (uint64_t)package->section_count);
	return !cursor.bad && (package->version == 2 || package->version == 5);
}

static uint64_t number_at(struct span span, uint64_t index, unsigned size)
{
	struct cursor cursor = cursor_at(span, index * size);
	return cursor_number(&cursor, size);
}

/* The row of a unit, from 1; 0 when the package does not have it. */
static uint64_t find_row(const struct package *package, uint64_t id)
{
	uint64_t mask = package->slot_count - 1ull, slot = id & mask, step = (id >> 32 & mask) | 1;
	if (!package->slot_count || package->slot_count & mask)
		return 0;
	for (uint32_t tries = 0; tries < package->slot_count; tries++) {
		uint64_t row = number_at(package->rows, slot, 4);
		if (!row || number_at(package->hashes, slot, 8) == id)
			return row <= package->unit_count ? row : 0;
		slot = (slot + step) & mask;
	}
	return 0;
}

static void narrow(struct span *section, uint64_t offset, uint64_t size)
{
	if (offset > section->size || size > section->size - offset)
		*section = (struct span){0};
	else if (size)
		*section = (struct span){section->data + offset, (size_t)size};
	else
		*section = (struct span){0};
}

/* Narrows the sections to what the package's index says is of this unit. */
static bool narrow_to_unit(struct dwarf_sections *sections, struct span index, uint64_t id)
{
	struct package package = {0};
	uint64_t row = read_package(&package, index) ? find_row(&package, id) : 0;
	if (!row)
		return false;
	for (uint32_t column = 0; column < package.section_count; column++) {
		uint64_t cell = (row - 1) * package.section_count + column;
		uint64_t offset = number_at(package.offsets, cell, 4), size = number_at(package.sizes, cell, 4);
		switch (number_at(package.columns, column, 4)) {
		case DW_SECT_INFO:
			narrow(&sections->info, offset, size);
			break;
		case DW_SECT_ABBREV:
			narrow(&sections->abbrev, offset, size);
			break;
		case DW_SECT_LINE:
			narrow(&sections->line, offset, size);
			break;
		case DW_SECT_STR_OFFSETS:
			narrow(&sections->str_offsets, offset, size);
			break;
		case DW_SECT_RNGLISTS:
			if (package.version == 5)
				narrow(&sections->rnglists, offset, size);
			break;
		}
	}
	return true;
}

static struct dwarf_unit *find_unit(struct dwarf_file *view, struct dwarf_unit *skeleton, uint64_t id)
{
	for (size_t i = 0; i < view->unit_count; i++)
		view->units[i].skeleton = skeleton;
	for (size_t i = 0; i < view->unit_count; i++)
		if (dwarf_unit_root(&view->units[i])->split_id == id)
			return &view->units[i];
	return NULL;
}

/* The sections of the file, or what the package has of this unit; NULL when it does not have it. */
static struct dwarf_file *open_view(struct dwarf_unit *skeleton, struct elf_file *elf, uint64_t id)
{
	struct dwarf *dwarf = skeleton->file->dwarf;
	struct dwarf_sections sections;
	dwarf_sections_read(&sections, elf, ".dwo");
	struct elf_section index;
	bool is_package = elf_section(elf, ".debug_cu_index", &index) && index.data;
	if (is_package && !narrow_to_unit(&sections, (struct span){index.data, index.size}, id))
		return NULL;
	sections.addr = skeleton->file->sections.addr;
	sections.ranges = skeleton->file->sections.ranges;
	struct dwarf_file *view = mem_zalloc(1, sizeof *view);
	view->dwarf = dwarf;
	view->sections = sections;
	view->alternate = skeleton->file->alternate;
	dwarf_file_list_units(view);
	atomic_fetch_add(&dwarf->ranges_left,
			 dwarf_ranges_allowance(&(struct dwarf_sections){.rnglists = sections.rnglists}));
	return view;
}

struct dwarf_unit *dwarf_split_unit(struct dwarf_unit *skeleton)
{
	struct dwarf *dwarf = skeleton->file->dwarf;
	const struct dwarf_root *root = dwarf_unit_root(skeleton);
	const struct dwarf_files *files = &dwarf->files;
	const char *name = dwarf_value_string(skeleton, &root->split_name);
	if (!name || !files->find_split)
		return NULL;
	const char *directory = dwarf_value_string(skeleton, &root->directory);
	struct elf_file *elf = files->find_split(files->context, directory, name, root->split_id);
	struct dwarf_file *view = elf ? open_view(skeleton, elf, root->split_id) : NULL;
	if (!view)
		return NULL;
	struct dwarf_unit *unit = find_unit(view, skeleton, root->split_id);
	if (!unit) {
		dwarf_file_release(view);
		free(view);
		return NULL;
	}
	pthread_mutex_lock(&dwarf->lock);
	MEM_ROOM(dwarf->splits, dwarf->split_count, dwarf->split_capacity);
	dwarf->splits[dwarf->split_count++] = view;
	pthread_mutex_unlock(&dwarf->lock);
	return unit;
}
