/* Builds unwind tables from call frame information that is written out byte by byte. */
#ifndef WICK_TESTS_UNWIND_TABLE_MAKER_H
#define WICK_TESTS_UNWIND_TABLE_MAKER_H

#include "unit.h"

#include "elf_maker.h"
#include "unwind/table.h"

#define PROGRAM(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

enum { TEXT = 0x10000, TEXT_SIZE = 0x10000, EH_FRAME = 0x400 };

static inline int build(struct unwind_table **ret_table, const struct elf_maker_section *sections, size_t count,
			uint64_t text_size)
{
	struct buf bytes = {0};
	struct elf_file *elf;
	elf_make(&bytes, TEXT, text_size, sections, count);
	assert_int_equal(elf_open_bytes(&elf, bytes.data, bytes.size, NULL), 0);
	int result = unwind_table_build(ret_table, elf, NULL, NULL);
	elf_close(elf);
	buf_release(&bytes);
	return result;
}

/* The table of a file with this .eh_frame; releases it. */
static inline struct unwind_table *build_eh(struct buf *eh_frame)
{
	struct elf_maker_section section = {".eh_frame", eh_frame->data, eh_frame->size, EH_FRAME, SHF_ALLOC};
	struct unwind_table *table;
	assert_int_equal(build(&table, &section, 1, TEXT_SIZE), 0);
	buf_release(eh_frame);
	return table;
}

static inline struct unwind_rule rule_at(const struct unwind_table *table, uint64_t address)
{
	return table->rules[unwind_rows_find(&table->rows, address)];
}

static inline void check_rule(const struct unwind_table *table, uint64_t address, int cfa, int cfa_offset, int fp,
			      int fp_offset)
{
	struct unwind_rule rule = rule_at(table, address);
	assert_int_equal(rule.cfa & ~UNWIND_CFA_DERIVED, cfa);
	assert_int_equal(rule.cfa_offset, cfa_offset);
	assert_int_equal(rule.fp, fp);
	assert_int_equal(rule.fp_offset, fp_offset);
}

static inline void check_invalid(const struct unwind_table *table, uint64_t address)
{
	assert_int_equal(unwind_rows_find(&table->rows, address), UNWIND_RULE_INVALID);
}

#endif
