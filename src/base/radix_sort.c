/* Sorts digit by digit, and skips digits that are equal in all keys. */
#include "base/radix_sort.h"

#include "base/mem.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

static void sort_by_digit(const struct radix_key *from, struct radix_key *to, size_t count, uint64_t min,
			  unsigned shift)
{
	size_t at[DIGITS] = {0};
	for (size_t i = 0; i < count; i++)
		at[(from[i].key - min) >> shift & (DIGITS - 1)]++;
	size_t sum = 0;
	for (size_t i = 0; i < DIGITS; i++) {
		size_t here = at[i];
		at[i] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		to[at[(from[i].key - min) >> shift & (DIGITS - 1)]++] = from[i];
}

void radix_sort(struct radix_key *items, size_t count)
{
	if (count < 2)
		return;
	uint64_t min = items[0].key, max = min;
	bool sorted = true;
	for (size_t i = 1; i < count; i++) {
		sorted &= items[i - 1].key <= items[i].key;
		min = items[i].key < min ? items[i].key : min;
		max = items[i].key > max ? items[i].key : max;
	}
	if (sorted)
		return;
	struct radix_key *other = mem_realloc(NULL, count, sizeof *other);
	struct radix_key *from = items, *to = other;
	/* Addresses of one file span few bits above the least one: two or three rounds. */
	for (unsigned shift = 0; shift < 64 && (max - min) >> shift; shift += DIGIT_BITS) {
		sort_by_digit(from, to, count, min, shift);
		struct radix_key *swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, count * sizeof *items);
	free(other);
}
