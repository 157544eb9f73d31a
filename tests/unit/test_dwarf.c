/* Debug information made by hand: forms that compilers here do not write, damaged and hostile bytes, many threads. */
#include "dwarf_maker.h"

#include "base/parallel.h"
#include "dwarf/constants.h"
#include "dwarf/dwarf.h"
#include "elf_maker.h"

#include <stdatomic.h>
#include <stdio.h>

/* --- forms --- */

/* Abbreviation 1: a unit with nothing but a range; 2: a function named in place, with low_pc and a length. */
static void put_plain_abbrevs(struct buf *abbrev)
{
	PUT(abbrev, 1, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0, 0);
	PUT(abbrev, 2, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
	    DW_FORM_data4, 0, 0);
}

static void put_plain_unit_die(struct debug *debug)
{
	PUT(&debug->info, 1);
	put_uint(&debug->info, TEXT, 8);
	put_uint(&debug->info, TEXT_SIZE, 4);
}

static void put_plain_function(struct debug *debug, const char *name, uint64_t low, uint64_t size)
{
	PUT(&debug->info, 2);
	buf_add(&debug->info, name, strlen(name) + 1);
	put_uint(&debug->info, low, 8);
	put_uint(&debug->info, size, 4);
}

/* A DIE with every form is stepped over, and what comes behind it is found. */
static void every_form_is_stepped_over(void **state)
{
	(void)state;
	static const uint16_t forms[] = {
		DW_FORM_addr,        DW_FORM_block2,         DW_FORM_block4,        DW_FORM_data2,
		DW_FORM_data4,       DW_FORM_data8,          DW_FORM_string,        DW_FORM_block,
		DW_FORM_block1,      DW_FORM_data1,          DW_FORM_flag,          DW_FORM_sdata,
		DW_FORM_strp,        DW_FORM_udata,          DW_FORM_ref_addr,      DW_FORM_ref1,
		DW_FORM_ref2,        DW_FORM_ref4,           DW_FORM_ref8,          DW_FORM_ref_udata,
		DW_FORM_sec_offset,  DW_FORM_exprloc,        DW_FORM_flag_present,  DW_FORM_strx,
		DW_FORM_addrx,       DW_FORM_ref_sup4,       DW_FORM_strp_sup,      DW_FORM_data16,
		DW_FORM_line_strp,   DW_FORM_ref_sig8,       DW_FORM_loclistx,      DW_FORM_rnglistx,
		DW_FORM_ref_sup8,    DW_FORM_strx1,          DW_FORM_strx2,         DW_FORM_strx3,
		DW_FORM_strx4,       DW_FORM_addrx1,         DW_FORM_addrx2,        DW_FORM_addrx3,
		DW_FORM_addrx4,      DW_FORM_GNU_addr_index, DW_FORM_GNU_str_index, DW_FORM_GNU_ref_alt,
		DW_FORM_GNU_strp_alt};
	static const uint8_t sizes[] = {8, 2 + 3, 4 + 3, 2, 4, 8, 4,     1 + 3, 1 + 3, 1, 1, 2, 4,  2, 4,
					1, 2,     4,     8, 2, 4, 1 + 3, 0,     2,     2, 4, 4, 16, 4, 8,
					2, 2,     8,     1, 2, 3, 4,     1,     2,     3, 4, 2, 2,  4, 4};
	struct debug debug = {0};
	put_plain_abbrevs(&debug.abbrev);
	PUT(&debug.abbrev, 3, 0x34, 0);
	for (size_t i = 0; i < sizeof sizes; i++) {
		put_uleb(&debug.abbrev, 0x2100 + i);
		put_uleb(&debug.abbrev, forms[i]);
	}
	PUT(&debug.abbrev, 0x3a, DW_FORM_implicit_const, 0xff, 0x7e, 0x3b, DW_FORM_indirect, 0, 0, 0);
	size_t unit = begin_unit(&debug, 5, 0);
	put_plain_unit_die(&debug);
	PUT(&debug.info, 3);
	for (size_t i = 0; i < sizeof sizes; i++) {
		switch (forms[i]) {
		case DW_FORM_block2:
			put_uint(&debug.info, 3, 2);
			put_uint(&debug.info, 0x030303, 3);
			break;
		case DW_FORM_block4:
			put_uint(&debug.info, 3, 4);
			put_uint(&debug.info, 0x030303, 3);
			break;
		case DW_FORM_block:
		case DW_FORM_block1:
		case DW_FORM_exprloc:
			put_uint(&debug.info, 0x03030303, 4);
			break;
		case DW_FORM_string:
			buf_add(&debug.info, "abc", 4);
			break;
		default:
			/* lebs of two bytes; other numbers do not care */
			put_uint(&debug.info, 0x0281, sizes[i] < 8 ? sizes[i] : 8);
			if (sizes[i] == 16)
				put_uint(&debug.info, 7, 8);
		}
	}
	PUT(&debug.info, DW_FORM_string, 'x', 0); /* the indirect one */
	put_plain_function(&debug, "behind", TEXT + 0x10, 0x10);
	PUT(&debug.info, 0);
	end_unit(&debug, unit);
	struct dwarf *dwarf = open_dwarf(&debug, NULL);
	assert_names(dwarf, TEXT + 0x10, "behind");
	assert_names(dwarf, TEXT + 0x1f, "behind");
	assert_names(dwarf, TEXT + 0x20, "");
	close_all(dwarf, &debug, NULL);
}

