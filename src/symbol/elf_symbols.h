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

#endif
