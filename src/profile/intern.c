/* Finds threads and samples of profiles and traces. */
#include "profile/intern.h"

thread_id intern_thread(struct intern_threads threads, struct thread thread)
{
	uint64_t hash = hash_mix(hash_pair((uint32_t)thread.pid, (uint32_t)thread.tid), thread.comm ^ HASH_K2);
	struct index_probe probe;
	for (uint32_t i = index_map_first(threads.map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(threads.map, &probe)) {
		const struct thread *known = &(*threads.items)[i];
		if (known->pid == thread.pid && known->tid == thread.tid && known->comm == thread.comm)
			return i;
	}
	MEM_ROOM(*threads.items, *threads.count, *threads.capacity);
	thread_id id = (thread_id)(*threads.count)++;
	(*threads.items)[id] = thread;
	index_map_insert(threads.map, hash, id);
	return id;
}

static uint64_t hash_sample(const struct sample *sample, label_set_id labels)
{
	return hash_mix(hash_pair(sample->thread, sample->stack), ((uint64_t)labels << 32 | sample->value) ^ HASH_K2);
}

static bool is_same(const struct intern_samples *samples, uint32_t index, const struct sample *b, label_set_id labels)
{
	const struct sample *a = &samples->items[index];
	return a->stack == b->stack && a->thread == b->thread && a->value == b->value &&
	       label_column_get(samples->labels, index) == labels;
}

static void index_all(const struct intern_samples *samples)
{
	struct index_map *map = samples->map;
	while (map->count < samples->count)
		index_map_insert(
			map, hash_sample(&samples->items[map->count], label_column_get(samples->labels, map->count)),
			map->count);
}

struct sample *intern_find_sample(const struct intern_samples *samples, const struct sample *sought,
				  label_set_id labels)
{
	uint32_t *last = &samples->stacks[sought->stack].last_sample;
	if (!*last)
		return NULL;
	if (*last <= samples->count && is_same(samples, *last - 1, sought, labels))
		return &samples->items[*last - 1];
	index_all(samples);
	struct index_probe probe;
	for (uint32_t i = index_map_first(samples->map, hash_sample(sought, labels), &probe); i != INDEX_NONE;
	     i = index_map_next(samples->map, &probe))
		if (is_same(samples, i, sought, labels)) {
			*last = i + 1;
			return &samples->items[i];
		}
	return NULL;
}
