/* A library for dlopen(): plugin_work() spins. */
#include "spin.h"

volatile uint64_t plugin_result;

__attribute__((noinline)) static void plugin_inner(void)
{
	uint64_t value = plugin_result;
	SPIN(value);
	plugin_result = value;
}

void plugin_work(int times)
{
	for (int i = 0; i < times; i++)
		plugin_inner();
	plugin_result = plugin_result + 1;
}
