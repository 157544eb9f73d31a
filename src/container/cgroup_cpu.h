/* What the kernel accounts to a cgroup: CPU time, its limit, how long it was throttled, and how long it waited. */
#ifndef WICK_CONTAINER_CGROUP_CPU_H
#define WICK_CONTAINER_CGROUP_CPU_H

#include "container/hierarchy.h"

/* Times are nanoseconds since the cgroup was made; what is not known is 0. */
struct cgroup_cpu {
	uint64_t time; /* by CLOCK_MONOTONIC, or of the difference of two */
	uint64_t usage;
	double limit; /* CPUs, of the cgroup or of one that it is in; 0: none */
	uint64_t periods, throttled_periods; /* of the cgroup with the limit */
	uint64_t throttled; /* added up over CPUs */
	uint64_t pressure; /* some task waited for a CPU */
	uint64_t stolen; /* by the host of a virtual machine, since it booted, on average of its CPUs */
};

/* `path` is that of the cgroup in every hierarchy where it is. */
struct cgroup_cpu cgroup_cpu_read(const struct hierarchies *hierarchies, const char *path);
/* What was added since. */
struct cgroup_cpu cgroup_cpu_since(const struct cgroup_cpu *now, const struct cgroup_cpu *before);
/* As text for a recording: "cpu.limit=0.5\tcpu.usage=…"; and back. False: it is something else. */
void cgroup_cpu_write(const struct cgroup_cpu *cpu, struct buf *out);
bool cgroup_cpu_parse(struct cgroup_cpu *cpu, const char *text);

#endif
