/*
 * Ids of one profile in another one. While the first grows, what is new in it is translated with the next call, and
 * nothing twice. trace/follow.h does the same for traces.
 */
#ifndef WICK_PROFILE_FOLLOW_H
#define WICK_PROFILE_FOLLOW_H

#include "profile/profile.h"

/* By id of the followed one: the id in the other. Zero-initialised is empty. */
struct followed {
	uint32_t *ids;
	size_t count, capacity;
};

/* Room for all ids below `count`, of which `followed->count` are translated. */
static inline void followed_room(struct followed *followed, size_t count)
{
	followed->ids = mem_grow(followed->ids, &followed->capacity, count, sizeof *followed->ids);
}

void follow_strings(struct followed *strings, struct strpool *into, const struct strpool *from);
void follow_label_sets(struct followed *labels, struct label_sets *into, struct strpool *into_strings,
		       const struct label_sets *from, const struct strpool *from_strings);

struct profile_follower {
	struct followed strings, functions, frames, stacks, threads, values, labels;
};

void profile_follower_release(struct profile_follower *follower);
/* Adds to `into` the strings, functions, frames, stacks, threads, value types and labels that `from` has got. */
void profile_follow_names(struct profile_follower *follower, struct profile *into, const struct profile *from);

#endif
