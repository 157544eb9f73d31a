/*
 * `wick diff`: what changed, as a table for people and as JSON, whose fields are described in docs/json.md and are kept
 * stable. Pictures are drawn by svg.h, folded stacks by render.h.
 */
#ifndef WICK_RENDER_DIFF_H
#define WICK_RENDER_DIFF_H

#include "base/outfile.h"
#include "profile/gate.h"

struct diff_view {
	const struct diff *diff;
	const char *const *inputs[2]; /* NULL-terminated names of what was read, by side */
	const struct gate *gates; /* checked */
	size_t gate_count;
	const char *notes[4]; /* lines the reader must know; NULL-terminated */
	size_t limit; /* rows of a table; 0: all */
	/* Only for text. */
	bool show_self, show_total;
	int width; /* columns to fit into; 0: lines may be of any length */
	bool colour;
};

void diff_text(const struct diff_view *view, struct outfile *out);
void diff_json(const struct diff_view *view, struct outfile *out);

/* One line about a gate for people: what was measured and whether it holds. */
void diff_verdict(const struct diff *diff, const struct gate *gate, struct buf *out);

enum diff_sort { DIFF_SORT_SELF, DIFF_SORT_TOTAL };
/*
 * Indexes of the rows that changed, those that are more than noise first, then by the size of the change. The caller
 * frees; their number goes to `ret_count`. With `all`, rows that did not change follow.
 */
size_t *diff_sorted(const struct diff *diff, enum diff_sort sort, bool all, size_t *ret_count);

#endif