/* Names by index, addresses by index and values in the abbreviation, all of DWARF 5. */
static void indexed_forms_are_resolved(void **state)
{
	(void)state;
	struct debug debug = {0};
	PUT(&debug.abbrev, 1, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addrx, DW_AT_high_pc, DW_FORM_udata,
	    DW_AT_str_offsets_base, DW_FORM_sec_offset, DW_AT_addr_base, DW_FORM_sec_offset, 0, 0);
	PUT(&debug.abbrev, 2, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_strx3, DW_AT_decl_line, DW_FORM_implicit_const,
	    42, DW_AT_low_pc, DW_FORM_addrx1, DW_AT_high_pc, DW_FORM_implicit_const, 0x10, 0, 0, 0);
	put_uint(&debug.str_offsets, 0xdeadbeef, 8);
	put_uint(&debug.str_offsets, 5, 4);
	put_uint(&debug.str_offsets, 0, 4);
	buf_add(&debug.str, "zero\0five", 10);
	put_uint(&debug.addr, 0, 8);
	put_uint(&debug.addr, TEXT, 8);
	put_uint(&debug.addr, TEXT + 0x40, 8);
	size_t unit = begin_unit(&debug, 5, 0);
	PUT(&debug.info, 1, 0, 0x80, 0x01, 8, 0, 0, 0, 8, 0, 0, 0); /* the bases come behind what needs them */
	PUT(&debug.info, 2, 0, 0, 0, 0);
	PUT(&debug.info, 2, 1, 0, 0, 1, 0);
	end_unit(&debug, unit);
	struct dwarf *dwarf = open_dwarf(&debug, NULL);
	assert_names(dwarf, TEXT + 0xf, "five");
	assert_names(dwarf, TEXT + 0x4f, "zero");
	assert_names(dwarf, TEXT + 0x50, "");
	struct dwarf_frame frame;
	assert_int_equal(dwarf_find(dwarf, TEXT, &frame, 1), 1);
	assert_int_equal(frame.declared_line, 42);
	assert_false(frame.name_is_linkage);
	close_all(dwarf, &debug, NULL);
}

