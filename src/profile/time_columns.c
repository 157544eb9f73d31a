/* Time, duration and CPU of samples, as one array each. */
#include "profile/time_columns.h"

#include "base/mem.h"

void time_columns_release(struct time_columns *columns)
{
	free(columns->times);
	free(columns->durations);
	free(columns->cpus);
	*columns = (struct time_columns){0};
}

void time_columns_set(struct time_columns *columns, size_t index, struct sample_time time)
{
	if (index >= columns->capacity) {
		columns->times = mem_grow(columns->times, &columns->capacity, index + 1, sizeof *columns->times);
		columns->durations = mem_realloc(columns->durations, columns->capacity, sizeof *columns->durations);
		columns->cpus = mem_realloc(columns->cpus, columns->capacity, sizeof *columns->cpus);
	}
	columns->times[index] = time.time;
	columns->durations[index] = time.duration;
	columns->cpus[index] = time.cpu;
}

struct sample_time time_columns_get(const struct time_columns *columns, size_t index)
{
	return (struct sample_time){
		.time = columns->times[index],
		.duration = columns->durations[index],
		.cpu = columns->cpus[index],
	};
}
