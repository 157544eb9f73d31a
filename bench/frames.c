/* usage: frames DEPTH SECONDS: spins below that many frames. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sum;

static double seconds(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

__attribute__((noinline)) static void spin(double end)
{
	while (seconds() < end)
		for (unsigned i = 0; i < 1000000; i++)
			sum += i;
}

__attribute__((noinline)) static uint64_t descend(long depth, double end)
{
	volatile uint64_t room[16]; /* frames of a usual size */
	room[depth % 16] = (uint64_t)depth;
	if (depth == 0)
		spin(end);
	else
		room[0] += descend(depth - 1, end);
	return room[0] + room[depth % 16];
}

int main(int argc, char **argv)
{
	long depth = argc > 1 ? atol(argv[1]) : 36;
	double end = argc > 2 ? atof(argv[2]) : 2;
	return descend(depth > 5 ? depth - 5 : 0, end) == 1; /* main, its callers and spin are five */
}
