/* Splits an unwind table into slabs, and converts its rows and rules. */
#include "engine/bpf_parts.h"

#include <string.h>

#define SAME(name) _Static_assert((int)LAYOUT_##name == (int)UNWIND_##name, "bpf/layout.h and unwind/table.h differ")
SAME(CFA_INVALID);
SAME(CFA_STOP);
SAME(CFA_SP);
SAME(CFA_FP);
SAME(CFA_PLT);
SAME(CFA_AT_SP);
SAME(CFA_AT_FP);
SAME(CFA_SIGNAL);
SAME(CFA_GO);
SAME(CFA_REGISTER);
SAME(CFA_INTERRUPTED);
SAME(FP_SAME);
SAME(FP_AT_CFA);
SAME(FP_AT_FP);

/* Rows of a page, and those before: the row in front of a part holds for what lies before its first own row. */
static uint32_t rows_from(const struct unwind_table *table, uint32_t page)
{
	uint32_t first = table->rows.first[page];
	return first ? first - 1 : 0;
}

static uint64_t words_of(const struct unwind_table *table, uint32_t page, uint32_t pages)
{
	uint64_t rows = table->rows.first[page + pages] - rows_from(table, page);
	return (uint64_t)pages + 1 + rows + (uint64_t)table->rule_count * 2;
}

bool bpf_part_plan(const struct unwind_table *table, uint32_t page, uint32_t max_words, struct bpf_part_plan *ret_plan)
{
	if (page >= table->rows.pages || words_of(table, page, 1) > max_words)
		return false;
	uint32_t low = 1, high = table->rows.pages - page;
	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;
		if (words_of(table, page, middle) <= max_words)
			low = middle;
		else
			high = middle - 1;
	}
	*ret_plan = (struct bpf_part_plan){page, low, (uint32_t)words_of(table, page, low)};
	return true;
}

/*
 * Programs follow a rule wherever it comes from, unless it is for code of another machine. Whether a thread has left
 * its goroutine they read in memory.
 */
static void write_rules(const struct unwind_table *table, uint32_t *words)
{
	for (uint32_t i = 0; i < table->rule_count; i++) {
		struct unwind_rule rule = table->rules[table->arch->links ? UNWIND_RULE_INVALID : i];
		rule.cfa &= ~UNWIND_CFA_DERIVED;
		if (rule.cfa == UNWIND_CFA_GO_LEFT)
			rule.cfa = UNWIND_CFA_SP;
		memcpy(words + (size_t)i * 2, &rule, sizeof rule);
	}
}

struct layout_part bpf_part_write(const struct unwind_table *table, const struct bpf_part_plan *plan, uint32_t at,
				  uint32_t *words)
{
	const struct unwind_rows *rows = &table->rows;
	uint32_t from = rows_from(table, plan->page), count = rows->first[plan->page + plan->pages] - from;
	struct layout_part part = {
		.base = rows->base + ((uint64_t)plan->page << rows->shift),
		.shift = rows->shift,
		.pages = plan->pages,
		.first = at,
		.rows = at + plan->pages + 1,
		.rules = at + plan->pages + 1 + count,
		.row_count = count,
		.narrow = table->arch->word == 4,
	};
	for (uint32_t i = 0; i <= plan->pages; i++)
		words[i] = rows->first[plan->page + i] - from;
	memcpy(words + plan->pages + 1, rows->rows + from, count * sizeof *words);
	write_rules(table, words + plan->pages + 1 + count);
	return part;
}
