/* usage: recursion [BYTES]: recursion to depth 500; the time is spent at its end. BYTES: size of the outermost frame. */
#include <alloca.h>
#include <stdint.h>
#include <stdlib.h>

static volatile uint64_t sum;

__attribute__((noinline)) uint64_t descend(unsigned depth)
{
	if (!depth) {
		for (unsigned i = 0; i < 1000000; i++)
			sum += i;
		return sum;
	}
	uint64_t below = descend(depth - 1);
	sum += below; /* so that the call is not the last thing done */
	return below + depth;
}

int main(int argc, char **argv)
{
	volatile char *room = alloca(argc > 1 ? strtoul(argv[1], NULL, 10) : 1);
	room[0] = 0;
	for (unsigned i = 0; i < 600; i++)
		descend(500);
	return 0;
}
