/*
 * The BPF engine as a source: the perf events whose samples its programs take, the records of new stacks, and the
 * counts. Without an engine it is a source that has nothing.
 */
#ifndef WICK_ENGINE_ENGINE_SOURCE_H
#define WICK_ENGINE_ENGINE_SOURCE_H

#include "capture/build_ids.h"
#include "capture/events.h"
#include "capture/tails.h"
#include "capture/target.h"
#include "engine/engine.h"
#include "event/source.h"

struct engine_source_options {
	struct engine *engine; /* stays the caller's; NULL: there is none */
	const struct target *target;
	const struct capture_events *events;
	bool some_cpus; /* else those of the target are all */
	struct build_ids *build_ids;
};

struct engine_source {
	struct engine_source_options options;
	struct engine *engine; /* NULL: none */
	struct engine_source_event {
		int fd;
		bool by_cpu; /* see struct capture_event */
		int32_t cpu; /* -1: any */
	} * events;
	size_t count, capacity;
	struct build_ids_filler filler; /* before what the engine listens to */
	struct event_sink next; /* of the stage */
	struct tails tails; /* of stacks that were copied */
	const struct event_sink *delivery; /* where samples go once they have them */
	uint64_t counted; /* when counts were last read */
	uint64_t count_at, every; /* when counts are read again, and how often they are at most */
};

/*
 * Opens the events of a target (shaped by ring_source_open() already), disabled. The struct must stay where it is, and
 * is to be closed after a failure too.
 */
int engine_source_open(struct engine_source *source, const struct engine_source_options *options, struct err *err);
struct source engine_source(struct engine_source *source);

#endif
