/*
 * Interned strings: equal bytes have equal 32-bit ids. Id 0 is the empty string. Strings may hold any byte but live
 * NUL-terminated, so that `text` can be printed.
 */
#ifndef WICK_BASE_STRPOOL_H
#define WICK_BASE_STRPOOL_H

#include "base/bytes.h"
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
/* The same when the caller knows hash_bytes() of it. */
str_id strpool_add_hashed(struct strpool *pool, uint64_t hash, const char *bytes, size_t length);
/* The id of a string if it is there, else INDEX_NONE. */
str_id strpool_find(const struct strpool *pool, const char *bytes, size_t length);

static inline const char *strpool_text(const struct strpool *pool, str_id id)
{
	return pool->entries[id].text;
}

/*
 * For callers who add many strings in a row: a look-up is three dependent memory accesses, and these fetch each of them
 * ahead, so that those of different strings overlap. First all slots, then all entries, then all texts.
 */
static inline void strpool_fetch_slot(const struct strpool *pool, uint64_t hash)
{
	__builtin_prefetch(&pool->map.slots[(uint32_t)(hash >> 32) & pool->map.mask]);
}

/* Returns the id it is likely to be, or INDEX_NONE. */
static inline str_id strpool_fetch_entry(const struct strpool *pool, uint64_t hash)
{
	struct index_probe probe;
	str_id id = index_map_first(&pool->map, hash, &probe);
	if (id != INDEX_NONE)
		__builtin_prefetch(&pool->entries[id]);
	return id;
}

static inline void strpool_fetch_text(const struct strpool *pool, str_id likely)
{
	if (likely != INDEX_NONE)
		__builtin_prefetch(pool->entries[likely].text);
}

/* Whether `id` is the string of these bytes. */
static inline bool strpool_is(const struct strpool *pool, str_id id, const char *bytes, size_t length)
{
	return pool->entries[id].length == length && bytes_equal(pool->entries[id].text, bytes, length);
}

static inline size_t strpool_length(const struct strpool *pool, str_id id)
{
	return pool->entries[id].length;
}

#endif
