/* Files that others name. */
#include "base/regular_file.h"
#include "shell.h"

#include <errno.h>
#include <fcntl.h>

static int open_and_close(const char *path, bool links)
{
	struct stat status;
	int fd = regular_file_open(path, links, &status);
	if (fd < 0)
		return fd;
	char byte;
	assert_int_equal(read(fd, &byte, 1), 1);
	close(fd);
	return byte;
}

static void only_regular_files_are_opened(void **state)
{
	(void)state;
	shell("printf a >file; mkfifo fifo; mkdir directory; ln -s file link; ln -s /dev/null device");
	assert_int_equal(open_and_close("file", false), 'a');
	assert_int_equal(open_and_close("link", true), 'a');
	assert_int_equal(open_and_close("link", false), -ELOOP);
	assert_int_equal(open_and_close("fifo", true), -ENOTSUP);
	assert_int_equal(open_and_close("directory", true), -ENOTSUP);
	assert_int_equal(open_and_close("device", true), -ENOTSUP);
	assert_int_equal(open_and_close("/dev/null", true), -ENOTSUP);
	assert_int_equal(open_and_close("missing", true), -ENOENT);
}

/* As a process in a chroot or a container sees them. */
static void links_stay_below_a_root(void **state)
{
	(void)state;
	char path[64];
	shell("mkdir -p root/etc; printf i >root/etc/file; printf o >file");
	shell("ln -s /etc root/absolute; ln -s ../.. root/up; ln -s ../../../../file root/etc/out");
	int root = open("root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(path, sizeof path, "/proc/self/fd/%d/absolute/file", root);
	assert_int_equal(open_and_close(path, true), 'i');
	snprintf(path, sizeof path, "/proc/self/fd/%d/up/file", root);
	assert_int_equal(open_and_close(path, true), -ENOENT);
	snprintf(path, sizeof path, "/proc/self/fd/%d/etc/out", root);
	assert_int_equal(open_and_close(path, true), -ENOENT);
	close(root);
	int file = open("file", O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	assert_int_equal(open_and_close(path, true), 'o');
	close(file);
}

static void files_of_other_users_are_refused(void **state)
{
	(void)state;
	struct stat status;
	if (geteuid())
		skip();
	shell("printf a >theirs; chown nobody theirs");
	assert_int_equal(regular_file_open_of("theirs", 12345, &status), -EPERM);
	int fd = regular_file_open_of("theirs", 65534, &status);
	assert_true(fd >= 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_regular_files_are_opened),
		cmocka_unit_test(links_stay_below_a_root),
		cmocka_unit_test(files_of_other_users_are_refused),
	};
	return cmocka_run_group_tests(tests, shell_enter, shell_leave);
}
