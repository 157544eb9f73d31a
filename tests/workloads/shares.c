/* Two functions that do the same work, one of them three times as often. */
#include "spin.h"

volatile uint64_t result;

__attribute__((noinline)) static void three_quarters(void)
{
	uint64_t value = result;
	SPIN(value);
	result = value;
}

__attribute__((noinline)) static void one_quarter(void)
{
	uint64_t value = result;
	SPIN(value);
	result = value + 1;
}

int main(int argc, char **argv)
{
	long end = spin_milliseconds(argc, argv);
	while (spin_clock() < end)
		for (int i = 0; i < 100; i++) {
			three_quarters();
			three_quarters();
			three_quarters();
			one_quarter();
		}
	return 0;
}
