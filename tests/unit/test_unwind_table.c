/* Tables from call frame information that is written out byte by byte. */
#include "unwind_table_maker.h"

#include "elf_maker.h"
#include "unwind/table.h"

#include <stdio.h>

static void a_function_with_a_frame_pointer_has_its_four_rows(void **state)
{
	(void)state;
	struct buf eh_frame = {0};
	size_t cie = put_cie(&eh_frame, "zR", 0);
	/* push %rbp; mov %rsp,%rbp; …; leave */
	put_fde(&eh_frame, cie, TEXT, 0x40, PROGRAM(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x3a, 0x0c, 7, 8));
	struct unwind_table *table = build_eh(&eh_frame);
	check_rule(table, TEXT, UNWIND_CFA_SP, 8, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 1, UNWIND_CFA_SP, 16, UNWIND_FP_AT_CFA, -16);
	check_rule(table, TEXT + 3, UNWIND_CFA_SP, 16, UNWIND_FP_AT_CFA, -16);
	check_rule(table, TEXT + 4, UNWIND_CFA_FP, 16, UNWIND_FP_AT_CFA, -16);
	check_rule(table, TEXT + 0x3d, UNWIND_CFA_FP, 16, UNWIND_FP_AT_CFA, -16);
	/* rbp's slot lies below rsp: it is restored, whatever the entry says */
	check_rule(table, TEXT + 0x3e, UNWIND_CFA_SP, 8, UNWIND_FP_SAME, 0);
	check_invalid(table, TEXT + 0x40);
	check_invalid(table, TEXT - 1);
	check_invalid(table, 0);
	check_invalid(table, UINT64_MAX);
	assert_int_equal(unwind_table_rows(table), 5);
	unwind_table_free(table);
}

static void padding_keeps_the_rule_and_gaps_have_none(void **state)
{
	(void)state;
	struct buf eh_frame = {0};
	size_t cie = put_cie(&eh_frame, "zR", 0);
	put_fde(&eh_frame, cie, TEXT, 1, PROGRAM(0));
	put_fde(&eh_frame, cie, TEXT + 16, 16, PROGRAM(0x48, 0x0e, 24));
	put_fde(&eh_frame, cie, TEXT + 48, 16, PROGRAM(0));
	struct unwind_table *table = build_eh(&eh_frame);
	check_rule(table, TEXT + 15, UNWIND_CFA_SP, 8, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 31, UNWIND_CFA_SP, 24, UNWIND_FP_SAME, 0);
	check_invalid(table, TEXT + 32);
	check_invalid(table, TEXT + 47);
	check_rule(table, TEXT + 48, UNWIND_CFA_SP, 8, UNWIND_FP_SAME, 0);
	/* SP+8, SP+24, none, SP+8, none: equal neighbours are one */
	assert_int_equal(unwind_table_rows(table), 5);
	unwind_table_free(table);
}

static void functions_in_any_order_are_sorted(void **state)
{
	(void)state;
	struct buf eh_frame = {0};
	size_t cie = put_cie(&eh_frame, "zR", 0);
	enum { COUNT = 500 };
	for (unsigned i = 0; i < COUNT; i++) {
		unsigned place = i * 211 % COUNT; /* 211 and 500 have no common divisor */
		put_fde(&eh_frame, cie, TEXT + place * 100, 100, PROGRAM(0x0e, (uint8_t)(8 + place % 15 * 8)));
	}
	struct unwind_table *table = build_eh(&eh_frame);
	for (unsigned i = 0; i < COUNT; i++)
		for (unsigned offset = 0; offset < 100; offset += 33)
			check_rule(table, TEXT + i * 100 + offset, UNWIND_CFA_SP, (int)(8 + i % 15 * 8), UNWIND_FP_SAME,
				   0);
	assert_int_equal(unwind_table_rows(table), COUNT + 1);
	unwind_table_free(table);
}

