/*
 * Renderers: profile (or its call tree) → bytes. Each writes to an outfile and never fails; a failed write is
 * reported by outfile_commit(). One output format, one file.
 */
#ifndef WICK_RENDER_RENDER_H
#define WICK_RENDER_RENDER_H

#include "base/outfile.h"
#include "profile/calltree.h"

/* Folded stacks, one line each, sorted by their bytes: "a;b;c 12", or "a;b;c 10 12" when two values are compared. */
void render_folded(const struct calltree *tree, unsigned decimals, struct outfile *out);

/*
 * The same with the first of two values multiplied by numerator / denominator and cut to a whole number, as
 * difffolded.pl -n does. Stacks whose value becomes zero by that keep their line.
 */
void render_folded_scaled(const struct calltree *tree, unsigned decimals, int64_t numerator, int64_t denominator,
			  struct outfile *out);

#endif
