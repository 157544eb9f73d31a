/* usage: family [MILLISECONDS [OTHER]] — a process, its child, and a grandchild that executes the program OTHER. */
#include "spin.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

volatile uint64_t result;

/* Functions that are equal would become one: `seed` makes them different. */
#define WORKER(name, seed)                                   \
	__attribute__((noinline)) static void name(long end) \
	{                                                    \
		uint64_t value = seed;                       \
		while (spin_clock() < end)                   \
			SPIN(value);                         \
		result = value;                              \
	}
WORKER(parent_work, 1)
WORKER(child_work, 2)

int main(int argc, char **argv)
{
	long end = spin_milliseconds(argc, argv) / 3;
	char time[32];
	int status = 0;
	snprintf(time, sizeof time, "%ld", end);
	pid_t child = fork();
	if (child == 0) {
		pid_t grandchild = fork();
		if (grandchild == 0 && argc > 2) {
			execl(argv[2], argv[2], time, (char *)NULL);
			_exit(127);
		}
		child_work(end);
		waitpid(grandchild, &status, 0);
		_exit(status != 0);
	}
	parent_work(end);
	waitpid(child, &status, 0);
	return status != 0;
}
