/* The hash table of lines that were parsed before. */
#include "import/line_cache.h"

#define FIRST_SLOTS 4096
#define MAX_BYTES (24u << 20) /* of lines and slots together, for each thread */

void line_cache_init(struct line_cache *cache)
{
	*cache = (struct line_cache){.mask = FIRST_SLOTS - 1};
	cache->slots = mem_zalloc(FIRST_SLOTS, sizeof *cache->slots);
}

void line_cache_release(struct line_cache *cache)
{
	free(cache->slots);
	arena_release(&cache->lines);
}

static void put(struct line_slot *slots, size_t mask, uint64_t place, struct line_slot slot)
{
	size_t at = place & mask;
	while (slots[at].line)
		at = (at + 1) & mask;
	slots[at] = slot;
}

static void grow(struct line_cache *cache)
{
	size_t old_size = cache->mask + 1, size = old_size * 2;
	struct line_slot *slots = mem_zalloc(size, sizeof *slots);
	for (size_t i = 0; i < old_size; i++)
		if (cache->slots[i].line)
			put(slots, size - 1, hash_bytes(cache->slots[i].line, cache->slots[i].length), cache->slots[i]);
	free(cache->slots);
	cache->slots = slots;
	cache->mask = size - 1;
}

void line_cache_add(struct line_cache *cache, uint64_t hash, const char *line, size_t length, uint32_t value)
{
	if (cache->lines.total + (cache->mask + 1) * sizeof *cache->slots + length > MAX_BYTES) {
		line_cache_release(cache);
		line_cache_init(cache);
		if (length > MAX_BYTES / 16)
			return;
	}
	if (cache->count * 2 > cache->mask)
		grow(cache);
	put(cache->slots, cache->mask, hash,
	    (struct line_slot){
		    .line = arena_copy(&cache->lines, line, length),
		    .tag = (uint32_t)(hash >> 32),
		    .length = (uint32_t)length,
		    .value = value,
	    });
	cache->count++;
}