/* Units with 8 byte offsets, references in 8 bytes and lebs, and abbreviations whose codes are in no order. */
static void wide_units_and_scattered_codes_are_read(void **state)
{
	(void)state;
	struct debug debug = {0};
	PUT(&debug.abbrev, 0x90, 0x03, DW_TAG_subprogram, 1, DW_AT_specification, DW_FORM_ref_udata, DW_AT_low_pc,
	    DW_FORM_addr, DW_AT_high_pc, DW_FORM_addr, DW_AT_sibling, DW_FORM_ref8, 0, 0);
	PUT(&debug.abbrev, 7, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_addr, 0, 0);
	PUT(&debug.abbrev, 5, DW_TAG_subprogram, 0, DW_AT_linkage_name, DW_FORM_strp, 0, 0);
	PUT(&debug.abbrev, 6, DW_TAG_inlined_subroutine, 0, DW_AT_abstract_origin, DW_FORM_ref_addr, DW_AT_low_pc,
	    DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8, DW_AT_call_line, DW_FORM_sdata, 0, 0, 0);
	buf_add(&debug.str, "_Zouter\0_Zinner", 16);
	put_uint(&debug.info, 0xffffffff, 4);
	put_uint(&debug.info, 0, 8);
	put_uint(&debug.info, 4, 2);
	put_uint(&debug.info, 0, 8);
	PUT(&debug.info, 8, 7);
	put_uint(&debug.info, TEXT, 8);
	put_uint(&debug.info, TEXT + 0x100, 8);
	size_t outer = debug.info.size;
	PUT(&debug.info, 5);
	put_uint(&debug.info, 0, 8);
	size_t inner = debug.info.size;
	PUT(&debug.info, 5);
	put_uint(&debug.info, 8, 8);
	PUT(&debug.info, 0x90, 0x83, 0); /* 0x190 with a byte too much */
	put_uleb(&debug.info, outer);
	put_uint(&debug.info, TEXT, 8);
	put_uint(&debug.info, TEXT + 0x20, 8);
	size_t sibling = debug.info.size;
	put_uint(&debug.info, 0, 8);
	PUT(&debug.info, 6);
	put_uint(&debug.info, inner, 8);
	put_uint(&debug.info, TEXT + 8, 8);
	put_uint(&debug.info, 8, 8);
	PUT(&debug.info, 9, 0);
	patch(&debug.info, sibling, debug.info.size, 8);
	PUT(&debug.info, 0);
	patch(&debug.info, 4, debug.info.size - 12, 8);
	struct dwarf *dwarf = open_dwarf(&debug, NULL);
	assert_names(dwarf, TEXT + 7, "_Zouter");
	assert_names(dwarf, TEXT + 8, "_Zinner _Zouter");
	struct dwarf_frame frames[2];
	assert_int_equal(dwarf_find(dwarf, TEXT + 8, frames, 2), 2);
	assert_true(frames[0].inlined && !frames[1].inlined && frames[1].name_is_linkage);
	assert_int_equal(frames[1].line, 9);
	assert_int_equal(dwarf_find(dwarf, TEXT + 8, frames, 1), 1); /* no room for more */
	close_all(dwarf, &debug, NULL);
}

