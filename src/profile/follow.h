/*
 * Ids of one profile in another one. While the first grows, what is new in it is translated with the next call, and
 * nothing twice.
 */
#ifndef WICK_PROFILE_FOLLOW_H
#define WICK_PROFILE_FOLLOW_H

#include "profile/profile.h"

/* Each array is indexed by ids of the followed profile and holds ids of the other. Zero-initialised is empty. */
struct profile_follower {
	str_id *strings;
	function_id *functions;
	frame_id *frames;
	stack_id *stacks;
	thread_id *threads;
	value_id *values;
	label_set_id *labels;
	size_t string_count, function_count, frame_count, stack_count, thread_count, value_count, label_count;
	size_t string_capacity, function_capacity, frame_capacity, stack_capacity, thread_capacity, value_capacity,
		label_capacity;
};

void profile_follower_release(struct profile_follower *follower);
/* Adds to `into` the strings, functions, frames, stacks, threads, value types and labels that `from` has got. */
void profile_follow_names(struct profile_follower *follower, struct profile *into, const struct profile *from);

#endif
