/*
 * usage: stuck SECONDS: uses so much CPU time on a stack whose outer part is in memory that is never there. Ends with 77
 * where such memory cannot be made.
 */
#define _GNU_SOURCE
#include "stuck_file.h"
#include <time.h>

#define PRESENT ((size_t)512 << 10) /* bytes */
#define DEPTH 300 /* of a KiB each: more than a sample copies */

static double until;
volatile unsigned long sum;

__attribute__((noinline)) void spin(void)
{
	struct timespec now;
	do {
		for (int i = 0; i < 100000; i++)
			sum += i;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while (now.tv_sec + now.tv_nsec / 1e9 < until);
	if (sum)
		_exit(0);
}

__attribute__((noinline)) void descend(int depth)
{
	volatile char room[1024];
	room[0] = (char)depth;
	if (depth == 0)
		spin();
	else
		descend(depth - 1);
	sum += room[0];
}

__attribute__((noinline, used)) static void begin(void)
{
	descend(DEPTH);
	_exit(1);
}

int main(int argc, char **argv)
{
	char *stack = mmap(NULL, 2 * PRESENT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc < 2 || stack == MAP_FAILED)
		return 2;
	until = atof(argv[1]);
	stuck_map(stack + PRESENT, PRESENT);
#if defined(__x86_64__)
	__asm__ volatile("mov %0, %%rsp\n\tcall begin" : : "r"(stack + PRESENT) : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("mov sp, %0\n\tbl begin" : : "r"(stack + PRESENT) : "memory");
#endif
	return 1;
}
