#include "base/mem.h"

#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

static void abort_on_exhausted(size_t wanted)
{
	fprintf(stderr, "out of memory (cannot allocate %zu bytes)\n", wanted);
	abort();
}

/* Set once by main before any thread starts. */
static void (*exhausted)(size_t wanted) = abort_on_exhausted;

void mem_on_exhausted(void (*handler)(size_t wanted))
{
	exhausted = handler;
}

#define MAPPED_FROM (32 << 20) /* the most that malloc allows */

void mem_keep_freed(void)
{
	mallopt(M_MMAP_THRESHOLD, MAPPED_FROM);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

static size_t checked_size(size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes)) {
		exhausted(SIZE_MAX);
		abort();
	}
	return bytes;
}

static void *checked(void *pointer, size_t size)
{
	if (!pointer && size) {
		exhausted(size);
		abort();
	}
	return pointer;
}

void *mem_alloc(size_t size)
{
	return checked(malloc(size), size);
}

void *mem_aligned(size_t align, size_t size)
{
	return checked(aligned_alloc(align, size), size);
}

void *mem_zalloc(size_t count, size_t size)
{
	return checked(calloc(count, size), checked_size(count, size));
}

void *mem_realloc(void *old, size_t count, size_t size)
{
	size_t bytes = checked_size(count, size);
	return checked(realloc(old, bytes ? bytes : 1), bytes);
}

char *mem_strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	return memcpy(mem_alloc(size), text, size);
}

void *mem_grow(void *array, size_t *capacity, size_t want, size_t size)
{
	if (want <= *capacity)
		return array;
	size_t next = *capacity < 16 ? 16 : *capacity * 2;
	if (next < want)
		next = want;
	array = mem_realloc(array, next, size);
	*capacity = next;
	return array;
}

struct arena_block {
	struct arena_block *next;
	size_t size;
	char bytes[];
};

#define ARENA_FIRST 4096
#define ARENA_MOST (1u << 20)

static struct arena_block *arena_add_block(struct arena *arena, size_t need)
{
	size_t size = arena->head ? arena->head->size * 2 : ARENA_FIRST;
	if (size > ARENA_MOST)
		size = ARENA_MOST;
	if (size < need)
		size = need;
	struct arena_block *block = mem_alloc(sizeof *block + size);
	block->size = size;
	block->next = arena->head;
	arena->head = block;
	arena->used = 0;
	arena->total += size;
	return block;
}

void *arena_alloc(struct arena *arena, size_t size, size_t align)
{
	struct arena_block *block = arena->head;
	if (block) {
		uintptr_t base = (uintptr_t)block->bytes;
		size_t start = ((base + arena->used + align - 1) & ~(uintptr_t)(align - 1)) - base;
		if (start <= block->size && size <= block->size - start) {
			arena->used = start + size;
			return block->bytes + start;
		}
	}
	block = arena_add_block(arena, size + align);
	uintptr_t base = (uintptr_t)block->bytes;
	size_t start = ((base + align - 1) & ~(uintptr_t)(align - 1)) - base;
	arena->used = start + size;
	return block->bytes + start;
}

char *arena_copy(struct arena *arena, const char *bytes, size_t length)
{
	char *copy = arena_alloc(arena, length + 1, 1);
	if (length)
		memcpy(copy, bytes, length);
	copy[length] = '\0';
	return copy;
}

void arena_release(struct arena *arena)
{
	struct arena_block *block = arena->head;
	while (block) {
		struct arena_block *next = block->next;
		free(block);
		block = next;
	}
	*arena = (struct arena){0};
}
