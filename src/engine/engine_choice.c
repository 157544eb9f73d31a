/* Compares the kernel, its memory and the events with what the BPF engine needs. */
#include "engine/engine_choice.h"

#include "base/memory_limit.h"
#include "bpf/maps.h"
#include "system/system.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENGINE_MEMORY_MIN 8u /* MiB, as of --kernel-memory */
/* What the programs, the smallest maps and wick itself take where a whole system is recorded. */
#define NEEDED_ALWAYS ((uint64_t)40 << 20)
/* Of each CPU: the elements of maps, and the smallest ring with the kernel's own data of events. */
#define EVENTS_PER_CPU ((uint64_t)64 << 10)
#define NEEDED_PER_CPU                                                                                              \
	(LAYOUT_SLOTS * (sizeof(struct scratch) + sizeof(struct layout_copy)) + LAYOUT_STATISTICS * sizeof(__u64) + \
	 EVENTS_PER_CPU)
#define INITIAL_PID_NAMESPACE 0xeffffffcu /* PROC_PID_INIT_INO of the kernel */

/* Debian keeps the release at 6.1.0 and shows elsewhere which patches are in: "… Debian 6.1.129-1 (2025-03-06)". */
static void read_version(const struct system *system, struct engine_facts *facts)
{
	CLEANUP_BUF struct buf release = {0};
	CLEANUP_BUF struct buf details = {0};
	unsigned major = 0, minor = 0, patch = 0, real[3];
	if (!system_read(system, "/proc/sys/kernel/osrelease", &release) ||
	    sscanf(release.data, "%u.%u.%u", &major, &minor, &patch) < 2)
		return;
	const char *debian = NULL;
	if (!patch && system_read(system, "/proc/sys/kernel/version", &details))
		debian = strstr(details.data, "Debian ");
	if (debian && sscanf(debian, "Debian %u.%u.%u", &real[0], &real[1], &real[2]) == 3 && real[0] == major &&
	    real[1] == minor)
		patch = real[2];
	buf_clear(&details);
	/* "Ubuntu 6.2.0-39.40-generic 6.2.16" */
	if (!patch && system_read(system, "/proc/version_signature", &details) &&
	    sscanf(details.data, "%*s %*s %u.%u.%u", &real[0], &real[1], &real[2]) == 3)
		patch = real[2];
	facts->major = major;
	facts->minor = minor;
	facts->patch = patch;
}

struct engine_facts engine_facts_read(const struct system *system)
{
	struct memory_limit memory = memory_limit_read(system->root);
	long long unprivileged, cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct stat namespace;
	struct engine_facts facts = {
		.bpf = system_number(system, "/proc/sys/kernel/unprivileged_bpf_disabled", &unprivileged),
		.btf = system_readable(system, "/sys/kernel/btf/vmlinux"),
		.capable = system_capable(system, CAN_SYS_ADMIN) ||
			   (system_capable(system, CAN_BPF) && system_capable(system, CAN_PERFMON)),
		.confidential = system_contains(system, "/sys/kernel/security/lockdown", "[confidentiality]"),
		.cpus = cpus > 0 ? (unsigned)cpus : 1,
		.memory_left = memory.left,
		.in_cgroup = memory.by_cgroup,
	};
	CLEANUP_BUF struct buf path = {0};
	buf_printf(&path, "%s/proc/self/ns/pid", system->root);
	if (!*system->root && stat(path.data, &namespace) == 0 && namespace.st_ino != INITIAL_PID_NAMESPACE)
		facts.pid_namespace = (uint32_t) namespace.st_ino;
	read_version(system, &facts);
	return facts;
}

static bool is_before(const struct engine_facts *facts, unsigned major, unsigned minor, unsigned patch)
{
	if (facts->major != major)
		return facts->major < major;
	return facts->minor != minor ? facts->minor < minor : facts->patch < patch;
}

/* A program that read user memory which was not resident could stop the machine (5.19 to 6.3.9, fixed in 6.1.36). */
static bool freezes(const struct engine_facts *facts)
{
	bool fixed = facts->major == 6 && facts->minor == 1 && facts->patch >= 36;
	return !is_before(facts, 5, 19, 0) && is_before(facts, 6, 3, 10) && !fixed;
}

bool engine_knows_page_size(const struct engine_facts *facts)
{
	return !is_before(facts, 6, 2, 0);
}

uint32_t engine_memory(const struct engine_facts *facts, uint32_t asked)
{
	uint64_t max = facts->memory_left / 3 >> 20;
	max = max > ENGINE_MEMORY_MIN ? max : ENGINE_MEMORY_MIN;
	return asked < max ? asked : (uint32_t)max;
}

static uint64_t needed(const struct engine_facts *facts)
{
	return NEEDED_ALWAYS + NEEDED_PER_CPU * facts->cpus;
}

bool engine_memory_suffices(const struct engine_facts *facts)
{
	return facts->memory_left >= needed(facts);
}

static bool machine_fits(const struct engine_facts *facts, struct buf *reason)
{
	if (!facts->bpf)
		buf_str(reason, "this kernel does not support BPF (CONFIG_BPF_SYSCALL)");
	else if (facts->major && is_before(facts, 5, 15, 0))
		buf_printf(reason, "the kernel is %u.%u, but the BPF engine needs 5.15", facts->major, facts->minor);
	else if (freezes(facts))
		buf_printf(reason,
			   "kernel %u.%u.%u can freeze when BPF programs read stacks; this is fixed in 6.1.36 "
			   "and 6.3.10",
			   facts->major, facts->minor, facts->patch);
	else if (!facts->btf)
		buf_str(reason, "the kernel has no type information (CONFIG_DEBUG_INFO_BTF)");
	else if (!facts->capable)
		buf_str(reason, "the BPF engine needs root, or CAP_BPF and CAP_PERFMON");
	else if (facts->confidential)
		buf_str(reason, "the kernel is locked down (lockdown=confidentiality)");
	else if (!engine_memory_suffices(facts))
		buf_printf(reason, "%s %" PRIu64 " MiB more memory, but the BPF engine needs %" PRIu64 " MiB",
			   facts->in_cgroup ? "the cgroup allows" : "the machine has", facts->memory_left >> 20,
			   needed(facts) >> 20);
	return !reason->size;
}

static bool task_fits(const struct engine_facts *facts, const struct engine_task *task, struct buf *reason)
{
	if (task->call_graph != CALL_GRAPH_DWARF)
		buf_str(reason, "the BPF engine does not support --call-graph fp and lbr");
	else if (task->max_depth > LAYOUT_FRAMES_MAX)
		buf_printf(reason, "the BPF engine supports at most %u frames (--max-depth)", LAYOUT_FRAMES_MAX);
	else if (!task->suitable)
		buf_str(reason, "the BPF engine does not support this event");
	else if (facts->pid_namespace && (task->waits || task->system_wide))
		buf_str(reason,
			"in a PID namespace, the BPF engine records only CPU time and page faults of processes; "
			"run wick on the host, or the container with --pid=host");
	return !reason->size;
}

bool engine_fits(const struct engine_facts *facts, const struct engine_task *task, struct buf *reason)
{
	return machine_fits(facts, reason) && (!task || task_fits(facts, task, reason));
}
