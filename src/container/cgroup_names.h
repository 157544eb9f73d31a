/*
 * What the cgroups of a recording are called. The recorder looks the names up while their containers run, and writes
 * them next to the path, as a text "container=web1\tpod=prod/shop-1". The labels of samples come from both, or from the
 * path alone.
 */
#ifndef WICK_CONTAINER_CGROUP_NAMES_H
#define WICK_CONTAINER_CGROUP_NAMES_H

#include "container/cgroup_path.h"

/* A cgroup without one has "[no container]" and so on. */
struct cgroup_labels {
	char container[512], pod[512], unit[256];
};

/* `names` may be NULL or anything. */
void cgroup_labels_read(const char *path, const char *names, struct cgroup_labels *ret_labels);

struct cgroup_names;

/* `root` is "", or where the file system of the host is mounted; it must stay. */
struct cgroup_names *cgroup_names_new(const char *root);
/* NULL is allowed. */
void cgroup_names_free(struct cgroup_names *names);
/* The text for a cgroup; NULL: nothing is known that is not in its path. Valid until the next call. */
const char *cgroup_names_find(struct cgroup_names *names, const char *path);

#endif
