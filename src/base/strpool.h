/*
 * Interned strings: equal bytes have equal 32-bit ids. Id 0 is the empty string. Strings may hold any byte but live
 * NUL-terminated, so that `text` can be printed.
 */
#ifndef WICK_BASE_STRPOOL_H
#define WICK_BASE_STRPOOL_H

#include "base/index_map.h"
#include "base/mem.h"

typedef uint32_t str_id;

struct strpool_entry {
	const char *text;
	uint32_t length;
};

struct strpool {
	struct arena arena;
	struct strpool_entry *entries;
	size_t count, capacity;
	struct index_map map;
};

void strpool_init(struct strpool *pool);
void strpool_release(struct strpool *pool);
str_id strpool_add(struct strpool *pool, const char *bytes, size_t length);
/* The id of a string if it is there, else INDEX_NONE. */
str_id strpool_find(const struct strpool *pool, const char *bytes, size_t length);

static inline const char *strpool_text(const struct strpool *pool, str_id id)
{
	return pool->entries[id].text;
}

static inline size_t strpool_length(const struct strpool *pool, str_id id)
{
	return pool->entries[id].length;
}

#endif
