/* The cgroup hierarchies that are mounted: version 2, those of controllers (version 1), or both side by side. */
#ifndef WICK_CONTAINER_HIERARCHY_H
#define WICK_CONTAINER_HIERARCHY_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define HIERARCHY_DEPTH_MAX 64

struct hierarchy {
	char *directory; /* where it is mounted */
	char *controllers; /* of version 1: "cpu,cpuacct"; "": version 2 */
};

struct hierarchies {
	struct hierarchy *items; /* version 2 first, then that of perf events */
	size_t count, capacity;
};

/* `root` is "", or where the file system of the host is mounted. */
void hierarchies_read(struct hierarchies *hierarchies, const char *root);
void hierarchies_release(struct hierarchies *hierarchies);
#define CLEANUP_HIERARCHIES __attribute__((cleanup(hierarchies_release)))
/* The hierarchy of a controller of version 1, or with "" that of version 2; NULL: not mounted. */
const struct hierarchy *hierarchies_find(const struct hierarchies *hierarchies, const char *controller);

/*
 * Takes a directory of a hierarchy, whose path is "/" or "/a/b", and which is open during the call. False does not go
 * further down there.
 */
typedef bool cgroup_take(void *context, const char *path, int directory);
/* All directories, parents first. */
void hierarchy_walk(const struct hierarchy *hierarchy, cgroup_take *take, void *context);
/* A cgroup, whose path is "/" then, and those below. `directory` stays open. */
void cgroup_walk(int directory, cgroup_take *take, void *context);

/* A process of a cgroup or of those below it: the one with the smallest number. 0: it has none that can be seen. */
int32_t cgroup_process(int directory);

#endif