/* Names in the file that dwz made of several, by the GNU forms and by those of DWARF 5. */
static void names_come_from_the_alternate_file(void **state)
{
	(void)state;
	struct debug debug = {0}, alternate = {0};
	put_plain_abbrevs(&debug.abbrev);
	PUT(&debug.abbrev, 3, DW_TAG_subprogram, 0, DW_AT_abstract_origin, 0xa0, 0x3e, DW_AT_low_pc, DW_FORM_addr,
	    DW_AT_high_pc, DW_FORM_data1, 0, 0);
	PUT(&debug.abbrev, 4, DW_TAG_subprogram, 0, DW_AT_specification, DW_FORM_ref_sup4, DW_AT_low_pc, DW_FORM_addr,
	    DW_AT_high_pc, DW_FORM_data1, 0, 0);
	PUT(&debug.abbrev, 5, DW_TAG_subprogram, 0, DW_AT_name, 0xa1, 0x3e, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
	    DW_FORM_data1, 0, 0, 0);
	PUT(&alternate.abbrev, 1, DW_TAG_partial_unit, 1, 0, 0, 2, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_strp, 0, 0,
	    0);
	buf_add(&alternate.str, "one\0two", 8);
	size_t unit = begin_unit(&alternate, 4, 0);
	PUT(&alternate.info, 1);
	size_t one = alternate.info.size;
	PUT(&alternate.info, 2, 0, 0, 0, 0);
	size_t two = alternate.info.size;
	PUT(&alternate.info, 2, 4, 0, 0, 0, 0);
	end_unit(&alternate, unit);
	unit = begin_unit(&debug, 4, 0);
	put_plain_unit_die(&debug);
	const uint64_t references[] = {one, two, 4};
	for (unsigned i = 0; i < 3; i++) {
		PUT(&debug.info, (uint8_t)(3 + i));
		put_uint(&debug.info, references[i], 4);
		put_uint(&debug.info, TEXT + 0x10 * i, 8);
		PUT(&debug.info, 0x10);
	}
	PUT(&debug.info, 0);
	end_unit(&debug, unit);
	struct dwarf *dwarf = open_dwarf(&debug, &alternate);
	assert_names(dwarf, TEXT, "one");
	assert_names(dwarf, TEXT + 0x10, "two");
	assert_names(dwarf, TEXT + 0x20, "two");
	dwarf_close(dwarf);
	elf_close(alternate.elf);
	elf_close(debug.elf);
	alternate.elf = NULL;
	/* Without it the functions are there and have no names. */
	dwarf = open_dwarf(&debug, NULL);
	assert_names(dwarf, TEXT, "-");
	close_all(dwarf, &debug, &alternate);
}

/* --- ranges --- */

static void range_lists_of_both_kinds_are_read(void **state)
{
	(void)state;
	struct debug debug = {0};
	PUT(&debug.abbrev, 1, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_ranges, DW_FORM_sec_offset,
	    DW_AT_rnglists_base, DW_FORM_sec_offset, DW_AT_addr_base, DW_FORM_sec_offset, 0, 0);
	PUT(&debug.abbrev, 2, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string, DW_AT_ranges, DW_FORM_rnglistx, 0, 0);
	PUT(&debug.abbrev, 3, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string, DW_AT_ranges, DW_FORM_sec_offset, 0, 0);
	PUT(&debug.abbrev, 4, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data2, 0, 0,
	    0);
	put_uint(&debug.addr, TEXT + 0x300, 8);
	put_uint(&debug.addr, TEXT + 0x310, 8);
	/* One offset, to the list behind it, from where the offsets begin (12). */
	put_uint(&debug.rnglists, 0, 8);
	put_uint(&debug.rnglists, 0, 4);
	put_uint(&debug.rnglists, 4, 4);
	PUT(&debug.rnglists, DW_RLE_offset_pair, 0x00, 0x10, DW_RLE_base_addressx, 0, DW_RLE_offset_pair, 0x20, 0x30,
	    DW_RLE_startx_endx, 0, 1, DW_RLE_startx_length, 1, 4, DW_RLE_base_address);
	put_uint(&debug.rnglists, TEXT + 0x100, 8);
	PUT(&debug.rnglists, DW_RLE_offset_pair, 0, 4, DW_RLE_start_end);
	put_uint(&debug.rnglists, TEXT + 0x200, 8);
	put_uint(&debug.rnglists, TEXT + 0x208, 8);
	PUT(&debug.rnglists, DW_RLE_start_length);
	put_uint(&debug.rnglists, TEXT + 0x210, 8);
	PUT(&debug.rnglists, 8, DW_RLE_end_of_list);
	size_t unit = begin_unit(&debug, 5, 0);
	PUT(&debug.info, 1);
	put_uint(&debug.info, TEXT + 0x80, 8);
	PUT(&debug.info, 16, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0);
	PUT(&debug.info, 2, 'f', 0, 0, 0);
	end_unit(&debug, unit);
	/* Pairs: relative to the unit, then to a base that an entry of all ones gives. */
	const uint64_t pairs[] = {0x10, 0x20, UINT64_MAX, TEXT + 0x900, 0x10, 0x18, 0, 0};
	buf_add(&debug.ranges, pairs, sizeof pairs);
	unit = begin_unit(&debug, 4, 0);
	PUT(&debug.info, 4);
	put_uint(&debug.info, TEXT + 0x800, 8);
	PUT(&debug.info, 0, 4, 3, 'g', 0, 0, 0, 0, 0, 0);
	end_unit(&debug, unit);
	struct dwarf *dwarf = open_dwarf(&debug, NULL);
	static const struct {
		uint64_t low, high;
		const char *name;
	} wanted[] = {{0x80, 0x90, "f"},   {0x320, 0x330, "f"}, {0x300, 0x314, "f"}, {0x100, 0x104, "f"},
		      {0x200, 0x208, "f"}, {0x210, 0x218, "f"}, {0x810, 0x820, "g"}, {0x910, 0x918, "g"}};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		assert_names(dwarf, TEXT + wanted[i].low - 1, "");
		assert_names(dwarf, TEXT + wanted[i].low, wanted[i].name);
		assert_names(dwarf, TEXT + wanted[i].high - 1, wanted[i].name);
		assert_names(dwarf, TEXT + wanted[i].high, "");
	}
	close_all(dwarf, &debug, NULL);
}

