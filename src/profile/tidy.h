/* Function names as outputs show them. */
#ifndef WICK_PROFILE_TIDY_H
#define WICK_PROFILE_TIDY_H

#include "base/buf.h"

#include <stdbool.h>

/* Appends the whole name, with ':' for ';', which separates frames. */
void tidy_whole(struct buf *out, const char *name, size_t length);
/*
 * Appends the name without its parameter list, without quotes, and with ':' for ';'. With `java` the L of a class name
 * goes too. Those are the rules of stackcollapse-perf.pl, except that brackets are balanced: see
 * tidy_without_parameters().
 */
void tidy_name(struct buf *out, const char *name, size_t length, bool java);
/*
 * Appends "[libfoo.so]" for a frame of /usr/lib/libfoo.so that has no symbol, "[unknown]" where the module is "",
 * and "[jit]" for JIT code.
 */
void tidy_unresolved(struct buf *out, const char *module, size_t length);

/*
 * The length of a name up to its own parameter list, which is the last pair of parentheses outside all brackets with
 * only qualifiers behind it. All of the name where it has none: parameters of enclosing functions, operator(),
 * (anonymous namespace) and the receivers of Go methods are part of a name.
 */
size_t tidy_without_parameters(const char *name, size_t length);
/*
 * Where the function ends that begins the name: at the first "->" outside all brackets, which Java agents write between
 * a caller and what was inlined into it, or at `length`.
 */
size_t tidy_part_end(const char *name, size_t length);

#endif
