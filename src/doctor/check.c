/* The checks of the kernel, its settings and privileges, one function per row. */
#include "doctor/check.h"

#include "arch/native.h"
#include "base/directory.h"
#include "doctor/in_container.h"
#include "engine/engine_choice.h"
#include "symbol/symbol_advice.h"
#include "system/denied.h"
#include "system/system.h"
#include "system/tracefs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SYSCTL "/proc/sys/kernel/"
#define SETTING(name, value) "sudo sysctl kernel." name "=" value
#define SETTING_KEPT(name, value) "echo kernel." name "=" value " | sudo tee -a /etc/sysctl.d/99-wick.conf"

/* --- events --- */

static int try_own_process(const struct system *system)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	return system->open_event(&attr);
}

static struct perf_event_attr cycles(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 1000000,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

bool check_can_record(const struct system *system)
{
	return ARCH_RECORDS && try_own_process(system) == 0;
}

/* --- the questions --- */

static void ok(struct check_result *result)
{
	result->verdict = CHECK_OK;
	result->limits = result->now = result->forever = "";
}

/* Where this user is root already, sudo and settings of the kernel do not give what is missing. */
static void as_root(const struct system *system, struct check_result *result)
{
	if (!system_is_root(system) && !system_in_user_namespace(system))
		return;
	result->now = denied_step(system);
	result->forever = "";
}

static void architecture(const struct system *system, struct check_result *result)
{
	(void)system;
	buf_str(&result->state, ARCH_NATIVE.name);
	if (ARCH_RECORDS)
		ok(result);
}

static void kernel(const struct system *system, struct check_result *result)
{
	CLEANUP_BUF struct buf release = {0};
	unsigned major = 0, minor = 0;
	if (!system_read(system, SYSCTL "osrelease", &release) || sscanf(release.data, "%u.%u", &major, &minor) != 2) {
		buf_str(&result->state, "unknown version");
		return;
	}
	buf_add(&result->state, release.data, strcspn(release.data, "\n"));
	if (major > 5 || (major == 5 && minor >= 15))
		ok(result);
}

static void own_processes(const struct system *system, struct check_result *result)
{
	int error = -try_own_process(system);
	bool filtered = system_status(system, "Seccomp:", 10) == 2;
	long long paranoid = 2;
	system_number(system, SYSCTL "perf_event_paranoid", &paranoid);
	if (!error) {
		buf_str(&result->state, "yes");
		ok(result);
		return;
	}
	buf_printf(&result->state, "no: perf_event_open fails: %s", strerror(error));
	if (error == ENOSYS && !filtered) {
		result->now = "";
		result->forever = "use a kernel with CONFIG_PERF_EVENTS";
	} else if (filtered && (error == EPERM || error == ENOSYS) && paranoid <= 2) {
		buf_str(&result->state, ", blocked by a seccomp filter");
		result->now = DENIED_PROFILE;
		result->forever = "";
	} else {
		as_root(system, result);
	}
}

static void seccomp(const struct system *system, struct check_result *result)
{
	if (system_status(system, "Seccomp:", 10) != 2) {
		buf_str(&result->state, "no filter");
		ok(result);
		return;
	}
	int error = -try_own_process(system);
	/* EACCES is the kernel's own answer, by perf_event_paranoid: the call went through. */
	if (error == EPERM || error == ENOSYS) {
		buf_str(&result->state, "a filter blocks perf_event_open");
		result->verdict = CHECK_BAD;
		return;
	}
	buf_str(&result->state, "a filter that allows perf_event_open");
	ok(result);
}

static void paranoid(const struct system *system, struct check_result *result)
{
	static const char *const meaning[] = {"everything is allowed", "all but raw tracepoints",
					      "no recording of whole CPUs", "own processes in user space only",
					      "nothing without privileges"};
	long long level;
	if (!system_number(system, SYSCTL "perf_event_paranoid", &level)) {
		buf_str(&result->state, "missing: the kernel does not support perf events, or /proc is hidden");
		result->verdict = CHECK_BAD;
		return;
	}
	long long index = level < -1 ? 0 : level > 3 ? 4 : level + 1;
	bool privileged = system_is_privileged(system);
	buf_printf(&result->state, "%lld: %s", level, meaning[index]);
	if (privileged && level > -1)
		buf_str(&result->state, "; no effect here, because wick is privileged");
	if (level > 2 && !privileged)
		result->verdict = CHECK_BAD;
	as_root(system, result);
	if (level < 1 || privileged)
		ok(result);
}

static void kernel_addresses(const struct system *system, struct check_result *result)
{
	CLEANUP_BUF struct buf symbols = {0};
	long long level = -1;
	system_number(system, SYSCTL "kptr_restrict", &level);
	buf_printf(&result->state, level < 0 ? "unknown" : "%lld", level);
	if (!system_read(system, "/proc/kallsyms", &symbols)) {
		buf_str(&result->state, ": /proc/kallsyms cannot be read");
		return;
	}
	if (strtoull(symbols.data, NULL, 16)) {
		buf_str(&result->state, ": kernel addresses are visible");
		ok(result);
		return;
	}
	buf_str(&result->state, ": kernel addresses are hidden");
	if (system_is_root(system) || system_in_user_namespace(system)) {
		as_root(system, result);
		return;
	}
	/* With 0 they are shown to whoever may record the kernel. */
	if (level == 0) {
		buf_str(&result->state, " from users who cannot record the kernel");
		result->now = SETTING("perf_event_paranoid", "1") ", or run wick with sudo";
		result->forever = SETTING_KEPT("perf_event_paranoid", "1");
	}
}

/* "Max locked memory  8388608  8388608  bytes": the soft limit in kB, -1 for unlimited. */
static bool locked_memory(const struct system *system, long long *ret_kb)
{
	CLEANUP_BUF struct buf limits = {0};
	const char *line =
		system_read(system, "/proc/self/limits", &limits) ? strstr(limits.data, "Max locked memory") : NULL;
	char word[32];
	if (!line || sscanf(line, "Max locked memory %31s", word) != 1)
		return false;
	*ret_kb = !strcmp(word, "unlimited") ? -1 : strtoll(word, NULL, 10) / 1024;
	return true;
}

static void buffers(const struct system *system, struct check_result *result)
{
	enum { USUAL = 516 }; /* kB: the kernel's default, 128 pages and one */
	long long each = 0, locked = 0, level = 2;
	bool known = system_number(system, SYSCTL "perf_event_mlock_kb", &each);
	system_number(system, SYSCTL "perf_event_paranoid", &level);
	if (known)
		buf_printf(&result->state, "%lld kB per CPU", each);
	else
		buf_str(&result->state, "perf_event_mlock_kb is unknown");
	if (locked_memory(system, &locked)) {
		if (locked < 0)
			buf_str(&result->state, ", locked memory unlimited");
		else
			buf_printf(&result->state, ", and %lld kB of locked memory", locked);
	}
	if (level < 0 || locked < 0 || system_capable(system, CAN_IPC_LOCK) || (known && each >= USUAL))
		ok(result);
}

static void sample_rate(const struct system *system, struct check_result *result)
{
	long long rate;
	if (!system_number(system, SYSCTL "perf_event_max_sample_rate", &rate)) {
		buf_str(&result->state, "unknown");
		return;
	}
	buf_printf(&result->state, "%lld per second", rate);
	if (rate >= 5000)
		ok(result);
}

static void stack_depth(const struct system *system, struct check_result *result)
{
	long long depth;
	if (!system_number(system, SYSCTL "perf_event_max_stack", &depth)) {
		buf_str(&result->state, "unknown");
		return;
	}
	buf_printf(&result->state, "%lld frames with frame pointers; no limit with unwind tables", depth);
	if (depth >= 127)
		ok(result);
}

static void capabilities(const struct system *system, struct check_result *result)
{
	static const struct {
		enum system_capability number;
		const char *name;
	} listed[] = {
		{CAN_PERFMON, "CAP_PERFMON"},
		{CAN_BPF, "CAP_BPF"},
		{CAN_SYS_PTRACE, "CAP_SYS_PTRACE"},
		{CAN_SYS_ADMIN, "CAP_SYS_ADMIN"},
	};
	for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
		if (system_capable(system, listed[i].number))
			buf_printf(&result->state, "%s%s", result->state.size ? ", " : "", listed[i].name);
	if (!result->state.size)
		buf_str(&result->state, "none of CAP_PERFMON, CAP_BPF, CAP_SYS_PTRACE, CAP_SYS_ADMIN");
	as_root(system, result);
	bool admin = system_capable(system, CAN_SYS_ADMIN);
	if (system_is_privileged(system) && (admin || system_capable(system, CAN_SYS_PTRACE)))
		ok(result);
}

/* As record --engine auto decides. */
static void bpf(const struct system *system, struct check_result *result)
{
	struct engine_facts facts = engine_facts_read(system);
	CLEANUP_BUF struct buf reason = {0};
	if (engine_fits(&facts, NULL, &reason)) {
		buf_str(&result->state, ENGINE_BUILT ? "allowed: wick uses the BPF engine" :
						       "allowed, but wick was built without the BPF engine");
		if (ENGINE_BUILT)
			ok(result);
		result->now = "";
		result->forever = ENGINE_BUILT ? "" : "apt install clang bpftool libbpf-dev and rebuild wick";
		return;
	}
	buf_add(&result->state, reason.data, reason.size);
	as_root(system, result);
	if (facts.capable || !facts.bpf) {
		result->now = "";
		result->forever = "use kernel 6.1.36, 6.3.10 or later with CONFIG_BPF_SYSCALL and "
				  "CONFIG_DEBUG_INFO_BTF, without lockdown=confidentiality";
	}
}

static void btf(const struct system *system, struct check_result *result)
{
	bool there = system_readable(system, "/sys/kernel/btf/vmlinux");
	buf_str(&result->state, there ? "/sys/kernel/btf/vmlinux" : "none");
	if (there)
		ok(result);
}

static bool has_pmu(const struct system *system)
{
	static const char folder[] = "/sys/bus/event_source/devices";
	return system_has_entry(system, folder, "cpu") || system_has_entry(system, folder, "armv8") ||
	       system_has_entry(system, folder, "riscv");
}

static void pmu(const struct system *system, struct check_result *result)
{
	struct perf_event_attr attr = cycles();
	int error = -system->open_event(&attr);
	if (!error) {
		buf_str(&result->state, "counts cycles");
		ok(result);
	} else if (error == EACCES || error == EPERM) {
		buf_str(&result->state, "unknown: permission denied");
	} else {
		buf_printf(&result->state, has_pmu(system) ? "cannot count cycles: %s" : "none: %s", strerror(error));
	}
}

static void branches(const struct system *system, struct check_result *result)
{
	struct perf_event_attr attr = cycles();
	attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
	int error = -system->open_event(&attr);
	if (!error) {
		buf_str(&result->state, "records call stacks");
		ok(result);
	} else {
		buf_printf(&result->state, "none: %s", strerror(error));
	}
}

static void tracing(const struct system *system, struct check_result *result)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	CLEANUP_BUF struct buf events = {0};
	for (size_t i = 0; i < 2; i++) {
		buf_clear(&events);
		buf_printf(&events, "%s/events/sched", places[i]);
		if (system_readable(system, events.data)) {
			buf_str(&result->state, places[i]);
			ok(result);
			return;
		}
	}
	bool hidden = system_exists(system, places[0]) && !system_readable(system, places[0]);
	int error = -system->open_tracefs();
	if (hidden || system_has_entry(system, places[0], "events")) {
		buf_str(&result->state, "not readable by this user");
	} else if (!error) {
		buf_str(&result->state, "not mounted; wick can access it without mounting");
		ok(result);
		return;
	} else if (error == ENODEV) {
		buf_str(&result->state, "not supported by this kernel");
		result->now = "";
		result->forever = "use a kernel with CONFIG_TRACING";
		return;
	} else {
		buf_str(&result->state, "not mounted");
		if (system_capable(system, CAN_SYS_ADMIN))
			return;
	}
	result->now = system_capable(system, CAN_PERFMON) ?
			      "docker run -v /sys/kernel/tracing:/sys/kernel/tracing:ro …" :
			      "run wick with sudo";
	result->forever = "";
}

