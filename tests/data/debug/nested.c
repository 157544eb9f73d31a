/* Functions inside of functions (GNU C): their DIEs are below their parent's, beside what is inlined there. */
static volatile int sink;

static inline __attribute__((always_inline)) int square(int value)
{
	sink = value;
	return value * value;
}

__attribute__((noinline)) int outer(int count)
{
	__attribute__((noinline)) int inner(int value)
	{
		sink = count;
		return square(value) + square(count);
	}
	int sum = square(count);
	for (int i = 0; i < count; i++)
		sum += inner(i) - inner(sum);
	return sum;
}

int main(int argc, char **argv)
{
	(void)argv;
	return outer(argc) & 1;
}
