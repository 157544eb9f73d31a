/* usage: deep [MILLISECONDS [DEPTH]] — recursion with frames of changing size, and callbacks through the C library. */
#include "spin.h"

#include <string.h>

enum { COUNT = 400 };

volatile uint64_t result;
static int numbers[COUNT];

static int by_mixed_value(const void *left, const void *right)
{
	uint64_t a = (uint64_t) * (const int *)left, b = (uint64_t) * (const int *)right;
	for (int i = 0; i < 8; i++) {
		a = spin_mix(a);
		b = spin_mix(b);
	}
	return a < b ? -1 : a > b;
}

__attribute__((noinline)) static void sort_numbers(void)
{
	for (int i = 0; i < COUNT; i++)
		numbers[i] = i * 7919 % 1009;
	qsort(numbers, COUNT, sizeof *numbers, by_mixed_value);
	numbers[0] ^= 1; /* so that qsort() is not jumped to */
}

/* What happens behind the call keeps it from becoming a loop. */
__attribute__((noinline)) static uint64_t descend(int depth)
{
	char room[16 + (depth & 3) * 16];
	memset(room, depth, sizeof room);
	if (depth == 0) {
		sort_numbers();
		return (uint64_t)numbers[0];
	}
	uint64_t below = descend(depth - 1);
	return spin_mix(below + (uint64_t)room[depth & 15]);
}

int main(int argc, char **argv)
{
	long end = spin_milliseconds(argc, argv);
	int depth = argc > 2 ? atoi(argv[2]) : 30;
	while (spin_clock() < end)
		result = descend(depth);
	return 0;
}
