/* A recorder from inside. For recorder*.c only. */
#ifndef WICK_RECORDER_RECORDER_PRIVATE_H
#define WICK_RECORDER_RECORDER_PRIVATE_H

#include "capture/build_ids.h"
#include "capture/cgroups.h"
#include "capture/hotplug.h"
#include "capture/recover.h"
#include "capture/ring_source.h"
#include "container/cgroup_names.h"
#include "engine/engine_source.h"
#include "event/derive.h"
#include "event/merge.h"
#include "event/tee.h"
#include "recorder/cgroup_use.h"
#include "recorder/cpu_time.h"
#include "recorder/followed.h"
#include "recorder/perf_maps.h"
#include "recorder/recorder.h"

#include <signal.h>

enum wake_up { WAKE_SOURCE, WAKE_SIGNAL, WAKE_PROCESS, WAKE_COMMAND };

struct recorder {
	struct capture_options options;
	struct target target;
	struct ring_source_options ring_options;
	struct ring_source rings;
	struct engine *engine; /* NULL: the rings bring the samples too */
	struct engine_source engine_source;
	struct merge merge;
	/* The stages behind the merge, in the order in which records pass them; see connect(): */
	struct event_sink front; /* the first one */
	struct recover recover;
	struct event_sink recovering; /* from this one on */
	struct event_sink filling; /* and this one */
	struct build_ids_filler filler;
	struct derive *derive; /* NULL: samples are as the kernel takes them */
	struct derive_source *derive_sources;
	struct event_tee existing; /* what was there before the recording, as soon as it is known, and in its turn */
	uint64_t rounded; /* when progress was last reported */
	struct cpu_time cpu_time;
	struct perf_maps perf_maps;
	struct hotplug hotplug; /* of CPUs on which events are opened */
	sigset_t signals, old_mask;
	bool blocked;
	int epoll, signal_fd;
	int *process_fds; /* become readable when the process ends */
	size_t process_count, processes_left;
	bool kernel; /* samples of the kernel are recorded */
	bool user_only; /* they were wanted, and are not allowed */
	bool on_exec; /* samples begin when the command executes its program */
	bool samples_on, paused;
	uint64_t started;
	struct recorder_progress progress;
	unsigned unchecked; /* samples since the memory in use was last looked at */
	uint64_t dropped; /* samples for which there was no memory */
	bool done;
	enum recorder_end end;
	bool asked_to_end; /* the command */
	bool privileged;
	int32_t stopped; /* a process that the kernel does not report any more; 0: none */
	bool reported_stopped;
	uint64_t ended_threads;
	struct cgroups *cgroups;
	struct cgroup_names *cgroup_names;
	struct followed *followed; /* NULL: all samples are kept */
	struct cgroup_use cgroup_use; /* of the target, if it is a cgroup */
	struct build_ids *build_ids;
};

/* Reports a step down that was taken. */
void recorder_note(const struct recorder *recorder, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
