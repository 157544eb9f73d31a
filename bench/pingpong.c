/*
 * usage: pingpong SWITCHES
 *
 * Two threads on one CPU hand a byte to and fro through pipes: each time one of them waits and the other runs. Writes
 * CPU seconds, elapsed seconds and switches.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int there[2], back[2];
static long rounds;

/* Frames that a profiler has to follow. */
__attribute__((noinline)) static void pass(int from, int to, int depth)
{
	char byte = 0;
	if (depth)
		pass(from, to, depth - 1);
	else if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
		exit(1);
	__asm__ volatile("" ::: "memory");
}

static void *answer(void *unused)
{
	for (long i = 0; i < rounds; i++)
		pass(there[0], back[1], 12);
	return unused;
}

static double seconds(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	cpu_set_t one;
	struct rusage usage;
	rounds = (argc > 1 ? atol(argv[1]) : 200000) / 2;
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof one, &one) || pipe(there) || pipe(back) ||
	    pthread_create(&thread, NULL, answer, NULL) || write(there[1], "", 1) != 1)
		return 1;
	double start = seconds(CLOCK_MONOTONIC);
	for (long i = 0; i < rounds; i++)
		pass(back[0], there[1], 12);
	double elapsed = seconds(CLOCK_MONOTONIC) - start;
	pthread_join(thread, NULL);
	getrusage(RUSAGE_SELF, &usage);
	printf("%.4f %.4f %ld\n", seconds(CLOCK_PROCESS_CPUTIME_ID), elapsed, usage.ru_nvcsw + usage.ru_nivcsw);
	return 0;
}