static void place(const struct system *system, struct check_result *result)
{
	CLEANUP_BUF struct buf vendor = {0};
	const char *box = in_container_type(system);
	bool virtual = system_contains(system, "/proc/cpuinfo", " hypervisor") ||
		       system_exists(system, "/sys/hypervisor/type");
	if (system_read(system, "/sys/class/dmi/id/sys_vendor", &vendor))
		vendor.data[strcspn(vendor.data, "\n")] = '\0';
	if (virtual)
		buf_printf(&result->state, "virtual machine%s%s", vendor.size ? " of " : "",
			   vendor.size ? vendor.data : "");
	else
		buf_str(&result->state, "physical machine");
	if (box)
		buf_printf(&result->state, ", in a container (%s)", box);
	if (!box || !system_in_other_namespace(system, "pid"))
		ok(result);
}

static void debuginfod(const struct system *system, struct check_result *result)
{
	const char *servers = system->environment("DEBUGINFOD_URLS"), *server = advice_server(system->root);
	snprintf(result->room[0], sizeof result->room[0], "export DEBUGINFOD_URLS=%s", server);
	snprintf(result->room[1], sizeof result->room[1], "echo 'export DEBUGINFOD_URLS=%s' >>~/.profile", server);
	result->now = result->room[0];
	result->forever = result->room[1];
	buf_str(&result->state, servers && *servers ? servers : "DEBUGINFOD_URLS is not set");
	if (servers && *servers)
		ok(result);
}

