/* Distributions and tests. */
#include "profile/statistics.h"

#include "base/mem.h"

#include <math.h>

/* The continued fraction of I_x(a, b) by Lentz's method; converges quickly for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	d = 1 / (fabs(d) < tiny ? tiny : d);
	double result = d;
	/* About sqrt(max(a, b)) steps are needed; the limit only guards against rounding that never settles. */
	for (int i = 1; i < 100000; i++) {
		double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
		double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1));
		double change = 1;
		for (int half = 0; half < 2; half++) {
			double term = half ? odd : even;
			d = 1 + term * d;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = 1 + term / c;
			c = fabs(c) < tiny ? tiny : c;
			change = d * c;
			result *= change;
		}
		if (fabs(change - 1) < 1e-13)
			break;
	}
	return result;
}

static double log_gamma(double x)
{
	int sign; /* lgamma() would write a global */
	return lgamma_r(x, &sign);
}

double incomplete_beta(double a, double b, double x)
{
	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return fmin(1, front * beta_fraction(a, b, x) / a);
	return fmax(0, 1 - front * beta_fraction(b, a, 1 - x) / b);
}

double normal_two_sided(double z)
{
	return erfc(fabs(z) / M_SQRT2);
}

double student_two_sided(double t, double df)
{
	if (isinf(t))
		return 0;
	return incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

/* P(X ≥ k) for X binomial (n, p), continued between whole k. */
static double binomial_tail(double k, double n, double p)
{
	if (k <= 0)
		return 1;
	if (k > n)
		return 0;
	return incomplete_beta(k, n - k + 1, p);
}

/* With so many counts the exact sum and the normal distribution agree, and lgamma() starts to lose digits. */
#define MANY_COUNTS 1e6

double count_test(double count_a, double count_b, double exposure_a, double exposure_b)
{
	double n = count_a + count_b;
	if (!(n > 0) || !(exposure_a > 0) || !(exposure_b > 0))
		return 1;
	double p = exposure_a / (exposure_a + exposure_b);
	if (n > MANY_COUNTS)
		return normal_two_sided((count_a - n * p) / sqrt(n * p * (1 - p)));
	/* Mid-p: what was seen counts half to each tail. Each is summed on its own side and keeps its digits. */
	double upper = (binomial_tail(count_a, n, p) + binomial_tail(count_a + 1, n, p)) / 2;
	double lower = (binomial_tail(count_b, n, 1 - p) + binomial_tail(count_b + 1, n, 1 - p)) / 2;
	return fmin(1, 2 * fmin(upper, lower));
}

double share_test(double part_a, double whole_a, double part_b, double whole_b)
{
	if (!(whole_a > 0) || !(whole_b > 0))
		return 1;
	double pooled = (part_a + part_b) / (whole_a + whole_b);
	/* A small share of many: the counts are as good as independent of the wholes. */
	if (pooled < 0.05)
		return count_test(part_a, part_b, whole_a, whole_b);
	double variance = pooled * (1 - pooled) * (1 / whole_a + 1 / whole_b);
	double difference = part_a / whole_a - part_b / whole_b;
	if (!(variance > 0))
		return difference == 0 ? 1 : 0;
	return normal_two_sided(difference / sqrt(variance));
}

static double variance_of_run(const struct side_mean *side, const struct side_mean *other)
{
	double spread = side->runs >= 2 ? side->spread : other->runs >= 2 ? other->spread : 0;
	return fmax(spread, side->counting);
}

double welch_test(const struct side_mean *a, const struct side_mean *b)
{
	double difference = a->mean - b->mean;
	if (difference == 0 || !a->runs || !b->runs)
		return 1;
	double va = variance_of_run(a, b) / (double)a->runs, vb = variance_of_run(b, a) / (double)b->runs;
	double variance = va + vb;
	if (!(variance > 0))
		return 0;
	double t = difference / sqrt(variance);
	if (a->runs < 2 && b->runs < 2)
		return normal_two_sided(t);
	if (a->runs < 2 || b->runs < 2)
		return student_two_sided(t, (double)(a->runs < 2 ? b->runs : a->runs) - 1);
	double df = variance * variance / (va * va / ((double)a->runs - 1) + vb * vb / ((double)b->runs - 1));
	return student_two_sided(t, df);
}

static int by_value(const void *left, const void *right, void *context)
{
	const double *p = context;
	double a = p[*(const size_t *)left], b = p[*(const size_t *)right];
	return a < b ? -1 : a > b;
}

void adjust_false_discovery(double *p, size_t count)
{
	size_t *order CLEANUP_FREE = mem_alloc((count + 1) * sizeof *order);
	size_t family = 0;
	for (size_t i = 0; i < count; i++)
		if (p[i] >= 0)
			order[family++] = i;
	qsort_r(order, family, sizeof *order, by_value, p);
	double min = 1;
	for (size_t rank = family; rank > 0; rank--) {
		double *value = &p[order[rank - 1]];
		min = fmin(min, *value * (double)family / (double)rank);
		*value = min;
	}
}
