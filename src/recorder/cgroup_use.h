/* What the kernel accounted to the recorded cgroup during a recording, and what its limit took away. */
#ifndef WICK_RECORDER_CGROUP_USE_H
#define WICK_RECORDER_CGROUP_USE_H

#include "container/cgroup_cpu.h"

struct cgroup_use {
	struct hierarchies hierarchies;
	struct buf path; /* of the cgroup; empty: none is recorded */
	uint64_t id;
	struct cgroup_cpu begin;
};

/* `directory` is that of the cgroup. */
void cgroup_use_open(struct cgroup_use *use, int directory);
void cgroup_use_close(struct cgroup_use *use);
/* When the recording begins. */
void cgroup_use_begin(struct cgroup_use *use);
/* What was added since, as text for the recording; nothing if no cgroup is recorded. With the CPU time if `all`. */
void cgroup_use_end(const struct cgroup_use *use, bool all, struct buf *out);

#endif
