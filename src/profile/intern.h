/*
 * Finding what is stored already: profiles and traces (trace/trace.h) keep stacks, threads and samples in the same
 * way, and differ in their frames.
 */
#ifndef WICK_PROFILE_INTERN_H
#define WICK_PROFILE_INTERN_H

#include "base/hash.h"
#include "profile/profile.h"

/*
 * The stack that is `frame` called from `parent`, which has a first child; INDEX_NONE: there is none. First children
 * are not in the map, because their parents know them.
 */
static inline stack_id intern_find_stack(const struct stack *stacks, const struct index_map *map, stack_id parent,
					 uint32_t frame)
{
	struct index_probe probe;
	for (uint32_t i = index_map_first(map, hash_pair(parent, frame), &probe); i != INDEX_NONE;
	     i = index_map_next(map, &probe))
		if (stacks[i].parent == parent && stacks[i].frame == frame)
			return i;
	return INDEX_NONE;
}

/* Threads, in the array of a profile or a trace. */
struct intern_threads {
	struct thread **items;
	size_t *count, *capacity;
	struct index_map *map;
};
/* Finds or adds. */
thread_id intern_thread(struct intern_threads threads, struct thread thread);

/* Samples that are added up, with their labels. `map` may hold only the first ones. */
struct intern_samples {
	struct sample *items;
	size_t count;
	const struct label_column *labels;
	struct index_map *map;
	struct stack *stacks;
};
/*
 * The sample of the same stack, thread, value type and labels, or NULL. Most stacks have samples of one thread and one
 * value type, so that the last one is compared before anything is indexed.
 */
struct sample *intern_find_sample(const struct intern_samples *samples, const struct sample *sought,
				  label_set_id labels);

#endif
