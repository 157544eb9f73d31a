/*
 * Mappings that wait until a sample lies in them: most files that processes map are never seen in a stack, and in a
 * short recording they would take more room than samples do. Whose mapping it is does not matter, for children have
 * those of their parents. Private to src/perfdata/.
 */
#ifndef WICK_PERFDATA_WRITE_HELD_H
#define WICK_PERFDATA_WRITE_HELD_H

#include "base/index_map.h"
#include "base/strpool.h"
#include "event/event.h"

struct held_range {
	uint64_t first, last; /* pages */
};

struct write_held {
	bool closed;
	struct held_range *ranges;
	struct event_mmap *mappings; /* one for each range, in the order they came; their paths are in the pool */
	size_t count, range_capacity, capacity;
	struct strpool paths;
	uint64_t *pages; /* where samples lie */
	size_t page_count, page_capacity;
	struct index_map page_map;
	uint64_t *recent; /* pages seen last, by their lowest bits */
};

void write_held_init(struct write_held *held);
void write_held_release(struct write_held *held);

/* Takes a copy of the mapping; false when it has to be written, because samples lie in it or because this is closed. */
bool write_held_put(struct write_held *held, const struct event_mmap *mmap);
/* So many wait that looking through them would be work: better write them all. */
bool write_held_is_full(const struct write_held *held);

/* A sample lies there. True for the first one on its page: then write_held_take() has what is to be written. */
bool write_held_note(struct write_held *held, uint64_t address);
/* Takes out one mapping that has the address; its path stays until the next call. False when there is none. */
bool write_held_take(struct write_held *held, uint64_t address, struct event_mmap *ret_mmap);

/* From now on nothing waits. What did is in `mappings` until then, and is the caller's to write. */
void write_held_close(struct write_held *held);

#endif
