/*
 * usage: paths BITS [ROUNDS]: touches 2^BITS pages of new memory, each with another stack: the bits of its number say
 * which of two functions calls the next one.
 */
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096u

static volatile unsigned sum;
static volatile unsigned char *memory;

void left(unsigned page, unsigned bits, unsigned all);
void right(unsigned page, unsigned bits, unsigned all);

static void next(unsigned page, unsigned bits, unsigned all)
{
	if (!bits)
		memory[(size_t)page * PAGE] = 1;
	else if (all & 1)
		right(page, bits - 1, all >> 1);
	else
		left(page, bits - 1, all >> 1);
}

/* What happens behind the call keeps it from becoming a jump. */
__attribute__((noinline)) void left(unsigned page, unsigned bits, unsigned all)
{
	next(page, bits, all);
	sum++;
}

__attribute__((noinline)) void right(unsigned page, unsigned bits, unsigned all)
{
	next(page, bits, all);
	sum += 2;
}

int main(int argc, char **argv)
{
	unsigned bits = argc > 1 ? (unsigned)atoi(argv[1]) : 8, rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	for (unsigned round = 0; round < rounds; round++) {
		size_t size = (size_t)PAGE << bits;
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			return 1;
		madvise((void *)memory, size, MADV_NOHUGEPAGE);
		for (unsigned page = 0; page < 1u << bits; page++)
			next(page, bits, page);
		munmap((void *)memory, size);
	}
	return 0;
}
