/*
 * Two functions of the same shape take turns to sleep in a third one: left() for 4 ms, right() for 2 ms, a hundred times
 * each. But for one return address their stacks are the same, and so is everything else. Writes to standard error how
 * long each took in nanoseconds.
 */
#include <stdio.h>
#include <time.h>

#define KEEP __attribute__((noinline, noclone))

static long long now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

KEEP void doze(long nanoseconds)
{
	struct timespec time = {.tv_nsec = nanoseconds};
	nanosleep(&time, NULL);
	__asm__ volatile("" ::: "memory");
}

KEEP void left(void)
{
	doze(4000000);
	__asm__ volatile("" ::: "memory");
}

KEEP void right(void)
{
	doze(2000000);
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	long long times[2] = {0};
	void (*const functions[2])(void) = {left, right};
	for (int i = 0; i < 200; i++) {
		long long start = now();
		functions[i & 1]();
		times[i & 1] += now() - start;
	}
	fprintf(stderr, "left %lld\nright %lld\n", times[0], times[1]);
	return 0;
}
