/*
 * Files of other users, mapped. Who owns a file can change it at any time: bytes that were truncated read as zeros
 * instead of ending the program with SIGBUS, and zeros follow the last byte, so that a string that has lost its end
 * ends there. What was checked once may be different at the next look.
 */
#ifndef WICK_BASE_GUARDED_MAP_H
#define WICK_BASE_GUARDED_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUARDED_MAP_SPARE ((size_t)128 << 10) /* zero bytes behind the file, at least */

struct guarded_range;

struct guarded_map {
	const uint8_t *bytes; /* NULL: not mapped */
	size_t size;
	struct guarded_range *range; /* private */
};

/* Maps `size` bytes of the file, for reading. The descriptor may be closed afterwards. Returns 0 or -errno. */
int guarded_map_open(struct guarded_map *map, int fd, size_t size);
void guarded_map_close(struct guarded_map *map);
/* True when bytes were gone that had been there when it was mapped. */
bool guarded_map_lost_bytes(const struct guarded_map *map);

#endif
