/* Unwind tables in the kernel's form give the same rules as src/unwind does. */
#include "unit.h"

#include "engine/bpf_extents.h"
#include "engine/bpf_parts.h"

#include <string.h>

/* As find_rule() of bpf/walk.h. */
static uint64_t rule_in_part(const struct layout_part *part, const uint32_t *slab, uint64_t address)
{
	uint64_t page = (address - part->base) >> part->shift;
	if (page >= part->pages)
		return 0;
	uint32_t at = slab[part->first + page], count = slab[part->first + page + 1] - at;
	uint32_t key = (uint32_t)(address & 0xffff) << 16 | 0xffff;
	while (count && slab[part->rows + at] <= key) {
		at++;
		count--;
	}
	if (!at || at > part->row_count)
		return 0;
	uint32_t number = slab[part->rows + at - 1] & 0xffff;
	return slab[part->rules + number * 2] | (uint64_t)slab[part->rules + number * 2 + 1] << 32;
}

static uint64_t rule_outside(const struct unwind_table *table, uint64_t address)
{
	uint64_t bits;
	struct unwind_rule rule = table->rules[unwind_rows_find(&table->rows, address)];
	rule.cfa &= ~UNWIND_CFA_DERIVED; /* the programs do not know it */
	memcpy(&bits, &rule, sizeof bits);
	return bits;
}

static struct unwind_table *table_of(const char *path)
{
	struct elf_file *elf;
	struct unwind_table *table;
	if (elf_open(&elf, path, NULL))
		return NULL;
	int result = unwind_table_build(&table, elf, NULL, NULL);
	elf_close(elf);
	return result ? NULL : table;
}

/* Every row's address, the one before it and one inside. */
static void compare_part(const struct unwind_table *table, const struct bpf_part_plan *plan,
			 const struct layout_part *part, const uint32_t *slab)
{
	const struct unwind_rows *rows = &table->rows;
	uint64_t start = rows->base + ((uint64_t)plan->page << rows->shift);
	uint64_t end = start + ((uint64_t)plan->pages << rows->shift);
	assert_int_equal(rule_in_part(part, slab, start), rule_outside(table, start));
	assert_int_equal(rule_in_part(part, slab, end - 1), rule_outside(table, end - 1));
	for (uint32_t page = plan->page; page < plan->page + plan->pages; page++) {
		uint64_t page_start = rows->base + ((uint64_t)page << rows->shift);
		for (uint32_t i = rows->first[page]; i < rows->first[page + 1]; i++) {
			uint64_t address = page_start + ((rows->rows[i] >> 16) - (page_start & 0xffff));
			for (uint64_t look = address > start ? address - 1 : address; look <= address + 1 && look < end;
			     look++)
				assert_int_equal(rule_in_part(part, slab, look), rule_outside(table, look));
		}
	}
}

static void compare(const char *path, uint32_t max_words)
{
	struct unwind_table *table = table_of(path);
	if (!table)
		skip();
	enum { AT = 77 }; /* parts do not begin at the beginning of a slab */
	uint32_t *slab = calloc(LAYOUT_SLAB_WORDS + AT, sizeof *slab), page = 0;
	struct bpf_part_plan plan;
	size_t parts = 0;
	for (; bpf_part_plan(table, page, max_words, &plan); page += plan.pages) {
		struct layout_part part = bpf_part_write(table, &plan, AT, slab + AT);
		assert_true(plan.words <= max_words);
		compare_part(table, &plan, &part, slab);
		parts++;
	}
	assert_int_equal(page, table->rows.pages);
	assert_true(max_words == LAYOUT_SLAB_WORDS || parts > 1);
	free(slab);
	unwind_table_free(table);
}

static void every_row_of_libc_gives_the_same_rule(void **state)
{
	(void)state;
	compare("/lib/x86_64-linux-gnu/libc.so.6", LAYOUT_SLAB_WORDS);
}

static void every_row_of_libstdcxx_gives_the_same_rule(void **state)
{
	(void)state;
	compare("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", LAYOUT_SLAB_WORDS);
}

static void a_table_that_is_cut_into_parts_gives_the_same_rules(void **state)
{
	(void)state;
	compare("/lib/x86_64-linux-gnu/libc.so.6", 4096);
}

