/*
 * The BPF engine as the source of samples of a recording: the perf events whose samples its programs take, and its
 * place among the rings that tell of mappings and tasks.
 */
#ifndef WICK_CAPTURE_ENGINE_TAP_H
#define WICK_CAPTURE_ENGINE_TAP_H

#include "capture/rings.h"
#include "engine/engine.h"

struct engine_tap {
	struct engine *engine;
	struct engine_tap_event {
		int fd;
		bool by_cpu; /* see struct capture_event */
		int32_t cpu; /* -1: any */
	} * events;
	size_t count, capacity;
	struct rings_guest guest;
	const struct event_sink *sink; /* where records go in the order of time */
	uint64_t counted; /* when counts were last asked for */
	uint64_t count_at, every; /* when counts are asked for again, and how often they are at most */
	bool ending;
};

/* Opens the events of a target (shaped by rings_open() already), disabled. The tap must stay where it is. */
int engine_tap_open(struct engine_tap *tap, struct engine *engine, const struct target *target,
		    const struct capture_events *events, bool some_cpus, struct err *err);
void engine_tap_release(struct engine_tap *tap);
void engine_tap_enable(struct engine_tap *tap);
/* Those of CPUs only: the others are enabled by the exec of a command. */
void engine_tap_enable_cpus(struct engine_tap *tap);
void engine_tap_disable(struct engine_tap *tap);
/* As rings_return(), with the arguments of engine_tap_open(). */
int engine_tap_return(struct engine_tap *tap, const struct target *target, const struct capture_events *events,
		      int32_t cpu, bool samples, struct err *err);

/* A sink for the records in the order of time, before they get to `sink`; both must stay. */
struct event_sink engine_tap_sink(struct engine_tap *tap, const struct event_sink *sink);
/* What comes from now on is the rest. */
void engine_tap_ending(struct engine_tap *tap);
/* Now and then: what was counted. */
int engine_tap_count(struct engine_tap *tap, bool last);

#endif
