/* The rows of `wick doctor` on made-up systems. */
#include "unit.h"

#include "arch/native.h"
#include "doctor/check.h"
#include "doctor/check_modules.h"
#include "engine/engine_choice.h"
#include "symbol/symbol_advice.h"
#include "system/denied.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];
static int own_answer, cycles_answer, branch_answer, tracefs_answer;

static int fake_open(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_SOFTWARE)
		return own_answer;
	return attr->sample_type & PERF_SAMPLE_BRANCH_STACK ? branch_answer : cycles_answer;
}

static int fake_tracefs(void)
{
	return tracefs_answer;
}

static const char *fake_environment(const char *name)
{
	return strcmp(name, "HOME") ? NULL : "/home/someone";
}

static struct system fake = {.root = root,
			     .open_event = fake_open,
			     .open_tracefs = fake_tracefs,
			     .environment = fake_environment};

static void put(const char *path, const char *text)
{
	char full[256], command[512];
	snprintf(full, sizeof full, "%s%s", root, path);
	snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s')\"", full);
	assert_int_equal(system(command), 0);
	FILE *out = fopen(full, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

/* An ordinary user on a machine that has everything, as distributions set it up. */
static int make_system(void **state)
{
	(void)state;
	snprintf(root, sizeof root, "/tmp/wick-check-XXXXXX");
	assert_non_null(mkdtemp(root));
	own_answer = cycles_answer = branch_answer = 0;
	tracefs_answer = -EPERM;
	put("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
	put("/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)\n");
	put("/proc/sys/kernel/perf_event_paranoid", "2\n");
	put("/proc/sys/kernel/kptr_restrict", "0\n");
	put("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
	put("/proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
	put("/proc/sys/kernel/perf_event_max_stack", "127\n");
	put("/proc/sys/kernel/unprivileged_bpf_disabled", "2\n");
	put("/proc/self/status", "Name:\twick\nCapEff:\t0000000000000000\nSeccomp:\t0\n");
	put("/proc/self/limits", "Limit  Soft  Hard  Units\nMax locked memory         8388608    8388608    bytes\n");
	put("/proc/kallsyms", "0000000000000000 A fixed_percpu_data\n");
	put("/proc/cpuinfo", "flags\t\t: fpu vme\n");
	put("/proc/1/cgroup", "0::/init.scope\n");
	put("/sys/kernel/btf/vmlinux", "x");
	put("/sys/kernel/tracing/events/sched/enable", "0\n");
	put("/home/someone/.profile", "");
	return 0;
}

static int remove_system(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof command, "rm -rf '%s'", root);
	return system(command);
}

/* Asks one question; the texts stay until the next. */
static struct check_result *ask(const char *name)
{
	static struct check_result result;
	buf_release(&result.state);
	assert_true(check_run_name(&fake, name, &result));
	return &result;
}

static void expect(const char *name, enum check_verdict verdict, const char *state)
{
	struct check_result *result = ask(name);
	if (!strstr(result->state.data, state))
		fail_msg("%s: \"%s\" lacks \"%s\"", name, result->state.data, state);
	assert_int_equal(result->verdict, verdict);
	/* What is well needs no remedy, and the rest says what it limits. */
	assert_int_equal(*result->limits == '\0', verdict == CHECK_OK);
	if (verdict == CHECK_OK)
		assert_string_equal(result->now, "");
	else
		assert_true(*result->now || *result->forever);
}

#define AS_ROOT "CapEff:\t000001ffffffffff\nSeccomp:\t0\n"
#define FILTERED "CapEff:\t0000000000000000\nSeccomp:\t2\n"

static void an_ordinary_user_sees_what_root_would_add(void **state)
{
	(void)state;
	expect("architecture", ARCH_RECORDS ? CHECK_OK : CHECK_BAD, ARCH_NATIVE.name);
	expect("kernel", CHECK_OK, "6.1.0-18-amd64");
	expect("own processes", CHECK_OK, "yes");
	expect("seccomp", CHECK_OK, "no filter");
	expect("perf_event_paranoid", CHECK_WARN, "2: ");
	assert_non_null(strstr(ask("perf_event_paranoid")->forever, "/etc/sysctl.d/"));
	expect("kptr_restrict", CHECK_WARN, "hidden");
	expect("capabilities", CHECK_WARN, "none");
	assert_non_null(strstr(ask("capabilities")->forever, "setcap"));
	expect("BPF", CHECK_WARN, "CAP_BPF");
	expect("buffers", CHECK_OK, "516 kB per CPU, and 8192 kB");
	expect("sample rate", CHECK_OK, "100000");
	expect("stack depth", CHECK_OK, "127");
	expect("BTF", CHECK_OK, "/sys/kernel/btf/vmlinux");
	expect("PMU", CHECK_OK, "cycles");
	expect("LBR", CHECK_OK, "call stacks");
	expect("tracefs", CHECK_OK, "/sys/kernel/tracing");
	expect("machine", CHECK_OK, "physical machine");
	expect("debuginfod", CHECK_WARN, "DEBUGINFOD_URLS");
	expect("cache", CHECK_OK, "/home/someone/.cache/wick");
	assert_int_equal(check_can_record(&fake), ARCH_RECORDS);
}

static void root_is_not_limited_by_the_settings(void **state)
{
	(void)state;
	put("/proc/self/status", AS_ROOT);
	put("/proc/kallsyms", "ffffffff81000000 T _text\n");
	put("/proc/sys/kernel/perf_event_paranoid", "4\n");
	put("/proc/sys/kernel/perf_event_mlock_kb", "16\n");
	expect("perf_event_paranoid", CHECK_OK, "no effect here");
	expect("kptr_restrict", CHECK_OK, "visible");
	expect("capabilities", CHECK_OK, "CAP_PERFMON, CAP_BPF, CAP_SYS_PTRACE, CAP_SYS_ADMIN");
	if (ENGINE_BUILT)
		expect("BPF", CHECK_OK, "uses the BPF engine");
	else
		expect("BPF", CHECK_WARN, "without the BPF engine");
	expect("buffers", CHECK_OK, "16 kB");
}

static void the_bpf_line_shows_why_the_engine_is_not_used(void **state)
{
	(void)state;
	put("/proc/self/status", AS_ROOT);
	put("/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.27-1 (2023-05-08)\n");
	expect("BPF", CHECK_WARN, "kernel 6.1.27 can freeze when BPF programs read stacks");
	put("/proc/sys/kernel/osrelease", "5.10.0-28-amd64\n");
	expect("BPF", CHECK_WARN, "the kernel is 5.10");
	put("/proc/sys/kernel/osrelease", "6.8.0-45-generic\n");
	put("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	expect("BPF", CHECK_WARN, "locked down");
}

static void a_system_that_forbids_everything_is_bad(void **state)
{
	(void)state;
	own_answer = -EACCES;
	put("/proc/sys/kernel/perf_event_paranoid", "4\n");
	expect("own processes", CHECK_BAD, strerror(EACCES));
	assert_non_null(strstr(ask("own processes")->now, "perf_event_paranoid=2"));
	expect("perf_event_paranoid", CHECK_BAD, "4: nothing");
	assert_false(check_can_record(&fake));
}

static void a_filter_is_distinguished_from_the_kernels_own_refusal(void **state)
{
	(void)state;
	put("/proc/self/status", FILTERED);
	own_answer = -EPERM;
	expect("seccomp", CHECK_BAD, "blocks");
	expect("own processes", CHECK_BAD, "seccomp");
	assert_non_null(strstr(ask("own processes")->now, "seccomp=unconfined"));
	own_answer = -EACCES;
	put("/proc/sys/kernel/perf_event_paranoid", "3\n");
	expect("seccomp", CHECK_OK, "allows perf_event_open");
	assert_null(strstr(ask("own processes")->now, "seccomp"));
	own_answer = 0;
	expect("seccomp", CHECK_OK, "allows perf_event_open");
}

static void root_without_capabilities_is_not_sent_to_sudo(void **state)
{
	(void)state;
	static const char *const rows[] = {"capabilities", "BPF", "perf_event_paranoid", "own processes"};
	own_answer = -EACCES;
	put("/proc/sys/kernel/perf_event_paranoid", "3\n");
	put("/proc/self/status", "Name:\twick\nUid:\t0\t0\t0\t0\nCapEff:\t0000000000000000\nSeccomp:\t0\n");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_null(strstr(ask(rows[i])->now, "sudo"));
		assert_non_null(strstr(ask(rows[i])->now, "CAP_PERFMON"));
	}
	expect("capabilities", CHECK_WARN, "none of CAP_PERFMON, CAP_BPF");
	/* All bits are set in a user namespace, and none counts. */
	put("/proc/self/status", "Name:\twick\nUid:\t0\t0\t0\t0\n" AS_ROOT);
	put("/proc/self/uid_map", "         0       1000          1\n");
	expect("capabilities", CHECK_WARN, "none of CAP_PERFMON, CAP_BPF");
	expect("perf_event_paranoid", CHECK_BAD, "3: ");
	assert_non_null(strstr(ask("capabilities")->now, "user namespace"));
	put("/proc/self/uid_map", "         0          0 4294967295\n");
	expect("capabilities", CHECK_OK, "CAP_PERFMON");
}

static int denied(struct err *err, const char *what, bool owner, int error)
{
	*err = (struct err){0};
	return what ? denied_set(err, &fake, what, owner, error) : denied_set_own(err, &fake, error);
}

static void a_refusal_names_the_one_step_that_helps(void **state)
{
	(void)state;
	struct err err;
	assert_int_equal(denied(&err, "process 1", true, EACCES), ERR_DENIED);
	assert_string_equal(err_text(&err), "permission denied for process 1: run with sudo or as its owner");
	denied(&err, "the whole system", false, EACCES);
	assert_string_equal(err_text(&err), "permission denied for the whole system: run with sudo");
	put("/proc/sys/kernel/perf_event_paranoid", "4\n");
	denied(&err, NULL, true, EACCES);
	assert_non_null(strstr(err_text(&err), "is 4; sudo sysctl kernel.perf_event_paranoid=2"));
	put("/proc/self/status", "Name:\twick\nUid:\t0\t0\t0\t0\n" FILTERED);
	denied(&err, "process 1", true, EACCES);
	assert_non_null(strstr(err_text(&err), "process 1: root lacks CAP_PERFMON;"));
	assert_null(strstr(err_text(&err), "sudo"));
	denied(&err, NULL, true, EPERM);
	assert_non_null(strstr(err_text(&err), "a seccomp filter blocks perf_event_open"));
}

static void put_release(const char *text)
{
	put("/etc/os-release", text);
}

static void debuginfod_is_the_one_of_the_distribution(void **state)
{
	(void)state;
	put_release("NAME=x\nID=debian\nVERSION_CODENAME=bookworm\n");
	assert_non_null(strstr(ask("debuginfod")->now, "https://debuginfod.debian.net"));
	put_release("ID=ubuntu\nVERSION_CODENAME=noble\n");
	assert_non_null(strstr(ask("debuginfod")->forever, "https://debuginfod.ubuntu.com"));
	put_release("ID=\"opensuse-leap\"\n");
	assert_non_null(strstr(ask("debuginfod")->now, "https://debuginfod.opensuse.org"));
}

static void expect_package(const char *package, bool servers_known, const char *part)
{
	CLEANUP_BUF struct buf text = {0};
	advice_debug_package(&text, root, package, servers_known);
	if (!strstr(text.data, part))
		fail_msg("\"%s\" lacks \"%s\"", text.data, part);
}

static void debug_packages_come_with_their_archive(void **state)
{
	(void)state;
	put_release("ID=debian\nVERSION_CODENAME=bookworm\n");
	put("/etc/apt/sources.list", "deb http://deb.debian.org/debian bookworm main\n# deb x bookworm-debug main\n");
	expect_package("libc6", false, "sudo apt install libc6-dbg");
	expect_package("bash", false, "export DEBUGINFOD_URLS=https://debuginfod.debian.net");
	expect_package("bash", true, "deb http://deb.debian.org/debian-debug bookworm-debug main");
	expect_package("bash", true, "sudo apt install bash-dbgsym");
	put("/etc/apt/sources.list.d/debug.list", "deb http://deb.debian.org/debian-debug bookworm-debug main\n");
	for (int known = 0; known < 2; known++) {
		CLEANUP_BUF struct buf text = {0};
		advice_debug_package(&text, root, "bash", known);
		assert_string_equal(text.data, "sudo apt install bash-dbgsym");
	}
	put("/etc/apt/sources.list.d/debug.list", "");
	put_release("ID=ubuntu\nVERSION_CODENAME=noble\n");
	expect_package("bash", true, "http://ddebs.ubuntu.com noble main");
}

static void a_kernel_without_perf_events_needs_another_kernel(void **state)
{
	(void)state;
	own_answer = -ENOSYS;
	expect("own processes", CHECK_BAD, strerror(ENOSYS));
	assert_non_null(strstr(ask("own processes")->forever, "CONFIG_PERF_EVENTS"));
}

static void small_settings_are_named_with_their_remedy(void **state)
{
	(void)state;
	put("/proc/sys/kernel/osrelease", "4.19.0\n");
	put("/proc/sys/kernel/perf_event_mlock_kb", "64\n");
	put("/proc/sys/kernel/perf_event_max_sample_rate", "1000\n");
	put("/proc/sys/kernel/perf_event_max_stack", "16\n");
	put("/proc/sys/kernel/kptr_restrict", "2\n");
	expect("kernel", CHECK_WARN, "4.19");
	expect("buffers", CHECK_WARN, "64 kB");
	expect("sample rate", CHECK_WARN, "1000 per second");
	expect("stack depth", CHECK_WARN, "16");
	expect("kptr_restrict", CHECK_WARN, "2: ");
	assert_non_null(strstr(ask("kptr_restrict")->now, "kptr_restrict=0"));
	/* With 0 it is the other setting that hides them. */
	put("/proc/sys/kernel/kptr_restrict", "0\n");
	assert_non_null(strstr(ask("kptr_restrict")->now, "perf_event_paranoid=1"));
}

static void put_namespace(const char *name, unsigned number)
{
	char command[512];
	snprintf(command, sizeof command, "mkdir -p '%s/proc/self/ns'; ln -sfn '%s:[%u]' '%s/proc/self/ns/%s'", root,
		 name, number, root, name);
	assert_int_equal(system(command), 0);
}

static void containers_and_virtual_machines_are_recognised(void **state)
{
	(void)state;
	put("/proc/cpuinfo", "flags\t\t: fpu hypervisor vme\n");
	put("/sys/class/dmi/id/sys_vendor", "QEMU\n");
	expect("machine", CHECK_OK, "virtual machine of QEMU");
	put_namespace("pid", 4026531836);
	put_namespace("uts", 4026531838);
	put("/proc/1/cgroup", "0::/kubepods/burstable/pod1\n");
	put("/.dockerenv", "");
	assert_null(strstr(ask("machine")->state.data, "container"));
	put_namespace("uts", 4026532201);
	expect("machine", CHECK_OK, "container (Docker)"); /* with the processes of the host */
	put_namespace("pid", 4026532202);
	char command[128];
	snprintf(command, sizeof command, "rm '%s/.dockerenv'", root);
	assert_int_equal(system(command), 0);
	expect("machine", CHECK_WARN, "container (Kubernetes)");
	put("/run/.containerenv", "");
	expect("machine", CHECK_WARN, "container (Podman)");
	put("/.dockerenv", "");
	expect("machine", CHECK_WARN, "container (Docker)");
}

static void tracefs_need_not_be_mounted(void **state)
{
	(void)state;
	char command[256];
	snprintf(command, sizeof command, "rm -rf '%s/sys/kernel/tracing/events'", root);
	assert_int_equal(system(command), 0);
	expect("tracefs", CHECK_WARN, "not mounted");
	assert_string_equal(ask("tracefs")->now, "run wick with sudo");
	put("/proc/self/status", "CapEff:\t0000004000000000\nSeccomp:\t0\n");
	expect("tracefs", CHECK_WARN, "not mounted");
	assert_non_null(strstr(ask("tracefs")->now, "docker run"));
	put("/proc/self/status", AS_ROOT);
	expect("tracefs", CHECK_WARN, "not mounted");
	assert_non_null(strstr(ask("tracefs")->now, "mount -t tracefs"));
	tracefs_answer = -ENODEV;
	expect("tracefs", CHECK_WARN, "not supported by this kernel");
	tracefs_answer = 0;
	expect("tracefs", CHECK_OK, "without mounting");
}

static void what_the_machine_lacks_is_reported(void **state)
{
	(void)state;
	char command[256];
	cycles_answer = branch_answer = -ENOENT;
	snprintf(command, sizeof command, "rm -rf '%s/sys/kernel'", root);
	assert_int_equal(system(command), 0);
	expect("PMU", CHECK_WARN, "none: ");
	put("/sys/bus/event_source/devices/cpu/type", "4\n");
	expect("PMU", CHECK_WARN, "cannot count cycles");
	expect("LBR", CHECK_WARN, "none");
	expect("BTF", CHECK_WARN, "none");
	expect("tracefs", CHECK_WARN, "not mounted");
	cycles_answer = -EACCES;
	expect("PMU", CHECK_WARN, "permission denied");
}

/* A system where nothing can be read: no crash, and every row says something. */
static void an_empty_system_is_answered_too(void **state)
{
	(void)state;
	remove_system(NULL);
	own_answer = cycles_answer = branch_answer = -ENOSYS;
	for (size_t i = 0; i < check_count(); i++) {
		struct check_result result;
		check_run(&fake, i, &result);
		assert_true(result.state.size > 0);
		buf_release(&result.state);
	}
	assert_false(check_run_name(&fake, "no such row", &(struct check_result){0}));
}

static void the_verdict_on_a_module_follows_what_it_has(void **state)
{
	(void)state;
	struct check_module module = {
		.symbols = SYMBOLS_DEBUG, .unwind_table = true, .frame_pointers = FRAME_POINTERS_NO};
	assert_int_equal(check_module_verdict(&module), CHECK_OK);
	module.symbols = SYMBOLS_DYNAMIC;
	assert_int_equal(check_module_verdict(&module), CHECK_WARN);
	module.symbols = SYMBOLS_NONE;
	assert_int_equal(check_module_verdict(&module), CHECK_BAD);
	module.symbols = SYMBOLS_DEBUG;
	module.unwind_table = false;
	assert_int_equal(check_module_verdict(&module), CHECK_BAD);
	module.frame_pointers = FRAME_POINTERS_YES;
	assert_int_equal(check_module_verdict(&module), CHECK_WARN);
}

static enum frame_pointers compiled(const char *option)
{
	char command[512], path[128];
	struct elf_file *elf = NULL;
	snprintf(path, sizeof path, "%s/program.so", root);
	snprintf(command, sizeof command,
		 "for i in 1 2 3 4 5 6 7 8; do echo \"int h(int*);int f$i(int a){int b[4]={a};return "
		 "h(b)+$i;}\"; done | "
		 "cc -x c -O2 %s -shared -fPIC -o '%s' - 2>/dev/null",
		 option, path);
	if (system(command) != 0)
		skip();
	assert_int_equal(elf_open(&elf, path, NULL), 0);
	enum frame_pointers found = check_frame_pointers(elf);
	elf_close(elf);
	return found;
}

static void frame_pointers_are_seen_in_the_code(void **state)
{
	(void)state;
#ifndef __x86_64__
	skip();
#endif
	assert_int_equal(compiled("-fomit-frame-pointer"), FRAME_POINTERS_NO);
	assert_int_equal(compiled("-fno-omit-frame-pointer"), FRAME_POINTERS_YES);
}

static void the_modules_of_a_process_and_of_a_command_are_found(void **state)
{
	(void)state;
	struct check_modules modules = {0};
	struct err err = {0};
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	assert_true(length > 0);
	self[length] = '\0';
	assert_int_equal(check_modules_of_process(&modules, (int)getpid(), &err), 0);
	assert_true(modules.count >= 2);
	assert_string_equal(modules.items[0].path, self);
	assert_int_equal(check_modules_read(&modules, &err), 0);
	assert_true(modules.items[0].unwind_table);
	size_t mapped = modules.count;
	check_modules_release(&modules);
	assert_int_equal(check_modules_of_command(&modules, self, &err), 0);
	assert_string_equal(modules.items[0].path, self);
	assert_in_range(modules.count, 2, mapped + 2);
	check_modules_release(&modules);
	assert_int_equal(check_modules_of_command(&modules, "no-such-program-anywhere", &err), ERR_OPEN);
	assert_int_equal(check_modules_of_process(&modules, 0x7ffffff, &err), ERR_OPEN);
	assert_non_null(strstr(err.text, "does not exist"));
}

#define ON_SYSTEM(test) cmocka_unit_test_setup_teardown(test, make_system, remove_system)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_SYSTEM(an_ordinary_user_sees_what_root_would_add),
		ON_SYSTEM(root_is_not_limited_by_the_settings),
		ON_SYSTEM(the_bpf_line_shows_why_the_engine_is_not_used),
		ON_SYSTEM(a_system_that_forbids_everything_is_bad),
		ON_SYSTEM(a_filter_is_distinguished_from_the_kernels_own_refusal),
		ON_SYSTEM(a_kernel_without_perf_events_needs_another_kernel),
		ON_SYSTEM(small_settings_are_named_with_their_remedy),
		ON_SYSTEM(root_without_capabilities_is_not_sent_to_sudo),
		ON_SYSTEM(a_refusal_names_the_one_step_that_helps),
		ON_SYSTEM(debuginfod_is_the_one_of_the_distribution),
		ON_SYSTEM(debug_packages_come_with_their_archive),
		ON_SYSTEM(containers_and_virtual_machines_are_recognised),
		ON_SYSTEM(tracefs_need_not_be_mounted),
		ON_SYSTEM(what_the_machine_lacks_is_reported),
		ON_SYSTEM(an_empty_system_is_answered_too),
		cmocka_unit_test(the_verdict_on_a_module_follows_what_it_has),
		ON_SYSTEM(frame_pointers_are_seen_in_the_code),
		cmocka_unit_test(the_modules_of_a_process_and_of_a_command_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
