/* Hierarchies of both versions, figures of cgroups, and names of containers in recordings, from files made by hand. */
#include "container/cgroup_cpu.h"
#include "container/cgroup_names.h"
#include "container/container.h"
#include "shell.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SECOND 1000000000ull

static void one_hierarchy_or_several_are_found(void **state)
{
	(void)state;
	shell("mkdir -p mixed/proc/1 && printf '%s\\n' 'none /sys/fs/cgroup tmpfs rw 0 0' "
	      "'cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0' "
	      "'cgroup /sys/fs/cgroup/perf_event cgroup rw,perf_event 0 0' "
	      "'cgroup2 /sys/fs/cgroup/uni\\040fied cgroup2 rw 0 0' >mixed/proc/1/mounts");
	struct hierarchies hierarchies CLEANUP_HIERARCHIES;
	hierarchies_read(&hierarchies, "mixed");
	assert_int_equal(hierarchies.count, 3);
	assert_string_equal(hierarchies.items[0].directory, "mixed/sys/fs/cgroup/uni fied");
	assert_string_equal(hierarchies.items[1].directory, "mixed/sys/fs/cgroup/perf_event");
	assert_ptr_equal(hierarchies_find(&hierarchies, ""), &hierarchies.items[0]);
	assert_ptr_equal(hierarchies_find(&hierarchies, "cpuacct"), &hierarchies.items[2]);
	assert_null(hierarchies_find(&hierarchies, "acct"));
	assert_null(hierarchies_find(&hierarchies, "memory"));
}

/* Writes a host of version 2 with a cgroup /a/b. */
static void make_unified(void)
{
	shell("mkdir -p new/proc/1 new/cg/a/b && echo 'c /cg cgroup2 rw 0 0' >new/proc/1/mounts && cd new/cg/a && "
	      "printf 'usage_usec 2000000\\nuser_usec 1\\n' >b/cpu.stat && echo max 100000 >b/cpu.max && "
	      "printf 'some avg10=0.00 total=3000000\\nfull total=9\\n' >b/cpu.pressure && "
	      "echo 50000 100000 >cpu.max && "
	      "printf 'usage_usec 5\\nnr_periods 100\\nnr_throttled 40\\nthrottled_usec 2500000\\n' >cpu.stat");
}

static void figures_of_version_2(void **state)
{
	(void)state;
	make_unified();
	struct hierarchies hierarchies CLEANUP_HIERARCHIES;
	hierarchies_read(&hierarchies, "new");
	struct cgroup_cpu cpu = cgroup_cpu_read(&hierarchies, "/a/b");
	assert_int_equal(cpu.usage, 2 * SECOND);
	assert_int_equal(cpu.pressure, 3 * SECOND);
	assert_true(cpu.limit == 0.5); /* of the cgroup that it is in */
	assert_int_equal(cpu.periods, 100);
	assert_int_equal(cpu.throttled_periods, 40);
	assert_int_equal(cpu.throttled, 5 * SECOND / 2);
	cpu = cgroup_cpu_read(&hierarchies, "/no/such");
	assert_int_equal(cpu.usage, 0);
	assert_true(cpu.limit == 0);
}

static void figures_of_version_1(void **state)
{
	(void)state;
	shell("mkdir -p old/proc/1 old/cpu/a old/acct/a && printf '%s\\n' 'c /cpu cgroup rw,cpu 0 0' "
	      "'c /acct cgroup rw,cpuacct 0 0' >old/proc/1/mounts && cd old && "
	      "echo 7000000000 >acct/a/cpuacct.usage && "
	      "echo 150000 >cpu/a/cpu.cfs_quota_us && echo 100000 >cpu/a/cpu.cfs_period_us && "
	      "printf 'nr_periods 10\\nnr_throttled 4\\nthrottled_time 1000000000\\n' >cpu/a/cpu.stat");
	struct hierarchies hierarchies CLEANUP_HIERARCHIES;
	hierarchies_read(&hierarchies, "old");
	struct cgroup_cpu cpu = cgroup_cpu_read(&hierarchies, "/a");
	assert_int_equal(cpu.usage, 7 * SECOND);
	assert_true(cpu.limit == 1.5);
	assert_int_equal(cpu.throttled_periods, 4);
	assert_int_equal(cpu.throttled, SECOND);
}

