/* Positions of elements by their ids. */
#include "base/id_map.h"

#include "base/hash.h"
#include "base/mem.h"

void id_map_release(struct id_map *map)
{
	index_map_release(&map->map);
	free(map->ids);
	*map = (struct id_map){0};
}

void id_map_clear(struct id_map *map)
{
	index_map_clear(&map->map);
}

uint32_t id_map_find(const struct id_map *map, int32_t id)
{
	struct index_probe probe;
	uint32_t at = index_map_first(&map->map, hash_u64((uint32_t)id), &probe);
	while (at != INDEX_NONE && map->ids[at] != id)
		at = index_map_next(&map->map, &probe);
	return at;
}

void id_map_add(struct id_map *map, int32_t id)
{
	uint32_t at = map->map.count;
	MEM_ROOM(map->ids, at, map->capacity);
	map->ids[at] = id;
	index_map_insert(&map->map, hash_u64((uint32_t)id), at);
}
