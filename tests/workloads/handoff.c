/*
 * Two threads hand a byte to and fro as often as the argument says (20,000 times), each waiting while the other has it.
 * Meanwhile a third one waits in patient() until they are done, and a fourth changes every other millisecond what is
 * mapped at an address, so that a profiler has to look at the mappings of the process again. Writes to standard error
 * how long the third one waited and how long the first one lived, in nanoseconds.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

static int there[2], back[2], done[2];
static long rounds = 20000;
static atomic_int over;

static long long now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

KEEP void pass(int from, int to)
{
	char byte = 0;
	if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
		exit(1);
	__asm__ volatile("" ::: "memory");
}

static void *answer(void *unused)
{
	for (long i = 0; i < rounds; i++)
		pass(there[0], back[1]);
	return unused;
}

KEEP void patient(void)
{
	char byte;
	long long start = now();
	if (read(done[0], &byte, 1) != 1)
		exit(1);
	fprintf(stderr, "patient %lld\n", now() - start);
}

static void *wait_for_end(void *unused)
{
	patient();
	return unused;
}

static void *change_maps(void *files)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	void *place = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; !over; i++) {
		mmap(place, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, ((int *)files)[i & 1], 0);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];
	long long start = now();
	int files[2] = {open("/proc/self/exe", O_RDONLY), open("/bin/sh", O_RDONLY)};
	if (argc > 1)
		rounds = atol(argv[1]);
	if (pipe(there) || pipe(back) || pipe(done) || pthread_create(&threads[0], NULL, answer, NULL) ||
	    pthread_create(&threads[1], NULL, wait_for_end, NULL) ||
	    pthread_create(&threads[2], NULL, change_maps, files) || write(there[1], "", 1) != 1)
		return 1;
	for (long i = 0; i < rounds; i++)
		pass(back[0], there[1]);
	over = 1;
	if (write(done[1], "", 1) != 1)
		return 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	fprintf(stderr, "main %lld\n", now() - start);
	return 0;
}
