/* Allocation with a limit and an out-of-memory handler, arenas, and what is kept of freed memory. */
#include "base/mem.h"

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COUNTED_APART (1u << 20) /* bytes that a thread allocates before it adds them to those of all */
#define IN_ANY_CASE (24u << 20) /* bytes that are in use however large the input is */
#define UNMEASURED (64 << 20) /* bytes that are allocated before memory is first measured */

static void abort_on_exhausted(size_t wanted, uint64_t limit)
{
	fprintf(stderr, "out of memory (cannot allocate %zu bytes; limit %llu)\n", wanted, (unsigned long long)limit);
	abort();
}

/* Set once by main before any thread starts. */
static void (*exhausted)(size_t wanted, uint64_t limit) = abort_on_exhausted;
static uint64_t (*usual_limit)(void);

/*
 * What is allocated is counted, what is freed is not: after `credit` bytes the memory in use is measured, and the less
 * is left the sooner that happens again.
 */
static _Atomic uint64_t known_limit; /* 0: not queried yet */
static _Atomic int64_t credit = UNMEASURED;
static _Thread_local size_t uncounted;

void mem_on_exhausted(void (*handler)(size_t wanted, uint64_t limit))
{
	exhausted = handler;
}

void mem_limit_usually(uint64_t (*limit)(void))
{
	usual_limit = limit;
}

void mem_set_limit(uint64_t bytes)
{
	known_limit = bytes;
	credit = bytes / 4 < UNMEASURED ? (int64_t)bytes / 4 : UNMEASURED;
}

uint64_t mem_limit(void)
{
	if (!known_limit) {
		credit = UNMEASURED; /* asking takes memory too */
		known_limit = usual_limit ? usual_limit() : UINT64_MAX;
	}
	return known_limit;
}

/* Anonymous memory that is resident; 0: not known. */
static uint64_t resident(void)
{
	char text[128];
	unsigned long long all, of_files;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	if (sscanf(text, "%*u %llu %llu", &all, &of_files) != 2 || all < of_files)
		return 0;
	return (all - of_files) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Memory in use, as far as it matters whether `max` is exceeded. */
static uint64_t measure(uint64_t max)
{
	uint64_t used = resident();
	if (used && used <= max)
		return used;
	/* What was freed may still be resident. This takes longer, and sanitizers do not have it. */
	struct mallinfo2 info = mallinfo2();
	uint64_t allocated = (uint64_t)info.uordblks + info.hblkhd;
	return allocated && (allocated < used || !used) ? allocated : used;
}

bool mem_has_room(size_t size)
{
	uint64_t limit = mem_limit(), max = size < limit ? limit - size : 0;
	return limit == UINT64_MAX || measure(max) <= max;
}

bool mem_is_short(void)
{
	uint64_t limit = mem_limit(), part = limit / 3 + IN_ANY_CASE / 3 * 2, max = limit / 8 * 7;
	max = part < max ? part : max;
	return limit != UINT64_MAX && measure(max) > max;
}

static void count_for_all(void)
{
	size_t wanted = uncounted;
	uncounted = 0;
	if (wanted < INT64_MAX && atomic_fetch_sub(&credit, (int64_t)wanted) >= (int64_t)wanted)
		return;
	uint64_t limit = mem_limit(), max = wanted < limit ? limit - wanted : 0;
	if (limit == UINT64_MAX)
		return;
	uint64_t used = measure(max);
	if (used > max) {
		exhausted(wanted, limit);
		abort();
	}
	uint64_t next = (max - used) / 4;
	credit = next < INT64_MAX ? (int64_t)next : INT64_MAX;
}

static inline void count(size_t size)
{
	if (__builtin_add_overflow(uncounted, size, &uncounted))
		uncounted = SIZE_MAX;
	if (uncounted >= COUNTED_APART)
		count_for_all();
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
		exhausted(SIZE_MAX, 0);
		abort();
	}
	return bytes;
}

static void *checked(void *pointer, size_t size)
{
	if (!pointer && size) {
		exhausted(size, 0);
		abort();
	}
	return pointer;
}

void *mem_alloc(size_t size)
{
	count(size);
	return checked(malloc(size), size);
}

void *mem_aligned(size_t align, size_t size)
{
	count(size);
	return checked(aligned_alloc(align, size), size);
}

void *mem_zalloc(size_t number, size_t size)
{
	size_t bytes = checked_size(number, size);
	count(bytes);
	return checked(calloc(number, size), bytes);
}

void *mem_realloc(void *old, size_t number, size_t size)
{
	size_t bytes = checked_size(number, size);
	size_t had = bytes >= COUNTED_APART ? malloc_usable_size(old) : 0;
	count(bytes > had ? bytes - had : 0);
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
#define ARENA_MAX (1u << 20)

static struct arena_block *arena_add_block(struct arena *arena, size_t need)
{
	size_t size = arena->head ? arena->head->size * 2 : ARENA_FIRST;
	if (size > ARENA_MAX)
		size = ARENA_MAX;
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
