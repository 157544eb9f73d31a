/* The table of events: layouts of their records, and the lookup by id. */
#include "perfdata/sources.h"

#include "base/hash.h"
#include "perfdata/format.h"

#define SOURCES_MAX 16384u
#define IDS_MAX (4u << 20)
#define NAMES_MAX (128u << 20) /* bytes in the arena from which names are not believed any more */

#define TRAILER_FIELDS                                                                                   \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | \
	 PERF_SAMPLE_IDENTIFIER)

void sources_init(struct sources *sources, struct arena *arena)
{
	*sources = (struct sources){.arena = arena, .last_source = SOURCE_NONE, .same_layout = true};
}

void sources_release(struct sources *sources)
{
	free(sources->items);
	free(sources->layouts);
	free(sources->ids);
	index_map_release(&sources->by_id);
	*sources = (struct sources){0};
}

static int words_of(uint64_t fields)
{
	return __builtin_popcountll(fields);
}

static struct source_layout layout_of(const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;
	/* Each of the fields before is one word; IDENTIFIER comes first in a sample and last in a trailer. */
	uint64_t before_time = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	uint64_t before_id = before_time | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
	uint64_t behind_id = PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	struct source_layout layout = {
		.sample_id = type & PERF_SAMPLE_IDENTIFIER ? 0 :
			     type & PERF_SAMPLE_ID         ? words_of(type & before_id) :
							     -1,
		.sample_time = type & PERF_SAMPLE_TIME ? words_of(type & before_time) : -1,
		.trailer_id = -1,
		.trailer_time = -1,
		.user_registers = (unsigned)__builtin_popcountll(attr->sample_regs_user),
		.interrupt_registers = (unsigned)__builtin_popcountll(attr->sample_regs_intr),
	};
	if (!attr->sample_id_all)
		return layout;
	layout.trailer_words = words_of(type & TRAILER_FIELDS);
	if (type & PERF_SAMPLE_IDENTIFIER)
		layout.trailer_id = 1;
	else if (type & PERF_SAMPLE_ID)
		layout.trailer_id = 1 + words_of(type & behind_id);
	if (type & PERF_SAMPLE_TIME)
		layout.trailer_time = 1 + words_of(type & (behind_id | PERF_SAMPLE_ID));
	return layout;
}

static bool same_records(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	return a->sample_type == b->sample_type && a->read_format == b->read_format &&
	       a->branch_sample_type == b->branch_sample_type && a->sample_regs_user == b->sample_regs_user &&
	       a->sample_regs_intr == b->sample_regs_intr && a->sample_id_all == b->sample_id_all;
}

bool sources_add(struct sources *sources, const void *attr, size_t attr_size, const void *ids, size_t id_count)
{
	if (sources->count >= SOURCES_MAX)
		return false;
	MEM_ROOM(sources->items, sources->count, sources->capacity);
	MEM_ROOM(sources->layouts, sources->count, sources->layout_capacity);
	struct event_source *source = &sources->items[sources->count];
	*source = (struct event_source){.name = ""};
	memcpy(&source->attr, attr, attr_size < sizeof source->attr ? attr_size : sizeof source->attr);
	sources->layouts[sources->count] = layout_of(&source->attr);
	sources->same_layout = sources->same_layout && same_records(&source->attr, &sources->items[0].attr);
	sources->count++;
	return sources_add_ids(sources, (uint32_t)(sources->count - 1), ids, id_count);
}

bool sources_add_ids(struct sources *sources, uint32_t source, const void *ids, size_t id_count)
{
	if (!id_count)
		return true;
	if (id_count > IDS_MAX || sources->ids_listed + id_count > IDS_MAX)
		return false;
	sources->ids_listed += id_count;
	uint64_t *copy = arena_alloc(sources->arena, id_count * sizeof *copy, _Alignof(uint64_t));
	memcpy(copy, ids, id_count * sizeof *copy);
	sources->items[source].ids = copy;
	sources->items[source].id_count = id_count;
	for (size_t i = 0; i < id_count; i++)
		sources_learn_id(sources, source, copy[i]);
	return true;
}

void sources_learn_id(struct sources *sources, uint32_t source, uint64_t id)
{
	if (sources_find(sources, id) == SOURCE_NONE) {
		MEM_ROOM(sources->ids, sources->id_count, sources->id_capacity);
		sources->ids[sources->id_count] = (struct source_id){.id = id, .source = source};
		index_map_insert(&sources->by_id, hash_u64(id), (uint32_t)sources->id_count++);
	}
	sources->last_source = SOURCE_NONE;
}

void sources_name(struct sources *sources, uint32_t source, const char *name, size_t length)
{
	if (!length || sources->arena->total > NAMES_MAX)
		return;
	sources->items[source].name = arena_copy(sources->arena, name, length);
	sources->layouts[source].named = true;
}

uint32_t sources_find(struct sources *sources, uint64_t id)
{
	if (id == sources->last_id && sources->last_source != SOURCE_NONE)
		return sources->last_source;
	struct index_probe probe;
	uint32_t i = index_map_first(&sources->by_id, hash_u64(id), &probe);
	for (; i != INDEX_NONE; i = index_map_next(&sources->by_id, &probe)) {
		if (sources->ids[i].id == id) {
			sources->last_id = id;
			sources->last_source = sources->ids[i].source;
			return sources->last_source;
		}
	}
	return SOURCE_NONE;
}

uint32_t sources_of_sample(struct sources *sources, const void *body, size_t words, bool *ret_unknown_id)
{
	*ret_unknown_id = false;
	if (sources->count <= 1)
		return sources->count ? 0 : SOURCE_NONE;
	/* All events of a recording have their id at the same place: without that nobody could read them. */
	int at = sources->layouts[0].sample_id;
	if (at < 0)
		return sources->same_layout ? 0 : SOURCE_NONE;
	if ((size_t)at >= words)
		return SOURCE_NONE;
	uint64_t id = bytes_load64((const uint8_t *)body + 8 * (size_t)at);
	uint32_t source = sources_find(sources, id);
	if (source != SOURCE_NONE)
		return source;
	*ret_unknown_id = true;
	return sources->same_layout ? 0 : SOURCE_NONE;
}

uint32_t sources_of_other(struct sources *sources, const void *body, size_t words)
{
	if (sources->count <= 1)
		return sources->count ? 0 : SOURCE_NONE;
	int from_end = sources->layouts[0].trailer_id;
	if (from_end < 0 || (size_t)from_end > words)
		return 0;
	uint64_t id = bytes_load64((const uint8_t *)body + 8 * (words - (size_t)from_end));
	uint32_t source = sources_find(sources, id);
	/* What perf makes up itself (processes that ran before) has the id 0. */
	return source == SOURCE_NONE ? 0 : source;
}
