/*
 * The short form of a function's name: without parameter lists, return type and template arguments. What says which
 * function it is stays: qualifiers, enclosing functions, operators, numbers of lambdas, ABI tags, clones.
 *
 * Names of C++, Rust and D are shortened; others, such as those of Go, Python or JavaScript, stay as they are.
 */
#ifndef WICK_NAME_SHORT_NAME_H
#define WICK_NAME_SHORT_NAME_H

#include "base/buf.h"

enum short_keep {
	SHORT_PARAMETERS = 1, /* parameter lists stay */
	SHORT_ARGUMENTS = 2, /* template arguments and generics stay; alone: names as perf prints them */
};

/* Appends the name without what `keep` (enum short_keep) does not ask for. A name that is not empty stays so. */
void short_name(struct buf *out, const char *name, size_t length, unsigned keep);

#endif
