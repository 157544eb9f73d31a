/*
 * The slabs of kernel memory that hold unwind tables: arrays within an array of maps. To add one the kernel waits for
 * all programs that run, 10 to 30 ms in which samples would have no tables. So a thread adds each before it is needed:
 * the first while the programs are loaded, another when the last is half full.
 */
#ifndef WICK_ENGINE_BPF_SLABS_H
#define WICK_ENGINE_BPF_SLABS_H

#include "engine/bpf_extents.h"

#include <pthread.h>

struct bpf_slab {
	int fd;
	struct bpf_extents words;
};

struct bpf_slabs {
	int outer; /* the array of maps */
	uint32_t room; /* slabs */
	struct bpf_slab *items;
	size_t count, capacity;
	int next; /* the slab that the thread adds; -1: none, or the kernel refused it */
	bool adding; /* the thread is not joined yet */
	pthread_t thread;
};

/* Returns 0 or an error number. */
int bpf_slabs_open(struct bpf_slabs *slabs, uint32_t room);
void bpf_slabs_release(struct bpf_slabs *slabs);
size_t bpf_slabs_bytes(const struct bpf_slabs *slabs);
/* Room for so many words, BPF_EXTENT_NONE when there is none. */
uint32_t bpf_slabs_take(struct bpf_slabs *slabs, uint32_t words, uint32_t *ret_slab);
void bpf_slabs_give(struct bpf_slabs *slabs, uint32_t slab, uint32_t start);

#endif
