/*
 * A table of symbols: address → the symbol that covers it.
 *
 * Symbols may come in any order, without sizes (they reach to the next one), at the same address (the name that perf
 * would show is chosen) and inside each other (the innermost one covers). Names are not copied: they must stay as
 * long as the table.
 */
#ifndef WICK_SYMBOL_SYMTAB_H
#define WICK_SYMBOL_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbol_binding { BINDING_LOCAL, BINDING_WEAK, BINDING_GLOBAL };

struct symtab_symbol {
	uint64_t start;
	uint64_t end; /* first address behind it */
	const char *name;
	uint32_t tag; /* the caller's */
	uint8_t binding;
};

struct symtab;

struct symtab *symtab_new(void);
void symtab_free(struct symtab *symtab);

/* `end` == `start`: the size is not known. A symbol never reaches beyond `limit`. Only before symtab_finish(). */
void symtab_add(struct symtab *symtab, const struct symtab_symbol *symbol, uint64_t limit);
/* Sorts, chooses among names of one address, closes gaps of unknown size. Afterwards threads may share the table. */
void symtab_finish(struct symtab *symtab);

/* Symbols, after symtab_finish() without the names that were not chosen. */
size_t symtab_count(const struct symtab *symtab);
const struct symtab_symbol *symtab_at(const struct symtab *symtab, size_t index);

/* The symbol that covers the address; NULL: none. */
const struct symtab_symbol *symtab_find(const struct symtab *symtab, uint64_t address);
/* The symbol that begins there; NULL: none. */
const struct symtab_symbol *symtab_find_start(const struct symtab *symtab, uint64_t address);

#endif
