/* The function symbols of an ELF file, for a symtab. Names point into the file, which must stay open. */
#ifndef WICK_SYMBOL_ELF_SYMBOLS_H
#define WICK_SYMBOL_ELF_SYMBOLS_H

#include "object/elf.h"
#include "symbol/symtab.h"

/* Tag of an entry of the procedure linkage table: it is shown as name@plt. */
#define SYMBOL_PLT 1u

/* Adds the code symbols of the section (".symtab" or ".dynsym") and returns how many. */
size_t elf_symbols_add(struct symtab *symtab, struct elf_file *elf, const char *section);

/*
 * Adds the entries of .plt, .plt.sec, .plt.got and .iplt by the slots they jump through. `known` (may be NULL) is a
 * finished table that names what IRELATIVE slots resolve; without a name there an entry is skipped.
 */
size_t elf_symbols_add_plt(struct symtab *symtab, struct elf_file *elf, const struct symtab *known);

/* The value of a symbol of .symtab or .dynsym by its name; false when there is none. Looks at all of them. */
bool elf_symbols_address(struct elf_file *elf, const char *name, uint64_t *ret_address);
/* The same in one section of symbols. */
bool elf_symbols_address_in(struct elf_file *elf, const char *section_name, const char *name, uint64_t *ret_address);

/* A symbol that is defined in the file. */
struct elf_symbol {
	const char *name;
	uint64_t address, size;
};

/* A symbol of .dynsym by its name. By the hash table of the file where it has one: a few reads. */
bool elf_symbols_exported(struct elf_file *elf, const char *name, struct elf_symbol *ret_symbol);

/* False: the others are not needed. */
typedef bool (*elf_symbol_sink)(void *context, const struct elf_symbol *symbol);
/* The symbols of a section with this type (STT_FUNC, …) and names that begin so. Reads all of them. */
void elf_symbols_with_prefix(struct elf_file *elf, const char *section, unsigned type, const char *prefix,
			     elf_symbol_sink sink, void *context);

#endif
