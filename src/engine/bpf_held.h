/*
 * Copies of stacks with which threads left their CPUs, for those that the kernel could not unwind: one of each thread,
 * until its next. That memory is bounded: beyond the limit copies lose the bytes of the stack.
 */
#ifndef WICK_ENGINE_BPF_HELD_H
#define WICK_ENGINE_BPF_HELD_H

#include "base/id_map.h"
#include "bpf/layout.h"

#include <stddef.h>

struct bpf_held {
	struct layout_copy **items; /* NULL: not any more */
	size_t count, capacity;
	struct id_map map; /* of the items, by thread */
	size_t bytes, max_bytes;
};

void bpf_held_init(struct bpf_held *held);
void bpf_held_release(struct bpf_held *held);
/* The copy becomes its own, and takes the place of the one that the thread had. */
void bpf_held_put(struct bpf_held *held, struct layout_copy *copy);
/* NULL: none */
const struct layout_copy *bpf_held_find(const struct bpf_held *held, uint32_t tid);
void bpf_held_drop(struct bpf_held *held, uint32_t tid);

#endif
