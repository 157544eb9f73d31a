/*
 * The ids of one trace in another one. While the first grows, each call translates what is new in it, so that nothing
 * is translated twice.
 */
#ifndef WICK_TRACE_FOLLOW_H
#define WICK_TRACE_FOLLOW_H

#include "profile/follow.h"
#include "profile/sample_list.h"
#include "trace/trace.h"

/* Zero-initialized is empty. */
struct trace_follower {
	struct followed strings, frames, stacks, threads, values, labels;
	struct sample *seen; /* what was already given of each sample */
	size_t seen_count, seen_capacity;
};

void trace_follower_release(struct trace_follower *follower);
/* Adds to `into` the frames that `from` got since the last call. */
void trace_follow_frames(struct trace_follower *follower, struct trace *into, const struct trace *from);
/*
 * Adds to `into` the frames, stacks, threads, events and labels that `from` got, and appends to `news` by how much each
 * sample grew, in ids of `into`. `into` gets no samples.
 */
void trace_follow(struct trace_follower *follower, struct trace *into, const struct trace *from,
		  struct sample_list *news);
/* Adds everything of `from`, which is unchanged, to `into`. */
void trace_merge(struct trace *into, const struct trace *from);

#endif
