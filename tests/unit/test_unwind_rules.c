/* Tables of code whose call frame information is missing: linkage code, the code around main, derived rules. */
#include "unwind_table_maker.h"

static void linkage_code_without_entries_has_rules(void **state)
{
	(void)state;
	struct buf eh_frame = {0};
	uint8_t lazy[64] = {0xff, 0x35, [16] = 0xff, 0x25}, plain[32] = {0xff, 0x25};
	size_t cie = put_cie(&eh_frame, "zR", 0);
	put_fde(&eh_frame, cie, TEXT + 0x1000, 0x10, PROGRAM(0));
	struct elf_maker_section sections[] = {
		{".eh_frame", eh_frame.data, eh_frame.size, EH_FRAME, SHF_ALLOC},
		{".plt", lazy, sizeof lazy, TEXT, SHF_ALLOC | SHF_EXECINSTR},
		{".plt.got", plain, sizeof plain, TEXT + 0x100, SHF_ALLOC | SHF_EXECINSTR},
	};
	struct unwind_table *table;
	assert_int_equal(build(&table, sections, 3, TEXT_SIZE), 0);
	check_rule(table, TEXT, UNWIND_CFA_SP, 16, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 6, UNWIND_CFA_SP, 24, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 16, UNWIND_CFA_PLT, 11, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 63, UNWIND_CFA_PLT, 11, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 0x11f, UNWIND_CFA_SP, 8, UNWIND_FP_SAME, 0);
	unwind_table_free(table);
	buf_release(&eh_frame);
}

static void what_runs_before_main_and_after_exit_has_rules(void **state)
{
	(void)state;
	struct buf eh_frame = {0};
	/* sub $8, %rsp; …; add $8, %rsp; ret */
	uint8_t init[23] = {0x48, 0x83, 0xec, 8, [18] = 0x48, 0x83, 0xc4, 8, 0xc3};
	/* endbr64; push %rax; …; pop %rax; ret */
	uint8_t fini[16] = {0xf3, 0x0f, 0x1e, 0xfa, 0x50, [13] = 0x90, 0x58, 0xc3};
	size_t cie = put_cie(&eh_frame, "zR", 0);
	put_fde(&eh_frame, cie, TEXT + 0x1000, 0x10, PROGRAM(0));
	struct elf_maker_section sections[] = {
		{".eh_frame", eh_frame.data, eh_frame.size, EH_FRAME, SHF_ALLOC},
		{".init", init, sizeof init, TEXT, SHF_ALLOC | SHF_EXECINSTR},
		{".fini", fini, sizeof fini, TEXT + 0x100, SHF_ALLOC | SHF_EXECINSTR},
	};
	struct unwind_table *table;
	assert_int_equal(build(&table, sections, 3, TEXT_SIZE), 0);
	check_rule(table, TEXT, UNWIND_CFA_SP, 8, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 3, UNWIND_CFA_SP, 8, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 4, UNWIND_CFA_SP, 16, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 21, UNWIND_CFA_SP, 16, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 22, UNWIND_CFA_SP, 8, UNWIND_FP_SAME, 0);
	check_invalid(table, TEXT + 23);
	check_rule(table, TEXT + 0x104, UNWIND_CFA_SP, 8, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 0x105, UNWIND_CFA_SP, 16, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 0x10f, UNWIND_CFA_SP, 8, UNWIND_FP_SAME, 0);
	unwind_table_free(table);
	/* Room that is not given back as it was taken: what the code does is not known. */
	init[21] = 16;
	assert_int_equal(build(&table, sections, 2, TEXT_SIZE), 0);
	check_invalid(table, TEXT + 4);
	unwind_table_free(table);
	buf_release(&eh_frame);
}

