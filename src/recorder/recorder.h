/*
 * A recording: opens the events of a target, passes its records to a sink in the order of time, and ends when
 * the target does, the time is over or a signal comes.
 */
#ifndef WICK_RECORDER_RECORDER_H
#define WICK_RECORDER_RECORDER_H

#include "capture/options.h"
#include "capture/target.h"
#include "engine/engine.h"
#include "engine/engine_choice.h"
#include "event/offcpu.h"
#include "event/source.h"

#include <stdatomic.h>

struct recorder;

/* What another thread may ask of a recording that runs. Looked at several times a second. */
struct recorder_control {
	atomic_bool stop, pause;
};

/* How far it is, now and then. */
struct recorder_progress {
	uint64_t elapsed, duration; /* nanoseconds; duration 0: no end set */
	uint64_t samples, lost, lost_records; /* lost_records: mappings and tasks */
	uint64_t until; /* by CLOCK_MONOTONIC: samples that were taken before this have been given to the sink */
};

enum recorder_end {
	RECORDER_TARGET_ENDED,
	RECORDER_TIME_OVER,
	RECORDER_INTERRUPTED, /* by SIGINT, SIGTERM or SIGHUP, or asked to stop */
	RECORDER_MEMORY_SHORT, /* what is left of the limit of memory is needed for the end: see mem_is_short() */
};

#define RECORDER_TIME_UNKNOWN UINT64_MAX

struct recorder_result {
	struct recorder_progress last;
	uint64_t ended_threads; /* of the target, while it was recorded */
	uint64_t cpu_time; /* nanoseconds that the kernel accounted to the target, or RECORDER_TIME_UNKNOWN */
	enum recorder_end end;
	uint64_t ended; /* on the clock of the samples */
	struct offcpu_counts waits; /* zeros where no samples are derived */
	int exec_error; /* errno when the command could not be run */
	bool stopped_command; /* it still ran at the end, and was asked to end */
};

/*
 * Opens everything; a command waits. Signals that end a recording are blocked from here on until
 * recorder_unblock_signals(), also in threads that are started meanwhile.
 */
int recorder_open(struct recorder **ret_recorder, const struct capture_options *options, struct err *err);
const struct event_source *recorder_sources(const struct recorder *recorder, size_t *ret_count);

/* The process of the command; 0: there is none. */
pid_t recorder_command(const struct recorder *recorder);

/* Whether threads that wait already when the recording begins are looked up. */
bool recorder_lists_sleepers(const struct recorder *recorder);

/* True when the BPF engine takes the samples; `ret_statistics` (may be NULL) is what it did. */
bool recorder_uses_engine(const struct recorder *recorder, struct engine_statistics *ret_statistics);

/*
 * Records. `consumer` is who has the sink. Returns 0, what the sink returned, or a failure. A command that still runs
 * then is asked to end, unless wick ends for its own reasons (memory).
 */
int recorder_run(struct recorder *recorder, const struct event_sink *sink, const struct source_consumer *consumer,
		 struct recorder_result *ret_result, struct err *err);
/* Signals have their usual effect again: to be called when everything is safe that a second Ctrl-C must not cost. */
void recorder_unblock_signals(struct recorder *recorder);

/* Perf maps that were written because of the recording are not removed by recorder_close(). */
void recorder_keep_maps(struct recorder *recorder);

/*
 * Waits for the command and returns its exit code, 128 + the signal that killed it; 0 when there was no command, or
 * when one that outlived the recording ended because it was asked to.
 */
int recorder_wait(struct recorder *recorder);
void recorder_close(struct recorder *recorder);

#endif
