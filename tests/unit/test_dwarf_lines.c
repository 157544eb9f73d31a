/* Line programs made by hand. */
#include "dwarf_maker.h"

static void assert_line(struct dwarf *dwarf, uint64_t address, const char *file, unsigned line)
{
	struct dwarf_frame frame = {0};
	size_t count = dwarf_find(dwarf, address, &frame, 1);
	assert_int_equal(count, file ? 1 : 0);
	if (!file)
		return;
	assert_null(frame.name);
	assert_string_equal(frame.file, file);
	assert_int_equal(frame.line, line);
}

static void line_programs_are_run(void **state)
{
	(void)state;
	struct debug debug = {0};
	line_unit(&debug);
	begin_lines(&debug.line, 1);
	put_address(&debug.line, TEXT);
	PUT(&debug.line, DW_LNS_advance_line, 9, DW_LNS_copy); /* 10 at 0 */
	PUT(&debug.line, DW_LNS_set_file, 2, 10 + 4 + 3); /* one instruction of 4 bytes on, one line on */
	PUT(&debug.line, DW_LNS_const_add_pc, DW_LNS_copy); /* 61 instructions on: 4 + 244 */
	PUT(&debug.line, DW_LNS_fixed_advance_pc, 0x10, 0x00, 0, 6, DW_LNE_define_file, 'c', 0, 1, 0, 0);
	PUT(&debug.line, DW_LNS_set_file, 3, DW_LNS_advance_line, 0x7b, DW_LNS_copy); /* 6 in a file defined late */
	PUT(&debug.line, 0, 2, 0x80, 0, DW_LNS_advance_pc, 1, 0, 1, DW_LNE_end_sequence);
	/* Rows out of order, and one that another at the same address replaces. */
	put_address(&debug.line, TEXT + 0x200);
	PUT(&debug.line, DW_LNS_copy);
	put_address(&debug.line, TEXT + 0x220);
	PUT(&debug.line, DW_LNS_advance_line, 20, DW_LNS_copy, DW_LNS_advance_line, 1, DW_LNS_copy);
	put_address(&debug.line, TEXT + 0x210);
	PUT(&debug.line, DW_LNS_advance_line, 20, DW_LNS_copy);
	put_address(&debug.line, TEXT + 0x230);
	PUT(&debug.line, 0, 1, DW_LNE_end_sequence);
	/* Discarded, and one that never ends. */
	put_address(&debug.line, 0);
	PUT(&debug.line, DW_LNS_copy, DW_LNS_advance_pc, 0xff, 0x7f, 0, 1, DW_LNE_end_sequence);
	put_address(&debug.line, TEXT + 0x300);
	PUT(&debug.line, DW_LNS_copy);
	end_lines(&debug.line);
	struct dwarf *dwarf = open_dwarf(&debug, NULL);
	assert_line(dwarf, TEXT, "/src/a.c", 10);
	assert_line(dwarf, TEXT + 3, "/src/a.c", 10);
	assert_line(dwarf, TEXT + 4, "/src/include/b.h", 11);
	assert_line(dwarf, TEXT + 4 + 244 + 0xf, "/src/include/b.h", 11);
	assert_line(dwarf, TEXT + 4 + 244 + 0x10, "/src/include/c", 6);
	assert_line(dwarf, TEXT + 4 + 244 + 0x14, NULL, 0);
	assert_line(dwarf, TEXT + 0x20f, "/src/a.c", 1);
	assert_line(dwarf, TEXT + 0x21f, "/src/a.c", 42);
	assert_line(dwarf, TEXT + 0x220, "/src/a.c", 22);
	assert_line(dwarf, TEXT + 0x230, NULL, 0);
	assert_line(dwarf, TEXT + 0x300, NULL, 0);
	close_all(dwarf, &debug, NULL);
}

static void machines_with_several_operations_advance_by_them(void **state)
{
	(void)state;
	struct debug debug = {0};
	line_unit(&debug);
	begin_lines(&debug.line, 3);
	put_address(&debug.line, TEXT);
	PUT(&debug.line, DW_LNS_copy, DW_LNS_advance_pc, 2, DW_LNS_advance_line, 1, DW_LNS_copy); /* still the first */
	PUT(&debug.line, DW_LNS_advance_pc, 1, DW_LNS_advance_line, 1, DW_LNS_copy);
	PUT(&debug.line, DW_LNS_advance_pc, 6, 0, 1, DW_LNE_end_sequence);
	end_lines(&debug.line);
	struct dwarf *dwarf = open_dwarf(&debug, NULL);
	assert_line(dwarf, TEXT + 3, "/src/a.c", 2);
	assert_line(dwarf, TEXT + 4, "/src/a.c", 3);
	assert_line(dwarf, TEXT + 11, "/src/a.c", 3);
	assert_line(dwarf, TEXT + 12, NULL, 0);
	close_all(dwarf, &debug, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"line programs are run", line_programs_are_run, NULL, NULL, NULL},
		{"machines with several operations an instruction advance by them",
		 machines_with_several_operations_advance_by_them, NULL, NULL, NULL},
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
