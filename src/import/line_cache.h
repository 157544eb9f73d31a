/*
 * Most lines of perf script text repeat: what a line means is worked out once and remembered by its bytes. Memory is
 * bounded; when it is full the cache is cleared, which costs only time.
 */
#ifndef WICK_IMPORT_LINE_CACHE_H
#define WICK_IMPORT_LINE_CACHE_H

#include "base/hash.h"
#include "base/mem.h"

#include <stdbool.h>

struct line_slot {
	const char *line; /* NULL: free */
	uint32_t tag;
	uint32_t length;
	uint32_t value;
};

struct line_cache {
	struct line_slot *slots;
	size_t mask, count;
	struct arena lines;
};

void line_cache_init(struct line_cache *cache);
void line_cache_release(struct line_cache *cache);
void line_cache_add(struct line_cache *cache, uint64_t hash, const char *line, size_t length, uint32_t value);

static inline bool line_cache_find(const struct line_cache *cache, uint64_t hash, const char *line, size_t length,
				   uint32_t *ret_value)
{
	uint32_t tag = (uint32_t)(hash >> 32);
	for (size_t at = hash & cache->mask;; at = (at + 1) & cache->mask) {
		const struct line_slot *slot = &cache->slots[at];
		if (!slot->line)
			return false;
		if (slot->tag == tag && slot->length == length && memcmp(slot->line, line, length) == 0) {
			*ret_value = slot->value;
			return true;
		}
	}
}

#endif
