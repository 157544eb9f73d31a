/* Adds slabs ahead of need, and gives out their words. */
#include "engine/bpf_slabs.h"

#include "bpf/layout.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#define SLAB_BYTES ((size_t)LAYOUT_SLAB_WORDS * 4)

static int create_slab(void)
{
	struct bpf_map_create_opts options = {.sz = sizeof options, .map_flags = BPF_F_MMAPABLE};
	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "wick_slab", 4, SLAB_BYTES, 1, &options);
}

static void *add_next(void *context)
{
	struct bpf_slabs *slabs = context;
	uint32_t number = (uint32_t)slabs->count;
	if (slabs->next < 0)
		slabs->next = create_slab();
	if (slabs->next >= 0 && bpf_map_update_elem(slabs->outer, &number, &slabs->next, BPF_ANY)) {
		close(slabs->next);
		slabs->next = -1;
	}
	return NULL;
}

static void begin_next(struct bpf_slabs *slabs)
{
	if (slabs->adding || slabs->count >= slabs->room)
		return;
	slabs->adding = pthread_create(&slabs->thread, NULL, add_next, slabs) == 0;
}

/* Waits for the thread, or does its work where none was started. */
static bool finish_next(struct bpf_slabs *slabs)
{
	if (slabs->count >= slabs->room)
		return false;
	if (slabs->adding)
		pthread_join(slabs->thread, NULL);
	else
		add_next(slabs);
	slabs->adding = false;
	if (slabs->next < 0)
		return false;
	MEM_ROOM(slabs->items, slabs->count, slabs->capacity);
	struct bpf_slab *slab = &slabs->items[slabs->count++];
	slab->fd = slabs->next;
	slabs->next = -1;
	bpf_extents_init(&slab->words, LAYOUT_SLAB_WORDS);
	return true;
}

int bpf_slabs_open(struct bpf_slabs *slabs, uint32_t room)
{
	*slabs = (struct bpf_slabs){.room = room < LAYOUT_SLABS_MAX ? room : LAYOUT_SLABS_MAX, .outer = -1};
	slabs->next = create_slab();
	struct bpf_map_create_opts options = {.sz = sizeof options, .inner_map_fd = (uint32_t)slabs->next};
	if (slabs->next >= 0)
		slabs->outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "slabs", 4, 4, LAYOUT_SLABS_MAX, &options);
	if (slabs->outer < 0) {
		int error = errno;
		bpf_slabs_release(slabs);
		return error;
	}
	begin_next(slabs);
	return 0;
}

void bpf_slabs_release(struct bpf_slabs *slabs)
{
	if (slabs->adding)
		pthread_join(slabs->thread, NULL);
	for (size_t i = 0; i < slabs->count; i++) {
		close(slabs->items[i].fd);
		bpf_extents_release(&slabs->items[i].words);
	}
	if (slabs->next >= 0)
		close(slabs->next);
	if (slabs->outer >= 0)
		close(slabs->outer);
	free(slabs->items);
	*slabs = (struct bpf_slabs){.outer = -1, .next = -1};
}

size_t bpf_slabs_bytes(const struct bpf_slabs *slabs)
{
	return (slabs->count + slabs->adding) * SLAB_BYTES;
}

uint32_t bpf_slabs_take(struct bpf_slabs *slabs, uint32_t words, uint32_t *ret_slab)
{
	for (uint32_t i = 0;; i++) {
		if (i == slabs->count && !finish_next(slabs))
			return BPF_EXTENT_NONE;
		struct bpf_extents *room = &slabs->items[i].words;
		uint32_t at = bpf_extents_take(room, words);
		if (at != BPF_EXTENT_NONE) {
			*ret_slab = i;
			if (i + 1 == slabs->count && room->used > room->room / 2)
				begin_next(slabs);
			return at;
		}
	}
}

void bpf_slabs_give(struct bpf_slabs *slabs, uint32_t slab, uint32_t start)
{
	bpf_extents_give(&slabs->items[slab].words, start);
}
