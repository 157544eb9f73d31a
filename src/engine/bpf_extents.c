/* First-fit allocation of ranges. */
#include "engine/bpf_extents.h"

#include "base/bisect.h"

#include <string.h>

void bpf_extents_init(struct bpf_extents *extents, uint32_t room)
{
	*extents = (struct bpf_extents){.room = room};
}

void bpf_extents_release(struct bpf_extents *extents)
{
	free(extents->taken);
}

uint32_t bpf_extents_take(struct bpf_extents *extents, uint32_t size)
{
	uint32_t free_from = 0;
	size_t at = 0;
	for (; at < extents->count; at++) {
		if (extents->taken[at].start - free_from >= size)
			break;
		free_from = extents->taken[at].start + extents->taken[at].size;
	}
	if (at == extents->count && extents->room - free_from < size)
		return BPF_EXTENT_NONE;
	MEM_ROOM(extents->taken, extents->count, extents->capacity);
	memmove(extents->taken + at + 1, extents->taken + at, (extents->count - at) * sizeof *extents->taken);
	extents->count++;
	extents->used += size;
	extents->taken[at] = (struct bpf_extent){free_from, size};
	return free_from;
}

void bpf_extents_give(struct bpf_extents *extents, uint32_t start)
{
	size_t at = BISECT(extents->count, i, extents->taken[i].start < start);
	if (at == extents->count || extents->taken[at].start != start)
		return;
	extents->count--;
	extents->used -= extents->taken[at].size;
	memmove(extents->taken + at, extents->taken + at + 1, (extents->count - at) * sizeof *extents->taken);
}
