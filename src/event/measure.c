/* Counts samples, threads and CPU time of a recording. */
#include "event/measure.h"

void measure_time(struct measure *measure, uint64_t time)
{
	if (!time)
		return; /* records of what was there before have none */
	if (!measure->latest || time < measure->earliest)
		measure->earliest = time;
	if (time > measure->latest)
		measure->latest = time;
}

void measure_sample(struct measure *measure, const struct event_sample *sample, const struct source_facts *source)
{
	uint64_t count = sample->count ? sample->count : 1;
	measure_time(measure, sample->time);
	if (sample->count)
		measure_time(measure, sample->since);
	else if (source->waits && sample->period < sample->time)
		measure_time(measure, sample->time - sample->period);
	bool idle = sample->tid == 0;
	if (!source->clock || idle)
		return;
	measure->extent.samples += count;
	measure->extent.sampled += sample->period ? sample->period : count * source->period;
	measure->extent.user_only |= source->user_only;
}

void measure_count(struct measure *measure, const struct event_count *count, const struct source_facts *source)
{
	measure_time(measure, count->time);
	if (source->clock)
		measure->extent.cpu_time += count->value;
}

struct extent measure_extent(const struct measure *measure)
{
	struct extent extent = measure->extent;
	extent.duration = measure->latest - measure->earliest;
	return extent;
}
