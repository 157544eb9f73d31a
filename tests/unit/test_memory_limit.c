/* What machine and cgroups allow, in trees of files as the kernel shows them. */
#include "shell.h"

#include "base/memory_limit.h"

#include <string.h>

#define MIB (1ull << 20)

static void machine(void)
{
	shell("rm -rf proc sys; mkdir -p proc/self; "
	      "printf 'MemTotal: 1048576 kB\\nMemFree: 1 kB\\nMemAvailable: 524288 kB\\n' >proc/meminfo");
}

/* A cgroup with a limit, use, and caches, in MiB. */
static void version_2(const char *path, const char *limit, unsigned used, unsigned inactive, unsigned active)
{
	char command[1024];
	snprintf(command, sizeof command,
		 "mkdir -p %s; cd %s; echo %s >memory.max; echo %llu >memory.current; "
		 "printf 'anon 1\\nfile 1\\ninactive_anon 7\\ninactive_file %llu\\nactive_file %llu\\n' >memory.stat",
		 path, path, limit, used * MIB, inactive * MIB, active * MIB);
	shell(command);
}

static void without_cgroups_it_is_the_machine(void **state)
{
	(void)state;
	machine();
	struct memory_limit limit = memory_limit_read(".");
	assert_int_equal(limit.limit, 1024 * MIB);
	assert_int_equal(limit.left, 512 * MIB);
	assert_false(limit.by_cgroup);
	shell("rm -r proc");
	limit = memory_limit_read(".");
	assert_true(limit.limit == UINT64_MAX && limit.left == UINT64_MAX);
}

static void the_tightest_ancestor_counts(void **state)
{
	(void)state;
	machine();
	shell("echo 0::/a.slice/b/c >proc/self/cgroup; "
	      "echo '30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate' >proc/self/mountinfo");
	version_2("sys/fs/cgroup/a.slice", "104857600", 90, 10, 20);
	version_2("sys/fs/cgroup/a.slice/b", "83886080", 10, 0, 0);
	version_2("sys/fs/cgroup/a.slice/b/c", "max", 10, 0, 0);
	struct memory_limit limit = memory_limit_read(".");
	assert_int_equal(limit.limit, 80 * MIB);
	assert_int_equal(limit.left, 40 * MIB); /* of 100: 90 without the caches of 30 */
	assert_true(limit.by_cgroup);
}

static void version_1_has_other_names(void **state)
{
	(void)state;
	machine();
	shell("printf '5:cpu,cpuacct:/x\\n4:pids,memory:/p/q\\n0::/\\n' >proc/self/cgroup; "
	      "printf '31 24 0:27 / /sys/fs/cgroup/cpu rw shared:3 - cgroup cgroup rw,cpu\\n"
	      "32 24 0:28 / /sys/fs/cgroup/memory rw shared:4 - cgroup cgroup rw,memory\\n' >proc/self/mountinfo; "
	      "mkdir -p sys/fs/cgroup/memory/p/q; cd sys/fs/cgroup/memory/p/q; "
	      "echo 67108864 >memory.limit_in_bytes; echo 20971520 >memory.usage_in_bytes; "
	      "printf 'inactive_file 1\\ntotal_inactive_file 1048576\\ntotal_active_file 3145728\\n' >memory.stat; "
	      "cd ..; echo 9223372036854771712 >memory.limit_in_bytes; echo 0 >memory.usage_in_bytes");
	struct memory_limit limit = memory_limit_read(".");
	assert_int_equal(limit.limit, 64 * MIB);
	assert_int_equal(limit.left, 48 * MIB);
}

static void a_container_sees_its_own_part(void **state)
{
	(void)state;
	machine();
	version_2("sys/fs/cgroup", "33554432", 30, 0, 0);
	/* Its part is mounted, and the path is the host's. */
	shell("echo 0::/docker/abc >proc/self/cgroup; "
	      "echo '30 24 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw' >proc/self/mountinfo");
	assert_int_equal(memory_limit_read(".").left, 2 * MIB);
	/* In a namespace of cgroups that begins below. */
	shell("echo 0::/../.. >proc/self/cgroup; "
	      "echo '30 24 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw' >proc/self/mountinfo");
	assert_int_equal(memory_limit_read(".").left, 2 * MIB);
	/* More is in use than allowed. */
	version_2("sys/fs/cgroup", "33554432", 40, 0, 0);
	assert_int_equal(memory_limit_read(".").left, 0);
}

static void damaged_files_do_not_limit(void **state)
{
	(void)state;
	machine();
	shell("printf 'x\\n::\\n:\\n0::' >proc/self/cgroup; "
	      "printf ' - \\n - cgroup2\\n1 - cgroup2 x y\\n' >proc/self/mountinfo");
	assert_int_equal(memory_limit_read(".").limit, 1024 * MIB);
	shell(": >proc/self/cgroup; : >proc/self/mountinfo; : >proc/meminfo");
	assert_true(memory_limit_read(".").limit == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_cgroups_it_is_the_machine), cmocka_unit_test(the_tightest_ancestor_counts),
		cmocka_unit_test(version_1_has_other_names),         cmocka_unit_test(a_container_sees_its_own_part),
		cmocka_unit_test(damaged_files_do_not_limit),
	};
	return cmocka_run_group_tests(tests, shell_enter, shell_leave);
}
