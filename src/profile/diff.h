/*
 * Two sets of profiles, before and after, compared: one profile with two values for pictures and folded stacks, and for
 * each function what changed and how sure that is. docs/diff.md explains the statistics to users.
 *
 * Weights are compared per run, so that three runs before can meet two after. With `normalize`, before is scaled to the
 * total of after, and shares instead of weights are tested.
 */
#ifndef WICK_PROFILE_DIFF_H
#define WICK_PROFILE_DIFF_H

#include "base/err.h"
#include "profile/calltree.h"

enum diff_side { DIFF_BEFORE, DIFF_AFTER };

struct diff_options {
	bool normalize;
	bool strip_hex; /* 0x7f12 in names becomes 0x..., so that addresses of two runs meet */
	double confidence; /* from which on a change counts as one: 0.95 */
	double sample_weight; /* weight of one sample; 0: find out */
	bool repeated; /* more than one run will be added to a side */
	struct calltree_options tree; /* how labels are made; `values` and `order` are set by diff itself */
};

/* What changed about one quantity. Weights are per run, in units of the value type. */
struct diff_change {
	double before, after; /* before is scaled when normalised */
	double before_share, after_share; /* of the side's total, 0 to 1 */
	double p; /* that chance alone makes such a difference */
	double confidence; /* 1 - p, corrected for the number of functions looked at */
	bool significant; /* confidence reaches the requested one */
};

struct diff_row {
	uint32_t label; /* in diff->tree */
	frame_id frame;
	struct diff_change self, total;
};

/* How many samples the weights of a side stand for. */
enum diff_counting {
	COUNTING_WEIGHTS, /* weights are counts of samples */
	COUNTING_SAMPLES, /* the input lists each sample; weights are their periods */
	COUNTING_PERIOD, /* each sample has the same weight, more than one */
	COUNTING_GIVEN, /* diff_options.sample_weight */
	COUNTING_STACKS, /* weights are times or bytes: all that is known is how they spread over stacks */
};

struct diff {
	struct diff_options options;
	struct profile profile; /* differential: value 0 is before, 1 is after; sums over the runs */
	struct calltree tree; /* of both values, siblings by name */
	struct diff_row *rows; /* one per label that stands in the tree, unsorted */
	size_t row_count;
	size_t runs[2];
	struct diff_change all; /* the totals, never normalised */
	double samples[2]; /* samples behind a side, all runs together; estimated for COUNTING_STACKS */
	enum diff_counting counting;
	str_id event[2], unit[2]; /* in profile.strings */
	struct diff_runs *repeats; /* by function: sums over runs; NULL unless repeated */
};

void diff_init(struct diff *diff, const struct diff_options *options);
void diff_release(struct diff *diff);

/*
 * Adds one run. `run` is cut down to `value` and its names are changed; the caller still releases it and must not read
 * it any more. Fails with ERR_EMPTY when its weights sum up to nothing.
 */
int diff_add_run(struct diff *diff, enum diff_side side, struct profile *run, value_id value, struct err *err);

/* After all runs: fills tree, rows and the rest. */
void diff_compare(struct diff *diff);

/*
 * What before must be multiplied by to be compared with after: total after / total before when normalised, else the
 * runs after / runs before. Numerator and denominator are exact.
 */
void diff_scale(const struct diff *diff, int64_t *numerator, int64_t *denominator);

/*
 * Applies the scale to the weights in diff->tree, for pictures. Weights get two more decimals where before is scaled;
 * returns their number of decimals.
 */
unsigned diff_scale_tree(struct diff *diff);

/* The growth of a quantity in percent of the total before: what thresholds are about. */
double diff_growth(const struct diff *diff, const struct diff_change *change);

/* By label of the tree, before diff_scale_tree(): true where a change of the total may be chance. The caller frees. */
bool *diff_noise(const struct diff *diff);

#endif
