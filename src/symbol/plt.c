/*
 * Entries of the procedure linkage table have no symbols. Each jumps through a slot of the global offset table, and the
 * relocation of that slot tells for which function; so the instructions are read, whatever order a linker chose.
 */
#include "symbol/elf_symbols.h"

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

static bool is_irelative(unsigned machine, uint32_t type)
{
	return machine == EM_X86_64 ? type == R_X86_64_IRELATIVE : type == R_AARCH64_IRELATIVE;
}

static bool is_function_slot(unsigned machine, uint32_t type)
{
	if (machine == EM_X86_64)
		return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
	return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}

static void add_slots(struct slots *slots, struct elf_file *elf, const char *section_name,
		      const struct dynamic_names *names, const struct symtab *known)
{
	unsigned machine = elf_header(elf)->e_machine;
	struct elf_section section;
	if (elf_is_narrow(elf) || !elf_section(elf, section_name, &section) || !section.data ||
	    section.type != SHT_RELA)
		return;
	for (size_t i = 0; i < section.size / sizeof(Elf64_Rela) && slots->count < SLOTS_MAX; i++) {
		Elf64_Rela relocation;
		memcpy(&relocation, section.data + i * sizeof relocation, sizeof relocation);
		uint32_t type = (uint32_t)ELF64_R_TYPE(relocation.r_info);
		const char *name = NULL;
		if (is_function_slot(machine, type)) {
			name = dynamic_name(names, ELF64_R_SYM(relocation.r_info));
		} else if (is_irelative(machine, type)) {
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

/* --- instructions --- */

static int32_t load_i32(const uint8_t *bytes)
{
	int32_t value;
	memcpy(&value, bytes, sizeof value);
	return value;
}

/* jmp *slot(%rip), after endbr64 and with a bnd prefix when those are there. */
static bool x86_slot(const uint8_t *entry, size_t size, uint64_t address, uint64_t *ret_slot)
{
	size_t at = 0;
	if (size >= 4 && !memcmp(entry, "\xf3\x0f\x1e\xfa", 4))
		at = 4;
	if (at < size && entry[at] == 0xf2)
		at++;
	if (size < at + 6 || entry[at] != 0xff || entry[at + 1] != 0x25)
		return false;
	*ret_slot = address + at + 6 + (uint64_t)(int64_t)load_i32(entry + at + 2);
	return true;
}

/* adrp x16, page; ldr x17, [x16, #offset], after a bti when that is there. */
static bool aarch64_slot(const uint8_t *entry, size_t size, uint64_t address, uint64_t *ret_slot)
{
	size_t at = 0;
	if (size >= 4 && (uint32_t)load_i32(entry) == 0xd503245f)
		at = 4;
	if (size < at + 8)
		return false;
	uint32_t adrp = (uint32_t)load_i32(entry + at), ldr = (uint32_t)load_i32(entry + at + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return false;
	int64_t pages = (int64_t)((uint64_t)((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3)) << 43) >> 43;
	*ret_slot = ((address + at) & ~(uint64_t)0xfff) + (uint64_t)pages * 4096 + (uint64_t)(ldr >> 10 & 0xfff) * 8;
	return true;
}

/* Bytes of an entry; sections do not always tell. */
static size_t entry_size(unsigned machine, const struct elf_section *section)
{
	if (section->entry_size == 8 || section->entry_size == 16 || section->entry_size == 24)
		return section->entry_size;
	if (machine == EM_X86_64 && !strcmp(section->name, ".plt.got"))
		return 8;
	return 16;
}

/* In .plt.got entries are 16 bytes apart where they begin with endbr64, though the section says 8. */
static size_t entry_step(const uint8_t *entry, size_t left, size_t size)
{
	return size == 8 && left >= 16 && !memcmp(entry, "\xf3\x0f\x1e\xfa", 4) ? 16 : size;
}

static size_t add_section(struct symtab *symtab, struct elf_file *elf, const char *name, const struct slots *slots)
{
	unsigned machine = elf_header(elf)->e_machine;
	struct elf_section section;
	if (!elf_section(elf, name, &section) || !section.data || !(section.flags & SHF_EXECINSTR))
		return 0;
	size_t size = entry_size(machine, &section), added = 0;
	for (size_t at = 0, step; at + size <= section.size; at += step) {
		const uint8_t *entry = section.data + at;
		uint64_t address = section.address + at, slot;
		step = entry_step(entry, section.size - at, size);
		bool decoded = machine == EM_X86_64 ? x86_slot(entry, step, address, &slot) :
						      aarch64_slot(entry, step, address, &slot);
		const char *function = decoded ? slot_name(slots, slot) : NULL;
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
	unsigned machine = elf_header(elf)->e_machine;
	struct dynamic_names names = {0};
	struct slots slots = {0};
	if (machine != EM_X86_64 && machine != EM_AARCH64)
		return 0;
	dynamic_names_read(elf, &names);
	add_slots(&slots, elf, ".rela.plt", &names, known);
	add_slots(&slots, elf, ".rela.iplt", &names, known);
	add_slots(&slots, elf, ".rela.dyn", &names, known);
	if (slots.count)
		qsort(slots.items, slots.count, sizeof *slots.items, compare_slots);
	size_t added = 0;
	for (size_t i = 0; slots.count && i < sizeof sections / sizeof *sections; i++)
		added += add_section(symtab, elf, sections[i], &slots);
	free(slots.items);
	return added;
}
