/*
 * Symbol names as people wrote them: C++, Rust (legacy and v0), D and OCaml; others (C, Go, assembly) as they are.
 *
 * Names come from foreign files: length, depth and output are bounded, and what exceeds the bounds stays as it is.
 */
#ifndef WICK_SYMBOL_DEMANGLE_H
#define WICK_SYMBOL_DEMANGLE_H

#include "base/buf.h"

#include <stdbool.h>

enum name_style {
	NAMES_FULL, /* as perf script prints them: template arguments, no parameters */
	NAMES_SHORT, /* template arguments become <…> */
	NAMES_RAW, /* as the linker has them */
	NAMES_SIGNATURE, /* with parameters, as addr2line -C and llvm-symbolizer print them */
};

/* Appends the name in the wanted style. False when it was no mangled name, and was appended unchanged. */
bool demangle(struct buf *out, const char *name, enum name_style style);

/*
 * Appends a demangled name with what stands in the angle brackets of template arguments and generics replaced by "…".
 */
void demangle_shorten(struct buf *out, const char *name, size_t length);

#endif