/* push %rbx; call *%rax; pop %rbx; ret, behind a function with a description. */
static void code_without_description_has_derived_rules(void **state)
{
	(void)state;
	struct buf eh_frame = {0}, saved = {0};
	uint8_t text[0x80];
	struct unwind_table *table, *loaded;
	memset(text, 0x90, sizeof text);
	memcpy(text + 0x20, "\x53\xff\xd0\x5b\xc3", 5);
	size_t cie = put_cie(&eh_frame, "zR", 0);
	put_fde(&eh_frame, cie, TEXT, 0x10, PROGRAM(0));
	struct elf_maker_section sections[] = {
		{".eh_frame", eh_frame.data, eh_frame.size, EH_FRAME, SHF_ALLOC},
		{".text", text, sizeof text, TEXT, SHF_ALLOC | SHF_EXECINSTR},
	};
	assert_int_equal(build(&table, sections, 2, TEXT_SIZE), 0);
	check_rule(table, TEXT + 0x20, UNWIND_CFA_SP, 8, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 0x21, UNWIND_CFA_SP, 16, UNWIND_FP_SAME, 0);
	check_rule(table, TEXT + 0x24, UNWIND_CFA_SP, 8, UNWIND_FP_SAME, 0);
	unwind_table_save(table, &saved);
	assert_int_equal(unwind_table_load(&loaded, saved.data, saved.size, NULL), 0);
	assert_false(unwind_table_is_derived(loaded, TEXT));
	assert_true(unwind_table_is_derived(loaded, TEXT + 0x20));
	assert_true(unwind_table_is_derived(loaded, TEXT + 0x24));
	assert_int_equal(unwind_table_derived_rows(loaded), 3);
	unwind_table_free(loaded);
	unwind_table_free(table);
	buf_release(&saved);
	buf_release(&eh_frame);
}

static void the_code_behind_signal_handlers_is_known_by_its_bytes(void **state)
{
	(void)state;
	static const uint8_t restorer[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	uint8_t text[0x400] = {0};
	memcpy(text + 0x200, restorer, sizeof restorer);
	struct elf_maker_section section = {".text", text, sizeof text, TEXT, SHF_ALLOC | SHF_EXECINSTR};
	struct unwind_table *table;
	assert_int_equal(build(&table, &section, 1, TEXT_SIZE), 0);
	check_invalid(table, TEXT + 0x1fe);
	check_rule(table, TEXT + 0x1ff, UNWIND_CFA_SIGNAL, 0, UNWIND_FP_SAME, 0); /* as a return address, minus one */
	check_rule(table, TEXT + 0x207, UNWIND_CFA_SIGNAL, 0, UNWIND_FP_SAME, 0);
	check_invalid(table, TEXT + 0x209);
	unwind_table_free(table);
}

static void the_entry_of_a_program_is_the_end_of_stacks(void **state)
{
	(void)state;
	struct buf eh_frame = {0}, bytes = {0};
	/* mov %rsp,%rdi; call: the loader's */
	uint8_t text[0x400] = {[0x20] = 0x48, 0x89, 0xe7, 0xe8};
	size_t cie = put_cie(&eh_frame, "zR", 0);
	put_fde(&eh_frame, cie, TEXT, 0x20, PROGRAM(0));
	put_fde(&eh_frame, cie, TEXT + 0x40, 0x20, PROGRAM(0));
	struct elf_maker_section sections[] = {
		{".eh_frame", eh_frame.data, eh_frame.size, EH_FRAME, SHF_ALLOC},
		{".text", text, sizeof text, TEXT, SHF_ALLOC | SHF_EXECINSTR},
	};
	elf_make(&bytes, TEXT, TEXT_SIZE, sections, 2);
	for (int with_entry = 0; with_entry < 2; with_entry++) {
		struct elf_file *elf;
		struct unwind_table *table;
		Elf64_Ehdr *header = (Elf64_Ehdr *)bytes.data;
		header->e_entry = with_entry ? TEXT + 0x20 : TEXT + 0x21;
		assert_int_equal(elf_open_bytes(&elf, bytes.data, bytes.size, NULL), 0);
		assert_int_equal(unwind_table_build(&table, elf, NULL, NULL), 0);
		uint32_t expected = with_entry ? UNWIND_RULE_STOP : UNWIND_RULE_INVALID;
		assert_int_equal(unwind_rows_find(&table->rows, TEXT + 0x20), expected);
		assert_int_equal(unwind_rows_find(&table->rows, TEXT + 0x3f), expected);
		check_rule(table, TEXT + 0x40, UNWIND_CFA_SP, 8, UNWIND_FP_SAME, 0);
		unwind_table_free(table);
		elf_close(elf);
	}
	buf_release(&eh_frame);
	buf_release(&bytes);
}

/* This program without its section headers: what its segments lead to must be the same. */

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linkage_code_without_entries_has_rules),
		cmocka_unit_test(code_without_description_has_derived_rules),
		cmocka_unit_test(the_code_behind_signal_handlers_is_known_by_its_bytes),
		cmocka_unit_test(what_runs_before_main_and_after_exit_has_rules),
		cmocka_unit_test(the_entry_of_a_program_is_the_end_of_stacks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
