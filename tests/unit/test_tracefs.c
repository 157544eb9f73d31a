/* Access to tracefs. */
#include "shell.h"

#include "capture/pmu.h"
#include "event/trace_fields.h"
#include "system/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

static void names_lead_nowhere_else(void **state)
{
	(void)state;
	char longest[257];
	memset(longest, 'a', sizeof longest);
	longest[256] = '\0';
	assert_false(tracefs_is_name(longest));
	longest[255] = '\0';
	assert_true(tracefs_is_name(longest));
	assert_true(tracefs_is_name("sched_switch"));
	assert_true(tracefs_is_name("x86-fpu.1"));
	static const char *const wrong[] = {"", ".", "..", ".hidden", "a/b", "/etc", "a/../b", "a\nb", "\x7f"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_false(tracefs_is_name(wrong[i]));
}

/* A folder stands for the file system. */
static struct tracefs folder(void)
{
	return (struct tracefs){.fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), .place = shell_folder};
}

static void files_are_read_below_the_folder_and_bounded(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf out = {0};
	shell("mkdir -p events/a/b events/a/c secret && echo 42 >events/a/b/id && echo key >secret/id && "
	      "head -c 1000000 /dev/zero >events/a/b/format && ln -s ../../../secret/id events/a/c/id && "
	      "mkdir events/a/c/format");
	struct tracefs tracefs = folder();
	assert_int_equal(tracefs_read(&tracefs, "a", "b", "id", &out), 0);
	assert_string_equal(out.data, "42\n");
	assert_int_equal(tracefs_read(&tracefs, "..", "secret", "id", &out), ENOENT);
	assert_int_equal(tracefs_read(&tracefs, "a/..", "../secret", "id", &out), ENOENT);
	assert_int_equal(tracefs_read(&tracefs, "a", "b", "none", &out), ENOENT);
	assert_int_equal(tracefs_read(&tracefs, "a", "c", "id", &out), ELOOP);
	assert_int_equal(tracefs_read(&tracefs, "a", "c", "format", &out), EISDIR);
	assert_int_equal(tracefs_read(&tracefs, "a", "b", "format", &out), 0);
	assert_in_range(out.size, 256 << 10, (256 << 10) + 4096);
	tracefs_close(&tracefs);
	assert_int_equal(tracefs.fd, -1);
}

/* A mount namespace in which neither tracefs nor debugfs is mounted; false where that is not allowed. */
static bool enter_bare_namespace(void)
{
	if (unshare(CLONE_NEWNS) < 0)
		return false;
	/* In a chroot / is no mount. */
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 &&
	    mount("none", "/sys", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return false;
	while (umount2("/sys/kernel/debug/tracing", MNT_DETACH) == 0 || umount2("/sys/kernel/debug", MNT_DETACH) == 0 ||
	       umount2("/sys/kernel/tracing", MNT_DETACH) == 0)
		;
	return true;
}

static void it_is_reached_where_it_is_not_mounted(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf before = {0};
	CLEANUP_BUF struct buf after = {0};
	CLEANUP_BUF struct buf id = {0};
	struct perf_event_attr attr = {0};
	struct err err = {0};
	if (geteuid() != 0 || !enter_bare_namespace())
		skip();
	before = shell_file("/proc/self/mounts");
	struct tracefs tracefs = tracefs_open(false);
	assert_int_equal(tracefs.way, TRACEFS_DETACHED);
	assert_null(tracefs.place);
	assert_int_equal(tracefs_read(&tracefs, "sched", "sched_switch", "id", &id), 0);
	assert_int_equal(tracefs_read(&tracefs, "sched", "sched_nothing", "id", &after), ENOENT);
	tracefs_close(&tracefs);
	assert_int_equal(pmu_tracepoint(&attr, "sched", "sched_switch", &err), 0);
	assert_int_equal(attr.config, strtoull(id.data, NULL, 10));
	assert_int_not_equal(attr.config, 0);
	after = shell_file("/proc/self/mounts");
	assert_int_equal(before.size, after.size);
	assert_memory_equal(before.data, after.data, after.size);
}

static void a_mount_that_is_there_is_used(void **state)
{
	(void)state;
	if (geteuid() != 0 || !enter_bare_namespace())
		skip();
	if (mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL) < 0)
		skip();
	struct tracefs tracefs = tracefs_open(false);
	assert_int_equal(tracefs.way, TRACEFS_MOUNTED);
	assert_string_equal(tracefs.place, "/sys/kernel/tracing");
	tracefs_close(&tracefs);
	/* A folder of that name alone is not it. */
	assert_int_equal(mount("tmpfs", "/sys/kernel/tracing", "tmpfs", 0, NULL), 0);
	tracefs = tracefs_open(false);
	assert_int_equal(tracefs.way, TRACEFS_DETACHED);
	tracefs_close(&tracefs);
	assert_true(enter_bare_namespace());
}

static void the_fields_that_can_be_weights_are_listed(void **state)
{
	(void)state;
	static const char format[] = "name: x\n"
				     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
				     "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				     "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				     "\tfield:__data_loc char[] name;\toffset:28;\tsize:4;\tsigned:0;\n"
				     "\tfield:long ret;\toffset:32;\tsize:8;\tsigned:1;\n"
				     "\tfield:broken";
	CLEANUP_BUF struct buf list = {0};
	buf_str(&list, "");
	trace_fields_list(format, &list);
	assert_string_equal(list.data, "pid, ret");
	buf_clear(&list);
	trace_fields_list("field:;field:", &list);
	assert_string_equal(list.data, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_lead_nowhere_else),
		cmocka_unit_test(files_are_read_below_the_folder_and_bounded),
		cmocka_unit_test(it_is_reached_where_it_is_not_mounted),
		cmocka_unit_test(a_mount_that_is_there_is_used),
		cmocka_unit_test(the_fields_that_can_be_weights_are_listed),
	};
	return cmocka_run_group_tests(tests, shell_enter, shell_leave);
}
