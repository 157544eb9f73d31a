/*
 * usage: short threads|processes COUNT MICROSECONDS: starts threads or processes one after the other, each of which
 * computes for so long and ends. Writes the CPU time of all in nanoseconds to standard output.
 */
#include "spin.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long life;
static volatile uint64_t result;

static long nanoseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

__attribute__((noinline)) static void compute(void)
{
	for (long end = nanoseconds() + life * 1000; nanoseconds() < end;)
		for (int i = 0; i < 1000; i++)
			result = spin_mix(result + (uint64_t)i);
}

static void *thread(void *context)
{
	compute();
	return context;
}

static void start(int threads)
{
	pthread_t id;
	pid_t child;
	if (threads) {
		if (pthread_create(&id, NULL, thread, NULL) == 0)
			pthread_join(id, NULL);
		return;
	}
	child = fork();
	if (child == 0) {
		compute();
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static long cpu_time(int who)
{
	struct rusage usage;
	getrusage(who, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	life = atol(argv[3]);
	for (long i = 0; i < atol(argv[2]); i++)
		start(strcmp(argv[1], "threads") == 0);
	printf("%ld\n", cpu_time(RUSAGE_SELF) + cpu_time(RUSAGE_CHILDREN));
	return 0;
}
