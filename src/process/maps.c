/* Ordered sets of mappings with copy-on-write: lookup, and insertion that cuts what it overlaps. */
#include "process/maps.h"

#include "base/bisect.h"
#include "base/mem.h"

#include <string.h>

static size_t first_after(const struct map_set *maps, uint64_t address)
{
	size_t next = BISECT(maps->count, i, maps->items[i].start <= address);
	return next;
}

const struct mapping *map_set_find(const struct map_set *maps, uint64_t address)
{
	if (!maps)
		return NULL;
	size_t after = first_after(maps, address);
	if (!after || address >= maps->items[after - 1].end)
		return NULL;
	return &maps->items[after - 1];
}

struct map_set *map_set_new(void)
{
	struct map_set *maps = mem_zalloc(1, sizeof *maps);
	atomic_init(&maps->references, 1);
	return maps;
}

struct map_set *map_set_hold(struct map_set *maps)
{
	if (maps)
		atomic_fetch_add_explicit(&maps->references, 1, memory_order_relaxed);
	return maps;
}

void map_set_release(struct map_set *maps)
{
	if (!maps || atomic_fetch_sub_explicit(&maps->references, 1, memory_order_acq_rel) != 1)
		return;
	free(maps->items);
	free(maps);
}

struct map_set *map_set_copy(const struct map_set *maps)
{
	struct map_set *copy = map_set_new();
	if (maps && maps->count) {
		copy->count = maps->count;
		copy->items = mem_grow(NULL, &copy->capacity, maps->count, sizeof *copy->items);
		memcpy(copy->items, maps->items, maps->count * sizeof *copy->items);
	}
	return copy;
}

/* Opens or closes room: items[at…at+take) become `put` items, whose content the caller sets. */
static struct mapping *splice(struct map_set *maps, size_t at, size_t take, size_t put)
{
	maps->items = mem_grow(maps->items, &maps->capacity, maps->count - take + put, sizeof *maps->items);
	memmove(maps->items + at + put, maps->items + at + take, (maps->count - at - take) * sizeof *maps->items);
	maps->count += put - take;
	return maps->items + at;
}

void map_set_add(struct map_set *maps, struct mapping mapping)
{
	if (mapping.end <= mapping.start)
		return;
	size_t first = first_after(maps, mapping.start);
	if (first && maps->items[first - 1].end > mapping.start)
		first--;
	size_t last = first;
	while (last < maps->count && maps->items[last].start < mapping.end)
		last++;
	struct mapping put[3];
	size_t count = 0;
	if (last > first && maps->items[first].start < mapping.start) {
		put[count] = maps->items[first];
		put[count++].end = mapping.start;
	}
	put[count++] = mapping;
	if (last > first && maps->items[last - 1].end > mapping.end) {
		put[count] = maps->items[last - 1];
		put[count].offset += mapping.end - put[count].start;
		put[count++].start = mapping.end;
	}
	memcpy(splice(maps, first, last - first, count), put, count * sizeof *put);
}
