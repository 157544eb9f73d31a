/*
 * The events of a file, how their records are laid out, and which event a record belongs to. Event ids are looked up
 * once per record, so the last one is remembered.
 */
#ifndef WICK_PERFDATA_SOURCES_H
#define WICK_PERFDATA_SOURCES_H

#include "base/index_map.h"
#include "base/mem.h"
#include "event/event.h"

#define SOURCE_NONE UINT32_MAX

/* Positions are in words of 8 bytes; -1: not there. */
struct source_layout {
	int sample_id, sample_time; /* from the first word of a sample */
	int trailer_words; /* what sample_id_all adds to the end of the other records */
	int trailer_id, trailer_time; /* from the end of a record: 1 is its last word */
	unsigned user_registers, interrupt_registers;
	bool named; /* its name comes from the file */
};

struct source_id {
	uint64_t id;
	uint32_t source;
};

struct sources {
	struct event_source *items;
	struct source_layout *layouts;
	size_t count, capacity, layout_capacity;
	struct arena *arena; /* names and ids live there */
	struct source_id *ids;
	size_t id_count, id_capacity, ids_listed;
	struct index_map by_id;
	uint64_t last_id;
	uint32_t last_source;
	bool same_layout; /* all records can be decoded without knowing their event */
};

void sources_init(struct sources *sources, struct arena *arena);
void sources_release(struct sources *sources);

/*
 * Adds an event. `attr` are the `attr_size` bytes of the file; `ids` need not be aligned. False when there are more
 * events or ids than any recording has.
 */
bool sources_add(struct sources *sources, const void *attr, size_t attr_size, const void *ids, size_t id_count);
bool sources_add_ids(struct sources *sources, uint32_t source, const void *ids, size_t id_count);
/* One more, which is not listed with the others. */
void sources_learn_id(struct sources *sources, uint32_t source, uint64_t id);
void sources_name(struct sources *sources, uint32_t source, const char *name, size_t length);

/* SOURCE_NONE when no event has this id. */
uint32_t sources_find(struct sources *sources, uint64_t id);

/* The event of a record whose body (behind the header) is `words` long; SOURCE_NONE if it is unknown. */
uint32_t sources_of_sample(struct sources *sources, const void *body, size_t words, bool *ret_unknown_id);
uint32_t sources_of_other(struct sources *sources, const void *body, size_t words);

#endif
