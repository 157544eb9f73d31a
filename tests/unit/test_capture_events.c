/* Names of events, their modifiers, and the attributes made of them. */
#include "capture/attr.h"
#include "capture/events.h"
#include "capture/pmu.h"
#include "capture/target.h"
#include "event/branches.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct capture_event *parse(struct capture_events *events, const char *text)
{
	struct err err = {0};
	*events = (struct capture_events){0};
	if (capture_events_parse(events, text, &err))
		fail_msg("%s: %s", text, err.text);
	return events->items;
}

static void assert_event(const char *text, uint32_t type, uint64_t config)
{
	struct capture_events events;
	const struct capture_event *event = parse(&events, text);
	assert_int_equal(events.count, 1);
	assert_int_equal(event->attr.type, type);
	assert_int_equal(event->attr.config, config);
	assert_string_equal(event->name, text);
	capture_events_release(&events);
}

static void test_names(void **state)
{
	(void)state;
	assert_event("cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	assert_event("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	assert_event("r1a8", PERF_TYPE_RAW, 0x1a8);
	assert_event("L1-dcache-loads", PERF_TYPE_HW_CACHE, 0);
	assert_event("LLC-store-misses", PERF_TYPE_HW_CACHE, 2 | 1 << 8 | 1 << 16);
	assert_event("dTLB-load-misses:u", PERF_TYPE_HW_CACHE, 3 | 1 << 16);
}

static void test_modifiers(void **state)
{
	(void)state;
	struct capture_events events;
	const struct capture_event *event = parse(&events, "cycles:u");
	assert_true(event->attr.exclude_kernel && event->attr.exclude_hv && !event->attr.exclude_user);
	capture_events_release(&events);
	event = parse(&events, "cycles:k");
	assert_true(!event->attr.exclude_kernel && event->attr.exclude_user);
	capture_events_release(&events);
	event = parse(&events, "cycles:pp");
	assert_true(!event->attr.exclude_kernel && !event->attr.exclude_user && !event->modes_chosen);
	assert_int_equal(event->attr.precise_ip, 2);
	capture_events_release(&events);
}

static void test_list(void **state)
{
	(void)state;
	struct capture_events events;
	parse(&events, "cpu-clock,page-faults:u,cycles");
	assert_int_equal(events.count, 3);
	assert_string_equal(events.items[1].name, "page-faults:u");
	capture_events_release(&events);
}

static void assert_refused(const char *text, const char *says)
{
	struct capture_events events = {0};
	struct err err = {0};
	assert_true(capture_events_parse(&events, text, &err) < 0);
	if (!strstr(err.text, says))
		fail_msg("%s: '%s' does not say '%s'", text, err.text, says);
	assert_int_equal(events.count, 0);
	capture_events_release(&events);
}

static void test_refused(void **state)
{
	(void)state;
	assert_refused("cyclez", "did you mean cycles?");
	assert_refused("", "has no name");
	assert_refused("cycles:x", "unknown modifier 'x'");
	assert_refused("cycles:pppp", "at most three");
	assert_refused("rxyz", "unknown event 'rxyz'");
	assert_refused("r11112222333344445", "unknown event");
	assert_refused("../../no-such-folder:passwd", "No such file");
	assert_refused("..:passwd", "unknown event");
	assert_refused("nosuchpmu/event=1/", "no PMU 'nosuchpmu'");
	assert_refused("./x/", "FILE:FUNCTION");
	assert_refused("./x+y", "must be a number");
	assert_refused("/bin/sh:", "FILE:FUNCTION");
	assert_refused("/dev/null:main", "");
}

static void test_user_only(void **state)
{
	(void)state;
	struct capture_events events;
	parse(&events, "cpu-clock,cycles:p");
	for (size_t i = 0; i < events.count; i++)
		capture_event_user_only(&events.items[i]);
	assert_string_equal(events.items[0].name, "cpu-clock:u");
	assert_string_equal(events.items[1].name, "cycles:pu");
	assert_true(events.items[0].attr.exclude_kernel);
	capture_event_user_only(&events.items[0]);
	assert_string_equal(events.items[0].name, "cpu-clock:u");
	capture_events_release(&events);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void test_pmu(void **state)
{
	(void)state;
	char root[] = "/tmp/wick-pmu-XXXXXX", path[256], command[300];
	struct perf_event_attr attr = {0};
	struct err err = {0};
	assert_non_null(mkdtemp(root));
	static const char *const folders[] = {"", "/format", "/events"};
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/box%s", root, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	write_file(root, "box/type", "11\n");
	write_file(root, "box/format/event", "config:0-7,32-35\n");
	write_file(root, "box/format/umask", "config:8-15\n");
	write_file(root, "box/format/edge", "config1:18\n");
	write_file(root, "box/events/hits", "event=0xabc,umask=0x4f\n");
	write_file(root, "box/events/loop", "loop\n");
	assert_int_equal(pmu_event(&attr, root, "box", "hits,edge", &err), 0);
	assert_int_equal(attr.type, 11);
	assert_int_equal(attr.config, 0xbcull | 0x4full << 8 | 0xaull << 32);
	assert_int_equal(attr.config1, 1ull << 18);
	assert_true(pmu_event(&attr, root, "box", "nothing=1", &err) < 0);
	assert_true(pmu_event(&attr, root, "box", "event=", &err) < 0);
	assert_true(pmu_event(&attr, root, "box", "loop", &err) < 0);
	assert_true(pmu_event(&attr, root, "box", "../type=1", &err) < 0);
	snprintf(command, sizeof command, "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

static void test_shape(void **state)
{
	(void)state;
	struct attr_shape shape = {.stack_size = 8192, .frequency = 99, .inherit = true};
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE}, tracking;
	attr_shape_event(&attr, &shape, false);
	assert_true(attr.freq);
	assert_int_equal(attr.sample_freq, 99);
	assert_true(attr.disabled && attr.inherit && !attr.exclude_callchain_user);
	assert_int_equal(attr.sample_stack_user, 8192);
	/* Both write into one ring, so the id must be at the same place in the records of both. */
	tracking = attr_tracking(&shape);
	assert_true(attr.sample_type & PERF_SAMPLE_IDENTIFIER && tracking.sample_type & PERF_SAMPLE_IDENTIFIER);
	assert_true(tracking.sample_id_all && tracking.mmap2 && tracking.task && tracking.comm_exec);
	attr = (struct perf_event_attr){.type = PERF_TYPE_TRACEPOINT};
	shape.call_graph = CALL_GRAPH_FP;
	attr_shape_event(&attr, &shape, false);
	assert_false(attr.freq);
	assert_int_equal(attr.sample_period, 1);
	assert_false(attr.sample_type & PERF_SAMPLE_STACK_USER);
	assert_false(attr.exclude_callchain_user);
}

static void test_branches(void **state)
{
	(void)state;
	static const uint64_t kernel[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000000, 0xffffffff81000100};
	static const struct perf_branch_entry branches[] = {{.from = 0x1010, .to = 0x2000},
							    {.from = 0x3010, .to = 0x1000}};
	struct event_sample sample = {
		.mode = MODE_KERNEL,
		.ip = kernel[1],
		.chain = kernel,
		.chain_count = 3,
		.branches = branches,
		.branch_count = 2,
	};
	uint64_t chain[16];
	assert_true(branches_chain_max(&sample) <= 16);
	static const uint64_t in_kernel[] = {(uint64_t)PERF_CONTEXT_KERNEL,
					     0xffffffff81000000,
					     0xffffffff81000100,
					     (uint64_t)PERF_CONTEXT_USER,
					     0x2000,
					     0x1011,
					     0x3011};
	assert_int_equal(branches_chain(&sample, chain), 7);
	assert_memory_equal(chain, in_kernel, sizeof in_kernel);
	sample.mode = MODE_USER;
	sample.ip = 0x2042;
	sample.chain_count = 0;
	static const uint64_t in_user[] = {(uint64_t)PERF_CONTEXT_USER, 0x2042, 0x1011, 0x3011};
	assert_int_equal(branches_chain(&sample, chain), 4);
	assert_memory_equal(chain, in_user, sizeof in_user);
}

static void test_targets(void **state)
{
	(void)state;
	struct target target;
	struct err err = {0};
	char list[64];
	target_init(&target);
	assert_int_equal(target_set_cpus(&target, NULL, &err), 0);
	assert_true(target.cpu_count >= 1);
	snprintf(list, sizeof list, "%d,%d", (int)target.cpus[0], (int)target.cpus[0]);
	assert_int_equal(target_set_cpus(&target, list, &err), 0);
	assert_int_equal(target.cpu_count, 1);
	assert_true(target_set_cpus(&target, "0-", &err) < 0);
	assert_true(target_set_cpus(&target, "x", &err) < 0);
	assert_true(target_set_cpus(&target, "1000000", &err) < 0);
	snprintf(list, sizeof list, "%d", (int)getpid());
	assert_int_equal(target_add_processes(&target, list, &err), 0);
	assert_int_equal(target.pid_count, 1);
	assert_int_equal(target.tids[0], getpid());
	/* A thread that is named beside processes is not one of their descendants, which may be omitted. */
	pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	target_add_descendants(&target);
	assert_int_equal(target.pids[target.pid_count - 1], child);
	assert_true(target_may_lack(&target, target.tid_count - 1));
	snprintf(list, sizeof list, "%d", (int)getppid());
	assert_int_equal(target_add_threads(&target, list, &err), 0);
	assert_false(target_may_lack(&target, target.tid_count - 1));
	assert_false(target_may_lack(&target, 0));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_true(target_add_processes(&target, "12x", &err) < 0);
	assert_true(target_add_processes(&target, "-1", &err) < 0);
	assert_true(target_add_threads(&target, "", &err) < 0);
	target_release(&target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"events are found by name", test_names, NULL, NULL, NULL},
		{"modifiers choose modes and precision", test_modifiers, NULL, NULL, NULL},
		{"commas separate events", test_list, NULL, NULL, NULL},
		{"what is no event is refused and said", test_refused, NULL, NULL, NULL},
		{"an event narrowed to user space says so in its name", test_user_only, NULL, NULL, NULL},
		{"the terms of a PMU's event are put where its format says", test_pmu, NULL, NULL, NULL},
		{"attributes fit the way stacks are found", test_shape, NULL, NULL, NULL},
		{"branches that were calls become a call chain", test_branches, NULL, NULL, NULL},
		{"targets are lists of processes, threads and CPUs", test_targets, NULL, NULL, NULL},
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
