/*
 * The ids of one trace in another one. While the first grows, each call translates what is new in it, so that nothing
 * is translated twice.
 */
#ifndef WICK_TRACE_FOLLOW_H
#define WICK_TRACE_FOLLOW_H

#include "profile/sample_list.h"
#include "trace/trace.h"

/* Each array is indexed by ids of the followed trace and holds ids of the other one. Zero-initialized is empty. */
struct trace_follower {
	str_id *strings;
	trace_frame_id *frames;
	stack_id *stacks;
	thread_id *threads;
	value_id *values;
	label_set_id *labels;
	size_t string_count, frame_count, stack_count, thread_count, value_count, label_count;
	size_t string_capacity, frame_capacity, stack_capacity, thread_capacity, value_capacity, label_capacity;
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
