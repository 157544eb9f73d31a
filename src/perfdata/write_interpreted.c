/* Makes the mappings that stand for functions of interpreters, once for each process. */
#include "perfdata/write_interpreted.h"

#include "base/hash.h"
#include "base/mem.h"

#include <sys/mman.h>

void write_interpreted_release(struct write_interpreted *interpreted)
{
	free(interpreted->written);
	index_map_release(&interpreted->map);
	buf_release(&interpreted->path);
}

void write_interpreted_forget(struct write_interpreted *interpreted)
{
	interpreted->count = 0;
	index_map_clear(&interpreted->map);
}

/* Whether it must be written; notes that it is. */
static bool is_new(struct write_interpreted *interpreted, uint64_t key, uint64_t time)
{
	struct index_probe probe;
	for (uint32_t i = index_map_first(&interpreted->map, hash_u64(key), &probe); i != INDEX_NONE;
	     i = index_map_next(&interpreted->map, &probe)) {
		struct written_function *written = &interpreted->written[i];
		if (written->key != key)
			continue;
		bool earlier = time < written->time;
		written->time = earlier ? time : written->time;
		return earlier;
	}
	index_map_insert(&interpreted->map, hash_u64(key), (uint32_t)interpreted->count);
	MEM_ROOM(interpreted->written, interpreted->count, interpreted->capacity);
	interpreted->written[interpreted->count++] = (struct written_function){key, time};
	return true;
}

bool write_interpreted_take(struct write_interpreted *interpreted, int32_t pid, uint32_t number, uint64_t time,
			    struct event_mmap *ret_mmap)
{
	struct interpreted_function function;
	if (!interpreted->functions || !is_new(interpreted, (uint64_t)(uint32_t)pid << 32 | number, time) ||
	    (number != INTERPRETED_UNKNOWN && !interpreted_get(interpreted->functions, number, &function)))
		return false;
	buf_clear(&interpreted->path);
	if (number == INTERPRETED_UNKNOWN)
		buf_str(&interpreted->path, INTERPRETED_UNKNOWN_PATH);
	else
		interpreted_write_path(&interpreted->path, &function);
	*ret_mmap = (struct event_mmap){
		.pid = pid,
		.tid = pid,
		.time = time,
		.start = INTERPRETED_BASE + ((uint64_t)number << INTERPRETED_BITS),
		.length = 1u << INTERPRETED_BITS,
		.protection = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
		.path = interpreted->path.data,
	};
	return true;
}
