/* Fits the usual variance of functions, and tests a change against it. */
#include "profile/spread.h"

#include "base/mem.h"
#include "profile/statistics.h"

#include <math.h>

#define FEWEST_ITEMS 8 /* to learn from */
#define MAX_PRIOR_DEGREES 100.0

static double usual_variance(const struct spread_item *item, double excess)
{
	double added = excess * item->level;
	return item->counting + added * added;
}

static int ascending(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return a < b ? -1 : a > b;
}

/* The median over the items of their variance as a multiple of the usual one. */
static double median_ratio(const struct spread_item *const *items, size_t count, double excess, double *scratch)
{
	for (size_t i = 0; i < count; i++)
		scratch[i] = items[i]->variance / usual_variance(items[i], excess);
	qsort(scratch, count, sizeof *scratch, ascending);
	return scratch[count / 2];
}

/* The excess with which half of the items vary more than usual. The median does not mind the few that really differ. */
static double fit_excess(const struct spread_item *const *items, size_t count, double degrees, double *scratch)
{
	/* Median of chi² / degrees, by Wilson and Hilferty. */
	double expected = pow(1 - 2 / (9 * degrees), 3);
	double low = 0, high = 1;
	if (median_ratio(items, count, 0, scratch) <= expected)
		return 0;
	while (high < 1e6 && median_ratio(items, count, high, scratch) > expected)
		high *= 4;
	for (int i = 0; i < 40; i++) {
		double middle = (low + high) / 2;
		if (median_ratio(items, count, middle, scratch) > expected)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* The second derivative of log gamma, for x > 0. */
static double trigamma(double x)
{
	double result = 0;
	for (; x < 8; x++)
		result += 1 / (x * x);
	double square = 1 / (x * x);
	return result + 1 / x + square / 2 + square / x * (1.0 / 6 - square * (1.0 / 30 - square / 42));
}

/*
 * Logarithms of variances with d degrees of freedom vary by trigamma(d/2). What they vary more is due to functions
 * whose own variance is unusual, and says what the usual one is worth.
 */
static double fit_prior_degrees(const struct spread_item *const *items, size_t count, double degrees, double excess)
{
	double sum = 0, squares = 0;
	for (size_t i = 0; i < count; i++) {
		double ratio = items[i]->variance / usual_variance(items[i], excess);
		double value = log(fmax(ratio, 1e-3));
		sum += value;
		squares += value * value;
	}
	double n = (double)count;
	double surplus = (squares - sum * sum / n) / (n - 1) - trigamma(degrees / 2);
	if (surplus <= trigamma(MAX_PRIOR_DEGREES / 2))
		return MAX_PRIOR_DEGREES;
	double low = 1e-3, high = MAX_PRIOR_DEGREES;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;
		if (trigamma(middle / 2) > surplus)
			low = middle;
		else
			high = middle;
	}
	return low;
}

struct spread_model spread_fit(const struct spread_item *items, size_t count, double degrees)
{
	struct spread_model model = {.degrees = degrees};
	const struct spread_item **learned CLEANUP_FREE = mem_alloc((count + 1) * sizeof *learned);
	double *scratch CLEANUP_FREE = mem_alloc((count + 1) * sizeof *scratch);
	size_t used = 0;
	for (size_t i = 0; i < count; i++)
		if (items[i].counts && items[i].counting > 0)
			learned[used++] = &items[i];
	if (used < FEWEST_ITEMS)
		return model;
	model.excess = fit_excess(learned, used, degrees, scratch);
	model.prior_degrees = fit_prior_degrees(learned, used, degrees, model.excess);
	return model;
}

double spread_test(const struct spread_model *model, const struct spread_item *item, const size_t runs[2])
{
	double difference = item->mean[0] - item->mean[1];
	if (difference == 0)
		return 1;
	double degrees = model->degrees + model->prior_degrees;
	double variance =
		(model->degrees * item->variance + model->prior_degrees * usual_variance(item, model->excess)) /
		degrees;
	/* No run can be steadier than its counting. */
	variance = fmax(variance, item->counting) * (1 / (double)runs[0] + 1 / (double)runs[1]);
	if (!(variance > 0))
		return 0;
	return student_two_sided(difference / sqrt(variance), degrees);
}
