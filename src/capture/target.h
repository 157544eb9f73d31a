/* What is recorded: a command that is started for it, processes, threads, a cgroup, or whatever runs on some CPUs. */
#ifndef WICK_CAPTURE_TARGET_H
#define WICK_CAPTURE_TARGET_H

#include "base/err.h"
#include "capture/find.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct target {
	bool whole_system; /* every process; else those of `tids` */
	int cgroup; /* its folder, when the kernel itself knows who is in it; else -1 */
	bool by_thread; /* single threads are meant, not their whole processes */
	bool found; /* by a pattern: of those that may not be recorded, others are left */
	int32_t *tids; /* threads that are there now */
	size_t tid_count, tid_capacity;
	int32_t *pids; /* processes to be reported: their mappings and names */
	size_t pid_count, pid_capacity;
	/* In both lists: descendants of processes that were named. The target ends without them. */
	struct target_range {
		size_t from, to;
	} descended_pids, descended_tids;
	int32_t *cpus; /* where to record */
	size_t cpu_count, cpu_capacity;
	int streams[3]; /* standard input, output and error for the command; -1: those of the caller */
	char *const *environment; /* "NAME=value" for the command, ended by NULL; NULL: that of the caller only */
	pid_t command; /* the one that was started; 0: none */
	bool clock; /* the command is not recorded: the recording of something else lasts as long as it runs */
	int start_fd, failure_fd; /* of a command that is not started yet; else -1 */
};

void target_init(struct target *target);
/* A command that was not let go yet never runs. */
void target_release(struct target *target);

/* Adds the CPUs that are online. False: not known. */
bool target_online(struct target *target);
/* Those, or the ones of a list such as "0,2-3" (NULL: all). */
int target_set_cpus(struct target *target, const char *list, struct err *err);
/* Adds the processes of a list such as "12,13", with their threads. */
int target_add_processes(struct target *target, const char *list, struct err *err);
int target_add_threads(struct target *target, const char *list, struct err *err);
/* Adds the descendants of its processes, as far as they may be recorded. The target ends without them. */
void target_add_descendants(struct target *target);
/* Adds the processes that are found; ERR_SYSTEM when there are none, which `what` says whose they would be. */
int target_add_found(struct target *target, const struct find_filter *filter, const char *what, struct err *err);
/* The process of a thread; -1 when there is no such thread. */
int32_t target_process_of(int32_t tid);
/* Makes `folder`, which is taken over, the target: by the kernel's own means, or the processes that are in it now. */
int target_set_cgroup(struct target *target, int folder, bool by_kernel, struct err *err);
static inline bool target_in_range(const struct target_range *range, size_t index)
{
	return index >= range->from && index < range->to;
}
/* Whether thread number `index` is omitted when it may not be recorded; else that is an error. */
static inline bool target_may_lack(const struct target *target, size_t index)
{
	return target->found || target_in_range(&target->descended_tids, index);
}
/* Events are opened for CPUs and not for threads. */
static inline bool target_is_by_cpu(const struct target *target)
{
	return target->whole_system || target->cgroup >= 0;
}
/*
 * Starts a command that waits before its first instruction until target_let_go(). It gets `streams` and the signal
 * mask `mask`.
 */
int target_start_command(struct target *target, char *const *arguments, const void *mask, struct err *err);
/* Lets it run. ERR_OPEN when it cannot be executed; `ret_error` then gets errno. */
int target_let_go(struct target *target, const char *name, int *ret_error, struct err *err);

#endif