static void of_overlapping_functions_the_first_counts(void **state)
{
	(void)state;
	struct buf eh_frame = {0};
	size_t cie = put_cie(&eh_frame, "zR", 0);
	put_fde(&eh_frame, cie, TEXT + 32, 64, PROGRAM(0x0e, 32, 0x60, 0x0e, 40));
	put_fde(&eh_frame, cie, TEXT, 48, PROGRAM(0x0e, 16));
	put_fde(&eh_frame, cie, TEXT + 40, 8, PROGRAM(0x0e, 48));
	struct unwind_table *table = build_eh(&eh_frame);
	check_rule(table, TEXT + 47, UNWIND_CFA_SP, 16, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 48, UNWIND_CFA_SP, 32, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 64, UNWIND_CFA_SP, 40, UNWIND_FP_SAME, 0);
	unwind_table_free(table);
}

static void every_pointer_encoding_is_read(void **state)
{
	(void)state;
	enum { GOT = 0x3000, START = TEXT + 0x20 };
	static const struct {
		uint8_t encoding;
		uint8_t size; /* 0: LEB128 */
		int64_t from; /* -1: where the pointer is */
	} rows[] = {
		{0x00, 8, 0},    {0x01, 0, 0},   {0x03, 4, 0},    {0x04, 8, 0},    {0x0b, 4, 0},   {0x0c, 8, 0},
		{0x1b, 4, -1},   {0x1c, 8, -1},  {0x13, 4, -1},   {0x2b, 4, TEXT}, {0x3b, 4, GOT}, {0x2a, 2, TEXT},
		{0x22, 2, TEXT}, {0x33, 4, GOT}, {0x29, 0, TEXT}, {0x50, 8, 0},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct buf eh_frame = {0}, body = {0};
		size_t cie = put_cie(&eh_frame, "zR", rows[i].encoding);
		put_uint(&body, eh_frame.size + 4 - cie, 4);
		if (rows[i].encoding == 0x50) /* aligned: to the next multiple of 8 of its address */
			put_uint(&body, 0, -(EH_FRAME + eh_frame.size + 8) & 7);
		int64_t from = rows[i].from < 0 ? (int64_t)(EH_FRAME + eh_frame.size + 8) : rows[i].from;
		uint64_t value = (uint64_t)(START - from);
		if (rows[i].size) {
			put_uint(&body, value, rows[i].size);
			put_uint(&body, 0x30, rows[i].size);
		} else { /* both kinds of LEB128 the same: three bytes whose last has no sign bit */
			put_uint(&body,
				 (value & 127) | 128 | (value >> 7 & 127) << 8 | 1 << 15 | (value >> 14 & 63) << 16, 3);
			put_uint(&body, 0x30, 1);
		}
		buf_add(&body, PROGRAM(0, 0x0e, 24));
		put_entry(&eh_frame, &body);
		struct elf_maker_section sections[] = {
			{".eh_frame", eh_frame.data, eh_frame.size, EH_FRAME, SHF_ALLOC},
			{".text", NULL, 0, TEXT, SHF_ALLOC | SHF_EXECINSTR},
			{".got", NULL, 0, GOT, SHF_ALLOC},
		};
		struct unwind_table *table = NULL;
		if (build(&table, sections, 3, TEXT_SIZE) != 0)
			fail_msg("encoding %#x gave no table", rows[i].encoding);
		check_invalid(table, START - 1);
		check_rule(table, START, UNWIND_CFA_SP, 24, UNWIND_FP_SAME, 0);
		check_rule(table, START + 0x2f, UNWIND_CFA_SP, 24, UNWIND_FP_SAME, 0);
		check_invalid(table, START + 0x30);
		unwind_table_free(table);
		buf_release(&eh_frame);
		buf_release(&body);
	}
}

