/*
 * How sure a change is.
 *
 * Single runs: a sampling profiler counts events that fall on functions by chance, so a count varies like a Poisson
 * number; this is what resampling the profile would show, in closed form. Repeated runs: a t-test on the runs, in
 * which what is learned from all functions steadies the spread of each (spread.h). Looking at thousands of functions
 * finds some "changes" at any level, so confidences are corrected by Benjamini and Hochberg's rule.
 */
#include "profile/diff_runs.h"

#include "profile/spread.h"
#include "profile/statistics.h"

#include <math.h>

/* Two counts whose sum is below this cannot differ significantly at 95 %. They are noise and burden no correction. */
#define FEWEST_SAMPLES 5

struct judge {
	struct diff *diff;
	double sample_weight[2]; /* in units of the value type */
};

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

struct weights {
	uint64_t divisor; /* of all weights */
	double sum, squares;
	size_t stacks;
};

static struct weights weights_of(const struct profile *profile, value_id side)
{
	struct weights weights = {0};
	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct sample *sample = &profile->samples[i];
		if (sample->value != side || sample->weight <= 0)
			continue;
		double weight = (double)sample->weight;
		weights.divisor = common_divisor((uint64_t)sample->weight, weights.divisor);
		weights.sum += weight;
		weights.squares += weight * weight;
		weights.stacks++;
	}
	return weights;
}

/* Periods are large and shared by many stacks; the counts of a few stacks may have a small divisor by chance. */
#define SMALLEST_PERIOD 1000
#define STACKS_FOR_PERIOD 8
/* More samples than this per distinct stack are no samples but times or bytes. */
#define MAX_PER_STACK 10000

static bool unit_is(const struct diff *diff, enum diff_side side, const char *unit)
{
	return strcmp(profile_text(&diff->profile, diff->unit[side]), unit) == 0;
}

/* Weights are times, but each is the period of one sample; a record of off-CPU time may be the sum of many waits. */
static bool is_clock(const struct diff *diff, enum diff_side side)
{
	const char *event = profile_text(&diff->profile, diff->event[side]);
	return strncmp(event, "cpu-clock", strlen("cpu-clock")) == 0 ||
	       strncmp(event, "task-clock", strlen("task-clock")) == 0;
}

static enum diff_counting counting_of(const struct diff *diff, const struct weights *weights)
{
	const struct value_type *values = diff->profile.values;
	bool listed = true, counted = !values[0].decimals;
	for (int side = 0; side < 2; side++) {
		/* Sources that list samples one by one give the weights no unit, except for clocks. */
		bool no_unit = unit_is(diff, (enum diff_side)side, "");
		listed &= (no_unit || is_clock(diff, (enum diff_side)side)) && values[side].samples;
		counted &= no_unit || unit_is(diff, (enum diff_side)side, "samples");
	}
	if (diff->options.sample_weight > 0)
		return COUNTING_GIVEN;
	if (listed)
		return COUNTING_SAMPLES;
	double mean = weights->sum / (double)(weights->stacks ? weights->stacks : 1);
	if (weights->divisor >= SMALLEST_PERIOD && weights->stacks >= STACKS_FOR_PERIOD)
		return mean / (double)weights->divisor > MAX_PER_STACK ? COUNTING_STACKS : COUNTING_PERIOD;
	return counted && mean <= MAX_PER_STACK ? COUNTING_WEIGHTS : COUNTING_STACKS;
}

/* Decides what a sample weighs. Both sides are counted alike, else a change of method would look like a change. */
static void count_samples(struct judge *judge)
{
	struct diff *diff = judge->diff;
	struct weights both = {0}, weights[2];
	for (int side = 0; side < 2; side++) {
		weights[side] = weights_of(&diff->profile, (value_id)side);
		both.divisor = common_divisor(both.divisor, weights[side].divisor);
		both.sum += weights[side].sum;
		both.stacks += weights[side].stacks;
	}
	diff->counting = counting_of(diff, &both);
	double unit = pow(10, -(double)diff->profile.values[0].decimals);
	for (int side = 0; side < 2; side++) {
		double weight = 1; /* COUNTING_WEIGHTS */
		if (diff->counting == COUNTING_PERIOD)
			weight = (double)both.divisor * unit;
		else if (diff->counting == COUNTING_GIVEN)
			weight = diff->options.sample_weight;
		else if (diff->counting == COUNTING_SAMPLES)
			weight = weights[side].sum * unit / (double)diff->profile.values[side].samples;
		else if (diff->counting == COUNTING_STACKS)
			/* Kish's effective number of samples is sum²/squares: so much do unequal weights blur. */
			weight = weights[side].sum > 0 ? weights[side].squares / weights[side].sum * unit : 1;
		judge->sample_weight[side] = weight;
		diff->samples[side] = weights[side].sum * unit / weight;
	}
}

/* By the number of samples alone. */
static double test_counts(const struct judge *judge, const struct diff_change *change)
{
	const double *whole = judge->diff->samples;
	double before = whole[DIFF_BEFORE] * change->before_share, after = whole[DIFF_AFTER] * change->after_share;
	if (judge->diff->options.normalize && change != &judge->diff->all)
		return share_test(before, whole[DIFF_BEFORE], after, whole[DIFF_AFTER]);
	/* More runs count more, and where a sample of one side weighs more than one of the other it counts less. */
	double exposure[2];
	for (int side = 0; side < 2; side++)
		exposure[side] = (double)judge->diff->runs[side] / judge->sample_weight[side];
	return count_test(before, after, exposure[DIFF_BEFORE], exposure[DIFF_AFTER]);
}

