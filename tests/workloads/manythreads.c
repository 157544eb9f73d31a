/*
 * usage: manythreads [THREADS [SECONDS]]: that many threads, each of which works for some milliseconds now and then, and
 * meanwhile short-lived ones that are started later.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sum;
static volatile int done;

static double seconds(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

__attribute__((noinline)) void spin(void)
{
	for (unsigned i = 0; i < 100000; i++)
		sum += i;
}

__attribute__((noinline)) void work_early(void)
{
	for (unsigned i = 0; i < 50; i++)
		spin();
	sum++; /* so that the call is not the last thing done */
}

__attribute__((noinline)) void work_late(void)
{
	for (unsigned i = 0; i < 100; i++)
		spin();
	sum++;
}

static void *early(void *argument)
{
	unsigned seed = (unsigned)(uintptr_t)argument;
	/* Not all at once, and not more than a part of them in a second. */
	for (int pause = rand_r(&seed) % 200; !done; pause = 200) {
		for (int i = 0; i < pause && !done; i++)
			usleep(100000);
		if (!done)
			work_early();
	}
	return NULL;
}

static void *late(void *argument)
{
	work_late();
	return argument;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 100;
	double end = seconds() + (argc > 2 ? atof(argv[2]) : 1);
	pthread_t *threads = calloc((size_t)count, sizeof *threads), other;
	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, early, (void *)(uintptr_t)i))
			return 1;
	while (seconds() < end) {
		if (pthread_create(&other, NULL, late, NULL))
			return 1;
		pthread_join(other, NULL);
	}
	done = 1;
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 0;
}
