/* Whether the BPF engine can record here; else why not, and what would help. */
#ifndef WICK_ENGINE_ENGINE_CHOICE_H
#define WICK_ENGINE_ENGINE_CHOICE_H

#include "base/buf.h"
#include "capture/attr.h"
#include "system/system.h"

/* False in a build without libbpf. */
#ifdef WICK_WITHOUT_ENGINE
#define ENGINE_BUILT false
#else
#define ENGINE_BUILT true
#endif

/* What the machine is. */
struct engine_facts {
	unsigned major, minor, patch; /* of the kernel; 0, 0, 0: not known */
	bool bpf; /* the kernel has it */
	bool btf; /* and exports its types */
	bool capable; /* CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN */
	bool confidential; /* locked down: nothing of the kernel may be read */
	unsigned cpus; /* that it may have */
	uint64_t memory_left; /* bytes that machine and cgroups allow; UINT64_MAX: not known */
	bool in_cgroup; /* it is a cgroup that allows no more */
	uint32_t pid_namespace; /* inode of ours, where processes have other numbers; 0: the initial one */
};
struct engine_facts engine_facts_read(const struct system *system);

/* What is to be recorded. */
struct engine_task {
	enum call_graph call_graph;
	bool suitable; /* at least one event is not a tracepoint or the like */
	uint32_t max_depth; /* 0: the default */
	bool system_wide; /* threads are met that are not in our pid namespace: of the whole system, or of a CPU */
	bool waits; /* which programs compute by the numbers that threads have in the initial pid namespace */
};

/* MiB for what the engine sizes by engine_options.kernel_memory: `asked`, or a part of what is left. */
uint32_t engine_memory(const struct engine_facts *facts, uint32_t asked);
/* False when so little memory is left that loading the programs could end wick. */
bool engine_memory_suffices(const struct engine_facts *facts);

/* True when programs can see how large the page of a fault is (Linux 6.2). */
bool engine_knows_page_size(const struct engine_facts *facts);

/*
 * True when the engine can be used. Else `reason` gets one line without an end: "the kernel is 5.10, the BPF engine
 * needs 5.15". `task` may be NULL: only the machine is checked.
 */
bool engine_fits(const struct engine_facts *facts, const struct engine_task *task, struct buf *reason);

#endif