static void unreadable_pointers_cost_their_function_only(void **state)
{
	(void)state;
	static const uint8_t encodings[] = {0x80, 0x9b, 0xff, 0x05, 0x60};
	for (size_t i = 0; i < sizeof encodings; i++) {
		struct buf eh_frame = {0};
		size_t bad = put_cie(&eh_frame, "zR", encodings[i]);
		put_fde(&eh_frame, bad, TEXT, 16, PROGRAM(0));
		size_t good = put_cie(&eh_frame, "zR", 0);
		put_fde(&eh_frame, good, TEXT + 0x100, 16, PROGRAM(0));
		struct unwind_table *table = build_eh(&eh_frame);
		check_invalid(table, TEXT);
		check_rule(table, TEXT + 0x100, UNWIND_CFA_SP, 8, UNWIND_FP_SAME, 0);
		unwind_table_free(table);
	}
}

/* A .debug_frame of one CIE of a version and one function. */
static void put_debug_frame(struct buf *out, uint8_t version, bool is_64_bit, uint64_t start, uint8_t cfa_offset)
{
	for (int is_fde = 0; is_fde < 2; is_fde++) {
		struct buf body = {0};
		put_uint(&body, is_fde ? 0 : UINT64_MAX, is_64_bit ? 8 : 4);
		if (is_fde) {
			put_uint(&body, start, 8);
			put_uint(&body, 0x40, 8);
			buf_add(&body, PROGRAM(0x0e, cfa_offset));
		} else {
			put_uint(&body, version, 1);
			put_uint(&body, 0, 1); /* no augmentation */
			if (version == 4)
				buf_add(&body, PROGRAM(8, 0));
			buf_add(&body, PROGRAM(1, 0x78, 16, 0x0c, 7, 8, 0x90, 1));
		}
		if (is_64_bit) {
			put_uint(out, 0xffffffff, 4);
			put_uint(out, body.size, 8);
			buf_add(out, body.data, body.size);
		} else {
			put_entry(out, &body);
		}
		buf_release(&body);
	}
}

static void debug_frame_is_read_in_all_versions_and_both_sizes(void **state)
{
	(void)state;
	static const uint8_t versions[] = {1, 3, 4};
	for (size_t i = 0; i < 6; i++) {
		struct buf debug_frame = {0};
		put_debug_frame(&debug_frame, versions[i / 2], i % 2, TEXT + 0x80, 32);
		struct elf_maker_section section = {".debug_frame", debug_frame.data, debug_frame.size, 0, 0};
		struct unwind_table *table = NULL;
		assert_int_equal(build(&table, &section, 1, TEXT_SIZE), 0);
		check_rule(table, TEXT + 0x80, UNWIND_CFA_SP, 32, UNWIND_FP_SAME, 0);
		unwind_table_free(table);
		buf_release(&debug_frame);
	}
}

static void eh_frame_comes_before_debug_frame_which_fills_its_gaps(void **state)
{
	(void)state;
	struct buf eh_frame = {0}, debug_frame = {0}, main_bytes = {0}, debug_bytes = {0};
	size_t cie = put_cie(&eh_frame, "zR", 0);
	put_fde(&eh_frame, cie, TEXT + 0x20, 0x10, PROGRAM(0x0e, 16));
	put_debug_frame(&debug_frame, 3, false, TEXT, 32); /* to TEXT + 0x40 */
	struct elf_maker_section eh_section = {".eh_frame", eh_frame.data, eh_frame.size, EH_FRAME, SHF_ALLOC};
	struct elf_maker_section debug_section = {".debug_frame", debug_frame.data, debug_frame.size, 0, 0};
	elf_make(&main_bytes, TEXT, TEXT_SIZE, &eh_section, 1);
	elf_make(&debug_bytes, TEXT, TEXT_SIZE, &debug_section, 1);
	struct elf_file *elf, *debug;
	struct unwind_table *table;
	assert_int_equal(elf_open_bytes(&elf, main_bytes.data, main_bytes.size, NULL), 0);
	assert_int_equal(elf_open_bytes(&debug, debug_bytes.data, debug_bytes.size, NULL), 0);
	assert_int_equal(unwind_table_build(&table, elf, debug, NULL), 0);
	check_rule(table, TEXT, UNWIND_CFA_SP, 32, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 0x1f, UNWIND_CFA_SP, 32, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 0x20, UNWIND_CFA_SP, 16, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 0x2f, UNWIND_CFA_SP, 16, UNWIND_FP_SAME, 0);
	unwind_table_free(table);
	elf_close(elf);
	elf_close(debug);
	buf_release(&eh_frame);
	buf_release(&debug_frame);
	buf_release(&main_bytes);
	buf_release(&debug_bytes);
}

