/*
 * From the ids of cgroups, which samples have, to their paths. The folders of the hierarchy are listed when an id comes
 * that is not known yet, but not too often: of a cgroup that was removed nobody knows the name.
 */
#ifndef WICK_CAPTURE_CGROUPS_H
#define WICK_CAPTURE_CGROUPS_H

#include <stdbool.h>
#include <stdint.h>

struct cgroups;

/* `by_perf`: ids are of the hierarchy that perf events know; else of cgroup v2, as BPF programs report them. */
struct cgroups *cgroups_new(bool by_perf);
/* NULL is allowed. */
void cgroups_free(struct cgroups *cgroups);

/* The path ("/" is the root) the first time that an id is looked up and known; NULL from then on, and until then. */
const char *cgroups_news(struct cgroups *cgroups, uint64_t id);

/* The path of an id; NULL: not known. */
const char *cgroups_path(struct cgroups *cgroups, uint64_t id);

/* The id of the cgroup of a process; 0: not known. */
uint64_t cgroups_of_process(struct cgroups *cgroups, int32_t pid);

#endif
