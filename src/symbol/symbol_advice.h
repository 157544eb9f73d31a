/* What would give a module its symbols. */
#ifndef WICK_SYMBOL_SYMBOL_ADVICE_H
#define WICK_SYMBOL_SYMBOL_ADVICE_H

#include "object/cache.h"
#include "symbol/symbols.h"

/*
 * Appends one line without newline; nothing for SYMBOLS_DEBUG. `path` is as it was mapped. The cache, which may be
 * NULL, keeps which package a file is of.
 */
void advice_write(struct buf *out, enum symbol_state state, const char *path, struct cache *cache);

/* The debuginfod server of the distribution whose files are below `root` ("": this one). A constant. */
const char *advice_server(const char *root);

/*
 * How to get the debug files of a Debian package: where from, too, unless the system below `root` knows the archive
 * already. `servers_known`: DEBUGINFOD_URLS is set, and did not help.
 */
void advice_debug_package(struct buf *out, const char *root, const char *package, bool servers_known);

/* The Debian package that brought a file, by the lists in `folder` (/var/lib/dpkg/info); false when none did. */
bool advice_package(struct buf *out, const char *folder, const char *path, struct cache *cache);

#endif
