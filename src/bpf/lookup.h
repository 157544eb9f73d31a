/*
 * What a walk looks up: words of stack memory, the mapping of an address in the list of its process, and the rule of an
 * address in the tables that wick loads. The functions that are not static are verified once: see walk.h.
 */
#ifndef WICK_BPF_LOOKUP_H
#define WICK_BPF_LOOKUP_H

#include "arch/bpf.h"
#include "bpf/maps.h"

#define PAGE_BYTES 4096u
#define WINDOW_BELOW 64u /* frame pointers are stored below return addresses, and read after them */
#define SECOND_SHIFT 30

/* Hides a value from the optimiser, which would make branches of it that the verifier had to follow one by one. */
#define OPAQUE(value) asm volatile("" : "+r"(value))

/* 1 when left <= right, for numbers below 2^63. */
static __always_inline __u64 not_above(__u64 left, __u64 right)
{
	__u64 negative = left - right - 1;
	OPAQUE(negative);
	return negative >> 63;
}

/* Adds a word to the hash of others. */
static __always_inline __u64 hash_word(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

/* When the sample was taken. */
static __always_inline __u32 second_of(const struct scratch *s)
{
	return (__u32)(s->record.time >> SECOND_SHIFT);
}

/* --- memory --- */

/*
 * Reads the window at an address, up to the end of its page: what lies behind may not be resident. A word that crosses
 * a page is read by itself. 0 or a failure.
 */
__noinline int fill_window(__u32 slot, __u64 address)
{
	struct scratch *s = scratch_of(slot);
	if (!s)
		return -1;
	__u64 page = address & ~(__u64)(PAGE_BYTES - 1), start = address, size = sizeof(__u64);
	if (page + PAGE_BYTES - address >= sizeof(__u64)) {
		start = address - WINDOW_BELOW;
		if (start < page)
			start = page;
		size = page + PAGE_BYTES - start;
	}
	OPAQUE(size);
	if (size > WINDOW_BYTES)
		size = WINDOW_BYTES;
	s->window_start = start;
	s->window_size = 0;
	if (bpf_probe_read_user(s->window, (__u32)size, (const void *)start))
		return -1;
	s->window_size = size;
	return 0;
}

/* What is too far away, or too much, is not cached. */
static __always_inline void note_word(struct scratch *s, __u64 address, __u64 word)
{
	__u64 offset = address - s->registers[ARCH_AT_SP];
	__u32 count = s->cached.count;
	if (count >= STACK_CACHE_WORDS || offset > STACK_CACHE_BYTES - 8 || offset % 8) {
		s->caching = 0;
		return;
	}
	s->cached.places[count & (STACK_CACHE_WORDS - 1)] = offset / 8;
	s->cached.count = count + 1;
	if (s->cached.bytes < offset + 8)
		s->cached.bytes = offset + 8;
	s->cached.hash = hash_word(s->cached.hash, word);
}

static __always_inline int read_word(struct scratch *s, __u32 slot, __u64 address, __u64 *value)
{
	__u64 offset = address - s->window_start;
	if (offset > WINDOW_BYTES - 8 || offset + 8 > s->window_size) {
		int failed = fill_window(slot, address);
		offset = address - s->window_start;
		if (failed || offset > WINDOW_BYTES - 8 || offset + 8 > s->window_size)
			return -1;
	}
	*value = *(__u64 *)(s->window + offset);
	if (s->caching)
		note_word(s, address, *value);
	return 0;
}

/* Of an address of the program. */
static __always_inline __u64 word_bytes(const struct scratch *s)
{
	return s->record.narrow ? sizeof(__u32) : sizeof(__u64);
}

static __always_inline __u64 as_word(const struct scratch *s, __u64 value)
{
	return s->record.narrow ? (__u32)value : value;
}

/* --- tables --- */

/* Finds the mapping of an address in the list of the process, and keeps it in the scratch. 0 or -1. */
__noinline int find_mapping(__u32 slot, __u64 address)
{
	struct scratch *s = scratch_of(slot);
	if (!s)
		return -1;
	__u64 low = s->list_first, count = s->list_count;
	for (int i = 0; i < 15 && count > 1; i++) {
		__u64 half = count / 2;
		__u32 middle = (__u32)(low + half);
		struct layout_mapping *mapping = bpf_map_lookup_elem(&mappings, &middle);
		if (!mapping)
			return -1;
		low += half * not_above(mapping->start, address);
		count -= half;
	}
	__u32 at = (__u32)low;
	struct layout_mapping *mapping = bpf_map_lookup_elem(&mappings, &at);
	if (!mapping || !s->list_count || address < mapping->start || address >= mapping->end)
		return -1;
	s->map_start = mapping->start;
	s->map_end = mapping->end;
	s->bias = mapping->bias;
	s->part = mapping->part;
	if (s->part == LAYOUT_PART_WANTED) {
		s->record.module = mapping->module;
	} else if (s->part < LAYOUT_PART_JIT) {
		__u32 number = s->part, now = second_of(s);
		struct layout_part *part = bpf_map_lookup_elem(&parts, &number);
		if (part && part->used != now)
			part->used = now;
		/* The vDSO is another one in 32-bit programs, and called the same. */
		if (part && part->narrow != s->record.narrow)
			s->part = LAYOUT_PART_NONE;
	}
	return 0;
}

#define WORD(words, at) ((words)[(__u32)(at) & (LAYOUT_SLAB_WORDS - 1)])

/* The rule of a virtual address, its 8 bytes as one number; 0 (LAYOUT_CFA_INVALID) when there is none. */
__noinline __u64 find_rule(__u32 number, __u64 address)
{
	struct layout_part *part = bpf_map_lookup_elem(&parts, &number);
	if (!part)
		return 0;
	__u64 page = (address - part->base) >> (part->shift & 31);
	__u32 slab = part->slab, zero = 0, first = part->first, rows = part->rows;
	if (page >= part->pages)
		return 0;
	void *map = bpf_map_lookup_elem(&slabs, &slab);
	if (!map)
		return 0;
	__u32 *words = bpf_map_lookup_elem(map, &zero);
	if (!words)
		return 0;
	__u64 at = WORD(words, first + page);
	__u64 count = WORD(words, first + page + 1) - (__u32)at;
	__u64 key = (address & 0xffff) << 16 | 0xffff;
	for (int i = 0; i < 17 && count > 1; i++) {
		__u64 half = count / 2;
		at += half * not_above(WORD(words, rows + at + half - 1), key);
		count -= half;
	}
	if (count)
		at += not_above(WORD(words, rows + at), key);
	if (at == 0 || at > part->row_count)
		return 0;
	__u32 rule = WORD(words, rows + at - 1) & 0xffff;
	__u32 place = part->rules + rule * 2;
	return WORD(words, place) | (__u64)WORD(words, place + 1) << 32;
}

#endif
