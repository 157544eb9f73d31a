/* statistics and spread, against values from tables or computed by hand */
#include "unit.h"

#include "profile/spread.h"
#include "profile/statistics.h"

#include <math.h>

#define CLOSE(value, expected, within) \
	assert_true(fabs((value) - (expected)) <= (within) || (print_error("%.10g\n", (double)(value)), 0))

static void distributions_match_their_tables(void **state)
{
	(void)state;
	CLOSE(incomplete_beta(2, 3, 0.5), 0.6875, 1e-12);
	CLOSE(incomplete_beta(1, 1, 0.3), 0.3, 1e-12);
	CLOSE(incomplete_beta(0.5, 0.5, 0.25), 1.0 / 3, 1e-12);
	CLOSE(incomplete_beta(5000, 5000, 0.5), 0.5, 1e-9);
	assert_true(incomplete_beta(3, 4, 0) == 0 && incomplete_beta(3, 4, 1) == 1);
	CLOSE(normal_two_sided(1.959963985), 0.05, 1e-9);
	CLOSE(student_two_sided(12.7062047, 1), 0.05, 1e-8);
	CLOSE(student_two_sided(-2.7764451, 4), 0.05, 1e-8);
	CLOSE(student_two_sided(2, 1e7), normal_two_sided(2), 1e-6);
	assert_true(student_two_sided(INFINITY, 3) == 0);
}

static void small_counts_are_judged_exactly(void **state)
{
	(void)state;
	CLOSE(count_test(0, 5, 1, 1), 1.0 / 32, 1e-12);
	CLOSE(count_test(8, 2, 1, 1), 67.0 / 1024, 1e-12);
	CLOSE(count_test(2, 8, 1, 1), 67.0 / 1024, 1e-12);
	CLOSE(count_test(7, 7, 1, 1), 1, 1e-12);
	/* One of four at exposures 3 : 1 is what is expected. */
	CLOSE(count_test(3, 1, 3, 1), 1, 0.2);
	assert_true(count_test(0, 0, 1, 1) == 1);
	/* Far out, but not zero: corrections multiply it. */
	double far = count_test(1000, 2000, 1, 1);
	assert_true(far > 0 && far < 1e-60);
	/* The change from the exact sum to the normal distribution is not seen. */
	double below = count_test(499000, 500900, 1, 1), above = count_test(499200, 501101, 1, 1);
	CLOSE(below, above, 0.001);
}

static void shares_are_judged_within_their_wholes(void **state)
{
	(void)state;
	/* Everything of 1000 and everything of 1200 is the same share. */
	assert_true(share_test(1000, 1000, 1200, 1200) == 1);
	CLOSE(share_test(500, 1000, 550, 1000), normal_two_sided(0.05 / sqrt(0.525 * 0.475 * 2 / 1000)), 1e-12);
	CLOSE(share_test(8, 1000, 2, 1000), 67.0 / 1024, 1e-12);
	assert_true(share_test(0, 0, 5, 10) == 1);
}

static void runs_are_judged_by_their_spread(void **state)
{
	(void)state;
	/* 10 11 12 and 14 15 16: t = -4 / sqrt(2/3), 4 degrees of freedom. */
	struct side_mean a = {.mean = 11, .spread = 1, .runs = 3}, b = {.mean = 15, .spread = 1, .runs = 3};
	CLOSE(welch_test(&a, &b), student_two_sided(4 / sqrt(2.0 / 3), 4), 1e-12);
	/* Runs that agree by luck are not more certain than their counts. */
	a.spread = b.spread = 0;
	a.counting = b.counting = 11;
	assert_true(welch_test(&a, &b) > 0.05);
	/* One run borrows the spread of the other side. */
	struct side_mean one = {.mean = 15, .runs = 1};
	a = (struct side_mean){.mean = 11, .spread = 1, .runs = 3};
	CLOSE(welch_test(&a, &one), student_two_sided(4 / sqrt(1 + 1.0 / 3), 2), 1e-12);
	a.mean = 15;
	assert_true(welch_test(&a, &one) == 1);
}

static void many_questions_need_better_answers(void **state)
{
	(void)state;
	double p[] = {0.01, 0.04, -1, 0.03, 0.005};
	adjust_false_discovery(p, 5);
	CLOSE(p[0], 0.02, 1e-12);
	CLOSE(p[1], 0.04, 1e-12);
	assert_true(p[2] == -1);
	CLOSE(p[3], 0.04, 1e-12);
	CLOSE(p[4], 0.02, 1e-12);
	adjust_false_discovery(p, 0);
}

/* Variances of 4 degrees of freedom around what counting explains, from the quantiles of chi². */
static void fill(struct spread_item *items, size_t count, double factor)
{
	static const double quantiles[] = {0.178, 0.412, 0.675, 1.036, 1.622};
	for (size_t i = 0; i < count; i++) {
		double level = 100 + 50 * (double)i;
		items[i] = (struct spread_item){
			.mean = {level, level},
			.level = level,
			.counting = level,
			.variance = level * factor * quantiles[i % 5],
			.counts = true,
		};
	}
}

static void all_functions_together_steady_the_spread_of_each(void **state)
{
	(void)state;
	struct spread_item items[40];
	const size_t runs[2] = {3, 3};
	fill(items, 40, 1);
	struct spread_model steady = spread_fit(items, 40, 4);
	assert_true(steady.prior_degrees > 10);
	assert_true(steady.excess < 0.02);
	fill(items, 40, 30);
	struct spread_model restless = spread_fit(items, 40, 4);
	assert_true(restless.excess > 0.1);
	/* The same difference is a change among steady functions and noise among restless ones. */
	struct spread_item item = {
		.mean = {1000, 1200}, .level = 1100, .counting = 1100, .variance = 1100, .counts = true};
	double sure = spread_test(&steady, &item, runs), unsure = spread_test(&restless, &item, runs);
	assert_true(sure < 1e-4);
	assert_true(unsure > 100 * sure);
	/* Too few to learn from: the plain t-test. */
	struct spread_model plain = spread_fit(items, 3, 4);
	assert_true(plain.prior_degrees == 0);
	CLOSE(spread_test(&plain, &item, runs), student_two_sided(200 / sqrt(1100 * 2.0 / 3), 4), 1e-12);
	item.mean[1] = item.mean[0];
	assert_true(spread_test(&steady, &item, runs) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distributions_match_their_tables),
		cmocka_unit_test(small_counts_are_judged_exactly),
		cmocka_unit_test(shares_are_judged_within_their_wholes),
		cmocka_unit_test(runs_are_judged_by_their_spread),
		cmocka_unit_test(many_questions_need_better_answers),
		cmocka_unit_test(all_functions_together_steady_the_spread_of_each),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
