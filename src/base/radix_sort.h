/* Sorting of indexes by a 64-bit key: stable, and linear in their number. */
#ifndef WICK_BASE_RADIX_SORT_H
#define WICK_BASE_RADIX_SORT_H

#include <stddef.h>
#include <stdint.h>

struct radix_key {
	uint64_t key;
	uint32_t index;
};

/* Ascending by key; equal keys stay in the order they have. */
void radix_sort(struct radix_key *items, size_t count);

#endif
