/* Room in an array that is given out in pieces: which are taken. First fit; there are hundreds, not millions. */
#ifndef WICK_ENGINE_BPF_EXTENTS_H
#define WICK_ENGINE_BPF_EXTENTS_H

#include "base/mem.h"

#define BPF_EXTENT_NONE UINT32_MAX

struct bpf_extent {
	uint32_t start, size;
};

struct bpf_extents {
	uint32_t room, used;
	struct bpf_extent *taken; /* sorted */
	size_t count, capacity;
};

void bpf_extents_init(struct bpf_extents *extents, uint32_t room);
void bpf_extents_release(struct bpf_extents *extents);
/* Where `size` (not 0) begins, or EXTENT_NONE. */
uint32_t bpf_extents_take(struct bpf_extents *extents, uint32_t size);
/* Gives back what extents_take() returned. */
void bpf_extents_give(struct bpf_extents *extents, uint32_t start);

#endif
