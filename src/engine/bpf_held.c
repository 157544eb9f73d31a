/* The copies of stacks by thread, within a memory limit. */
#include "engine/bpf_held.h"

#include "base/mem.h"
#include "engine/bpf_python.h"

#define HELD_MAX (64u << 20)

void bpf_held_init(struct bpf_held *held)
{
	*held = (struct bpf_held){.max_bytes = HELD_MAX};
}

void bpf_held_release(struct bpf_held *held)
{
	for (size_t i = 0; i < held->count; i++)
		free(held->items[i]);
	free(held->items);
	id_map_release(&held->map);
}

static uint32_t find(const struct bpf_held *held, uint32_t tid)
{
	return id_map_find(&held->map, (int32_t)tid);
}

static size_t bytes_of(const struct layout_copy *copy)
{
	return bpf_python_copy_bytes(copy);
}

static void drop(struct bpf_held *held, uint32_t number)
{
	if (!held->items[number])
		return;
	held->bytes -= bytes_of(held->items[number]);
	free(held->items[number]);
	held->items[number] = NULL;
}

void bpf_held_put(struct bpf_held *held, struct layout_copy *copy)
{
	uint32_t tid = copy->record.key.tid, number = find(held, tid);
	if (number == INDEX_NONE) {
		number = (uint32_t)held->count;
		id_map_add(&held->map, (int32_t)tid);
		MEM_ROOM(held->items, held->count, held->capacity);
		held->items[held->count++] = NULL;
	}
	drop(held, number);
	if (held->bytes + bytes_of(copy) > held->max_bytes) {
		copy->record.bytes = copy->record.python_count = 0;
		copy = mem_realloc(copy, 1, bytes_of(copy));
	}
	held->bytes += bytes_of(copy);
	held->items[number] = copy;
}

const struct layout_copy *bpf_held_find(const struct bpf_held *held, uint32_t tid)
{
	uint32_t number = find(held, tid);
	return number == INDEX_NONE ? NULL : held->items[number];
}

void bpf_held_drop(struct bpf_held *held, uint32_t tid)
{
	uint32_t number = find(held, tid);
	if (number != INDEX_NONE)
		drop(held, number);
}
