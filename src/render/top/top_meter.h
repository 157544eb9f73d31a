/*
 * How much happens in a second, for the head of `wick top`. Samples arrive in bursts: those that the kernel counts are
 * read now and then, and not when the screen is refreshed. So the time they are divided by is the time they cover.
 */
#ifndef WICK_RENDER_TOP_TOP_METER_H
#define WICK_RENDER_TOP_TOP_METER_H

#include <stdbool.h>
#include <stdint.h>

struct top_meter {
	uint64_t until; /* nanoseconds: what came before is in `rate`; set by the owner to when the recording began */
	double pending; /* that came since */
	double rate; /* per second */
	bool known; /* `rate` is of a whole interval */
	double max; /* that can be; 0: any */
};

/*
 * Adds what came since the last call. All that happened before `until` has come, and a part of what happened between
 * `until` and `now`: samples that are not counted in the kernel arrive at once. Returns the rate.
 */
double top_meter_add(struct top_meter *meter, double amount, uint64_t until, uint64_t now);

#endif
