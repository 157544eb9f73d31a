#include "render/top_meter.h"

double top_meter_add(struct top_meter *meter, double amount, uint64_t until)
{
	meter->pending += amount;
	if (until <= meter->until)
		return meter->rate; /* nothing was read since: the next call has the samples of both */
	double seconds = (double)(until - meter->until) / 1e9;
	meter->rate = meter->pending / seconds;
	if (meter->most > 0 && meter->rate > meter->most)
		meter->rate = meter->most; /* samples are taken at a whole number of times */
	meter->pending = 0;
	meter->until = until;
	return meter->rate;
}
