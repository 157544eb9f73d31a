/*
 * /tmp/perf-PID.map, where compilers that run inside a process write what they made: lines of "START SIZE name", hex
 * with or without 0x. Lines come in the order of time, so a later one replaces an earlier one at the same addresses.
 */
#ifndef WICK_SYMBOL_PERFMAP_H
#define WICK_SYMBOL_PERFMAP_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perfmap;

/*
 * ERR_OPEN when there is no such file (or it is none), ERR_EMPTY when no line of it makes sense. It is not read further
 * when it takes about `max` bytes of memory.
 */
int perfmap_open(struct perfmap **ret_map, const char *path, uid_t user, size_t max, struct err *err);
/* The same from bytes, which are copied. */
int perfmap_open_bytes(struct perfmap **ret_map, const void *bytes, size_t size, size_t max, struct err *err);
void perfmap_close(struct perfmap *map);
/* The memory that it takes, in bytes. */
size_t perfmap_bytes(const struct perfmap *map);

size_t perfmap_count(const struct perfmap *map);
/* Lines that are no entries. */
size_t perfmap_bad_lines(const struct perfmap *map);

/* The name at an address, NULL: none. It stays until perfmap_close(). Thread-safe. */
const char *perfmap_find(const struct perfmap *map, uint64_t address, uint64_t *ret_start);
/* The same, with the end of the code that has the name. */
const char *perfmap_find_range(const struct perfmap *map, uint64_t address, uint64_t *ret_start, uint64_t *ret_end);

#endif
