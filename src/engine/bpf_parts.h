/*
 * Unwind tables in the form in which the kernel walks them (bpf/layout.h): the bytes of unwind/table.h one behind the
 * other, cut into parts where a table is larger than a slab. Nothing here needs a kernel.
 */
#ifndef WICK_ENGINE_BPF_PARTS_H
#define WICK_ENGINE_BPF_PARTS_H

#include "bpf/layout.h"
#include "unwind/table.h"

#include <stdbool.h>

/* A stretch of a table's pages, and how many words it takes. */
struct bpf_part_plan {
	uint32_t page, pages;
	uint32_t words;
};

/*
 * The part that begins with `page`: as many pages as fit into `max_words`. False when there is none behind, or not
 * even one page fits (which tables of real files never reach).
 */
bool bpf_part_plan(const struct unwind_table *table, uint32_t page, uint32_t max_words, struct bpf_part_plan *ret_plan);

/*
 * Writes a part to `words` (plan->words of them), which will lie in a slab at word `at`. Returns its description; slab
 * and used are 0.
 */
struct layout_part bpf_part_write(const struct unwind_table *table, const struct bpf_part_plan *plan, uint32_t at,
				  uint32_t *words);

#endif
