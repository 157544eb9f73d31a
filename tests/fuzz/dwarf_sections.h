/* DWARF sections → an ELF file → answers, whose strings are read to their ends. */
#ifndef WICK_TESTS_FUZZ_DWARF_SECTIONS_H
#define WICK_TESTS_FUZZ_DWARF_SECTIONS_H

#include "../unit/elf_maker.h"
#include "dwarf/dwarf.h"

#define TEXT_START 0x1000u
#define TEXT_SIZE 0x400u /* more than the programs of the corpora have */
#define TEXT_STEP 8u /* between two addresses that are looked up */
#define FRAMES_MAX 16u

static volatile size_t answers;

static inline void ask_everywhere(struct dwarf *dwarf)
{
	struct dwarf_frame frames[FRAMES_MAX];
	for (uint64_t at = TEXT_START; at < TEXT_START + TEXT_SIZE; at += TEXT_STEP) {
		size_t count = dwarf_find(dwarf, at, frames, FRAMES_MAX);
		if (count > FRAMES_MAX)
			abort();
		for (size_t i = 0; i < count; i++)
			answers += (frames[i].name ? strlen(frames[i].name) : 0) +
				   (frames[i].file ? strlen(frames[i].file) : 0) + frames[i].line;
	}
}

static inline void read_sections(const struct elf_maker_section *sections, size_t count)
{
	CLEANUP_BUF struct buf bytes = {0};
	struct elf_file *elf;
	struct dwarf *dwarf;
	elf_make(&bytes, TEXT_START, TEXT_SIZE, sections, count);
	/* The segment takes its bytes from the start of the file. */
	while (bytes.size < TEXT_SIZE)
		buf_char(&bytes, 0);
	if (elf_open_bytes(&elf, bytes.data, bytes.size, NULL))
		abort();
	struct dwarf_files files = {.elf = elf, .qualify = true};
	if (!dwarf_open(&dwarf, &files, NULL)) {
		ask_everywhere(dwarf);
		dwarf_close(dwarf);
	}
	elf_close(elf);
}

#endif
