/* Strings of a running CPython. */
#ifndef WICK_RUNTIME_PYTHON_TEXT_H
#define WICK_RUNTIME_PYTHON_TEXT_H

#include "base/buf.h"
#include "runtime/memory.h"
#include "runtime/python/layout.h"

/*
 * Appends a str object as UTF-8, at most `max` bytes. Control characters become '?', and what is no character becomes
 * U+FFFD. False when there is no string at the address; then nothing is appended.
 */
bool python_text_read(const struct target_memory *memory, const struct python_layout *layout, uint64_t address,
		      size_t max, struct buf *out);

#endif
