/* Rates of events over the last seconds. */
#include "render/top/top_meter.h"

/* Samples are taken at a whole number of times, so that there may be one too many. */
static double bounded(const struct top_meter *meter, double rate)
{
	return meter->max > 0 && rate > meter->max ? meter->max : rate;
}

double top_meter_add(struct top_meter *meter, double amount, uint64_t until, uint64_t now)
{
	meter->pending += amount;
	uint64_t covered = until > meter->until ? until - meter->until : 0;
	uint64_t after = now > until ? now - until : 0;
	/* Most of it may be later than `until`: the next call has the samples of both. */
	if (covered <= after) {
		if (!meter->known && now > meter->until)
			meter->rate = bounded(meter, meter->pending / ((double)(now - meter->until) / 1e9));
		return meter->rate;
	}
	meter->rate = bounded(meter, meter->pending / ((double)covered / 1e9));
	meter->known = true;
	meter->pending = 0;
	meter->until = until;
	return meter->rate;
}