static void figures_survive_as_text(void **state)
{
	(void)state;
	struct buf text CLEANUP_BUF = {0};
	struct cgroup_cpu begin = {.usage = 5, .periods = 10, .throttled = 7}, read;
	struct cgroup_cpu end = {.usage = 9,
				 .limit = 0.25,
				 .periods = 30,
				 .throttled_periods = 3,
				 .throttled = 6,
				 .pressure = UINT64_MAX,
				 .stolen = 1};
	struct cgroup_cpu since = cgroup_cpu_since(&end, &begin);
	assert_int_equal(since.usage, 4);
	assert_int_equal(since.throttled, 0); /* the cgroup is another one of this name */
	cgroup_cpu_write(&since, &text);
	assert_true(cgroup_cpu_parse(&read, text.data));
	assert_memory_equal(&read, &since, sizeof read);
	static const char *const bad[] = {
		"", "container=web1", "cpu.limit=", "cpu.limit=nan", "cpu.limit=-1", "cpu.limit=1e99"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(cgroup_cpu_parse(&read, bad[i]));
	assert_true(cgroup_cpu_parse(&read, "cpu.limit=1\tcpu.usage=x\tcpu.nothing=7\t\t\tcpu.periods=12"));
	assert_int_equal(read.usage, 0);
	assert_int_equal(read.periods, 12);
}

static void names_become_labels(void **state)
{
	(void)state;
	struct cgroup_labels labels;
	cgroup_labels_read("/system.slice/docker-" ID ".scope", NULL, &labels);
	assert_string_equal(labels.container, "0123456789ab");
	assert_string_equal(labels.pod, "[no pod]");
	assert_string_equal(labels.unit, "docker-" ID ".scope");
	cgroup_labels_read("/kubepods/pod12-34/" ID, "pod=prod/shop\tcontainer=shop/api", &labels);
	assert_string_equal(labels.container, "shop/api");
	assert_string_equal(labels.pod, "prod/shop");
	cgroup_labels_read("/kubepods/pod12-34/" ID, "podium=1\tcontainer=", &labels);
	assert_string_equal(labels.container, "0123456789ab");
	assert_string_equal(labels.pod, "12-34");
	cgroup_labels_read("/lxc/a-name-of-twenty-bytes", NULL, &labels);
	assert_string_equal(labels.container, "a-name-of-twenty-bytes");
	cgroup_labels_read("/", NULL, &labels);
	assert_string_equal(labels.container, "[no container]");
	assert_string_equal(labels.unit, "[no unit]");
}

static void names_are_found_while_recording(void **state)
{
	(void)state;
	shell("mkdir -p host/proc/1 host/var/lib/docker/containers/" ID " && : >host/proc/1/mounts");
	struct cgroup_names *names = cgroup_names_new("host");
	assert_null(cgroup_names_find(names, "/docker/" ID));
	assert_null(cgroup_names_find(names, "/system.slice/nginx.service"));
	shell("printf '{\"Name\":\"/a\\\\tpod=b\\\\u001b\"}' >host/var/lib/docker/containers/" ID "/config.v2.json");
	assert_string_equal(cgroup_names_find(names, "/docker/" ID "/below"), "container=a pod=b ");
	cgroup_names_free(names);
}

static bool count(void *context, const char *path, int directory)
{
	(void)directory;
	assert_int_equal(*path, '/');
	++*(int *)context;
	return strcmp(path, "/a/b") != 0;
}

static void parts_of_paths_choose_one(void **state)
{
	(void)state;
	struct buf directory CLEANUP_BUF = {0};
	struct err err = {0};
	int seen = 0;
	shell("mkdir -p tree/proc/1 tree/cg/a/b/c tree/cg/a/bb tree/cg/x.service && "
	      "echo 'c /cg cgroup2 rw 0 0' >tree/proc/1/mounts && ln -s .. tree/cg/loop && : >tree/cg/file");
	struct hierarchies hierarchies CLEANUP_HIERARCHIES;
	hierarchies_read(&hierarchies, "tree");
	hierarchy_walk(&hierarchies.items[0], count, &seen);
	assert_int_equal(seen, 5); /* /, a, a/b, a/bb, x.service */
	assert_int_equal(cgroup_choose("tree", "b/c", &directory, &err), 0);
	assert_string_equal(directory.data, "tree/cg/a/b/c");
	buf_clear(&directory);
	assert_int_equal(cgroup_choose("tree", "a", &directory, &err), 0); /* those below are in it */
	assert_string_equal(directory.data, "tree/cg/a");
	assert_int_equal(cgroup_choose("tree", "/b", &directory, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "'/b' matches 2 cgroups: /a/b"));
	assert_int_equal(cgroup_choose("tree", "none", &directory, &err), ERR_SYSTEM);
	buf_clear(&directory);
	assert_int_equal(cgroup_choose_unit("tree", "x", &directory, &err), 0);
	assert_string_equal(directory.data, "tree/cg/x.service");
	assert_int_equal(cgroup_choose_unit("tree", "x.s", &directory, &err), ERR_SYSTEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_hierarchy_or_several_are_found),
		cmocka_unit_test(figures_of_version_2),
		cmocka_unit_test(figures_of_version_1),
		cmocka_unit_test(figures_survive_as_text),
		cmocka_unit_test(names_become_labels),
		cmocka_unit_test(names_are_found_while_recording),
		cmocka_unit_test(parts_of_paths_choose_one),
	};
	return cmocka_run_group_tests_name("cgroup", tests, shell_enter, shell_leave);
}
