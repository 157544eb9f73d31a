/* Insertion and growth of the hash table; lookups are inline in the header. */
#include "base/index_map.h"

#include "base/mem.h"

#include <string.h>

#define MIN_SIZE 64

void index_map_release(struct index_map *map)
{
	free(map->slots);
	*map = (struct index_map){0};
}

void index_map_clear(struct index_map *map)
{
	if (map->slots)
		memset(map->slots, 0, ((size_t)map->mask + 1) * sizeof *map->slots);
	map->count = 0;
}

static void put(struct index_map *map, struct index_slot slot)
{
	uint32_t at = slot.tag & map->mask;
	while (map->slots[at].index_plus_1)
		at = (at + 1) & map->mask;
	map->slots[at] = slot;
}

static void resize(struct index_map *map, size_t size)
{
	struct index_slot *old = map->slots;
	size_t old_size = old ? (size_t)map->mask + 1 : 0;
	/* Written and not calloc'ed: a slot that is read before it is written costs two page faults. */
	map->slots = mem_alloc(size * sizeof *map->slots);
	memset(map->slots, 0, size * sizeof *map->slots);
	map->mask = (uint32_t)(size - 1);
	for (size_t i = 0; i < old_size; i++)
		if (old[i].index_plus_1)
			put(map, old[i]);
	free(old);
}

void index_map_insert(struct index_map *map, uint64_t hash, uint32_t index)
{
	if (!map->slots || map->count >= map->mask / 4 * 3)
		resize(map, map->slots ? 2 * ((size_t)map->mask + 1) : MIN_SIZE);
	put(map, (struct index_slot){.tag = (uint32_t)(hash >> 32), .index_plus_1 = index + 1});
	map->count++;
}
