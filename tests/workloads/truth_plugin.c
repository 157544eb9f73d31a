/* The library that truth.c loads: three quarters of its time in three(), a quarter in one(). */
#include "spin.h"

static volatile uint64_t result;

__attribute__((noinline)) static void burn(void)
{
	uint64_t value = result;
	SPIN(value);
	result = value;
}

__attribute__((noinline)) static void three(void)
{
	for (int i = 0; i < 3; i++)
		burn();
	result = result + 1;
}

__attribute__((noinline)) static void one(void)
{
	burn();
	result = result + 1;
}

void plugin_both(int times)
{
	for (int i = 0; i < times; i++) {
		three();
		one();
	}
}
