/* Work that takes CPU time and cannot be optimised away. */
#ifndef SPIN_H
#define SPIN_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t spin_mix(uint64_t value)
{
	value ^= value >> 29;
	value *= 0xbf58476d1ce4e5b9u;
	return value ^ value >> 32;
}

/* CPU time of the calling thread in milliseconds. */
static inline long spin_clock(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline long spin_milliseconds(int argc, char **argv)
{
	return argc > 1 ? atol(argv[1]) : 400;
}

/* A step is a few microseconds. */
#define SPIN_STEP 4000
#define SPIN(value)                                 \
	do {                                        \
		for (int i = 0; i < SPIN_STEP; i++) \
			(value) = spin_mix(value);  \
	} while (0)

#endif
