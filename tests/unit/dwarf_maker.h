/* Debug information made by hand. */
#ifndef WICK_TESTS_DWARF_MAKER_H
#define WICK_TESTS_DWARF_MAKER_H

#include "unit.h"

#include "dwarf/constants.h"
#include "dwarf/dwarf.h"
#include "elf_maker.h"

#include <stdio.h>

#define TEXT 0x1000
#define TEXT_SIZE 0x1000

/* The sections of one file. */
struct debug {
	struct buf info, abbrev, str, str_offsets, line, line_str, addr, ranges, rnglists, aranges;
	struct buf image;
	struct elf_file *elf;
};

static inline void put_uleb(struct buf *out, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		buf_char(out, (char)(value | 0x80));
	buf_char(out, (char)value);
}

/* Numbers that fit a byte: codes, short lebs, small values. */
#define PUT(out, ...) buf_add((out), (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static inline void patch(struct buf *out, size_t at, uint64_t value, size_t size)
{
	memcpy(out->data + at, &value, size);
}

/* Begins a unit of 32-bit DWARF; end_unit() sets its length. */
static inline size_t begin_unit(struct debug *debug, unsigned version, uint64_t abbrev)
{
	size_t at = debug->info.size;
	put_uint(&debug->info, 0, 4);
	put_uint(&debug->info, version, 2);
	if (version >= 5)
		PUT(&debug->info, DW_UT_compile, 8);
	put_uint(&debug->info, abbrev, 4);
	if (version < 5)
		PUT(&debug->info, 8);
	return at;
}

static inline void end_unit(struct debug *debug, size_t at)
{
	patch(&debug->info, at, debug->info.size - at - 4, 4);
}

static inline void make_image(struct debug *debug)
{
	struct elf_maker_section sections[] = {
		{".debug_info", debug->info.data, debug->info.size, 0, 0},
		{".debug_abbrev", debug->abbrev.data, debug->abbrev.size, 0, 0},
		{".debug_str", debug->str.data, debug->str.size, 0, 0},
		{".debug_str_offsets", debug->str_offsets.data, debug->str_offsets.size, 0, 0},
		{".debug_line", debug->line.data, debug->line.size, 0, 0},
		{".debug_line_str", debug->line_str.data, debug->line_str.size, 0, 0},
		{".debug_addr", debug->addr.data, debug->addr.size, 0, 0},
		{".debug_ranges", debug->ranges.data, debug->ranges.size, 0, 0},
		{".debug_rnglists", debug->rnglists.data, debug->rnglists.size, 0, 0},
		{".debug_aranges", debug->aranges.data, debug->aranges.size, 0, 0},
	};
	buf_clear(&debug->image);
	elf_make(&debug->image, TEXT, TEXT_SIZE, sections, sizeof sections / sizeof *sections);
}

static inline struct elf_file *open_elf(struct debug *debug)
{
	make_image(debug);
	assert_int_equal(elf_open_bytes(&debug->elf, debug->image.data, debug->image.size, NULL), 0);
	return debug->elf;
}

static inline struct dwarf *open_dwarf(struct debug *debug, struct debug *alternate)
{
	struct dwarf *dwarf = NULL;
	struct dwarf_files files = {.elf = open_elf(debug), .alternate = alternate ? open_elf(alternate) : NULL};
	assert_int_equal(dwarf_open(&dwarf, &files, NULL), 0);
	return dwarf;
}

static inline void release(struct debug *debug)
{
	if (debug->elf)
		elf_close(debug->elf);
	struct buf *bufs[] = {&debug->info,     &debug->abbrev,   &debug->str,  &debug->str_offsets,
			      &debug->line,     &debug->line_str, &debug->addr, &debug->ranges,
			      &debug->rnglists, &debug->aranges,  &debug->image};
	for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
		buf_release(bufs[i]);
}

static inline void close_all(struct dwarf *dwarf, struct debug *debug, struct debug *alternate)
{
	dwarf_close(dwarf);
	release(debug);
	if (alternate)
		release(alternate);
}

/* Checks the names of an answer, innermost first, as "inner outer"; "-" is a frame without a name, "" no answer. */
#define assert_names(dwarf, address, wanted) check_names(dwarf, address, wanted, __FILE__, __LINE__)
static inline void check_names(struct dwarf *dwarf, uint64_t address, const char *wanted, const char *file, int line)
{
	CLEANUP_BUF struct buf names = {0};
	struct dwarf_frame frames[32];
	size_t count = dwarf_find(dwarf, address, frames, 32);
	buf_reserve(&names, 1);
	names.data[0] = 0;
	for (size_t i = 0; i < count; i++)
		buf_printf(&names, "%s%s", i ? " " : "", frames[i].name ? frames[i].name : "-");
	if (strcmp(names.data, wanted) != 0) {
		print_message("%#lx: \"%s\", not \"%s\"\n", (unsigned long)address, names.data, wanted);
		_fail(file, line);
	}
}

/* A header of version 4 with one directory, two files and two operations an instruction. */
static inline size_t begin_lines(struct buf *line, uint8_t operations)
{
	put_uint(line, 0, 4);
	put_uint(line, 4, 2);
	put_uint(line, 0, 4);
	size_t header = line->size;
	PUT(line, 4, operations, 1, 0xfe, 4, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1);
	buf_add(line, "include\0\0a.c\0\0\0\0b.h\0\1\0\0\0", 24);
	patch(line, 6, line->size - header, 4);
	return header;
}

static inline void end_lines(struct buf *line)
{
	patch(line, 0, line->size - 4, 4);
}

static inline void put_address(struct buf *line, uint64_t address)
{
	PUT(line, 0, 9, DW_LNE_set_address);
	put_uint(line, address, 8);
}

static inline void line_unit(struct debug *debug)
{
	PUT(&debug->abbrev, 1, DW_TAG_compile_unit, 0, DW_AT_comp_dir, DW_FORM_string, DW_AT_stmt_list,
	    DW_FORM_sec_offset, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0, 0, 0);
	size_t unit = begin_unit(debug, 4, 0);
	PUT(&debug->info, 1);
	buf_add(&debug->info, "/src", 5);
	put_uint(&debug->info, 0, 4);
	put_uint(&debug->info, TEXT, 8);
	put_uint(&debug->info, TEXT_SIZE, 4);
	end_unit(debug, unit);
}

#endif