static void programs_remember_restore_and_skip_what_does_not_matter(void **state)
{
	(void)state;
	struct buf eh_frame = {0};
	size_t cie = put_cie(&eh_frame, "zR", 0);
	put_fde(&eh_frame, cie, TEXT, 0x1000,
		PROGRAM(0x41, 0x0e, 16, 0x86, 2, /* push %rbp */
			0x42, 0x0a, /* remember */
			0x0e, 48, 0x83, 3, 0x2e, 16, /* rbx, arguments: no matter */
			0x03, 0x10, 0, 0x0b, /* 16 bytes on, restore */
			0x04, 0x10, 0, 0, 0, 0xc6, /* rbp: as at the start */
			0x41, 0x05, 6, 4, /* rbp at CFA-32 */
			0x41, 0x11, 6, 0x7d, /* rbp at CFA+24 */
			0x41, 0x06, 6, /* as at the start */
			0x41, 0x12, 6, 0x70, /* CFA = rbp + 128 */
			0x41, 0x13, 0x60, /* CFA = rbp + 256 */
			0x41, 0x2f, 6, 2)); /* rbp at CFA + 16 */
	struct unwind_table *table = build_eh(&eh_frame);
	check_rule(table, TEXT + 1, UNWIND_CFA_SP, 16, UNWIND_FP_AT_CFA, -16);
	check_rule(table, TEXT + 3, UNWIND_CFA_SP, 48, UNWIND_FP_AT_CFA, -16);
	check_rule(table, TEXT + 0x13, UNWIND_CFA_SP, 16, UNWIND_FP_AT_CFA, -16);
	check_rule(table, TEXT + 0x23, UNWIND_CFA_SP, 16, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 0x24, UNWIND_CFA_SP, 16, UNWIND_FP_SAME, 0); /* CFA-32 is below rsp */
	check_rule(table, TEXT + 0x25, UNWIND_CFA_SP, 16, UNWIND_FP_AT_CFA, 24);
	check_rule(table, TEXT + 0x26, UNWIND_CFA_SP, 16, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 0x27, UNWIND_CFA_FP, 128, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 0x28, UNWIND_CFA_FP, 256, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 0x29, UNWIND_CFA_FP, 256, UNWIND_FP_AT_CFA, 16);
	unwind_table_free(table);
}

static void damaged_programs_are_invalid_from_where_they_are_damaged(void **state)
{
	(void)state;
	static const struct {
		uint8_t bytes[6];
		size_t size;
	} rows[] = {
		{{0x44, 0x3f}, 2}, /* no such instruction */
		{{0x44, 0x0b}, 2}, /* nothing was remembered */
		{{0x44, 0x0f, 0x7f, 0, 0}, 5}, /* an expression longer than all */
		{{0x44, 0x0f, 1, 0x77, 0x0e, 8}, 6}, /* an offset for a CFA that is an expression */
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct buf eh_frame = {0};
		size_t cie = put_cie(&eh_frame, "zR", 0);
		put_fde(&eh_frame, cie, TEXT, 0x20, rows[i].bytes, rows[i].size);
		put_fde(&eh_frame, cie, TEXT + 0x20, 0x20, PROGRAM(0));
		struct unwind_table *table = build_eh(&eh_frame);
		check_rule(table, TEXT + 3, UNWIND_CFA_SP, 8, UNWIND_FP_SAME, 0);
		check_invalid(table, TEXT + 4);
		check_invalid(table, TEXT + 0x1f);
		check_rule(table, TEXT + 0x20, UNWIND_CFA_SP, 8, UNWIND_FP_SAME, 0);
		unwind_table_free(table);
	}
}

