/* The bytes of an input: a file or standard input, plain or compressed (detected by its first bytes). */
#ifndef WICK_IMPORT_SOURCE_H
#define WICK_IMPORT_SOURCE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct source;

struct import_opened;
/*
 * "-" or NULL is standard input. `opened` (NULL: nothing) is what the caller has opened already; it is taken over, also
 * on failure. Directories and unreadable files fail with what to do about them.
 */
int source_open(struct source **ret_source, const char *path, const struct import_opened *opened, struct err *err);
void source_close(struct source *source);

/*
 * Up to `size` decompressed bytes; 0 at the end. Negative: a read error, or compressed data that is damaged or cut off;
 * what came before is good.
 */
ssize_t source_read(struct source *source, char *to, size_t size, struct err *err);

/* The name for messages. */
const char *source_name(const struct source *source);
/* Bytes of the file as it lies on disk: all (0 when not known) and those read so far. */
uint64_t source_size(const struct source *source);
uint64_t source_consumed(const struct source *source);

#endif
