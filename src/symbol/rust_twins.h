/*
 * Which of a module's old Rust names differ in nothing but their hash: instances of one generic function, or functions
 * of one name in two versions of a crate.
 */
#ifndef WICK_SYMBOL_RUST_TWINS_H
#define WICK_SYMBOL_RUST_TWINS_H

#include "symbol/symtab.h"

#include <stdbool.h>
#include <stddef.h>

struct rust_twins;

struct rust_twins *rust_twins_new(const struct symtab *table);
void rust_twins_free(struct rust_twins *twins);
/* `stem`: demangle_rust_stem() of the name. */
bool rust_twins_has(const struct rust_twins *twins, const char *name, size_t stem);

#endif
