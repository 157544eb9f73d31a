/* Interrupts itself, and works in the handler. */
#include "spin.h"

#include <signal.h>

volatile uint64_t result;

__attribute__((noinline)) static void handler_work(void)
{
	uint64_t value = result;
	SPIN(value);
	result = value;
}

static void on_signal(int number)
{
	for (int i = 0; i < 100; i++)
		handler_work();
	result = result + (uint64_t)number;
}

__attribute__((noinline)) static void interrupted(void)
{
	raise(SIGUSR1);
	result = result + 1;
}

int main(int argc, char **argv)
{
	long end = spin_milliseconds(argc, argv);
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal}, NULL);
	while (spin_clock() < end)
		interrupted();
	return 0;
}
