/* When the BPF engine is used, and what is reported if it is not. */
#include "unit.h"

#include "bpf/maps.h"
#include "engine/engine_choice.h"

#include <string.h>

/* A machine on which it runs. */
static struct engine_facts good(void)
{
	return (struct engine_facts){.major = 6,
				     .minor = 12,
				     .patch = 1,
				     .bpf = true,
				     .btf = true,
				     .capable = true,
				     .memory_left = UINT64_MAX};
}

static struct engine_task task(void)
{
	return (struct engine_task){.call_graph = CALL_GRAPH_DWARF, .suitable = true};
}

static void expect_refusal(const struct engine_facts *facts, const struct engine_task *what, const char *part)
{
	struct buf reason = {0};
	assert_false(engine_fits(facts, what, &reason));
	assert_non_null(strstr(reason.data, part));
	assert_null(strchr(reason.data, '\n'));
	buf_release(&reason);
}

static void expect_version(unsigned major, unsigned minor, unsigned patch, const char *refusal)
{
	struct engine_facts facts = good();
	struct buf reason = {0};
	facts.major = major;
	facts.minor = minor;
	facts.patch = patch;
	if (refusal)
		expect_refusal(&facts, NULL, refusal);
	else
		assert_true(engine_fits(&facts, NULL, &reason));
	buf_release(&reason);
}

static void root_on_a_new_kernel_has_the_engine(void **state)
{
	(void)state;
	struct engine_facts facts = good();
	struct engine_task what = task();
	struct buf reason = {0};
	assert_true(engine_fits(&facts, NULL, &reason));
	assert_true(engine_fits(&facts, &what, &reason));
	assert_int_equal(reason.size, 0);
}

static void old_kernels_and_those_that_freeze_are_left_alone(void **state)
{
	(void)state;
	expect_version(4, 19, 0, "needs 5.15");
	expect_version(5, 14, 99, "the kernel is 5.14");
	expect_version(5, 15, 0, NULL);
	expect_version(5, 18, 19, NULL);
	expect_version(5, 19, 0, "can freeze");
	expect_version(6, 0, 12, "can freeze");
	expect_version(6, 1, 35, "6.1.35");
	expect_version(6, 1, 36, NULL);
	expect_version(6, 1, 129, NULL);
	expect_version(6, 2, 16, "can freeze");
	expect_version(6, 3, 9, "can freeze");
	expect_version(6, 3, 10, NULL);
	expect_version(6, 4, 0, NULL);
	expect_version(7, 0, 0, NULL);
}

static void what_a_machine_lacks_is_named(void **state)
{
	(void)state;
	struct engine_facts facts = good();
	facts.bpf = false;
	expect_refusal(&facts, NULL, "CONFIG_BPF_SYSCALL");
	facts = good();
	facts.btf = false;
	expect_refusal(&facts, NULL, "CONFIG_DEBUG_INFO_BTF");
	facts = good();
	facts.capable = false;
	expect_refusal(&facts, NULL, "root, or CAP_BPF and CAP_PERFMON");
	facts = good();
	facts.confidential = true;
	expect_refusal(&facts, NULL, "lockdown=confidentiality");
	facts = good();
	facts.memory_left = 44 << 20;
	facts.in_cgroup = true;
	assert_true(engine_memory_suffices(&facts));
	facts.cpus = 64; /* each has memory of its own */
	expect_refusal(&facts, NULL, "the cgroup allows 44 MiB more memory, but the BPF engine needs ");
}

static uint64_t least_memory(unsigned cpus)
{
	struct engine_facts facts = good();
	facts.cpus = cpus;
	uint64_t step = (uint64_t)1 << 40, min = 0;
	for (; step; step /= 2) {
		facts.memory_left = min + step - 1;
		min += engine_memory_suffices(&facts) ? 0 : step;
	}
	return min;
}

static void each_cpu_needs_what_its_elements_of_maps_take(void **state)
{
	(void)state;
	uint64_t per_cpu = (least_memory(1001) - least_memory(1)) / 1000;
	uint64_t elements = LAYOUT_SLOTS * (sizeof(struct scratch) + sizeof(struct layout_copy));
	assert_in_range(per_cpu, elements, elements + (128 << 10));
	assert_int_equal(least_memory(0), 40 << 20);
}

static void memory_of_the_engine_is_a_part_of_what_is_left(void **state)
{
	(void)state;
	struct engine_facts facts = good();
	assert_int_equal(engine_memory(&facts, 160), 160);
	facts.memory_left = 400ull << 20;
	assert_int_equal(engine_memory(&facts, 160), 133);
	assert_int_equal(engine_memory(&facts, 20), 20);
	facts.memory_left = 1 << 20;
	assert_int_equal(engine_memory(&facts, 160), 8);
}

static void what_the_engine_cannot_record_is_named(void **state)
{
	(void)state;
	struct engine_facts facts = good();
	struct engine_task what = task();
	facts.pid_namespace = 4026532178u;
	what.waits = true;
	expect_refusal(&facts, &what, "--pid=host");
	what = task();
	what.system_wide = true;
	expect_refusal(&facts, &what, "--pid=host");
	facts = good();
	what = task();
	what.call_graph = CALL_GRAPH_FP;
	expect_refusal(&facts, &what, "--call-graph");
	what = task();
	what.max_depth = 1025;
	expect_refusal(&facts, &what, "1024 frames");
	what = task();
	what.suitable = false;
	expect_refusal(&facts, &what, "does not support this event");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(root_on_a_new_kernel_has_the_engine),
		cmocka_unit_test(old_kernels_and_those_that_freeze_are_left_alone),
		cmocka_unit_test(what_a_machine_lacks_is_named),
		cmocka_unit_test(each_cpu_needs_what_its_elements_of_maps_take),
		cmocka_unit_test(memory_of_the_engine_is_a_part_of_what_is_left),
		cmocka_unit_test(what_the_engine_cannot_record_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
