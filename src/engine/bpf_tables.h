/*
 * The kernel's memory of the engine: slabs with unwind tables, and the lists of mappings by process. What programs may
 * be reading is not overwritten at once: what is given up becomes free with bpf_tables_settle(), a round later.
 */
#ifndef WICK_ENGINE_BPF_TABLES_H
#define WICK_ENGINE_BPF_TABLES_H

#include "engine/bpf_extents.h"
#include "engine/bpf_load.h"
#include "engine/bpf_parts.h"

/* A piece of a slab or of the lists, or the number of a part, that becomes free. */
enum bpf_waste_kind { WASTE_WORDS, WASTE_LIST, WASTE_PART };
struct bpf_waste {
	enum bpf_waste_kind kind;
	uint32_t slab; /* of WASTE_WORDS */
	uint32_t start;
};

struct bpf_tables {
	struct bpf_maps maps;
	struct layout_part *parts; /* mapped */
	uint8_t *part_taken;
	struct layout_mapping *mappings; /* mapped */
	struct bpf_extents lists;
	struct bpf_waste *waste;
	size_t waste_count, waste_capacity;
};

int bpf_tables_open(struct bpf_tables *tables, const struct bpf_maps *maps, struct err *err);
void bpf_tables_release(struct bpf_tables *tables);
void bpf_tables_settle(struct bpf_tables *tables);

/* The time by which programs say when they needed something, in seconds of 2^30 nanoseconds. */
uint32_t bpf_tables_now(void);

/* Where the table of a module is: its parts in ascending order, and the virtual addresses they hold for. */
struct bpf_place {
	uint32_t part;
	uint64_t start, end;
};
struct bpf_placed {
	struct bpf_place *items;
	size_t count, capacity;
};
/* False when there is no room (or the kernel gives none): some other module must go first. */
bool bpf_tables_add(struct bpf_tables *tables, const struct unwind_table *table, struct bpf_placed *ret_placed);
void bpf_tables_remove(struct bpf_tables *tables, struct bpf_placed *placed);
/* When a program last needed it, in the programs' seconds. */
uint32_t bpf_tables_used(const struct bpf_tables *tables, const struct bpf_placed *placed);

/* The list of a process; count 0: none. */
struct bpf_list {
	uint32_t first, count;
};
/*
 * Writes a new list and lets the kernel take it. False when there is no room; the process then has no list. `python` is
 * its interpreter, or NULL.
 */
bool bpf_tables_set(struct bpf_tables *tables, int32_t pid, const struct layout_mapping *items, size_t count,
		    uint32_t generation, const struct layout_python *python, struct bpf_list *list);
void bpf_tables_unset(struct bpf_tables *tables, int32_t pid, struct bpf_list *list);
/* When a sample last hit the process; 0: the kernel does not have it (any more). */
uint32_t bpf_tables_process_used(const struct bpf_tables *tables, int32_t pid);

#endif
