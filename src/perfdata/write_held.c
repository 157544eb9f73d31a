/* Holds mappings back until a sample needs them. */
#include "perfdata/write_held.h"

#include "base/hash.h"
#include "base/mem.h"
#include "symbol/jitdump.h"

#include <string.h>

#define MOST 1024u /* mappings */
#define PAGE_BITS 12 /* no machine has smaller ones, and mappings are made of whole pages */
#define RECENT 256u

void write_held_init(struct write_held *held)
{
	*held = (struct write_held){.recent = mem_alloc(RECENT * sizeof *held->recent)};
	memset(held->recent, 0xff, RECENT * sizeof *held->recent); /* no page has such a number */
	strpool_init(&held->paths);
}

void write_held_release(struct write_held *held)
{
	free(held->ranges);
	free(held->mappings);
	free(held->pages);
	free(held->recent);
	index_map_release(&held->page_map);
	strpool_release(&held->paths);
}

static bool holds(struct held_range range, uint64_t page)
{
	return range.first <= page && page <= range.last;
}

static bool has_samples(const struct write_held *held, struct held_range range)
{
	for (size_t i = 0; i < held->page_count; i++)
		if (holds(range, held->pages[i]))
			return true;
	return false;
}

/*
 * No code runs in a jitdump: its mapping shows readers where the file is. Without a mapping of the kernel, perf warns
 * that it knows no addresses there, even if no sample has one.
 */
static bool has_more(const struct event_mmap *mmap)
{
	return jitdump_has_path(mmap->path) || (mmap->kernel && !strncmp(mmap->path, "[kernel", 7));
}

bool write_held_put(struct write_held *held, const struct event_mmap *mmap)
{
	if (held->closed || !mmap->length || has_more(mmap))
		return false;
	uint64_t last = mmap->start + (mmap->length - 1);
	struct held_range range = {mmap->start >> PAGE_BITS, (last < mmap->start ? UINT64_MAX : last) >> PAGE_BITS};
	if (has_samples(held, range))
		return false;
	if (held->count == held->range_capacity)
		held->ranges = mem_grow(held->ranges, &held->range_capacity, held->count + 1, sizeof *held->ranges);
	MEM_ROOM(held->mappings, held->count, held->capacity);
	str_id path = strpool_add(&held->paths, mmap->path, strlen(mmap->path));
	held->ranges[held->count] = range;
	held->mappings[held->count] = *mmap;
	held->mappings[held->count].path = strpool_text(&held->paths, path);
	held->count++;
	return true;
}

bool write_held_is_full(const struct write_held *held)
{
	return held->count >= MOST;
}

bool write_held_note(struct write_held *held, uint64_t address)
{
	uint64_t page = address >> PAGE_BITS, hash = hash_u64(page);
	struct index_probe probe;
	if (held->closed || held->recent[page % RECENT] == page)
		return false;
	held->recent[page % RECENT] = page;
	for (uint32_t i = index_map_first(&held->page_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&held->page_map, &probe))
		if (held->pages[i] == page)
			return false;
	MEM_ROOM(held->pages, held->page_count, held->page_capacity);
	index_map_insert(&held->page_map, hash, (uint32_t)held->page_count);
	held->pages[held->page_count++] = page;
	return true;
}

bool write_held_take(struct write_held *held, uint64_t address, struct event_mmap *ret_mmap)
{
	for (size_t i = 0; i < held->count; i++) {
		if (!holds(held->ranges[i], address >> PAGE_BITS))
			continue;
		*ret_mmap = held->mappings[i];
		held->count--;
		memmove(held->ranges + i, held->ranges + i + 1, (held->count - i) * sizeof *held->ranges);
		memmove(held->mappings + i, held->mappings + i + 1, (held->count - i) * sizeof *held->mappings);
		return true;
	}
	return false;
}

void write_held_close(struct write_held *held)
{
	held->closed = true;
	held->count = 0;
}
