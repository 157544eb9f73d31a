/* Small profiles for tests, written as folded text. */
#ifndef WICK_TESTS_STACKS_H
#define WICK_TESTS_STACKS_H

#include "profile/calltree.h"

/* Adds "a;b;c" of a thread with a weight; "lib`a" is the function a of the module lib. */
static inline void stacks_add(struct profile *profile, thread_id thread, const char *path, int64_t weight)
{
	stack_id stack = STACK_ROOT;
	while (*path) {
		size_t length = strcspn(path, ";"), module = strcspn(path, "`;");
		bool has_module = path[module] == '`';
		const char *name = has_module ? path + module + 1 : path;
		struct function function = {
			.name = profile_string(profile, name, length - (size_t)(name - path)),
			.module = has_module ? profile_string(profile, path, module) : 0,
		};
		struct frame frame = {.function = profile_function(profile, function)};
		stack = profile_stack(profile, stack, profile_frame(profile, frame));
		path += length + (path[length] == ';');
	}
	profile_add(profile, thread, stack, profile_value(profile, "samples", "samples"), weight);
}

/* The call tree of value type 0. */
static inline void stacks_tree(struct calltree *tree, const struct profile *profile, enum tree_order order)
{
	struct calltree_options options = {.values = {0, PROFILE_NONE}, .order = order, .show_module = true};
	calltree_build(tree, profile, &options);
}

#endif