static void the_largest_tables_fit(void **state)
{
	(void)state;
	compare("/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", LAYOUT_SLAB_WORDS);
}

static void a_part_that_cannot_hold_a_page_is_not_planned(void **state)
{
	(void)state;
	struct unwind_table *table = table_of("/lib/x86_64-linux-gnu/libc.so.6");
	if (!table)
		skip();
	struct bpf_part_plan plan;
	assert_false(bpf_part_plan(table, 0, 3, &plan));
	assert_false(bpf_part_plan(table, table->rows.pages, LAYOUT_SLAB_WORDS, &plan));
	unwind_table_free(table);
}

static void rules_that_programs_do_not_know_are_plain_ones(void **state)
{
	(void)state;
	static const struct unwind_rule rules[] = {
		[UNWIND_RULE_STOP] = {.cfa = UNWIND_CFA_STOP},
		{.cfa = UNWIND_CFA_GO_LEFT, .fp = UNWIND_FP_AT_CFA, .fp_offset = -16, .cfa_offset = 32},
		{.cfa = UNWIND_CFA_SP | UNWIND_CFA_DERIVED, .cfa_offset = 8},
	};
	uint32_t slab[64];
	struct unwind_rows_maker rows;
	struct bpf_part_plan plan;
	unwind_rows_maker_init(&rows, 0x1000, 0x1400, 2);
	unwind_rows_maker_add(&rows, 0x1000, 2);
	unwind_rows_maker_add(&rows, 0x1100, 3);
	unwind_rows_maker_finish(&rows);
	struct unwind_table *table = unwind_table_new(
		&(struct unwind_table_parts){.arch = &arch_x86_64, .rows = &rows, .rules = rules, .rule_count = 4});
	assert_true(bpf_part_plan(table, 0, sizeof slab / sizeof *slab, &plan));
	struct layout_part part = bpf_part_write(table, &plan, 0, slab);
	uint64_t left = rule_in_part(&part, slab, 0x1000), derived = rule_in_part(&part, slab, 0x1100);
	assert_int_equal(left & 0xff, LAYOUT_CFA_SP);
	assert_int_equal(left >> 32, 32);
	assert_int_equal(derived & 0xff, LAYOUT_CFA_SP);
	unwind_table_free(table);
	unwind_rows_maker_release(&rows);
}

static void the_frame_of_a_signal_is_where_the_programs_look(void **state)
{
	(void)state;
	assert_int_equal(arch_x86_64.signal_fp, LAYOUT_SIGNAL_FP);
	assert_int_equal(arch_x86_64.signal_sp, LAYOUT_SIGNAL_SP);
	assert_int_equal(arch_x86_64.signal_ip, LAYOUT_SIGNAL_IP);
}

static void room_is_given_out_without_overlap_and_again(void **state)
{
	(void)state;
	struct bpf_extents room;
	bpf_extents_init(&room, 100);
	uint32_t first = bpf_extents_take(&room, 40), second = bpf_extents_take(&room, 40),
		 third = bpf_extents_take(&room, 20);
	assert_int_equal(first, 0);
	assert_int_equal(second, 40);
	assert_int_equal(third, 80);
	assert_int_equal(bpf_extents_take(&room, 1), BPF_EXTENT_NONE);
	bpf_extents_give(&room, second);
	assert_int_equal(bpf_extents_take(&room, 41), BPF_EXTENT_NONE);
	assert_int_equal(bpf_extents_take(&room, 30), 40);
	assert_int_equal(bpf_extents_take(&room, 10), 70);
	bpf_extents_give(&room, first);
	bpf_extents_give(&room, 12345); /* was never taken */
	assert_int_equal(bpf_extents_take(&room, 40), 0);
	bpf_extents_release(&room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_of_libc_gives_the_same_rule),
		cmocka_unit_test(every_row_of_libstdcxx_gives_the_same_rule),
		cmocka_unit_test(a_table_that_is_cut_into_parts_gives_the_same_rules),
		cmocka_unit_test(the_largest_tables_fit),
		cmocka_unit_test(a_part_that_cannot_hold_a_page_is_not_planned),
		cmocka_unit_test(rules_that_programs_do_not_know_are_plain_ones),
		cmocka_unit_test(the_frame_of_a_signal_is_where_the_programs_look),
		cmocka_unit_test(room_is_given_out_without_overlap_and_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