/* What a linker leaves of discarded code does not hide what is there. */
static void discarded_code_is_ignored(void **state)
{
	(void)state;
	struct debug debug = {0};
	put_plain_abbrevs(&debug.abbrev);
	PUT(&debug.abbrev, 0);
	size_t unit = begin_unit(&debug, 4, 0);
	put_plain_unit_die(&debug);
	put_plain_function(&debug, "zero", 0, 0x3000);
	put_plain_function(&debug, "highest", UINT64_MAX, 0x3000);
	put_plain_function(&debug, "outside", TEXT + TEXT_SIZE, 0x10);
	put_plain_function(&debug, "empty", TEXT + 0x20, 0);
	put_plain_function(&debug, "there", TEXT + 0x20, 0x10);
	PUT(&debug.info, 0);
	end_unit(&debug, unit);
	struct dwarf *dwarf = open_dwarf(&debug, NULL);
	assert_names(dwarf, TEXT + 0x10, "");
	assert_names(dwarf, TEXT + 0x20, "there");
	assert_names(dwarf, 0, "");
	assert_names(dwarf, UINT64_MAX, "");
	assert_names(dwarf, TEXT + TEXT_SIZE, "");
	close_all(dwarf, &debug, NULL);
}

/* Two units claim the same addresses; the one that has a function there answers. */
static void overlapping_units_are_all_asked(void **state)
{
	(void)state;
	struct debug debug = {0};
	put_plain_abbrevs(&debug.abbrev);
	PUT(&debug.abbrev, 0);
	for (unsigned i = 0; i < 3; i++) {
		size_t unit = begin_unit(&debug, 4, 0);
		put_plain_unit_die(&debug);
		put_plain_function(&debug, (const char *[]){"first", "second", "third"}[i], TEXT + 0x100 * i, 0x10);
		PUT(&debug.info, 0);
		end_unit(&debug, unit);
	}
	struct dwarf *dwarf = open_dwarf(&debug, NULL);
	assert_names(dwarf, TEXT, "first");
	assert_names(dwarf, TEXT + 0x100, "second");
	assert_names(dwarf, TEXT + 0x200, "third");
	assert_names(dwarf, TEXT + 0x300, "");
	close_all(dwarf, &debug, NULL);
}

/* --- hostile --- */

