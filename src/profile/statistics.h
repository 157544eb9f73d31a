/*
 * The little statistics that comparing profiles needs. Everything is computed in closed form: no random numbers, so
 * equal inputs give equal answers. All p-values are two-sided.
 */
#ifndef WICK_PROFILE_STATISTICS_H
#define WICK_PROFILE_STATISTICS_H

#include <stddef.h>

/* The regularised incomplete beta function I_x(a, b), a, b > 0, 0 ≤ x ≤ 1. */
double incomplete_beta(double a, double b, double x);

/* P(|Z| ≥ z) of the normal distribution. */
double normal_two_sided(double z);
/* P(|T| ≥ t) of Student's distribution with `df` degrees of freedom. */
double student_two_sided(double t, double df);

/*
 * Whether two counts can come from one rate, where the expected counts stand to each other as exposure_a to exposure_b:
 * given their sum, the first is binomial. Mid-p, so that small counts are not judged too strictly. Counts need not be
 * whole.
 */
double count_test(double count_a, double count_b, double exposure_a, double exposure_b);

/* Whether part_a of whole_a and part_b of whole_b can be one share. */
double share_test(double part_a, double whole_a, double part_b, double whole_b);

/* Mean and variance of the mean's estimate of one side of a comparison. */
struct side_mean {
	double mean;
	double spread; /* sample variance of single runs; ignored when runs < 2 */
	double counting; /* variance of a run that counting alone explains: the spread is not believed below it */
	size_t runs;
};

/*
 * Welch's test of two means. A side with a single run borrows the spread of the other; with single runs on both sides
 * only the counting noise is left and the normal distribution is used.
 */
double welch_test(const struct side_mean *a, const struct side_mean *b);

/*
 * Benjamini and Hochberg: turns p-values into the smallest false discovery rate at which each would be reported, in
 * place. Entries that are negative are not part of the family and stay.
 */
void adjust_false_discovery(double *p, size_t count);

#endif
