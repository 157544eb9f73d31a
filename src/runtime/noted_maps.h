/*
 * Perf maps that exist because of wick: which processes write one, and their removal. For a process with privileges
 * (runtime/java/attacher.c); files are removed with the rights of the user of the process that wrote them.
 */
#ifndef WICK_RUNTIME_NOTED_MAPS_H
#define WICK_RUNTIME_NOTED_MAPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define NOTED_MAPS_MAX 256

struct noted_map {
	int32_t pid, inner_pid; /* the second one in its own namespace */
	int directory; /* its /tmp */
	uid_t user;
};

struct noted_maps {
	struct noted_map items[NOTED_MAPS_MAX];
	size_t count;
	struct timespec since; /* what was not changed later is not removed */
};

void noted_maps_init(struct noted_maps *maps);
/*
 * Notes the map of a process, unless there was one before, or it is noted. Of a process that is gone it is taken that
 * it was started by this one's user, and has the same /tmp.
 */
void noted_maps_add(struct noted_maps *maps, int32_t pid);
void noted_maps_remove_files(struct noted_maps *maps);

#endif
