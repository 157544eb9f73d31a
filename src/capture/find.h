/* Processes and cgroups by what people call them. */
#ifndef WICK_CAPTURE_FIND_H
#define WICK_CAPTURE_FIND_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pid_list {
	int32_t *items;
	size_t count, capacity;
};
void pid_list_release(struct pid_list *list);

/* What a process must be to be found: all of what is set. */
struct find_filter {
	/* Patterns as in a shell, ended by NULL; one of them matches its name or that of its program. NULL: any. */
	const char *const *names;
	const uid_t *user; /* NULL: any */
};
/* Adds all processes that run now, but not this one. */
void find_processes(struct pid_list *list, const struct find_filter *filter);

/* Adds the children of those in the list, and theirs, but not this process. */
void find_descendants(struct pid_list *list);
/* The process that a process is a child of; 0: not there. */
int32_t find_parent(int32_t pid);

/*
 * Opens the folder of a cgroup: a path of the file system, one that begins at the root of the cgroup v2 hierarchy as
 * /proc/PID/cgroup has it, or a part of one that no other has. The descriptor, or an error.
 */
int find_cgroup(const char *path, struct err *err);
/* Adds the processes of a cgroup and of those below it. */
void find_cgroup_processes(struct pid_list *list, int folder);

#endif
