/*
 * Entries of the procedure linkage table have no symbols. Each jumps through a slot of the global offset table, and the
 * relocation of that slot names the function; so the instructions are read, whatever order a linker chose.
 */
#include "symbol/elf_symbols.h"

#include "arch/arch.h"
#include "base/mem.h"

#include <string.h>

#define SLOTS_MAX ((size_t)1 << 22)

struct slot {
	uint64_t address;
	const char *name;
};

struct slots {
	struct slot *items;
	size_t count, capacity;
};

struct dynamic_names {
	struct elf_section symbols;
	const char *text;
	size_t text_size; /* up to and with the last NUL */
};

/* Leaves `names` as it is, without any, when they are not there. */
static void dynamic_names_read(struct elf_file *elf, struct dynamic_names *names)
{
	struct elf_section symbols, text;
	if (!elf_section(elf, ".dynsym", &symbols) || !symbols.data || !elf_section_at(elf, symbols.link, &text) ||
	    !text.data)
		return;
	const uint8_t *last = memrchr(text.data, '\0', text.size);
	names->symbols = symbols;
	names->text = (const char *)text.data;
	names->text_size = last ? (size_t)(last - text.data) + 1 : 0;
}

static const char *dynamic_name(const struct dynamic_names *names, uint64_t index)
{
	Elf64_Sym symbol;
	if (!index || index >= names->symbols.size / sizeof symbol)
		return NULL;
	memcpy(&symbol, names->symbols.data + index * sizeof symbol, sizeof symbol);
	if (symbol.st_name >= names->text_size || !names->text[symbol.st_name])
		return NULL;
	return names->text + symbol.st_name;
}

static void add_slots(struct slots *slots, const struct arch *arch, struct elf_file *elf, const char *section_name,
		      const struct dynamic_names *names, const struct symtab *known)
{
	const struct arch_relocations *relocations = &arch->relocations;
	struct elf_section section;
	if (elf_is_narrow(elf) || !elf_section(elf, section_name, &section) || !section.data ||
	    section.type != SHT_RELA)
		return;
	for (size_t i = 0; i < section.size / sizeof(Elf64_Rela) && slots->count < SLOTS_MAX; i++) {
		Elf64_Rela relocation;
		memcpy(&relocation, section.data + i * sizeof relocation, sizeof relocation);
		uint32_t type = (uint32_t)ELF64_R_TYPE(relocation.r_info);
		const char *name = NULL;
		if (type == relocations->jump_slot || type == relocations->glob_dat) {
			name = dynamic_name(names, ELF64_R_SYM(relocation.r_info));
		} else if (type == relocations->irelative) {
			const struct symtab_symbol *resolver =
				known ? symtab_find_start(known, (uint64_t)relocation.r_addend) : NULL;
			name = resolver ? resolver->name : NULL;
		} else {
			continue;
		}
		MEM_ROOM(slots->items, slots->count, slots->capacity);
		slots->items[slots->count++] = (struct slot){relocation.r_offset, name};
	}
}

static int compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;
	return x->address < y->address ? -1 : x->address > y->address;
}

static const char *slot_name(const struct slots *slots, uint64_t address)
{
	struct slot wanted = {.address = address};
	const struct slot *slot =
		slots->count ? bsearch(&wanted, slots->items, slots->count, sizeof wanted, compare_slots) : NULL;
	return slot ? slot->name : NULL;
}

/* Bytes of an entry; sections do not always state it. */
static size_t entry_size(const struct arch *arch, const struct elf_section *section)
{
	if (section->entry_size == 8 || section->entry_size == 16 || section->entry_size == 24)
		return section->entry_size;
	return strcmp(section->name, ".plt.got") ? 16 : arch->plt_got_entry;
}

static size_t add_section(struct symtab *symtab, const struct arch *arch, struct elf_file *elf, const char *name,
			  const struct slots *slots)
{
	struct elf_section section;
	if (!elf_section(elf, name, &section) || !section.data || !(section.flags & SHF_EXECINSTR))
		return 0;
	size_t size = entry_size(arch, &section), added = 0;
	for (size_t at = 0, step; at + size <= section.size; at += step) {
		const uint8_t *entry = section.data + at;
		uint64_t address = section.address + at, slot;
		step = arch->plt_entry_bytes(entry, section.size - at, size);
		const char *function = arch->plt_slot(entry, step, address, &slot) ? slot_name(slots, slot) : NULL;
		if (!function)
			continue;
		struct symtab_symbol symbol = {address, address + step, function, SYMBOL_PLT, BINDING_LOCAL};
		symtab_add(symtab, &symbol, address + step);
		added++;
	}
	return added;
}

size_t elf_symbols_add_plt(struct symtab *symtab, struct elf_file *elf, const struct symtab *known)
{
	static const char *const sections[] = {".plt", ".plt.sec", ".plt.got", ".plt.bnd", ".iplt"};
	const struct arch *arch = arch_of_machine(elf_header(elf)->e_machine);
	struct dynamic_names names = {0};
	struct slots slots = {0};
	if (!arch || !arch->plt_slot)
		return 0;
	dynamic_names_read(elf, &names);
	add_slots(&slots, arch, elf, ".rela.plt", &names, known);
	add_slots(&slots, arch, elf, ".rela.iplt", &names, known);
	add_slots(&slots, arch, elf, ".rela.dyn", &names, known);
	if (slots.count)
		qsort(slots.items, slots.count, sizeof *slots.items, compare_slots);
	size_t added = 0;
	for (size_t i = 0; slots.count && i < sizeof sections / sizeof *sections; i++)
		added += add_section(symtab, arch, elf, sections[i], &slots);
	free(slots.items);
	return added;
}
