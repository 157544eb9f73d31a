/* Passes each record to two sinks. */
#include "event/tee.h"

/* A failure of the first keeps the record from the second. */
static int take(void *context, const struct event *event)
{
	const struct event_tee *tee = context;
	int result = sink_take(&tee->first, event);
	return result < 0 ? result : sink_take(&tee->second, event);
}

struct event_sink event_tee_sink(struct event_tee *tee)
{
	return (struct event_sink){.context = tee, .take = take};
}
