/*
 * What the path of a cgroup says about who is in it: the container and its engine, the pod, the unit of systemd. The
 * layouts of engines and versions differ in all but this: a directory has the id of the container in its name.
 */
#ifndef WICK_CONTAINER_CGROUP_PATH_H
#define WICK_CONTAINER_CGROUP_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTAINER_ID_MAX 128
#define CONTAINER_SHORT_ID 12 /* digits of an id that are shown */

struct cgroup_owner {
	const char *engine; /* "docker"; NULL: no container. "container": one that the path does not name */
	char id[CONTAINER_ID_MAX]; /* hexadecimal digits; of LXC and systemd-nspawn the name */
	bool id_is_name;
	size_t length; /* of the path up to the cgroup of the container itself */
	size_t outer; /* the same of the container that it is in; 0: none */
	char pod[64]; /* its unique id; "": none */
	char unit[256]; /* of the system, not of a systemd in the container; "": none */
	uint32_t user; /* whose systemd it belongs to; UINT32_MAX: that of the system */
};

/* The innermost container of a path that begins with "/". */
void cgroup_path_read(const char *path, struct cgroup_owner *ret_owner);
/* Whether the path is the cgroup of a container itself, and not one below it. */
bool cgroup_path_is_container(const char *path, struct cgroup_owner *ret_owner);

#endif
