/* The ring of bytes in memory, and the file or temporary file behind it. */
#include "perfdata/window.h"

#include "base/mem.h"
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A read takes at most STEP bytes, which stay in the cache of a core until they are decoded. */
#define STEP (128u << 10)
#define RING_MIN (2 * STEP)
#define FREE_STEP (64u << 20) /* bytes of the temporary file to give back at once */
#define MAP_STEP (8ull << 20) /* bytes of the map to look at before pages of it are given back */
#define PAGER_STEP (1u << 20) /* bytes to advance before the pager is notified */
#define MAP_BEHIND (8ull << 20) /* bytes that are not needed here any more, but may be by who got them */
#define MAP_MAX (96ull << 20) /* more bytes of the map are given back although they will be needed */

void window_init(struct window *window, int fd, uint64_t start, size_t max)
{
	*window = (struct window){
		.size = RING_MIN,
		.max = max < RING_MIN ? RING_MIN : max,
		.start = start,
		.end = start,
		.waiting = UINT64_MAX,
		.needed = start,
		.fd = fd,
	};
	window->ring = mem_alloc(window->size);
}

void window_map(struct window *window)
{
	struct stat status;
	if (window->fd < 0 || fstat(window->fd, &status) || !S_ISREG(status.st_mode) || status.st_size <= 0)
		return;
	if (guarded_map_open(&window->guarded, window->fd, (size_t)status.st_size))
		return;
	window->map = window->guarded.bytes;
	window->map_size = (size_t)status.st_size;
	window->start = 0;
	window->pager = pager_new(window->map, window->map_size);
}

/* Up to where pages may be given back: nobody will ask for them here. */
static uint64_t left_behind(const struct window *window)
{
	return window->needed > MAP_BEHIND ? (window->needed - MAP_BEHIND) & ~(MAP_STEP - 1) : 0;
}

bool window_advance(struct window *window, uint64_t limit)
{
	if (limit > window->map_size)
		limit = window->map_size;
	if (window->end >= limit)
		return false;
	window->end = limit - window->end < STEP ? limit : window->end + STEP;
	if (window->pager && window->end - window->notified >= PAGER_STEP) {
		pager_follow(window->pager, window->end, left_behind(window));
		window->notified = window->end;
	}
	return true;
}

/* They stay in the page cache; here they would only count as memory of this process. */
static void give_back(struct window *window, uint64_t from, uint64_t to)
{
	madvise((void *)(window->map + from), (size_t)(to - from), MADV_DONTNEED);
}

void window_touch(struct window *window, size_t size)
{
	window->touched += size;
	if (!window->map || window->touched < MAP_STEP)
		return;
	window->touched = 0;
	uint64_t left = left_behind(window);
	bool much = window->end - window->freed > MAP_MAX;
	uint64_t from = window->freed > PAGER_LATE ? window->freed - PAGER_LATE : 0;
	if (much || (left > window->freed && !window->pager))
		give_back(window, from, much ? window->map_size : left);
	if (left > window->freed)
		window->freed = left;
}

void window_rest(struct window *window)
{
	pager_free(window->pager);
	window->pager = NULL;
	if (window->map)
		give_back(window, 0, window->map_size);
}

void window_release(struct window *window)
{
	pager_free(window->pager);
	guarded_map_close(&window->guarded);
	free(window->ring);
	if (window->own_fd)
		close(window->fd);
	*window = (struct window){.fd = -1};
}

/* Copies what is in the ring from `offset` on. */
static void copy_from_ring(const struct window *window, uint64_t offset, size_t size, uint8_t *out)
{
	size_t index = (size_t)offset & (window->size - 1);
	size_t first = window->size - index < size ? window->size - index : size;
	memcpy(out, window->ring + index, first);
	memcpy(out + first, window->ring, size - first);
}

static void grow(struct window *window)
{
	size_t size = window->size * 2;
	uint8_t *ring = mem_alloc(size);
	for (uint64_t at = window->start; at < window->end;) {
		size_t index = (size_t)at & (size - 1);
		size_t piece = size - index;
		if (piece > window->end - at)
			piece = (size_t)(window->end - at);
		copy_from_ring(window, at, piece, ring + index);
		at += piece;
	}
	free(window->ring);
	window->ring = ring;
	window->size = size;
}

int window_temporary(void)
{
	/* /var/tmp before /tmp: the latter is often memory. */
	const char *folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		if (!folders[i] || !*folders[i])
			continue;
		int fd = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (fd >= 0)
			return fd;
		char path[4096];
		if ((size_t)snprintf(path, sizeof path, "%s/wick-XXXXXX", folders[i]) >= sizeof path)
			continue;
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0) {
			unlink(path);
			return fd;
		}
	}
	return -1;
}

/* Writes bytes of the ring to the temporary file before they are overwritten. */
static bool spill(struct window *window, uint64_t from, uint64_t to)
{
	if (window->fd < 0) {
		window->fd = window_temporary();
		window->own_fd = window->fd >= 0;
		if (window->fd < 0)
			return false;
	}
	if (window->needed - window->freed > FREE_STEP) {
		/* Best effort: where holes cannot be made the file stays large until it is closed. */
		(void)fallocate(window->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)window->freed,
				(off_t)(window->needed - window->freed));
		window->freed = window->needed;
	}
	while (from < to) {
		size_t index = (size_t)from & (window->size - 1);
		size_t piece = window->size - index;
		if (piece > to - from)
			piece = (size_t)(to - from);
		ssize_t wrote = pwrite(window->fd, window->ring + index, piece, (off_t)from);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return false;
		from += (uint64_t)wrote;
	}
	return true;
}

uint8_t *window_room(struct window *window, size_t *ret_room)
{
	uint64_t from = window->needed > window->start ? window->needed : window->start;
	while (window->end + STEP - from > window->size && window->size < window->max)
		grow(window);
	for (;;) {
		size_t index = (size_t)window->end & (window->size - 1);
		size_t room = window->size - index < STEP ? window->size - index : STEP;
		uint64_t filled = window->end + room;
		uint64_t start = filled > window->size ? filled - window->size : 0;
		bool keeps = start > from && (window->fd < 0 || window->own_fd);
		if (keeps && !spill(window, from, start)) {
			grow(window); /* no temporary file: memory is what is left */
			continue;
		}
		if (start > window->start)
			window->start = start;
		*ret_room = room;
		return window->ring + index;
	}
}

void window_skip(struct window *window, uint64_t offset)
{
	if (offset <= window->end)
		return;
	window->end = offset;
	if (!window->map)
		window->start = offset;
}

bool window_copy(const struct window *window, uint64_t offset, size_t size, void *out)
{
	uint8_t *bytes = out;
	if (offset + size > window->end)
		return false;
	if (window->map) {
		memcpy(out, window->map + offset, size);
		return true;
	}
	if (offset < window->start) {
		size_t gone = window->start - offset < size ? (size_t)(window->start - offset) : size;
		if (window->fd < 0 || !regular_file_read(window->fd, offset, bytes, gone))
			return false;
		bytes += gone;
		offset += gone;
		size -= gone;
	}
	copy_from_ring(window, offset, size, bytes);
	return true;
}
