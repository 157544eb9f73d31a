/* Stores interned strings in an arena and finds them by hash. */
#include "base/strpool.h"

#include "base/hash.h"

void strpool_init(struct strpool *pool)
{
	*pool = (struct strpool){0};
	strpool_add(pool, "", 0);
}

void strpool_release(struct strpool *pool)
{
	arena_release(&pool->arena);
	free(pool->entries);
	index_map_release(&pool->map);
	*pool = (struct strpool){0};
}

static str_id find_hashed(const struct strpool *pool, uint64_t hash, const char *bytes, size_t length)
{
	struct index_probe probe;
	for (uint32_t i = index_map_first(&pool->map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&pool->map, &probe))
		if (strpool_is(pool, i, bytes, length))
			return i;
	return INDEX_NONE;
}

str_id strpool_find(const struct strpool *pool, const char *bytes, size_t length)
{
	return find_hashed(pool, hash_bytes(bytes, length), bytes, length);
}

str_id strpool_add(struct strpool *pool, const char *bytes, size_t length)
{
	if (length > UINT32_MAX - 1)
		length = UINT32_MAX - 1;
	return strpool_add_hashed(pool, hash_bytes(bytes, length), bytes, length);
}

str_id strpool_add_hashed(struct strpool *pool, uint64_t hash, const char *bytes, size_t length)
{
	str_id id = find_hashed(pool, hash, bytes, length);
	if (id != INDEX_NONE)
		return id;
	MEM_ROOM(pool->entries, pool->count, pool->capacity);
	id = (str_id)pool->count++;
	pool->entries[id] = (struct strpool_entry){
		.text = arena_copy(&pool->arena, bytes, length),
		.length = (uint32_t)length,
	};
	index_map_insert(&pool->map, hash, id);
	return id;
}
