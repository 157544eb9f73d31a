/*
 * measure: run one command and say what it cost.
 *
 *	measure OUTPUT COMMAND [ARG...]
 *
 * The command's stdout goes to OUTPUT. One line is printed on our own stdout:
 *
 *	<wall seconds> <cpu seconds> <peak resident KiB> <when it ended> <exit status>
 *
 * The end is in seconds of the monotonic clock, to be compared with that of a
 * command that ran meanwhile.
 *
 * Peak resident is ru_maxrss, which counts the pages of mapped files too. For
 * a command that waits for children of its own it is the largest of them, not
 * their sum.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	posix_spawn_file_actions_t fa;
	struct rusage ru;
	double start, end;
	int status, err;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: measure OUTPUT COMMAND [ARG...]\n");
		return 2;
	}
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, STDOUT_FILENO, argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
	/*
	 * posix_spawn rather than fork: a forked copy of this process would be
	 * the floor of the child's peak.
	 */
	start = now();
	err = posix_spawnp(&pid, argv[2], &fa, NULL, argv + 2, environ);
	if (err) {
		fprintf(stderr, "measure: %s: %s\n", argv[2], strerror(err));
		return 127;
	}
	while (wait4(pid, &status, 0, &ru) < 0) {
		if (errno != EINTR) {
			perror("measure: wait4");
			return 1;
		}
	}
	end = now();
	posix_spawn_file_actions_destroy(&fa);
	printf("%.4f %.4f %ld %.4f %d\n", end - start, seconds(ru.ru_utime) + seconds(ru.ru_stime), ru.ru_maxrss, end,
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
