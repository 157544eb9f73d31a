/* Owns the slabs and mapping lists in kernel memory, and reuses them a round later. */
#include "engine/bpf_tables.h"

#include "base/clock.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SECOND_SHIFT 30 /* the programs' seconds */

static size_t page_aligned(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	return (size + page - 1) & ~(page - 1);
}

static void *map_array(int fd, size_t size)
{
	void *start = mmap(NULL, page_aligned(size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return start == MAP_FAILED ? NULL : start;
}

static size_t mapping_bytes(const struct bpf_tables *tables)
{
	return tables->maps.mapping_room * sizeof *tables->mappings;
}

int bpf_tables_open(struct bpf_tables *tables, const struct bpf_maps *maps, struct err *err)
{
	*tables = (struct bpf_tables){.maps = *maps};
	bpf_extents_init(&tables->lists, maps->mapping_room);
	tables->part_taken = mem_zalloc(LAYOUT_PARTS_MAX, 1);
	tables->parts = map_array(maps->parts, LAYOUT_PARTS_MAX * sizeof *tables->parts);
	tables->mappings = map_array(maps->mappings, mapping_bytes(tables));
	if (tables->parts && tables->mappings)
		return 0;
	return err_set(err, ERR_SYSTEM, "cannot map a BPF array: %s", strerror(errno));
}

void bpf_tables_release(struct bpf_tables *tables)
{
	if (tables->parts)
		munmap(tables->parts, page_aligned(LAYOUT_PARTS_MAX * sizeof *tables->parts));
	if (tables->mappings)
		munmap(tables->mappings, page_aligned(mapping_bytes(tables)));
	bpf_extents_release(&tables->lists);
	free(tables->part_taken);
	free(tables->waste);
}

/* --- what becomes free --- */

static void give_up(struct bpf_tables *tables, enum bpf_waste_kind kind, uint32_t slab, uint32_t start)
{
	MEM_ROOM(tables->waste, tables->waste_count, tables->waste_capacity);
	tables->waste[tables->waste_count++] = (struct bpf_waste){kind, slab, start};
}

void bpf_tables_settle(struct bpf_tables *tables)
{
	for (size_t i = 0; i < tables->waste_count; i++) {
		const struct bpf_waste *waste = &tables->waste[i];
		if (waste->kind == WASTE_PART)
			tables->part_taken[waste->start] = 0;
		else if (waste->kind == WASTE_LIST)
			bpf_extents_give(&tables->lists, waste->start);
		else
			bpf_slabs_give(tables->maps.slabs, waste->slab, waste->start);
	}
	tables->waste_count = 0;
}

uint32_t bpf_tables_now(void)
{
	return (uint32_t)(clock_now() >> SECOND_SHIFT);
}

/* --- tables --- */

static uint32_t take_part(struct bpf_tables *tables)
{
	for (uint32_t i = 0; i < LAYOUT_PARTS_MAX; i++)
		if (!tables->part_taken[i]) {
			tables->part_taken[i] = 1;
			return i;
		}
	return BPF_EXTENT_NONE;
}

/* Only what is written is mapped, and not for long: it would count as memory of wick. */
static bool write_part(struct bpf_tables *tables, const struct unwind_table *table, const struct bpf_part_plan *plan,
		       uint32_t slab, uint32_t at, uint32_t number)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), first = (size_t)at * 4, from = first & ~(page - 1);
	size_t size = first + (size_t)plan->words * 4 - from;
	uint8_t *start =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, tables->maps.slabs->items[slab].fd, (off_t)from);
	if (start == MAP_FAILED)
		return false;
	struct layout_part part = bpf_part_write(table, plan, at, (uint32_t *)(start + (first - from)));
	munmap(start, size);
	part.slab = slab;
	part.used = bpf_tables_now(); /* not older than those that wait to be needed again */
	tables->parts[number] = part;
	return true;
}

