/* Room in an array that is given out in pieces: which are taken. First fit; there are hundreds, not millions. */
#ifndef WICK_ENGINE_BPF_EXTENTS_H
#define WICK_ENGINE_BPF_EXTENTS_H

#include "base/mem.h"

#define EXTENT_NONE UINT32_MAX

struct extent {
	uint32_t start, size;
};

struct extents {
	uint32_t room;
	struct extent *taken; /* sorted */
	size_t count, capacity;
};

void extents_init(struct extents *extents, uint32_t room);
void extents_release(struct extents *extents);
/* Where `size` (not 0) begins, or EXTENT_NONE. */
uint32_t extents_take(struct extents *extents, uint32_t size);
/* Gives back what extents_take() returned. */
void extents_give(struct extents *extents, uint32_t start);

#endif
