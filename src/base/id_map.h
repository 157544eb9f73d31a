/*
 * Where the element of an id is in an array of the caller: processes by pid, threads by tid. The array and the map are
 * filled in the same order.
 */
#ifndef WICK_BASE_ID_MAP_H
#define WICK_BASE_ID_MAP_H

#include "base/index_map.h"

/* Zero-initialized is empty. */
struct id_map {
	struct index_map map;
	int32_t *ids;
	size_t capacity;
};

void id_map_release(struct id_map *map);
void id_map_clear(struct id_map *map);
/* Its position; INDEX_NONE: it was not added. */
uint32_t id_map_find(const struct id_map *map, int32_t id);
/* Adds one that is not there yet, at the next position. */
void id_map_add(struct id_map *map, int32_t id);

#endif
