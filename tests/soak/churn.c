/*
 * usage: churn SECONDS processes|threads|mappings|busy [PER-SECOND]
 *
 * Load for tests/soak/run with a constant set of stacks: processes or threads that come and go, files that are mapped
 * and unmapped, or a thread that runs all the time.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BURST 1000000ull /* nanoseconds that a process or thread runs */

static uint64_t now(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static __attribute__((noinline)) uint64_t inner(uint64_t value)
{
	for (int i = 0; i < 2000; i++)
		value = value * 6364136223846793005u + 1442695040888963407u;
	return value;
}

static __attribute__((noinline)) uint64_t middle(uint64_t value, int depth)
{
	return depth ? middle(value, depth - 1) + 1 : inner(value) + 1;
}

static void burn(uint64_t nanoseconds)
{
	static volatile uint64_t sink;
	for (uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + nanoseconds; now(CLOCK_THREAD_CPUTIME_ID) < end;)
		for (int depth = 0; depth < 4; depth++)
			sink += middle(sink, depth);
}

static void *run_thread(void *context)
{
	burn(BURST);
	return context;
}

static void one_process(const char *program)
{
	pid_t child = fork();
	if (!child) {
		execl(program, "churn", "0", "child", (char *)NULL);
		_exit(127);
	}
	if (child < 0)
		usleep(10000);
}

static void one_thread(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, run_thread, NULL) == 0)
		pthread_join(thread, NULL);
}

static void one_mapping(int file)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
	if (at != MAP_FAILED)
		munmap(at, 4096);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";
	double rate = argc > 3 ? atof(argv[3]) : 100;
	if (!strcmp(what, "child")) {
		burn(BURST);
		return 0;
	}
	if (argc < 3 || rate <= 0) {
		fprintf(stderr, "usage: churn SECONDS processes|threads|mappings|busy [PER-SECOND]\n");
		return 2;
	}
	signal(SIGCHLD, SIG_IGN); /* children leave no zombies */
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t start = now(CLOCK_MONOTONIC), end = start + (uint64_t)(atof(argv[1]) * 1e9), time;
	for (uint64_t done = 0; (time = now(CLOCK_MONOTONIC)) < end;) {
		if (!strcmp(what, "busy")) {
			burn(10 * BURST);
			continue;
		}
		if ((double)(time - start) * rate / 1e9 < (double)done) {
			usleep(1000);
			continue;
		}
		done++;
		if (!strcmp(what, "processes"))
			one_process("/proc/self/exe");
		else if (!strcmp(what, "threads"))
			one_thread();
		else
			one_mapping(file);
	}
	return 0;
}
