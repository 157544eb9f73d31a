/* What would have made a recording better: the reason that most of what is missing is missing for, and the remedy. */
#ifndef WICK_EVENT_ADVICE_H
#define WICK_EVENT_ADVICE_H

#include "base/buf.h"
#include "event/stack.h"

struct advice_facts {
	uint64_t ends[STACK_ENDS]; /* how many stacks ended so */
	uint32_t stack_bytes; /* of the largest copies; 0: there were none */
	bool by_wick; /* who recorded, and has looked into unwind tables then */
	bool each; /* some event is told each time it happens */
	uint64_t frequency; /* the highest that was asked for; 0: none */
};

/* Adds nothing when no stack ended early. */
void advice_on_truncated(struct buf *out, const struct advice_facts *facts);
void advice_on_lost(struct buf *out, const struct advice_facts *facts);

#endif
