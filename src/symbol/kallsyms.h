/*
 * A file in the form of /proc/kallsyms: lines of "ADDRESS TYPE NAME", and "[module]" behind a tab for those of
 * modules.
 */
#ifndef WICK_SYMBOL_KALLSYMS_H
#define WICK_SYMBOL_KALLSYMS_H

#include "base/err.h"
#include "symbol/symtab.h"

struct kallsyms;

/* ERR_OPEN, ERR_IO; ERR_SYSTEM when all addresses are zero (kernel.kptr_restrict); ERR_EMPTY when there are none. */
int kallsyms_open(struct kallsyms **ret_symbols, const char *path, struct err *err);
int kallsyms_open_bytes(struct kallsyms **ret_symbols, const void *bytes, size_t size, struct err *err);
void kallsyms_close(struct kallsyms *symbols);

/* Where "_text" or "_stext" is, by which a kernel's place in memory is found; 0: unknown. */
uint64_t kallsyms_text(const struct kallsyms *symbols, const char *name);

struct kallsyms_function {
	uint64_t start, end;
	const char *name, *module; /* module: "[name]", or NULL for the kernel proper */
};

/* The function around an address; false: none. */
bool kallsyms_find(const struct kallsyms *symbols, uint64_t address, struct kallsyms_function *ret_function);
/* The functions in the order of their addresses; false behind the last. What is no function has no name. */
bool kallsyms_at(const struct kallsyms *symbols, size_t index, struct kallsyms_function *ret_function);

#endif
