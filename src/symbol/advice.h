/* What would give a module its symbols. */
#ifndef WICK_SYMBOL_ADVICE_H
#define WICK_SYMBOL_ADVICE_H

#include "symbol/cache.h"
#include "symbol/symbols.h"

/*
 * Appends one line without newline; nothing for SYMBOLS_DEBUG. `path` is as it was mapped. The cache, which may be
 * NULL, keeps which package a file is of.
 */
void advice_write(struct buf *out, enum symbol_state state, const char *path, struct cache *cache);

/* The Debian package that brought a file, by the lists in `folder` (/var/lib/dpkg/info); false when none did. */
bool advice_package(struct buf *out, const char *folder, const char *path, struct cache *cache);

#endif
