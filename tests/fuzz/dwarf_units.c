/*
 * The debug sections of a file, without the file around them: a byte that says which one, its size in two bytes, its
 * bytes, and so on. The corpus is made of real programs by tests/fuzz/seeds.
 */
#include "dwarf_sections.h"
#include "harness.h"

static const char *const names[] = {
	".debug_info",        ".debug_abbrev", ".debug_line",   ".debug_line_str", ".debug_str",
	".debug_str_offsets", ".debug_addr",   ".debug_ranges", ".debug_rnglists", ".debug_aranges",
};
#define NAMES (sizeof names / sizeof *names)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_maker_section sections[NAMES];
	size_t count = 0;
	while (size >= 3 && count < NAMES) {
		size_t length = (size_t)(data[1] | data[2] << 8);
		length = length < size - 3 ? length : size - 3;
		sections[count++] = (struct elf_maker_section){names[data[0] % NAMES], data + 3, length, 0, 0};
		data += 3 + length;
		size -= 3 + length;
	}
	read_sections(sections, count);
	return 0;
}
