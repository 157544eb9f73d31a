/*
 * Perf maps of recorded processes that exist because of the recording. One is requested from each JVM every ten
 * seconds, and when the recording ends. Runtimes that got options to write one do so without. What was written is
 * removed.
 */
#ifndef WICK_RECORDER_PERF_MAPS_H
#define WICK_RECORDER_PERF_MAPS_H

#include "event/event.h"
#include "runtime/java/attacher.h"

struct map_process {
	int32_t pid;
	uint64_t due; /* when it is asked next */
	bool asked; /* and has not answered */
	bool refuses; /* not to be asked again */
	unsigned silent; /* how often it did not answer in time */
};

/* Zeros: none is asked. */
struct perf_maps {
	struct attacher *attacher;
	struct map_process *processes;
	size_t count, capacity;
	unsigned launched; /* runtimes that got options (enum launch_runtime) */
	bool kept; /* they are not removed */
};

/* Before the process gives up privileges. `launched`: runtimes that the command starts with options to write maps. */
void perf_maps_open(struct perf_maps *maps, unsigned launched);
/* Removes those that were written, unless they are kept. */
void perf_maps_close(struct perf_maps *maps);

/* Notes new JVMs, and those that have ended. */
void perf_maps_take(struct perf_maps *maps, const struct event *event);
/* Asks those that are due. Does not wait. */
void perf_maps_round(struct perf_maps *maps, uint64_t now);
/* Asks all, and waits for the answers, for three seconds at most. */
void perf_maps_finish(struct perf_maps *maps);

#endif
