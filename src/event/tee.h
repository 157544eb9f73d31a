/* One stream of records into two sinks, the first before the second. */
#ifndef WICK_EVENT_TEE_H
#define WICK_EVENT_TEE_H

#include "event/event.h"

struct event_tee {
	struct event_sink first, second;
};

/* The tee must stay where it is as long as the sink is used. */
struct event_sink event_tee_sink(struct event_tee *tee);

#endif
