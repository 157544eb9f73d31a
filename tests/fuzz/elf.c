/*
 * Bytes as an ELF file: every section, its symbols, the procedure linkage table, an interpreter in it, and the file
 * inside .gnu_debugdata.
 */
#include "harness.h"
#include "object/debugdata.h"
#include "runtime/python/image.h"
#include "symbol/elf_symbols.h"

#include <stdlib.h>
#include <string.h>

static volatile unsigned sink;

static void touch(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	for (size_t i = 0; i < size; i += 64)
		sink += at[i];
	if (size)
		sink += at[size - 1];
}

/* What is found at an address must lie around it, and tables must be ascending without overlaps of starts. */
static void check_table(const struct symtab *table)
{
	for (size_t i = 0; i < symtab_count(table); i++) {
		const struct symtab_symbol *symbol = symtab_at(table, i);
		if (symbol->end <= symbol->start || (i && symtab_at(table, i - 1)->start >= symbol->start))
			abort();
		const struct symtab_symbol *found = symtab_find(table, symbol->start);
		if (found != symbol || symtab_find_start(table, symbol->start) != symbol)
			abort();
		const struct symtab_symbol *last = symtab_find(table, symbol->end - 1);
		if (!last || last->start > symbol->end - 1 || last->end <= symbol->end - 1)
			abort();
		touch(symbol->name, strlen(symbol->name) + 1);
	}
}

static void read_symbols(struct elf_file *elf)
{
	struct symtab *functions = symtab_new(), *plt = symtab_new();
	elf_symbols_add(functions, elf, ".symtab");
	elf_symbols_add(functions, elf, ".dynsym");
	symtab_finish(functions);
	check_table(functions);
	elf_symbols_add_plt(plt, elf, functions);
	symtab_finish(plt);
	check_table(plt);
	uint64_t address;
	elf_symbols_address(elf, "main", &address);
	symtab_free(plt);
	symtab_free(functions);
}

/* An exported symbol is one of .dynsym, and all code of an interpreter is a range. */
static void find_interpreter(struct elf_file *elf)
{
	struct python_image image;
	struct elf_symbol symbol;
	uint64_t address;
	if (elf_symbols_exported(elf, "_PyRuntime", &symbol) &&
	    !elf_symbols_address_in(elf, ".dynsym", "_PyRuntime", &address))
		abort();
	if (!python_image_find(elf, &image))
		return;
	if (image.eval_count > PYTHON_EVAL_MAX)
		abort();
	for (size_t i = 0; i < image.eval_count; i++)
		if (image.eval[i].start >= image.eval[i].end || !python_image_evaluates(&image, image.eval[i].start))
			abort();
}

static void read_file(struct elf_file *elf)
{
	for (size_t i = 0; i < elf_section_count(elf); i++) {
		struct elf_section section;
		if (!elf_section_at(elf, i, &section))
			continue;
		touch(section.name, strlen(section.name) + 1);
		if (section.data)
			touch(section.data, section.size);
	}
	for (size_t i = 0; i < elf_segment_count(elf); i++)
		touch(elf_segment(elf, i), sizeof(Elf64_Phdr));
	struct build_id id = elf_build_id(elf);
	char text[BUILD_ID_TEXT];
	touch(build_id_text(&id, text), 1);
	uint64_t address;
	for (uint64_t offset = 0; offset < 0x4000; offset += 0x400)
		if (!elf_address_of_offset(elf, offset, &address))
			elf_mapping_shift(elf, offset, 0x1000, &address);
	struct elf_section section;
	elf_section(elf, ".debug_info", &section);
	read_symbols(elf);
	find_interpreter(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_file *elf;
	struct err err;
	if (elf_open_bytes(&elf, data, size, &err))
		return 0;
	read_file(elf);
	struct debugdata inner;
	if (!debugdata_open(&inner, elf, &err)) {
		read_file(inner.elf);
		debugdata_release(&inner);
	}
	elf_close(elf);
	return 0;
}
