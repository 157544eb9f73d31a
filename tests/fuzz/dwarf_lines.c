/*
 * A .debug_line section. The unit that it belongs to is made here: it covers all addresses, its version is the one of
 * the line table, and what is left of the input behind the first table is its .debug_line_str.
 */
#include "dwarf_sections.h"
#include "harness.h"

/* A compile unit with a line table, code and a directory; no children. */
static const uint8_t abbreviations[] = {
	1,    0x11, 0, /* number, DW_TAG_compile_unit, no children */
	0x10, 0x17, /* DW_AT_stmt_list, DW_FORM_sec_offset */
	0x11, 0x01, /* DW_AT_low_pc, DW_FORM_addr */
	0x12, 0x07, /* DW_AT_high_pc, DW_FORM_data8 */
	0x1b, 0x08, /* DW_AT_comp_dir, DW_FORM_string */
	0,    0,    0,
};

static void put(struct buf *out, uint64_t value, size_t size)
{
	buf_add(out, &value, size);
}

static void put_unit(struct buf *out, unsigned version)
{
	CLEANUP_BUF struct buf body = {0};
	put(&body, version, 2);
	if (version >= 5)
		put(&body, 0x0801, 2); /* DW_UT_compile, size of addresses */
	put(&body, 0, 4); /* of the abbreviations */
	if (version < 5)
		put(&body, 8, 1);
	put(&body, 1, 1);
	put(&body, 0, 4);
	put(&body, TEXT_START, 8);
	put(&body, TEXT_SIZE, 8);
	buf_add(&body, "/directory", sizeof "/directory");
	put(out, body.size, 4);
	buf_add(out, body.data, body.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_BUF struct buf info = {0};
	uint32_t length;
	uint16_t version;
	if (size < sizeof length + sizeof version)
		return 0;
	memcpy(&length, data, sizeof length);
	memcpy(&version, data + sizeof length, sizeof version);
	size_t end = length < size - sizeof length ? length + sizeof length : size;
	put_unit(&info, version >= 2 && version <= 5 ? version : 4);
	const struct elf_maker_section sections[] = {
		{".debug_info", info.data, info.size, 0, 0},
		{".debug_abbrev", abbreviations, sizeof abbreviations, 0, 0},
		{".debug_line", data, size, 0, 0},
		{".debug_line_str", data + end, size - end, 0, 0},
		{".debug_str", "string", sizeof "string", 0, 0},
	};
	read_sections(sections, sizeof sections / sizeof *sections);
	return 0;
}
