/*
 * Waits in three functions: sleeps 300 ms in nap(), waits 200 ms for a mutex in contend() and 100 ms for a byte of a
 * pipe in listen_pipe(), and computes for 200 ms in compute(). An argument multiplies all of that. Writes to standard
 * error how long each took in nanoseconds, for on a busy machine it is more, and how long each thread lived.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t locked;
static int ends[2];
static double scale = 1;

static long long now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void pause_for(double milliseconds)
{
	long long nanoseconds = (long long)(milliseconds * scale * 1e6);
	struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
	nanosleep(&time, NULL);
}

KEEP void nap(void)
{
	pause_for(300);
	__asm__ volatile("" ::: "memory");
}

KEEP void contend(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	__asm__ volatile("" ::: "memory");
}

KEEP void listen_pipe(void)
{
	char byte;
	if (read(ends[0], &byte, 1) != 1)
		exit(1);
	__asm__ volatile("" ::: "memory");
}

KEEP void compute(void)
{
	for (long long end = now() + (long long)(200e6 * scale); now() < end;)
		;
	__asm__ volatile("" ::: "memory");
}

static void *help(void *unused)
{
	long long start = now();
	pthread_mutex_lock(&mutex);
	pthread_barrier_wait(&locked);
	pause_for(200);
	pthread_mutex_unlock(&mutex);
	pthread_barrier_wait(&locked);
	pause_for(100);
	if (write(ends[1], "", 1) != 1)
		exit(1);
	fprintf(stderr, "helper %lld\n", now() - start);
	return unused;
}

static void timed(const char *name, void (*function)(void))
{
	long long start = now();
	function();
	fprintf(stderr, "%s %lld\n", name, now() - start);
}

int main(int argc, char **argv)
{
	pthread_t helper;
	long long start = now();
	if (argc > 1)
		scale = atof(argv[1]);
	pthread_barrier_init(&locked, NULL, 2);
	if (pipe(ends) || pthread_create(&helper, NULL, help, NULL))
		return 1;
	timed("nap", nap);
	pthread_barrier_wait(&locked);
	timed("contend", contend);
	pthread_barrier_wait(&locked);
	timed("listen_pipe", listen_pipe);
	timed("compute", compute);
	pthread_join(helper, NULL);
	fprintf(stderr, "main %lld\n", now() - start);
	return 0;
}