static void expressions_that_occur_often_are_short_rules(void **state)
{
	(void)state;
	struct buf eh_frame = {0};
	size_t cie = put_cie(&eh_frame, "zR", 0), signal = put_cie(&eh_frame, "zRS", 0);
	/* the PLT's: rsp + 8 + ((rip & 15) >= 11) * 8 */
	put_fde(&eh_frame, cie, TEXT, 0x100,
		PROGRAM(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22));
	/* a realigned stack: CFA stored at rbp - 40, rbp stored at rbp */
	put_fde(&eh_frame, cie, TEXT + 0x100, 0x100, PROGRAM(0x0f, 3, 0x76, 0x58, 0x06, 0x10, 6, 2, 0x76, 0));
	/* OpenSSL: CFA stored at rsp + 272, plus 8 */
	put_fde(&eh_frame, cie, TEXT + 0x200, 0x100, PROGRAM(0x0f, 6, 0x77, 0x90, 2, 0x06, 0x23, 8));
	/* CFA in rbx */
	put_fde(&eh_frame, cie, TEXT + 0x300, 0x100, PROGRAM(0x0c, 3, 24));
	/* no return address */
	put_fde(&eh_frame, cie, TEXT + 0x400, 0x100, PROGRAM(0x07, 16));
	/* the kernel's signal frame */
	put_fde(&eh_frame, signal, TEXT + 0x500, 0x100,
		PROGRAM(0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 6, 3, 0x77, 0xf8, 0, 0x10, 16, 3, 0x77, 0xa8, 1));
	/* an ordinary rule of code that interrupts */
	put_fde(&eh_frame, signal, TEXT + 0x600, 0x100, PROGRAM(0x0e, 40));
	/* a CFA that is more than that: rsp + r9 * 8 */
	put_fde(&eh_frame, cie, TEXT + 0x700, 0x100, PROGRAM(0x0f, 7, 0x77, 0, 0x79, 0, 0x38, 0x1e, 0x22));
	/* return address in a register */
	put_fde(&eh_frame, cie, TEXT + 0x800, 0x100, PROGRAM(0x09, 16, 5));
	struct unwind_table *table = build_eh(&eh_frame);
	check_rule(table, TEXT, UNWIND_CFA_PLT, 11, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 0x100, UNWIND_CFA_AT_FP, (uint16_t)-40, UNWIND_FP_AT_FP, 0);
	check_rule(table, TEXT + 0x200, UNWIND_CFA_AT_SP, 272 | 8 << 16, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 0x300, UNWIND_CFA_REGISTER + 3, 24, UNWIND_FP_SAME, 0);
	assert_int_equal(unwind_rows_find(&table->rows, TEXT + 0x400), UNWIND_RULE_STOP);
	check_rule(table, TEXT + 0x500, UNWIND_CFA_SIGNAL, 0, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 0x600, UNWIND_CFA_SP | UNWIND_CFA_INTERRUPTED, 40, UNWIND_FP_SAME, 0);
	assert_int_equal(rule_at(table, TEXT + 0x700).cfa, UNWIND_CFA_LONG);
	assert_int_equal(rule_at(table, TEXT + 0x800).cfa, UNWIND_CFA_LONG);
	assert_int_equal(table->long_rule_count, 2);
	assert_true(table->saves.count > 0); /* for rbx */
	unwind_table_free(table);
}

