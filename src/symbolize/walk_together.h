/*
 * Traces whose stacks get names as one tree: their trees are walked side by side, all stacks that are
 * one stack with names at a time. So nothing is looked up, and the stacks of the result lie in the order of a walk.
 */
#ifndef WICK_SYMBOLIZE_WALK_TOGETHER_H
#define WICK_SYMBOLIZE_WALK_TOGETHER_H

#include "symbolize/symbolizer.h"

struct walked {
	const struct trace *trace;
	const trace_frame_id *frames; /* its frames among those that have names; NULL: they are the same */
	struct symbolizer_stack *stacks; /* gets what its stacks are called in the result; the caller frees */
};

/* `frames` are those of traces that have names. `into` has no stack but the root yet. */
void walk_together(const struct symbolizer *n, const struct trace_frame *frames, struct walked *walked, size_t count,
		   struct profile *into);

#endif
