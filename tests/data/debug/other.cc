#include "inlines.h"

static inline long deepest(long value)
{
	return value ^ sink;
}

static inline long middle(long value)
{
	for (long i = 0; i < value; i++)
		value += deepest(i);
	return value;
}

long other_unit(long value)
{
	long first = middle(value + 1);
	sink = first;
	return first + deepest(value);
}
