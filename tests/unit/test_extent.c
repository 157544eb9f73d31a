/* What a recording extends over, in words. */
#include "profile/extent.h"
#include "unit.h"

#define SECOND 1000000000ull

static void assert_text(void (*write)(const struct extent *, struct buf *), const struct extent *extent,
			const char *expected)
{
	CLEANUP_BUF struct buf out = {0};
	buf_str(&out, "");
	write(extent, &out);
	assert_string_equal(out.data, expected);
}

static void what_is_not_known_is_not_shown(void **state)
{
	(void)state;
	const struct extent nothing = {0}, threads = {.processes = 1, .threads = 2};
	assert_text(extent_line, &nothing, "");
	assert_text(extent_time_text, &threads, "1 process, 2 threads");
	assert_text(extent_cpu_text, &threads, "");
}

static void times_and_tasks(void **state)
{
	(void)state;
	struct extent extent = {.duration = 2 * SECOND,
				.cpu_time = 3 * SECOND,
				.sampled = 2940000000,
				.samples = 294,
				.processes = 1234,
				.threads = 1235};
	assert_text(extent_line, &extent,
		    "2.00 s, 1.50 CPUs used, 1,234 processes, 1,235 threads · CPU time 3.00 s, sampled 2.94 s (98 %)");
	extent.user_only = true;
	assert_text(extent_cpu_text, &extent, "CPU time 3.00 s, sampled 2.94 s in user space (98 %)");
}

/* Of few samples the time between the first and the last is shorter than what they stand for. */
static void cpus_used_are_estimated_from_many_samples_only(void **state)
{
	(void)state;
	struct extent extent = {.duration = 10000000, .sampled = 24800000, .samples = 2};
	assert_text(extent_time_text, &extent, "0.01 s");
	extent = (struct extent){.duration = SECOND, .sampled = 1500000000, .samples = 150};
	assert_text(extent_time_text, &extent, "1.00 s, 1.50 CPUs used");
	extent.user_only = true;
	assert_text(extent_time_text, &extent, "1.00 s");
}

static void misses_are_reported_beyond_chance(void **state)
{
	(void)state;
	struct extent extent = {.cpu_time = 10 * SECOND, .sampled = 9 * SECOND, .samples = 900};
	assert_false(extent_misses_time(&extent));
	extent.sampled = 8 * SECOND;
	extent.samples = 800;
	assert_text(extent_advice, &extent,
		    "the samples cover 80 % of the CPU time: threads shorter than a sampling period are not sampled; "
		    "record with a higher frequency (-F)");
	extent.user_only = true; /* the kernel may have used the rest */
	assert_text(extent_advice, &extent, "");
	extent.sampled = SECOND;
	extent.samples = 100;
	assert_text(extent_advice, &extent,
		    "the samples cover 10 % of the CPU time: kernel code and threads shorter than a sampling "
		    "period are not sampled; record with sudo, or with a higher frequency (-F)");
	extent = (struct extent){.cpu_time = SECOND, .sampled = SECOND / 2, .samples = 50}; /* 100 were due */
	assert_false(extent_misses_time(&extent));
	extent = (struct extent){.cpu_time = 10 * SECOND};
	assert_false(extent_misses_time(&extent));
}

static void recordings_add_up(void **state)
{
	(void)state;
	struct extent sum = {.duration = SECOND, .cpu_time = SECOND, .sampled = SECOND, .samples = 99, .threads = 1};
	const struct extent other = {.duration = SECOND, .cpu_time = 2 * SECOND, .sampled = SECOND, .threads = 3};
	extent_add(&sum, &other);
	assert_text(extent_line, &sum, "2.00 s, 1.50 CPUs used, 4 threads · CPU time 3.00 s, sampled 2.00 s (67 %)");
}

static void what_kept_a_cgroup_from_running_is_shown(void **state)
{
	(void)state;
	struct extent extent = {.duration = 9 * SECOND, .watched = 10 * SECOND, .cpu_limit = 0.5, .periods = 100};
	assert_text(extent_limits_text, &extent, "");
	extent.throttled_periods = 98;
	extent.throttled = 4 * SECOND + SECOND / 10;
	assert_text(extent_limits_text, &extent, "throttled 41 % of the time by its CPU limit of 0.5 CPUs");
	extent.throttled = 30 * SECOND; /* of several CPUs */
	assert_text(extent_limits_text, &extent, "throttled in 98 % of the periods by its CPU limit of 0.5 CPUs");
	extent.pressure = 2 * SECOND;
	extent.stolen = SECOND;
	assert_text(extent_line, &extent,
		    "9.00 s · throttled in 98 % of the periods by its CPU limit of 0.5 CPUs, waited for a CPU 20 % of "
		    "the time, the host used the CPUs 10 % of the time");
	const struct extent other = {.watched = 10 * SECOND, .cpu_limit = 0.25, .periods = 100};
	extent_add(&extent, &other);
	assert_text(extent_limits_text, &extent,
		    "throttled in 49 % of the periods by its CPU limit of 0.5 CPUs, waited for a CPU 10 % of the time, "
		    "the host used the CPUs 5 % of the time");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_known_is_not_shown),
		cmocka_unit_test(times_and_tasks),
		cmocka_unit_test(cpus_used_are_estimated_from_many_samples_only),
		cmocka_unit_test(misses_are_reported_beyond_chance),
		cmocka_unit_test(recordings_add_up),
		cmocka_unit_test(what_kept_a_cgroup_from_running_is_shown),
	};
	return cmocka_run_group_tests_name("extent", tests, NULL, NULL);
}
