/*
 * A growing sequence of bytes (a file, a pipe, what a decompressor gives) of which the newest part is in memory, in a
 * ring. Older bytes that somebody may still want are read again from the file; where that is not possible they were
 * written to an unnamed temporary file when they left the ring. So records can wait for their turn without filling the
 * memory.
 *
 * A regular file is mapped instead: nothing is copied, and what nobody looks at is not even read.
 */
#ifndef WICK_PERFDATA_WINDOW_H
#define WICK_PERFDATA_WINDOW_H

#include "base/guarded_map.h"
#include "perfdata/pager.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window {
	uint8_t *ring;
	size_t size; /* of the ring, a power of two */
	size_t max; /* that the ring may grow to */
	uint64_t start, end; /* offsets of the bytes in the ring */
	uint64_t waiting; /* first record that is not read yet; UINT64_MAX: none */
	uint64_t needed; /* bytes before this offset are not needed any more */
	int fd; /* where older bytes are; -1: nowhere yet */
	bool own_fd; /* fd is a temporary file of the window's */
	uint64_t freed; /* the temporary file holds nothing before this offset; of the map pages were given back */
	const uint8_t *map; /* the file from offset 0 on; NULL: there is only the ring */
	size_t map_size;
	struct guarded_map guarded; /* what `map` is of */
	size_t touched; /* bytes of the map that were looked at since its pages were given back */
	struct pager *pager; /* of the map; NULL: none */
	uint64_t notified; /* where `end` was when the pager was notified */
};

/* An unnamed file for more than a few bytes; -1 when no folder takes one. */
int window_temporary(void);

/* `fd` is a file whose offsets are the window's, or -1. It is not closed by the window. */
void window_init(struct window *window, int fd, uint64_t start, size_t max);
void window_release(struct window *window);

/* Maps the file of the window, if it is one that can be mapped. Before anything was read. */
void window_map(struct window *window);
/* With a map: `end` moves on by a step, not beyond the file or `limit`. False when it is there already. */
bool window_advance(struct window *window, uint64_t limit);
/* Says that so many bytes were looked at: now and then pages of the map are given back, to be read again if need be. */
void window_touch(struct window *window, size_t size);
/* Says that hardly anything is looked at any more. */
void window_rest(struct window *window);

/* Where to put the bytes that follow `end`; there is room for at least one. window_filled() says how many they were. */
uint8_t *window_room(struct window *window, size_t *ret_room);
static inline void window_filled(struct window *window, size_t count)
{
	window->end += count;
}

/* What is before `position` was read: but for the records that wait it is not needed any more. */
static inline void window_done(struct window *window, uint64_t position)
{
	window->needed = position < window->end ? position : window->end;
	if (window->needed > window->waiting)
		window->needed = window->waiting;
}

/* Continues at a later offset; the bytes between were not read. Only with a file. */
void window_skip(struct window *window, uint64_t offset);

/* Copies bytes out, from wherever they are. False if they are unavailable. */
bool window_copy(const struct window *window, uint64_t offset, size_t size, void *out);

/*
 * `size` bytes at `offset`, as they lie in the ring or copied to `scratch` when they are not in one piece. With
 * `aligned` the result is 8-byte aligned (`scratch` must be). NULL if they are unavailable.
 */
static inline const uint8_t *window_at(const struct window *window, uint64_t offset, size_t size, bool aligned,
				       void *scratch)
{
	size_t index = (size_t)offset & (window->size - 1);
	if (offset >= window->start && offset + size <= window->end && !(aligned && offset & 7)) {
		if (window->map)
			return window->map + offset;
		if (index + size <= window->size)
			return window->ring + index;
	}
	return window_copy(window, offset, size, scratch) ? scratch : NULL;
}

#endif
