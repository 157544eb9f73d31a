/* The call tree while it is made. For calltree*.c only. */
#ifndef WICK_PROFILE_CALLTREE_BUILDER_H
#define WICK_PROFILE_CALLTREE_BUILDER_H

#include "profile/calltree.h"
#include "profile/tree_labels.h"

/* The tree while it grows: nodes in the order of their creation, so that parents come before their children. */
struct builder {
	const struct profile *profile;
	const struct calltree_options *options;
	struct calltree *tree;
	int values; /* 1, or 2 when two value types are compared */
	bool in_time_order; /* a frame continues only the same frame of the sample just before */
	struct tree_labels labels;
	uint32_t *frame_label, *thread_label;
	uint32_t *set_label; /* by set of labels, with options->label; else NULL */
	bool *starts; /* by label: stacks begin here (options->skip_after and options->base); NULL: none does */

	const struct stack *stacks; /* the nodes are these, so label and parent wait until some are left; else NULL */
	uint32_t *label, *parent;
	uint32_t *first_child; /* NODE_ROOT: none */
	int64_t *self[2];
	int64_t *total[2]; /* when all nodes are there */
	int64_t *lead; /* as in struct calltree; NULL unless in time order */
	size_t count, capacity;
	uint32_t *rank; /* by label: its place in the order of names */
	struct index_map children; /* (parent, label) → node, for all but first children */

	uint32_t *path; /* scratch: labels or stacks of one sample */
	size_t path_capacity;
};

#define NODE_ROOT 0
#define NODE_OUT UINT32_MAX /* the stack has no frame of options->base so far */

/* Gives all nodes their totals, gives up the lightest beyond the budget, and moves the rest into the tree, in order. */
void builder_finish(struct builder *b);

#endif
