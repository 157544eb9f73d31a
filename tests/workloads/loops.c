/* usage: loops [SECONDS [EXIT-CODE]]: burns CPU time, three quarters of it in three() and one quarter in one(). */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sum;

static double cpu_seconds(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The same instructions for both, so that they take the same time. */
__attribute__((noinline)) void spin(void)
{
	for (unsigned i = 0; i < 100000; i++)
		sum += i;
}

__attribute__((noinline)) void three(void)
{
	for (unsigned i = 0; i < 3; i++)
		spin();
}

__attribute__((noinline)) void one(void)
{
	spin();
	sum++; /* so that the call is not the last thing done */
}

int main(int argc, char **argv)
{
	double end = cpu_seconds() + (argc > 1 ? atof(argv[1]) : 1);
	while (cpu_seconds() < end) {
		three();
		one();
	}
	return argc > 2 ? atoi(argv[2]) : 0;
}
