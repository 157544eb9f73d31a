/* Times in nanoseconds. */
#ifndef WICK_BASE_CLOCK_H
#define WICK_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_SECOND 1000000000ull

static inline uint64_t clock_read(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * CLOCK_SECOND + (uint64_t)time.tv_nsec;
}

/* CLOCK_MONOTONIC: also the clock of samples and records. */
static inline uint64_t clock_now(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

#endif
