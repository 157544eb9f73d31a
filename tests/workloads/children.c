/* usage: children PROGRAM: a child that continues in this program, and one that executes PROGRAM. */
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t sum;

__attribute__((noinline)) void in_child(void)
{
	for (unsigned i = 0; i < 300000000; i++)
		sum += i;
}

int main(int argc, char **argv)
{
	if (fork() == 0) {
		in_child();
		_exit(0);
	}
	if (argc > 1 && fork() == 0) {
		execl(argv[1], argv[1], "0.3", (char *)0);
		_exit(127);
	}
	while (wait(0) > 0)
		;
	return 0;
}
