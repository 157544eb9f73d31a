/* Finds the gaps in call frame information, and derives rules for them. */
#include "unwind/undescribed.h"

#include "base/mem.h"

#include <string.h>

/* Gaps below, between functions, are padding. */
enum { GAP_MIN = 32 };
/*
 * Calls are looked for in this much described code, where symbols do not show where functions begin, and where there is
 * enough other code to be worth reading it all.
 */
enum { SEARCHED_MAX = 32 << 20, UNDESCRIBED_MIN = 16 << 10 };
/* Below that it is what compilers add to every file, and all symbols need not be read for it. */
enum { NAMED_MIN = 1 << 10 };

struct code_section {
	uint64_t address;
	const uint8_t *data;
	size_t size;
};

struct search {
	struct derive *derive;
	const struct cfi *cfi;
	struct elf_file *elf;
	struct code_section *sections; /* sorted */
	size_t section_count, section_capacity;
};

static int by_address(const void *left, const void *right)
{
	const struct code_section *a = left, *b = right;
	return (a->address > b->address) - (a->address < b->address);
}

static void find_sections(struct search *search)
{
	for (size_t i = 0; i < elf_section_count(search->elf); i++) {
		const Elf64_Shdr *header = elf_section_header(search->elf, i);
		struct elf_section section;
		if (!header || header->sh_type != SHT_PROGBITS || !(header->sh_flags & SHF_EXECINSTR) ||
		    !(header->sh_flags & SHF_ALLOC) || !elf_section_at(search->elf, i, &section) || !section.data ||
		    section.address > UINT64_MAX - section.size)
			continue;
		MEM_ROOM(search->sections, search->section_count, search->section_capacity);
		search->sections[search->section_count++] =
			(struct code_section){section.address, section.data, section.size};
	}
	if (search->section_count)
		qsort(search->sections, search->section_count, sizeof *search->sections, by_address);
}

/* Without the padding at its start; often there is nothing else. */
static void add_gap(struct search *search, const struct code_section *section, uint64_t start, uint64_t end)
{
	const struct arch *arch = search->derive->arch;
	struct instruction instruction;
	while (start < end) {
		size_t offset = start - section->address;
		if (!arch->decode(section->data + offset, end - start, start, &instruction) || !instruction.padding)
			break;
		start += instruction.length;
	}
	if (start < end)
		derive_add_range(search->derive, start, section->data + (start - section->address), end - start);
}

/* What lies between the functions. */
static void find_gaps(struct search *search)
{
	const struct cfi *cfi = search->cfi;
	uint64_t covered = 0;
	size_t next = 0;
	for (size_t i = 0; i < search->section_count; i++) {
		const struct code_section *section = &search->sections[i];
		uint64_t end = section->address + section->size;
		if (covered < section->address)
			covered = section->address;
		while (covered < end) {
			uint64_t start = next < cfi->function_count ? cfi->functions[next].start : UINT64_MAX;
			uint64_t gap_end = start < end ? start : end;
			bool all = covered == section->address && gap_end == end;
			if (gap_end > covered && (all || gap_end - covered >= GAP_MIN))
				add_gap(search, section, covered, gap_end);
			if (start >= end) {
				covered = end;
				break;
			}
			uint64_t function_end = start + cfi->functions[next].size;
			covered = function_end > covered ? function_end : covered;
			next++;
		}
	}
}

/* --- where functions begin --- */

/* Parts that compilers split off a function are not entered by calls. */
static bool is_part(const struct elf_section *names, uint32_t name)
{
	static const char cold[] = ".cold";
	if (name >= names->size)
		return true;
	const char *text = (const char *)names->data + name;
	return memmem(text, strnlen(text, names->size - name), cold, sizeof cold - 1);
}

static void add_symbols(struct search *search, struct elf_file *elf, const char *name)
{
	struct elf_section table, names;
	if (!elf_section(elf, name, &table) || !table.data || !elf_section_at(elf, table.link, &names) || !names.data)
		return;
	for (size_t at = 0; at + sizeof(Elf64_Sym) <= table.size; at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;
		memcpy(&symbol, table.data + at, sizeof symbol);
		unsigned type = ELF64_ST_TYPE(symbol.st_info);
		bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
		if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE ||
		    (!function && type != STT_NOTYPE) || !derive_has(search->derive, symbol.st_value) ||
		    is_part(&names, symbol.st_name))
			continue;
		derive_add_entry(search->derive, symbol.st_value, symbol.st_size,
				 function ? DERIVE_FUNCTION : DERIVE_LABEL);
	}
}

static void add_start(struct search *search)
{
	uint64_t entry = elf_header(search->elf)->e_entry;
	for (size_t i = 0; i < search->section_count; i++) {
		const struct code_section *section = &search->sections[i];
		size_t offset = entry - section->address;
		if (entry >= section->address && offset < section->size &&
		    search->derive->arch->is_entry(section->data + offset, section->size - offset))
			derive_add_entry(search->derive, entry, 0, DERIVE_START);
	}
}

/* Calls from described code, found by their bytes. */
static void add_calls(struct search *search)
{
	size_t left = SEARCHED_MAX;
	for (size_t i = 0; i < search->section_count; i++) {
		const struct code_section *section = &search->sections[i];
		if (section->size > left)
			return;
		left -= section->size;
		for (size_t at = 0; at + 5 <= section->size; at++) {
			struct instruction instruction;
			const uint8_t *found =
				memchr(section->data + at, search->derive->arch->call_opcode, section->size - at - 4);
			if (!found)
				break;
			at = (size_t)(found - section->data);
			if (search->derive->arch->decode(found, section->size - at, section->address + at,
							 &instruction) &&
			    instruction.target)
				derive_add_entry(search->derive, instruction.target, 0, DERIVE_PERHAPS_CALLED);
		}
	}
}

static bool has_symbols(struct elf_file *elf)
{
	struct elf_section section;
	return elf && elf_section(elf, ".symtab", &section) && section.data;
}

static const uint8_t *bytes_at(void *context, uint64_t address, size_t *ret_size)
{
	return elf_bytes_at(context, address, ret_size);
}

/* Go has stacks and calls of its own kind, and frame pointers. */
static bool is_go(struct elf_file *elf)
{
	return elf_section_index(elf, ".gopclntab") || elf_section_index(elf, ".data.rel.ro.gopclntab");
}

void undescribed_derive(struct derive *derive, const struct cfi *cfi, struct elf_file *elf, struct elf_file *debug)
{
	struct search search = {.derive = derive, .cfi = cfi, .elf = elf};
	if (!derive->arch->decode || is_go(elf))
		return;
	derive->bytes_at = bytes_at;
	derive->context = elf;
	find_sections(&search);
	find_gaps(&search);
	if (derive->size) {
		add_start(&search);
		if (derive->size >= NAMED_MIN) {
			add_symbols(&search, elf, ".symtab");
			add_symbols(&search, elf, ".dynsym");
		}
		if (derive->size >= NAMED_MIN && debug)
			add_symbols(&search, debug, ".symtab");
		if (derive->size >= UNDESCRIBED_MIN && !has_symbols(elf) && !has_symbols(debug))
			add_calls(&search);
		derive_run(derive);
	}
	free(search.sections);
}
