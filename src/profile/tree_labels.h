/* The text that stands for a frame or a thread in outputs. Used by the call tree. */
#ifndef WICK_PROFILE_TREE_LABELS_H
#define WICK_PROFILE_TREE_LABELS_H

#include "base/buf.h"
#include "profile/calltree.h"
#include "profile/short_names.h"

struct tree_labels {
	struct tree_label *items;
	size_t count, capacity;
	struct arena arena;
	struct index_map map;
};

#define LABEL_HIDDEN UINT32_MAX /* the frame is not shown */

void tree_labels_init(struct tree_labels *set); /* item 0 is the root's "all" and equal to no frame's */

/* One label per frame; the caller frees. */
uint32_t *labels_of_frames(struct tree_labels *set, const struct profile *profile,
			   const struct calltree_options *options);
/* One label per thread, LABEL_HIDDEN where none is wanted or known; the caller frees. */
uint32_t *labels_of_threads(struct tree_labels *set, const struct profile *profile,
			    const struct calltree_options *options);
/* One label per set of labels of samples: the value of options->label. The caller frees. */
uint32_t *labels_of_sets(struct tree_labels *set, const struct profile *profile,
			 const struct calltree_options *options);
/*
 * Appends the first `length` bytes of a label with the short form of its function's name. False when there is none that
 * is shorter, or the label has it already.
 */
bool label_shorten(struct buf *out, const struct profile *profile, const struct short_names *names,
		   const struct tree_label *label, size_t length);
/* Order of labels in sorted folded lines, that is, as if followed by ';'. */
int label_compare(const struct tree_label *a, const struct tree_label *b);
/* The place of each label in that order. The caller frees. */
uint32_t *labels_rank(const struct tree_label *labels, size_t count);

#endif
