/* Function names as flame graphs show them, by the rules that users of stackcollapse-perf.pl know. */
#ifndef WICK_PROFILE_TIDY_H
#define WICK_PROFILE_TIDY_H

#include "base/buf.h"

#include <stdbool.h>

/*
 * Appends the name without its argument list (Go methods keep their parentheses), without quotes, and with ':' for ';',
 * which separates frames. In Java processes the L of a class name goes too.
 */
void tidy_name(struct buf *out, const char *name, size_t length, bool java);
/* Appends "[libfoo.so]" for a frame of /usr/lib/libfoo.so that has no symbol, "[unknown]" where the module is "". */
void tidy_unresolved(struct buf *out, const char *module, size_t length);

#endif
