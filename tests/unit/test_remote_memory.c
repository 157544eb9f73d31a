/* Memory of other processes, some of which never answer. */
#include "base/clock.h"
#include "base/remote_memory.h"

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE ((size_t)4096)

static char *pages; /* two, at the same address in all processes */

static void give_up(void)
{
}

/* Whoever reads the second page waits until this process ends. */
static bool hold_page(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.range = {(uintptr_t)pages + PAGE, PAGE}, .mode = UFFDIO_REGISTER_MODE_MISSING};
	return fd >= 0 && !ioctl(fd, UFFDIO_API, &api) && !madvise(pages + PAGE, PAGE, MADV_DONTNEED) &&
	       !ioctl(fd, UFFDIO_REGISTER, &range);
}

/* A process that is not trusted. 0: it cannot be made here. */
static pid_t start(bool holds)
{
	int ends[2];
	char byte;
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (unshare(CLONE_NEWNS) || (holds && !hold_page()) || write(ends[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	bool ready = read(ends[0], &byte, 1) == 1;
	close(ends[0]);
	if (!ready)
		waitpid(child, NULL, 0);
	return ready ? child : 0;
}

static void stop(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static int set_up(void **state)
{
	(void)state;
	pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return 1;
	memcpy(pages + PAGE - 8, "abcdefghijklmnop", 16);
	return 0;
}

static void reads(pid_t pid)
{
	char copy[16] = "";
	assert_int_equal(remote_memory_read(pid, (uintptr_t)pages + PAGE - 8, copy, 16), 16);
	assert_memory_equal(copy, "abcdefghijklmnop", 16);
	memset(copy, 0, 16);
	assert_int_equal(remote_memory_read(pid, (uintptr_t)pages + PAGE - 8, copy, 8), 8);
	assert_memory_equal(copy, "abcdefgh\0\0\0\0\0\0\0\0", 16);
	assert_int_equal(remote_memory_read(pid, 0, copy, 16), -EFAULT);
	assert_int_equal(remote_memory_read(pid, UINT64_MAX - 7, copy, 16), -EFAULT);
}

/* Up to where it ends. */
static void part_is_read(void **state)
{
	(void)state;
	static char copy[REMOTE_MEMORY_MAX + 1];
	char *own = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(own + PAGE, PAGE);
	assert_int_equal(remote_memory_read(getpid(), (uintptr_t)own + 8, copy, 2 * PAGE), PAGE - 8);
	munmap(own, PAGE);
	static char large[REMOTE_MEMORY_MAX + 1];
	memset(large, 'x', sizeof large);
	assert_int_equal(remote_memory_read(getpid(), (uintptr_t)large, copy, sizeof large), REMOTE_MEMORY_MAX);
	assert_int_equal(copy[REMOTE_MEMORY_MAX - 1], 'x');
	assert_int_equal(copy[REMOTE_MEMORY_MAX], 0);
}

static void all_processes_are_read(void **state)
{
	pid_t other = start(false);
	if (!other)
		skip();
	reads(getpid());
	reads(other);
	remote_memory_begin(give_up);
	reads(getpid());
	reads(other);
	part_is_read(state);
	stop(other);
	char byte;
	assert_int_equal(remote_memory_read(other, (uintptr_t)pages, &byte, 1), -ESRCH);
}

static void who_does_not_answer_is_given_up(void **state)
{
	(void)state;
	char copy[16];
	pid_t stuck = start(true), other = start(false);
	if (!stuck || !other)
		skip();
	/* What is there can be read. */
	assert_int_equal(remote_memory_read(stuck, (uintptr_t)pages + PAGE - 8, copy, 8), 8);
	uint64_t before = clock_now();
	assert_int_equal(remote_memory_read(stuck, (uintptr_t)pages + PAGE - 8, copy, 16), -ETIMEDOUT);
	uint64_t end = clock_now();
	assert_true(end - before >= CLOCK_SECOND);
	for (int i = 0; i < 100; i++)
		assert_int_equal(remote_memory_read(stuck, (uintptr_t)pages, copy, 1), -ETIMEDOUT);
	reads(other);
	reads(getpid());
	stop(stuck);
	reads(other);
	stop(other);
}

/* When all who read are lost, the others are not read either. */
static void not_more_than_some_are_lost(void **state)
{
	(void)state;
	pid_t stuck[8], other = start(false);
	int lost = 0;
	char byte;
	for (int i = 0; i < 8; i++) {
		stuck[i] = start(true);
		if (!stuck[i] || !other)
			skip();
		uint64_t before = clock_now();
		assert_int_equal(remote_memory_read(stuck[i], (uintptr_t)pages + PAGE, &byte, 1), -ETIMEDOUT);
		lost += clock_now() - before > CLOCK_SECOND / 2;
	}
	assert_int_equal(lost, 3); /* and one before */
	assert_int_equal(remote_memory_read(other, (uintptr_t)pages, &byte, 1), -ETIMEDOUT);
	reads(getpid());
	remote_memory_end();
	reads(other);
	for (int i = 0; i < 8; i++)
		stop(stuck[i]);
	stop(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(part_is_read),
		cmocka_unit_test(all_processes_are_read),
		cmocka_unit_test(who_does_not_answer_is_given_up),
		cmocka_unit_test(not_more_than_some_are_lost),
	};
	return cmocka_run_group_tests(tests, set_up, NULL);
}
