/*
 * When samples were taken, for how long, and on which CPU: 20 bytes per sample, in arrays beside the samples and by
 * their index. A profile has them only if it is asked to keep them.
 */
#ifndef WICK_PROFILE_TIME_COLUMNS_H
#define WICK_PROFILE_TIME_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

struct sample_time {
	uint64_t time; /* nanoseconds of the clock of the recording */
	uint64_t duration; /* nanoseconds, up to `time`; 0: a moment */
	uint32_t cpu;
};

#define SAMPLE_TIME_UNKNOWN ((struct sample_time){.time = UINT64_MAX, .cpu = UINT32_MAX})

/* Zero-initialized is empty, and has no memory. */
struct time_columns {
	uint64_t *times, *durations;
	uint32_t *cpus;
	size_t capacity;
};

void time_columns_release(struct time_columns *columns);
/* Makes room for the sample `index`. */
void time_columns_set(struct time_columns *columns, size_t index, struct sample_time time);
struct sample_time time_columns_get(const struct time_columns *columns, size_t index);

#endif