static void cache(const struct system *system, struct check_result *result)
{
	CLEANUP_BUF struct buf full = {0};
	const char *folder = system->environment("XDG_CACHE_HOME"), *home = system->environment("HOME");
	if (folder && *folder == '/')
		buf_printf(&result->state, "%s/wick", folder);
	else if (home && *home == '/' && (geteuid() || *system->root || directory_is_own(home)))
		buf_printf(&result->state, "%s/.cache/wick", home);
	else if (geteuid() == 0)
		buf_str(&result->state, "/var/cache/wick");
	else
		buf_str(&result->state, "no directory: HOME is not set");
	/* It is made when first needed: the nearest folder above it that is there must be writable. */
	buf_printf(&full, "%s%s", system->root, result->state.data);
	while (full.data[0] == '/' && access(full.data, F_OK) != 0 && strrchr(full.data, '/') > full.data)
		*strrchr(full.data, '/') = '\0';
	if (result->state.data[0] == '/' && access(full.data, W_OK) == 0)
		ok(result);
	else if (result->state.data[0] == '/')
		buf_str(&result->state, ": not writable");
}

/* --- the table --- */

static const struct check_row {
	const char *name;
	void (*ask)(const struct system *system, struct check_result *result);
	enum check_verdict verdict; /* unless the function finds it ok or otherwise */
	const char *limits, *now, *forever;
} rows[] = {
	{"architecture", architecture, CHECK_BAD, "recording is not implemented here",
	 "record with perf; wick reads its perf.data", ""},
	{"kernel", kernel, CHECK_WARN, "the BPF engine needs 5.15, build IDs of mappings need 5.12", "",
	 "install kernel 5.15 or later"},
	{"own processes", own_processes, CHECK_BAD, "nothing can be recorded",
	 SETTING("perf_event_paranoid", "2") ", or run wick with sudo", SETTING_KEPT("perf_event_paranoid", "2")},
	{"seccomp", seccomp, CHECK_WARN, "nothing can be recorded in this container", DENIED_PROFILE,
	 "allow perf_event_open in the container's seccomp profile"},
	{"perf_event_paranoid", paranoid, CHECK_WARN, "no kernel frames, no whole-system recording",
	 SETTING("perf_event_paranoid", "-1") ", or run wick with sudo", SETTING_KEPT("perf_event_paranoid", "-1")},
	{"kptr_restrict", kernel_addresses, CHECK_WARN, "kernel frames have no names",
	 SETTING("kptr_restrict", "0") " kernel.perf_event_paranoid=1, or run wick with sudo",
	 SETTING_KEPT("kptr_restrict", "0")},
	{"buffers", buffers, CHECK_WARN, "small ring buffers: samples are lost under load",
	 SETTING("perf_event_mlock_kb", "2048"), SETTING_KEPT("perf_event_mlock_kb", "2048")},
	{"sample rate", sample_rate, CHECK_WARN, "higher frequencies (-F) are reduced to it",
	 SETTING("perf_event_max_sample_rate", "100000"), SETTING_KEPT("perf_event_max_sample_rate", "100000")},
	{"stack depth", stack_depth, CHECK_WARN, "--call-graph fp truncates deeper stacks",
	 SETTING("perf_event_max_stack", "127"), SETTING_KEPT("perf_event_max_stack", "127")},
	{"capabilities", capabilities, CHECK_WARN,
	 "only your own processes; only user space if perf_event_paranoid is 2", "run with sudo",
	 "sudo setcap cap_perfmon,cap_bpf,cap_sys_ptrace,cap_syslog=ep \"$(command -v wick)\""},
	{"BPF", bpf, CHECK_WARN, "the ring engine is used: more overhead per sample", "run wick with sudo",
	 "sudo setcap cap_perfmon,cap_bpf,cap_sys_ptrace,cap_syslog=ep \"$(command -v wick)\""},
	{"BTF", btf, CHECK_WARN, "the BPF engine cannot be used", "", "use a kernel with CONFIG_DEBUG_INFO_BTF"},
	{"PMU", pmu, CHECK_WARN, "no hardware events: cpu-clock is used instead of cycles", "",
	 "in a virtual machine, enable the PMU on the host (qemu: -cpu host,pmu=on; clouds: a metal or larger "
	 "instance)"},
	{"LBR", branches, CHECK_WARN, "--call-graph lbr is not supported", "",
	 "use a physical Intel processor (Haswell or later); --call-graph dwarf does not need it"},
	{"tracefs", tracing, CHECK_WARN, "no tracepoint events (-e sched:…)",
	 "sudo mount -t tracefs nodev /sys/kernel/tracing",
	 "echo 'nodev /sys/kernel/tracing tracefs defaults 0 0' | sudo tee -a /etc/fstab"},
	{"machine", place, CHECK_WARN, "processes of the host are not visible",
	 "run wick on the host, or: docker run --pid=host --cap-add PERFMON --cap-add SYS_PTRACE …", ""},
	{"debuginfod", debuginfod, CHECK_WARN, "debug information that is not installed is not downloaded", "", ""},
	{"cache", cache, CHECK_WARN, "unwind tables and symbols are rebuilt in every run",
	 "export XDG_CACHE_HOME=/var/tmp", ""},
};

size_t check_count(void)
{
	return sizeof rows / sizeof *rows;
}

void check_run(const struct system *system, size_t index, struct check_result *ret_result)
{
	const struct check_row *row = &rows[index];
	*ret_result = (struct check_result){
		.name = row->name,
		.verdict = row->verdict,
		.limits = row->limits,
		.now = row->now,
		.forever = row->forever,
	};
	row->ask(system, ret_result);
}

bool check_run_name(const struct system *system, const char *name, struct check_result *ret_result)
{
	for (size_t i = 0; i < check_count(); i++)
		if (!strcmp(rows[i].name, name)) {
			check_run(system, i, ret_result);
			return true;
		}
	return false;
}
