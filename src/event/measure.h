/* Measures what a recording extends over while its records come: see profile/extent.h. */
#ifndef WICK_EVENT_MEASURE_H
#define WICK_EVENT_MEASURE_H

#include "event/event.h"
#include "event/source_facts.h"
#include "profile/extent.h"

struct measure {
	struct extent extent;
	uint64_t earliest, latest; /* times of records; latest 0: none had one */
};

void measure_time(struct measure *measure, uint64_t time);
/* Of every sample, whether it is shown or not. */
void measure_sample(struct measure *measure, const struct event_sample *sample, const struct source_facts *source);
void measure_count(struct measure *measure, const struct event_count *count, const struct source_facts *source);
/* All but who took part. */
struct extent measure_extent(const struct measure *measure);

#endif
