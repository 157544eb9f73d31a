/*
 * Functions of interpreters by number, so that frames of all processes that run the same code are the same. Names are
 * added by the thread that reads the target's memory, and looked up by those that symbolize.
 */
#ifndef WICK_RUNTIME_INTERPRETED_H
#define WICK_RUNTIME_INTERPRETED_H

#include "base/buf.h"
#include "base/index_map.h"

#include <pthread.h>
#include <stdbool.h>

struct interpreted_function {
	const char *name, *file; /* stay until the release */
};

struct interpreted {
	pthread_mutex_t lock;
	struct interpreted_function *items;
	size_t count, capacity;
	struct index_map map;
};

/* The function that nobody could name. */
#define INTERPRETED_UNKNOWN 0u

void interpreted_init(struct interpreted *functions);
void interpreted_release(struct interpreted *functions);
/* The number of a function, at least 1; the strings are copied. */
uint32_t interpreted_add(struct interpreted *functions, const char *name, const char *file);
/* False for INTERPRETED_UNKNOWN and numbers that were not given. */
bool interpreted_get(struct interpreted *functions, uint32_t number, struct interpreted_function *ret_function);

/*
 * In perf.data a function is a mapping of its process, above all addresses of user space, with its name and file as the
 * path: "[python] NAME (FILE)". A frame is an address in it, by its line, so that other tools show at least the path.
 * Some of them look at the byte before an address: a line has four.
 */
#define INTERPRETED_BASE (1ull << 60)
#define INTERPRETED_BITS 26u /* of a mapping */

static inline uint64_t interpreted_address(uint32_t number, uint32_t line)
{
	uint32_t last = (1u << (INTERPRETED_BITS - 2)) - 1;
	return INTERPRETED_BASE + ((uint64_t)number << INTERPRETED_BITS) + (line < last ? line : last) * 4ull + 2;
}

static inline uint32_t interpreted_line(uint64_t address)
{
	return (uint32_t)(address & ((1u << INTERPRETED_BITS) - 1)) >> 2;
}

#define INTERPRETED_UNKNOWN_PATH "[python]" /* of INTERPRETED_UNKNOWN */
void interpreted_write_path(struct buf *out, const struct interpreted_function *function);
/* The number of the function with such a path; INTERPRETED_UNKNOWN: it is none. */
uint32_t interpreted_add_path(struct interpreted *functions, const char *path);

#endif
