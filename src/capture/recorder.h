/* A recorder from inside. For record*.c only. */
#ifndef WICK_CAPTURE_RECORDER_H
#define WICK_CAPTURE_RECORDER_H

#include "capture/build_ids.h"
#include "capture/cgroups.h"
#include "capture/cpu_time.h"
#include "capture/engine_tap.h"
#include "capture/hotplug.h"
#include "capture/members.h"
#include "capture/record.h"
#include "capture/recover.h"
#include "capture/rings.h"

#include <signal.h>

enum wake_up { WAKE_RING, WAKE_SIGNAL, WAKE_PROCESS, WAKE_COMMAND, WAKE_ENGINE };

struct recorder {
	struct recorder_options options;
	struct target target;
	struct rings *rings;
	struct engine *engine; /* NULL: the rings bring the samples too */
	struct engine_tap tap;
	bool by_members; /* events of rings are opened on CPUs, and this says whose samples count: */
	struct members members;
	struct tails tails; /* of stacks in rings */
	uint64_t rounded; /* when progress was last told of */
	struct cpu_time cpu_time;
	struct hotplug hotplug; /* of CPUs on which events are opened */
	sigset_t signals, old_mask;
	bool blocked;
	int epoll, signal_fd;
	int *process_fds; /* become readable when the process ends */
	size_t process_count, processes_left;
	bool kernel; /* samples of the kernel are recorded */
	bool user_only; /* they were wanted, and are not allowed */
	bool samples_on, paused;
	uint64_t started;
	struct event_sink asleep; /* gets the threads that wait when the recording begins; empty: not asked for */
	struct recorder_progress progress;
	bool done;
	enum recorder_end end;
	bool asked_to_end; /* the command */
	bool privileged;
	int32_t stopped; /* a process that the kernel tells nothing of any more; 0: none */
	bool reported_stopped;
	uint64_t ended_threads;
	struct cgroups *cgroups;
	struct event_sink told; /* gets the names of cgroups */
	struct recover recover;
	struct build_ids *build_ids;
	struct build_ids_filler filler, early_filler;
};

/* Tells of a step down that was taken. */
void recorder_note(const struct recorder *recorder, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
