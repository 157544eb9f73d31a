/*
 * How much functions vary from run to run. Three runs say little about the spread of one function, but all functions
 * together say much: so the spread of each is drawn towards what is usual for its size, the more the fewer runs there
 * are (empirical Bayes, as limma does for genes). The usual variance is counting + (excess × level)²: the chance of
 * the sampling, and what the program and the machine add, which grows with the function.
 */
#ifndef WICK_PROFILE_SPREAD_H
#define WICK_PROFILE_SPREAD_H

#include <stdbool.h>
#include <stddef.h>

/* One function over all runs. */
struct spread_item {
	double mean[2]; /* before, after */
	double level; /* mean of all runs */
	double variance; /* within the sides, pooled */
	double counting; /* the part of the variance that counting explains */
	bool counts; /* enough samples to learn from */
};

struct spread_model {
	double degrees; /* of freedom of each item's variance */
	double excess; /* usual standard deviation beyond counting, as part of the level */
	double prior_degrees; /* how many degrees of freedom the usual variance is worth; 0: nothing was learned */
};

struct spread_model spread_fit(const struct spread_item *items, size_t count, double degrees);
/* Two-sided p-value of the difference of the means of runs[0] and runs[1] runs. */
double spread_test(const struct spread_model *model, const struct spread_item *item, const size_t runs[2]);

#endif
