/* Repeated runs: for each function the sum and the sum of squares of what each run spent in it. Used by diff. */
#ifndef WICK_PROFILE_DIFF_RUNS_H
#define WICK_PROFILE_DIFF_RUNS_H

#include "profile/diff.h"

enum diff_quantity { QUANTITY_SELF, QUANTITY_TOTAL };

struct run_sums {
	double sum[2][2], squares[2][2]; /* [side][quantity] */
};

struct diff_runs {
	struct strpool names; /* labels; id 0, the empty name, stands for the run's total weight */
	struct run_sums *sums; /* by id in names */
	size_t capacity;
};

struct diff_runs *diff_runs_new(void);
void diff_runs_free(struct diff_runs *runs);
/* Adds the functions of a run, as weights in units of the value type or, with `shares`, as parts of its total. */
void diff_runs_add(struct diff_runs *runs, enum diff_side side, const struct calltree *tree, double unit, bool shares);
/* The sums of a function; zeros when no run has it. */
struct run_sums diff_runs_of(const struct diff_runs *runs, const char *name, size_t length);
double run_sums_mean(const struct run_sums *sums, enum diff_side side, enum diff_quantity quantity, size_t runs);
/* Sample variance over the runs; those without the function count as zero. */
double run_sums_variance(const struct run_sums *sums, enum diff_side side, enum diff_quantity quantity, size_t runs);

/* Fills p, confidence and significant of every row and of diff->all. */
void diff_judge(struct diff *diff);

#endif
