/*
 * The call tree: a profile as renderers draw it. Frames become labels (the text that is shown), equal labels under one
 * parent become one node, threads (or values of a label of the samples) become the outermost frames when they are
 * wanted, and every node knows its self and total weight in up to two value types.
 *
 * Nodes are in preorder: node 0 is the root of everything, the subtree of i is [i, end[i]), its first child (if any) is
 * i + 1 and the next sibling of a child c is end[c].
 */
#ifndef WICK_PROFILE_CALLTREE_H
#define WICK_PROFILE_CALLTREE_H

#include "profile/profile.h"

enum thread_label {
	THREAD_LABEL_NONE, /* no frame for the thread */
	THREAD_LABEL_COMM, /* java */
	THREAD_LABEL_PID, /* java-12 */
	THREAD_LABEL_TID, /* java-12/13 */
};

enum label_names {
	LABELS_DEFAULT, /* as the output decides: short in tables, else full */
	LABELS_FULL, /* names as the profile has them */
	LABELS_SHORT, /* their short forms (profile/short_names.h), which are as distinct */
};
/* What a table shows. */
static inline enum label_names label_names_of_table(enum label_names names)
{
	return names == LABELS_DEFAULT ? LABELS_SHORT : names;
}

enum tree_order {
	ORDER_NAME, /* siblings by the bytes of their label */
	ORDER_WIDTH, /* heaviest first */
	ORDER_INPUT, /* as they came; in an ordered profile equal neighbours merge only when adjacent */
};

enum tree_weight {
	TREE_WEIGHTS, /* of the value types */
	TREE_SAMPLES, /* the number of samples instead */
	TREE_WEIGHTS_AND_SAMPLES, /* of one value type: the second one of the tree is the number of samples */
};

struct calltree_options {
	value_id values[2]; /* which value types; the second is PROFILE_NONE unless two are compared */
	enum tree_weight weigh;
	enum thread_label thread_label;
	const char *label; /* key of samples: its values are the outermost frames instead of threads; NULL: none */
	enum tree_order order;
	enum label_names names;
	bool reverse; /* leaf first: callers above callees */
	bool merge_threads; /* worker-1, worker-2 … are one worker-* */
	bool annotate_kernel; /* _[k] as stackcollapse-perf.pl writes it */
	bool annotate_jit; /* _[j] */
	bool hide_inlined; /* leave out frames the source marked inlined */
	bool show_module; /* module`function */
	bool show_line; /* function:file:line when known */
	const char *const *skip_after; /* NULL-terminated: the deepest frame of this name becomes the outermost */
	const char *const *base; /* NULL-terminated: as skip_after, and stacks without such a frame are omitted */
	/*
	 * A tree of more nodes than this (0: any number) gives up its lightest ones, whose weight becomes their
	 * callers' own. Nodes with at least `keep_share` of the whole stay in any case.
	 */
	uint32_t node_budget;
	double keep_share;
};

struct tree_label {
	const char *text; /* NUL-terminated, any bytes */
	size_t length;
	frame_id frame; /* one with this label, the same in whatever order they came; PROFILE_NONE: threads, the root */
};

struct calltree {
	uint32_t count;
	uint32_t *label; /* index into labels */
	uint32_t *parent;
	uint32_t *end;
	uint32_t *depth; /* root is 0 */
	int64_t *self[2], *total[2]; /* [1] is NULL unless two value types are compared, or samples counted beside */
	/* In time order: how much of the caller's own weight came before the node (first value type). Else NULL. */
	int64_t *lead;
	uint32_t max_depth;

	struct tree_label *labels; /* labels[0] is the root's, "all" */
	size_t label_count;
	uint64_t left_out; /* samples without a `base` frame */
	uint64_t folded_nodes; /* nodes given up for the node budget */
	int64_t folded_weight; /* what they weighed, in the first value type */
	struct arena arena; /* text of the labels */
};

/* Labels of all nodes stay valid after the profile is released. */
void calltree_build(struct calltree *tree, const struct profile *profile, const struct calltree_options *options);
void calltree_release(struct calltree *tree);
/* Gives the labels of a tree with full names their short forms. What was built with LABELS_SHORT has them already. */
void calltree_shorten(struct calltree *tree, const struct profile *profile);

/*
 * The weight that stands at place `rank` (from 0) when weights ≥ 0 are sorted from heavy to light. Fewer than `rank`
 * are heavier; `*ret_left` says how many of those that weigh exactly this stand before it.
 */
int64_t weight_at_rank(const int64_t *weights, size_t count, size_t rank, size_t *ret_left);

#endif