/* Origins in a circle, siblings that point back, children without an end, an abbreviation with itself as form. */
static void circles_end(void **state)
{
	(void)state;
	struct debug debug = {0};
	PUT(&debug.abbrev, 1, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0, 0);
	PUT(&debug.abbrev, 2, DW_TAG_subprogram, 1, DW_AT_abstract_origin, DW_FORM_ref4, DW_AT_low_pc, DW_FORM_addr,
	    DW_AT_high_pc, DW_FORM_data1, DW_AT_sibling, DW_FORM_ref4, 0, 0);
	PUT(&debug.abbrev, 3, DW_TAG_inlined_subroutine, 1, DW_AT_abstract_origin, DW_FORM_ref4, DW_AT_low_pc,
	    DW_FORM_addr, DW_AT_high_pc, DW_FORM_data1, 0, 0, 0);
	size_t unit = begin_unit(&debug, 4, 0);
	put_plain_unit_die(&debug);
	size_t function = debug.info.size;
	PUT(&debug.info, 2);
	put_uint(&debug.info, function, 4);
	put_uint(&debug.info, TEXT, 8);
	PUT(&debug.info, 0x10, 11, 0, 0, 0);
	for (unsigned i = 0; i < 1000; i++) {
		PUT(&debug.info, 3);
		put_uint(&debug.info, i % 2 ? function : debug.info.size - 1, 4);
		put_uint(&debug.info, TEXT, 8);
		PUT(&debug.info, 0x10);
	}
	end_unit(&debug, unit);
	struct dwarf *dwarf = open_dwarf(&debug, NULL);
	static struct dwarf_frame frames[2000];
	assert_int_equal(dwarf_find(dwarf, TEXT + 1, frames, 2000), 1001);
	assert_null(frames[0].name);
	close_all(dwarf, &debug, NULL);
}

static void ask_everywhere(const void *bytes, size_t size)
{
	struct elf_file *elf;
	if (elf_open_bytes(&elf, bytes, size, NULL))
		return;
	struct dwarf *dwarf;
	struct dwarf_files files = {.elf = elf};
	if (!dwarf_open(&dwarf, &files, NULL)) {
		struct dwarf_frame frames[8];
		for (uint64_t address = TEXT; address < TEXT + 0x400; address += 4)
			dwarf_find(dwarf, address, frames, 8);
		dwarf_close(dwarf);
	}
	elf_close(elf);
}

/* A unit with all that the tests above have, its sections cut at every place and each byte changed. */
static void damaged_bytes_do_no_harm(void **state)
{
	(void)state;
	struct debug debug = {0};
	line_unit(&debug);
	debug.abbrev.size--;
	PUT(&debug.abbrev, 2, DW_TAG_compile_unit, 1, DW_AT_ranges, DW_FORM_sec_offset, DW_AT_stmt_list,
	    DW_FORM_sec_offset, 0, 0);
	PUT(&debug.abbrev, 3, DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_strp, DW_AT_ranges, DW_FORM_sec_offset, 0, 0);
	PUT(&debug.abbrev, 4, DW_TAG_inlined_subroutine, 0, DW_AT_abstract_origin, DW_FORM_ref4, DW_AT_low_pc,
	    DW_FORM_addr, DW_AT_high_pc, DW_FORM_data1, DW_AT_call_file, DW_FORM_data1, DW_AT_call_line, DW_FORM_data1,
	    0, 0, 0);
	buf_add(&debug.str, "name", 5);
	const uint64_t pairs[] = {TEXT + 0x10, TEXT + 0x200, 0, 0};
	buf_add(&debug.ranges, pairs, sizeof pairs);
	size_t unit = begin_unit(&debug, 4, 0);
	PUT(&debug.info, 2, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 4, 20, 0, 0, 0);
	put_uint(&debug.info, TEXT + 0x20, 8);
	PUT(&debug.info, 0x40, 1, 77, 0, 0);
	end_unit(&debug, unit);
	begin_lines(&debug.line, 1);
	put_address(&debug.line, TEXT);
	PUT(&debug.line, DW_LNS_copy, 200, 201, 202, DW_LNS_set_file, 2, 203, 0, 1, DW_LNE_end_sequence);
	end_lines(&debug.line);
	struct dwarf *dwarf = open_dwarf(&debug, NULL);
	assert_names(dwarf, TEXT + 0x20, "name name");
	dwarf_close(dwarf);
	elf_close(debug.elf);
	debug.elf = NULL;
	struct buf *sections[] = {&debug.info, &debug.abbrev, &debug.line, &debug.ranges, &debug.str};
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
		size_t whole = sections[i]->size;
		for (size_t size = 0; size < whole; size++) {
			sections[i]->size = size;
			make_image(&debug);
			ask_everywhere(debug.image.data, debug.image.size);
		}
		sections[i]->size = whole;
		for (size_t at = 0; at < whole; at++) {
			char before = sections[i]->data[at];
			for (unsigned value = 0; value < 256; value += 15) {
				sections[i]->data[at] = (char)value;
				make_image(&debug);
				ask_everywhere(debug.image.data, debug.image.size);
			}
			sections[i]->data[at] = before;
		}
	}
	release(&debug);
}