static void section_headers_are_not_needed(void **state)
{
	(void)state;
	struct elf_file *elf;
	struct unwind_table *whole, *stripped;
	struct buf bytes = {0};
	FILE *file = fopen("/proc/self/exe", "rb");
	assert_non_null(file);
	for (size_t got = 1; got > 0; bytes.size += got)
		got = fread(buf_reserve(&bytes, 65536), 1, 65536, file);
	fclose(file);
	assert_int_equal(elf_open_bytes(&elf, bytes.data, bytes.size, NULL), 0);
	assert_int_equal(unwind_table_build(&whole, elf, NULL, NULL), 0);
	elf_close(elf);
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes.data;
	header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
	assert_int_equal(elf_open_bytes(&elf, bytes.data, bytes.size, NULL), 0);
	assert_int_equal(unwind_table_build(&stripped, elf, NULL, NULL), 0);
	elf_close(elf);
	/* Without sections nothing is known of linkage code that has no entries; all else is there. */
	size_t known = 0, all = 0;
	for (uint64_t offset = 0; offset < (uint64_t)whole->rows.pages << whole->rows.shift; offset++) {
		uint64_t address = whole->rows.base + offset;
		struct unwind_rule a = rule_at(whole, address), b = rule_at(stripped, address);
		all += a.cfa != UNWIND_CFA_INVALID;
		known += b.cfa != UNWIND_CFA_INVALID;
		if (b.cfa != UNWIND_CFA_INVALID)
			assert_memory_equal(&a, &b, sizeof a);
	}
	assert_true(known > all / 10 * 9);
	unwind_table_free(whole);
	unwind_table_free(stripped);
	buf_release(&bytes);
}

static void files_without_unwind_information_are_distinguished(void **state)
{
	(void)state;
	struct unwind_table *table = NULL;
	uint8_t text[64] = {0x90};
	struct elf_maker_section section = {".text", text, sizeof text, TEXT, SHF_ALLOC | SHF_EXECINSTR};
	assert_int_equal(build(&table, &section, 1, TEXT_SIZE), ERR_EMPTY);
	assert_null(table);
}

static void functions_far_apart_need_no_giant_index(void **state)
{
	(void)state;
	struct buf eh_frame = {0};
	size_t cie = put_cie(&eh_frame, "zR", 0);
	const uint64_t far = TEXT + (7ull << 30), too_far = TEXT + (1ull << 60);
	put_fde(&eh_frame, cie, TEXT, 0x10, PROGRAM(0x0e, 16));
	put_fde(&eh_frame, cie, TEXT + (5ull << 30) + 7, 0x10, PROGRAM(0x0e, 24));
	put_fde(&eh_frame, cie, far, 0x10, PROGRAM(0x0e, 32));
	put_fde(&eh_frame, cie, too_far, 0x10, PROGRAM(0x0e, 40));
	struct elf_maker_section section = {".eh_frame", eh_frame.data, eh_frame.size, EH_FRAME, SHF_ALLOC};
	struct unwind_table *table;
	assert_int_equal(build(&table, &section, 1, 1ull << 61), 0);
	check_rule(table, TEXT, UNWIND_CFA_SP, 16, UNWIND_FP_SAME, 0);
	check_invalid(table, TEXT + 0x10);
	check_rule(table, TEXT + (5ull << 30) + 7, UNWIND_CFA_SP, 24, UNWIND_FP_SAME, 0);
	check_rule(table, far + 15, UNWIND_CFA_SP, 32, UNWIND_FP_SAME, 0);
	check_invalid(table, too_far);
	assert_true(unwind_table_bytes(table) < (1u << 20));
	unwind_table_free(table);
	buf_release(&eh_frame);
}

static void functions_outside_the_text_are_left_out(void **state)
{
	(void)state;
	struct buf eh_frame = {0};
	size_t cie = put_cie(&eh_frame, "zR", 0);
	put_fde(&eh_frame, cie, 0x20, 0x10, PROGRAM(0x0e, 16));
	put_fde(&eh_frame, cie, TEXT + TEXT_SIZE - 8, UINT64_MAX, PROGRAM(0x0e, 24));
	struct unwind_table *table = build_eh(&eh_frame);
	check_invalid(table, 0x20);
	check_rule(table, TEXT + TEXT_SIZE - 1, UNWIND_CFA_SP, 24, UNWIND_FP_SAME, 0);
	check_invalid(table, TEXT + TEXT_SIZE);
	unwind_table_free(table);
}

