/*
 * Memory: allocation that does not return NULL, growth with checked sizes, and arenas.
 *
 * A profiler that cannot get memory cannot go on in any useful way, so these call the out-of-memory handler, which does
 * not return. The handler belongs to src/cmd/ (it prints one line, removes unfinished files and exits); in tests and
 * fuzzers the default aborts.
 */
#ifndef WICK_BASE_MEM_H
#define WICK_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Sets what to call when memory runs out. It must not return. */
void mem_on_exhausted(void (*handler)(size_t wanted));

/*
 * What is freed from here on waits for the next who wants memory instead of going back to the system, which gives it
 * again one page fault after the other. For commands that build one large thing after the other and end.
 */
void mem_keep_freed(void);

void *mem_alloc(size_t size);
/* `size` is a multiple of `align`. */
void *mem_aligned(size_t align, size_t size);
void *mem_zalloc(size_t count, size_t size);
void *mem_realloc(void *old, size_t count, size_t size);
char *mem_strdup(const char *text);

/*
 * Makes room in `array` (of `*capacity` elements of `size` bytes) for at least `want` elements and returns it, moved or
 * not. Capacity at least doubles, so that appending is amortised constant.
 */
void *mem_grow(void *array, size_t *capacity, size_t want, size_t size);

/* Room for one more element in a {items, count, capacity} triple. */
#define MEM_ROOM(items, count, capacity)                                                                \
	do {                                                                                            \
		if ((count) == (capacity))                                                              \
			(items) = mem_grow((items), &(capacity), (size_t)(count) + 1, sizeof *(items)); \
	} while (0)

static inline void mem_free_pointer(void *pointer)
{
	free(*(void **)pointer);
}
#define CLEANUP_FREE __attribute__((cleanup(mem_free_pointer)))

/* An arena: many small pieces, one release. Pieces never move. */
struct arena {
	struct arena_block *head;
	size_t used; /* bytes handed out of the head block */
	size_t total; /* bytes of all blocks, for memory accounting */
};

/* `size` bytes aligned to `align` (a power of two), not cleared. */
void *arena_alloc(struct arena *arena, size_t size, size_t align);
/* A NUL-terminated copy of `length` bytes. */
char *arena_copy(struct arena *arena, const char *bytes, size_t length);
void arena_release(struct arena *arena);

#endif
