/*
 * Symbol names as people wrote them: C++, Rust (legacy and v0), D and OCaml; others (C, Go, assembly) as they are.
 *
 * Names come from foreign files: length, depth and output are bounded, and what exceeds the bounds stays as it is.
 */
#ifndef WICK_NAME_DEMANGLE_H
#define WICK_NAME_DEMANGLE_H

#include "base/buf.h"

#include <stdbool.h>

enum name_style {
	NAMES_FULL, /* with parameters, as c++filt prints them; without the hashes of Rust names */
	NAMES_PERF, /* as perf script prints them: template arguments, no parameters */
	NAMES_RAW, /* as the linker has them */
};

/* Appends the name in the wanted style. False when it was no mangled name, and was appended unchanged. */
bool demangle(struct buf *out, const char *name, enum name_style style);

/*
 * Rust's old names end with a hash, the only difference between two instances of a generic function. The length of what
 * is before it; 0: this is no such name.
 */
size_t demangle_rust_stem(const char *name);
/* As demangle() with NAMES_FULL, and the hash of an old Rust name stays: "f::h0123456789abcdef". */
bool demangle_with_hash(struct buf *out, const char *name);

#endif