static void no_debug_information_is_said(void **state)
{
	(void)state;
	struct debug debug = {0};
	struct dwarf *dwarf = NULL;
	struct err err = {0};
	struct dwarf_files files = {.elf = open_elf(&debug)};
	assert_int_equal(dwarf_open(&dwarf, &files, &err), ERR_EMPTY);
	assert_true(err.text[0]);
	assert_null(dwarf);
	dwarf_close(NULL);
	release(&debug);
}

/* --- threads --- */

struct crowd {
	struct dwarf *dwarf;
	atomic_uint wrong;
};

static void ask_in_a_crowd(void *context, unsigned worker)
{
	struct crowd *crowd = context;
	for (unsigned i = 0; i < 4000; i++) {
		unsigned unit = (i * 7 + worker * 13) % 40;
		char wanted[16];
		snprintf(wanted, sizeof wanted, "unit%u", unit);
		struct dwarf_frame frame;
		if (dwarf_find(crowd->dwarf, TEXT + 0x10 + 0x20 * unit, &frame, 1) != 1 ||
		    strcmp(frame.name, wanted) != 0)
			atomic_fetch_add(&crowd->wrong, 1);
	}
}

static void threads_ask_at_once(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		struct debug debug = {0};
		put_plain_abbrevs(&debug.abbrev);
		PUT(&debug.abbrev, 0);
		for (unsigned i = 0; i < 40; i++) {
			char name[16];
			snprintf(name, sizeof name, "unit%u", i);
			size_t unit = begin_unit(&debug, 4, 0);
			PUT(&debug.info, 1);
			put_uint(&debug.info, TEXT + 0x20 * i, 8);
			put_uint(&debug.info, 0x20, 4);
			put_plain_function(&debug, name, TEXT + 0x20 * i, 0x20);
			PUT(&debug.info, 0);
			end_unit(&debug, unit);
		}
		struct crowd crowd = {.dwarf = open_dwarf(&debug, NULL)};
		parallel_run(8, ask_in_a_crowd, &crowd);
		assert_int_equal(crowd.wrong, 0);
		close_all(crowd.dwarf, &debug, NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"every form is stepped over", every_form_is_stepped_over, NULL, NULL, NULL},
		{"indexed strings and addresses and implicit constants are resolved", indexed_forms_are_resolved, NULL,
		 NULL, NULL},
		{"64-bit units and scattered abbreviation codes are read", wide_units_and_scattered_codes_are_read,
		 NULL, NULL, NULL},
		{"names come from the alternate file", names_come_from_the_alternate_file, NULL, NULL, NULL},
		{"range lists of both kinds are read", range_lists_of_both_kinds_are_read, NULL, NULL, NULL},
		{"discarded code is ignored", discarded_code_is_ignored, NULL, NULL, NULL},
		{"overlapping units are all asked", overlapping_units_are_all_asked, NULL, NULL, NULL},
		{"circles end", circles_end, NULL, NULL, NULL},
		{"damaged bytes do no harm", damaged_bytes_do_no_harm, NULL, NULL, NULL},
		{"a file without debug information is said to be one", no_debug_information_is_said, NULL, NULL, NULL},
		{"threads ask at once", threads_ask_at_once, NULL, NULL, NULL},
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
