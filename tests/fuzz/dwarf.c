/*
 * An ELF file with debug sections: opened, and asked at many addresses. It is its own alternate and split file, so that
 * references and indexes into those are followed too.
 */
#include "dwarf/dwarf.h"
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define ADDRESSES 512

static struct elf_file *find_split(void *context, const char *directory, const char *name, uint64_t id)
{
	(void)directory;
	(void)name;
	(void)id;
	return context;
}

/* An answer's strings are read to their ends. */
static void read_answer(const struct dwarf_frame *frames, size_t count, size_t max)
{
	size_t length = 0;
	if (count > max)
		abort();
	for (size_t i = 0; i < count; i++) {
		length += frames[i].name ? strlen(frames[i].name) : 0;
		length += frames[i].file ? strlen(frames[i].file) : 0;
		if (frames[i].inlined && i + 1 == count && count < max)
			abort();
	}
	if (length > SIZE_MAX / 2)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_file *elf;
	struct dwarf *dwarf;
	if (elf_open_bytes(&elf, data, size, NULL))
		return 0;
	struct dwarf_files files = {
		.elf = elf, .alternate = elf, .context = elf, .find_split = find_split, .qualify = true};
	if (!dwarf_open(&dwarf, &files, NULL)) {
		for (size_t i = 0; i < elf_segment_count(elf); i++) {
			const Elf64_Phdr *segment = elf_segment(elf, i);
			uint64_t step = segment->p_memsz / ADDRESSES + 1;
			struct dwarf_frame frames[16];
			for (uint64_t at = 0; at < ADDRESSES && at * step < segment->p_memsz; at++)
				read_answer(frames, dwarf_find(dwarf, segment->p_vaddr + at * step, frames, 16), 16);
			if (i == 8)
				break;
		}
		dwarf_close(dwarf);
	}
	elf_close(elf);
	return 0;
}