static bool add_part(struct bpf_tables *tables, const struct unwind_table *table, const struct bpf_part_plan *plan,
		     struct bpf_placed *placed)
{
	uint32_t slab = 0, at = bpf_slabs_take(tables->maps.slabs, plan->words, &slab);
	if (at == BPF_EXTENT_NONE)
		return false;
	uint32_t number = take_part(tables);
	if (number == BPF_EXTENT_NONE || !write_part(tables, table, plan, slab, at, number)) {
		bpf_slabs_give(tables->maps.slabs, slab, at);
		if (number != BPF_EXTENT_NONE)
			tables->part_taken[number] = 0;
		return false;
	}
	MEM_ROOM(placed->items, placed->count, placed->capacity);
	uint64_t start = tables->parts[number].base;
	placed->items[placed->count++] =
		(struct bpf_place){number, start, start + ((uint64_t)plan->pages << table->rows.shift)};
	return true;
}

bool bpf_tables_add(struct bpf_tables *tables, const struct unwind_table *table, struct bpf_placed *ret_placed)
{
	struct bpf_placed placed = {0};
	struct bpf_part_plan plan;
	for (uint32_t page = 0; bpf_part_plan(table, page, LAYOUT_SLAB_WORDS, &plan); page += plan.pages)
		if (!add_part(tables, table, &plan, &placed)) {
			bpf_tables_remove(tables, &placed);
			return false;
		}
	*ret_placed = placed;
	return true;
}

void bpf_tables_remove(struct bpf_tables *tables, struct bpf_placed *placed)
{
	for (size_t i = 0; i < placed->count; i++) {
		uint32_t number = placed->items[i].part;
		const struct layout_part *part = &tables->parts[number];
		give_up(tables, WASTE_WORDS, part->slab, part->first);
		give_up(tables, WASTE_PART, 0, number);
	}
	free(placed->items);
	*placed = (struct bpf_placed){0};
}

uint32_t bpf_tables_used(const struct bpf_tables *tables, const struct bpf_placed *placed)
{
	uint32_t latest = 0;
	for (size_t i = 0; i < placed->count; i++) {
		uint32_t used = __atomic_load_n(&tables->parts[placed->items[i].part].used, __ATOMIC_RELAXED);
		latest = used > latest ? used : latest;
	}
	return latest;
}

/* --- lists --- */

bool bpf_tables_set(struct bpf_tables *tables, int32_t pid, const struct layout_mapping *items, size_t count,
		    uint32_t generation, const struct layout_python *python, struct bpf_list *list)
{
	uint32_t first = count && count <= LAYOUT_LIST_MAX ? bpf_extents_take(&tables->lists, (uint32_t)count) :
							     BPF_EXTENT_NONE;
	struct layout_process process = {
		.first = first, .count = (uint32_t)count, .generation = generation, .used = bpf_tables_now()};
	struct bpf_list old = *list;
	if (first == BPF_EXTENT_NONE) {
		bpf_tables_unset(tables, pid, list);
		return false;
	}
	memcpy(tables->mappings + first, items, count * sizeof *items);
	process.python = python && !bpf_map_update_elem(tables->maps.pythons, &pid, python, BPF_ANY);
	if (bpf_map_update_elem(tables->maps.processes, &pid, &process, BPF_ANY)) {
		bpf_extents_give(&tables->lists, first);
		bpf_tables_unset(tables, pid, list);
		return false;
	}
	if (old.count)
		give_up(tables, WASTE_LIST, 0, old.first);
	*list = (struct bpf_list){first, (uint32_t)count};
	return true;
}

void bpf_tables_unset(struct bpf_tables *tables, int32_t pid, struct bpf_list *list)
{
	bpf_map_delete_elem(tables->maps.processes, &pid);
	bpf_map_delete_elem(tables->maps.pythons, &pid);
	if (list->count)
		give_up(tables, WASTE_LIST, 0, list->first);
	*list = (struct bpf_list){0};
}

uint32_t bpf_tables_process_used(const struct bpf_tables *tables, int32_t pid)
{
	struct layout_process process;
	return bpf_map_lookup_elem(tables->maps.processes, &pid, &process) ? 0 : process.used;
}
