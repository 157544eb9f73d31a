/* The code of CPython's evaluation loop in a file. */
#ifndef WICK_RUNTIME_PYTHON_EVALUATION_H
#define WICK_RUNTIME_PYTHON_EVALUATION_H

#include "runtime/python/image.h"

/*
 * Fills `ranges` and returns how many there are; 0 when the file has no symbol for it. Parts that the compiler moved
 * elsewhere are found by their symbols, or else by where jumps lead.
 */
size_t python_evaluation_find(struct elf_file *elf, struct python_range ranges[PYTHON_EVAL_MAX]);

#endif