/* --- saving --- */

static struct unwind_table *some_table(void)
{
	struct buf eh_frame = {0};
	size_t cie = put_cie(&eh_frame, "zR", 0);
	for (unsigned i = 0; i < 200; i++)
		put_fde(&eh_frame, cie, TEXT + i * 64, 64,
			PROGRAM(0x41, 0x0e, (uint8_t)(16 + i % 8 * 8), 0x86, 2, 0x48, 0x0c, 3, 16));
	put_fde(&eh_frame, cie, TEXT + 0x8000, 0x100, PROGRAM(0x0f, 7, 0x77, 0, 0x79, 0, 0x38, 0x1e, 0x22));
	return build_eh(&eh_frame);
}

static void a_saved_table_is_loaded_as_it_was(void **state)
{
	(void)state;
	struct unwind_table *table = some_table(), *loaded;
	struct buf bytes = {0};
	unwind_table_save(table, &bytes);
	assert_int_equal(unwind_table_load(&loaded, bytes.data, bytes.size, NULL), 0);
	assert_int_equal(unwind_table_rows(loaded), unwind_table_rows(table));
	assert_int_equal(unwind_table_bytes(loaded), unwind_table_bytes(table));
	for (uint64_t address = TEXT - 10; address < TEXT + TEXT_SIZE + 10; address++) {
		uint32_t number = unwind_rows_find(&table->rows, address);
		assert_int_equal(unwind_rows_find(&loaded->rows, address), number);
		assert_memory_equal(&loaded->rules[number], &table->rules[number], sizeof *table->rules);
		number = unwind_rows_find(&table->saves, address);
		assert_int_equal(unwind_rows_find(&loaded->saves, address), number);
	}
	unwind_table_free(loaded);
	unwind_table_free(table);
	buf_release(&bytes);
}

static void a_damaged_table_is_refused(void **state)
{
	(void)state;
	struct unwind_table *table = some_table(), *loaded = NULL;
	struct buf bytes = {0};
	unwind_table_save(table, &bytes);
	for (size_t i = 0; i < bytes.size; i++) {
		bytes.data[i] ^= 0x41;
		assert_int_equal(unwind_table_load(&loaded, bytes.data, bytes.size, NULL), ERR_FORMAT);
		bytes.data[i] ^= 0x41;
	}
	for (size_t size = 0; size < bytes.size; size++)
		assert_int_equal(unwind_table_load(&loaded, bytes.data, size, NULL), ERR_FORMAT);
	assert_null(loaded);
	unwind_table_free(table);
	buf_release(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_with_a_frame_pointer_has_its_four_rows),
		cmocka_unit_test(padding_keeps_the_rule_and_gaps_have_none),
		cmocka_unit_test(functions_in_any_order_are_sorted),
		cmocka_unit_test(of_overlapping_functions_the_first_counts),
		cmocka_unit_test(every_pointer_encoding_is_read),
		cmocka_unit_test(unreadable_pointers_cost_their_function_only),
		cmocka_unit_test(debug_frame_is_read_in_all_versions_and_both_sizes),
		cmocka_unit_test(eh_frame_comes_before_debug_frame_which_fills_its_gaps),
		cmocka_unit_test(programs_remember_restore_and_skip_what_does_not_matter),
		cmocka_unit_test(damaged_programs_are_invalid_from_where_they_are_damaged),
		cmocka_unit_test(expressions_that_occur_often_are_short_rules),
		cmocka_unit_test(section_headers_are_not_needed),
		cmocka_unit_test(files_without_unwind_information_are_distinguished),
		cmocka_unit_test(functions_far_apart_need_no_giant_index),
		cmocka_unit_test(functions_outside_the_text_are_left_out),
		cmocka_unit_test(a_saved_table_is_loaded_as_it_was),
		cmocka_unit_test(a_damaged_table_is_refused),
	};
	return cmocka_run_group_tests_name("unwind tables", tests, NULL, NULL);
}
