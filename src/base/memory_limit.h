/* How much memory the process may use: what the machine has, and what its cgroups allow (versions 1 and 2). */
#ifndef WICK_BASE_MEMORY_LIMIT_H
#define WICK_BASE_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct memory_limit {
	uint64_t limit; /* bytes: memory of the machine, or the smallest limit of a cgroup or of one above it */
	uint64_t left; /* what can be allocated before one is reached; caches that can be dropped count as free */
	bool by_cgroup; /* `left` is what a cgroup allows */
};

/* `root` is a prefix of all paths, normally "". What cannot be read does not limit: UINT64_MAX. */
struct memory_limit memory_limit_read(const char *root);

#endif