/* Totals are no family of functions to learn the spread from: Welch's test on the runs. */
static double test_totals(const struct judge *judge)
{
	const struct diff *diff = judge->diff;
	const struct run_sums *sums = &diff->repeats->sums[0];
	struct side_mean means[2];
	for (int side = 0; side < 2; side++) {
		double mean = run_sums_mean(sums, (enum diff_side)side, QUANTITY_TOTAL, diff->runs[side]);
		means[side] = (struct side_mean){
			.mean = mean,
			.spread = run_sums_variance(sums, (enum diff_side)side, QUANTITY_TOTAL, diff->runs[side]),
			.counting = mean * judge->sample_weight[side],
			.runs = diff->runs[side],
		};
	}
	return welch_test(&means[DIFF_BEFORE], &means[DIFF_AFTER]);
}

static struct diff_change *change_of(struct diff_row *row, enum diff_quantity quantity)
{
	return quantity == QUANTITY_SELF ? &row->self : &row->total;
}

static double samples_in(const struct judge *judge, const struct diff_change *change)
{
	return judge->diff->samples[DIFF_BEFORE] * change->before_share +
	       judge->diff->samples[DIFF_AFTER] * change->after_share;
}

static struct spread_item spread_of(const struct judge *judge, const struct run_sums *sums, enum diff_quantity quantity)
{
	const struct diff *diff = judge->diff;
	struct spread_item item = {0};
	double degrees = 0, runs = (double)(diff->runs[0] + diff->runs[1]), weight = 0, samples = 0;
	for (int side = 0; side < 2; side++) {
		double side_runs = (double)diff->runs[side];
		item.mean[side] = run_sums_mean(sums, (enum diff_side)side, quantity, diff->runs[side]);
		item.level += item.mean[side] * side_runs / runs;
		item.variance += run_sums_variance(sums, (enum diff_side)side, quantity, diff->runs[side]) *
				 (side_runs - 1);
		degrees += side_runs - 1;
		weight += judge->sample_weight[side] * side_runs / runs;
		samples += diff->samples[side] / runs;
	}
	item.variance /= degrees;
	if (diff->options.normalize)
		item.counting = item.level * fmax(0, 1 - item.level) / samples;
	else
		item.counting = item.level * weight;
	return item;
}

/* Samples of a function in a run from which on its variance says something about runs and not only about counting. */
#define SAMPLES_TO_LEARN 20

static void test_repeated(const struct judge *judge, enum diff_quantity quantity)
{
	struct diff *diff = judge->diff;
	struct spread_item *items CLEANUP_FREE = mem_alloc((diff->row_count + 1) * sizeof *items);
	size_t runs = diff->runs[0] + diff->runs[1];
	for (size_t i = 0; i < diff->row_count; i++) {
		struct diff_row *row = &diff->rows[i];
		const struct tree_label *label = &diff->tree.labels[row->label];
		struct run_sums sums = diff_runs_of(diff->repeats, label->text, label->length);
		items[i] = spread_of(judge, &sums, quantity);
		items[i].counts = samples_in(judge, change_of(row, quantity)) >= SAMPLES_TO_LEARN * (double)runs;
	}
	/* A single run has no spread and takes no degree of freedom: 3 and 2 runs have 3, 3 and 1 have 2. */
	struct spread_model model = spread_fit(items, diff->row_count, (double)runs - 2);
	for (size_t i = 0; i < diff->row_count; i++) {
		struct diff_change *change = change_of(&diff->rows[i], quantity);
		/* Runs cannot agree better than their counts do; small counts are no case for a t-test at all. */
		change->p = fmax(spread_test(&model, &items[i], diff->runs), test_counts(judge, change));
	}
}

static void judge_quantity(struct judge *judge, enum diff_quantity quantity)
{
	struct diff *diff = judge->diff;
	double *p CLEANUP_FREE = mem_alloc((diff->row_count + 1) * sizeof *p);
	if (diff->repeats)
		test_repeated(judge, quantity);
	for (size_t i = 0; i < diff->row_count; i++) {
		struct diff_change *change = change_of(&diff->rows[i], quantity);
		bool testable = samples_in(judge, change) >= FEWEST_SAMPLES;
		if (!testable)
			change->p = 1;
		else if (!diff->repeats)
			change->p = test_counts(judge, change);
		p[i] = testable ? change->p : -1;
	}
	adjust_false_discovery(p, diff->row_count);
	for (size_t i = 0; i < diff->row_count; i++) {
		struct diff_change *change = change_of(&diff->rows[i], quantity);
		change->confidence = p[i] < 0 ? 0 : 1 - p[i];
		change->significant = change->confidence >= diff->options.confidence;
	}
}

void diff_judge(struct diff *diff)
{
	struct judge judge = {.diff = diff};
	count_samples(&judge);
	judge_quantity(&judge, QUANTITY_SELF);
	judge_quantity(&judge, QUANTITY_TOTAL);
	struct diff_change *all = &diff->all;
	all->p = diff->repeats ? test_totals(&judge) : test_counts(&judge, all);
	all->confidence = 1 - all->p;
	all->significant = all->confidence >= diff->options.confidence;
}
