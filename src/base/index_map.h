/*
 * A hash table of 32-bit indexes into an array of the caller's, who compares the candidates himself:
 *
 *	struct index_probe probe;
 *	for (uint32_t i = index_map_first(&map, hash, &probe); i != INDEX_NONE; i = index_map_next(&map, &probe))
 *		if (items[i].key == key)
 *			return i;
 *	index_map_insert(&map, hash, new_index);
 *
 * A slot is 8 bytes (index and the hash's upper half), probing is linear, the load stays below 3/4.
 * Zero-initialised is empty.
 */
#ifndef WICK_BASE_INDEX_MAP_H
#define WICK_BASE_INDEX_MAP_H

#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX

struct index_slot {
	uint32_t tag;
	uint32_t index_plus_1; /* 0: free */
};

struct index_map {
	struct index_slot *slots;
	uint32_t mask;
	uint32_t count;
};

struct index_probe {
	uint32_t at;
	uint32_t tag;
};

void index_map_release(struct index_map *map);
/* Empties the table and keeps its memory. */
void index_map_clear(struct index_map *map);
/* Adds without looking for equals. */
void index_map_insert(struct index_map *map, uint64_t hash, uint32_t index);

static inline uint32_t index_map_next(const struct index_map *map, struct index_probe *probe)
{
	for (;;) {
		struct index_slot slot = map->slots[probe->at];
		if (!slot.index_plus_1)
			return INDEX_NONE;
		probe->at = (probe->at + 1) & map->mask;
		if (slot.tag == probe->tag)
			return slot.index_plus_1 - 1;
	}
}

/* Fetches what index_map_first() will look at from memory. */
static inline void index_map_prefetch(const struct index_map *map, uint64_t hash)
{
	if (map->slots)
		__builtin_prefetch(&map->slots[(uint32_t)(hash >> 32) & map->mask]);
}

static inline uint32_t index_map_first(const struct index_map *map, uint64_t hash, struct index_probe *probe)
{
	if (!map->slots)
		return INDEX_NONE;
	probe->tag = (uint32_t)(hash >> 32);
	probe->at = probe->tag & map->mask;
	return index_map_next(map, probe);
}

#endif
