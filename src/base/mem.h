/*
 * Memory: allocation that does not return NULL, growth with checked sizes, and arenas.
 *
 * A profiler without memory cannot continue in any useful way, so these call the out-of-memory handler, which does
 * not return. The handler belongs to src/cmd/ (it prints one line, removes unfinished files and exits); in tests and
 * fuzzers the default aborts.
 *
 * The same happens at a limit of the user's choice, so that hostile input cannot take all memory of the machine. It
 * bounds the memory of the whole process, whoever allocated it, except files that are mapped; it is looked at when
 * something is allocated here.
 */
#ifndef WICK_BASE_MEM_H
#define WICK_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Sets what to call when memory runs out, or the limit is reached (0: there was none). It must not return. */
void mem_on_exhausted(void (*handler)(size_t wanted, uint64_t limit));

/* Sets the limit in bytes; UINT64_MAX: none. Before threads start. */
void mem_set_limit(uint64_t bytes);
/* The limit if none was set: queried once, when much memory is in use. */
void mem_limit_usually(uint64_t (*limit)(void));
uint64_t mem_limit(void);
/* Whether the limit allows `size` more bytes. For who can do without. */
bool mem_has_room(size_t size);
/*
 * Whether so much of it is in use that it is time to come to an end and to write what there is, which takes about
 * twice as much: a third, or up to seven eighths of a small limit.
 */
bool mem_is_short(void);

/*
 * What is freed from here on waits for the next who wants memory instead of going back to the system, which gives it
 * again one page fault after the other. For commands that build one large thing after the other and end.
 */
void mem_keep_freed(void);

void *mem_alloc(size_t size);
/* `size` is a multiple of `align`. */
void *mem_aligned(size_t align, size_t size);
void *mem_zalloc(size_t number, size_t size);
void *mem_realloc(void *old, size_t number, size_t size);
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
