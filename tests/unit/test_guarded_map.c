/* Files that change while they are read. */
#include "base/guarded_map.h"
#include "shell.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define SIZE ((size_t)10 * 4096)

static int file_of(char byte)
{
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char bytes[SIZE];
	memset(bytes, byte, sizeof bytes);
	assert_int_equal(write(fd, bytes, sizeof bytes), SIZE);
	return fd;
}

static void truncated_bytes_are_zeros(void **state)
{
	(void)state;
	struct guarded_map map, other;
	int fd = file_of('x');
	assert_int_equal(guarded_map_open(&map, fd, SIZE), 0);
	assert_int_equal(guarded_map_open(&other, fd, SIZE), 0);
	assert_int_equal(map.bytes[SIZE - 1], 'x');
	assert_false(guarded_map_lost_bytes(&map));
	assert_int_equal(ftruncate(fd, 5000), 0);
	assert_int_equal(map.bytes[4999], 'x');
	assert_int_equal(map.bytes[5000], 0);
	assert_false(guarded_map_lost_bytes(&map)); /* the rest of a page is there */
	assert_int_equal(map.bytes[SIZE - 1], 0);
	assert_true(guarded_map_lost_bytes(&map));
	assert_false(guarded_map_lost_bytes(&other));
	assert_int_equal(map.bytes[8192], 0);
	assert_int_equal(map.bytes[4096], 'x');
	guarded_map_close(&map);
	assert_int_equal(other.bytes[9000], 0);
	guarded_map_close(&other);
	/* A range that is used again has lost nothing yet. */
	assert_int_equal(guarded_map_open(&map, fd, 5000), 0);
	assert_false(guarded_map_lost_bytes(&map));
	guarded_map_close(&map);
	close(fd);
}

static void strings_end_behind_the_file(void **state)
{
	(void)state;
	struct guarded_map map;
	int fd = file_of('x');
	assert_int_equal(guarded_map_open(&map, fd, SIZE), 0);
	assert_int_equal(strlen((const char *)map.bytes), SIZE);
	for (size_t i = 0; i < GUARDED_MAP_SPARE; i++)
		assert_int_equal(map.bytes[SIZE + i], 0);
	guarded_map_close(&map);
	close(fd);
}

static void what_cannot_be_mapped_is_refused(void **state)
{
	(void)state;
	struct guarded_map map = {0};
	assert_int_equal(guarded_map_open(&map, -1, SIZE), -EBADF);
	assert_int_equal(guarded_map_open(&map, 0, 0), -EINVAL);
	assert_false(guarded_map_lost_bytes(&map));
	guarded_map_close(&map);
}

/* Who has a mapping of their own, and reads beyond its file, dies as ever. */
static void others_still_die_of_bus_errors(void **state)
{
	(void)state;
	int fd = file_of('x'), status;
	pid_t child = fork();
	if (!child) {
		struct guarded_map map;
		signal(SIGBUS, SIG_DFL);
		guarded_map_open(&map, fd, SIZE);
		volatile const char *own = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, fd, 0);
		(void)!ftruncate(fd, 0);
		_exit(own[SIZE - 1]);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(truncated_bytes_are_zeros),
		cmocka_unit_test(strings_end_behind_the_file),
		cmocka_unit_test(what_cannot_be_mapped_is_refused),
		cmocka_unit_test(others_still_die_of_bus_errors),
	};
	return cmocka_run_group_tests(tests, shell_enter, shell_leave);
}
