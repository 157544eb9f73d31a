/* Matches two sets of profiles, and tests the change of each function. */
#include "profile/diff.h"

#include "base/buf.h"
#include "profile/diff_runs.h"
#include "profile/functions.h"
#include "profile/reconcile.h"

#include <ctype.h>
#include <math.h>

void diff_init(struct diff *diff, const struct diff_options *options)
{
	*diff = (struct diff){.options = *options};
	profile_init(&diff->profile);
	diff->profile.differential = true;
	profile_value(&diff->profile, "before", "");
	profile_value(&diff->profile, "after", "");
	if (options->repeated)
		diff->repeats = diff_runs_new();
}

void diff_release(struct diff *diff)
{
	calltree_release(&diff->tree);
	profile_release(&diff->profile);
	diff_runs_free(diff->repeats);
	free(diff->rows);
	*diff = (struct diff){0};
}

/* Every 0x and the hex digits behind it become "0x...", as difffolded.pl -s does. */
static str_id without_hex(struct profile *profile, str_id id, struct buf *scratch)
{
	const char *text = profile_text(profile, id);
	size_t length = strpool_length(&profile->strings, id), kept = 0;
	buf_clear(scratch);
	for (size_t at = 0; at + 2 < length; at++) {
		if (text[at] != '0' || text[at + 1] != 'x' || !isxdigit((unsigned char)text[at + 2]))
			continue;
		buf_add(scratch, text + kept, at - kept);
		buf_str(scratch, "0x...");
		for (at += 2; at < length && isxdigit((unsigned char)text[at]); at++)
			;
		kept = at--;
	}
	if (!kept)
		return id;
	buf_add(scratch, text + kept, length - kept);
	return profile_string(profile, scratch->data, scratch->size);
}

static void strip_hex(struct profile *profile)
{
	struct buf scratch CLEANUP_BUF = {0};
	for (size_t i = 0; i < profile->function_count; i++) {
		struct function *function = &profile->functions[i];
		function->name = without_hex(profile, function->name, &scratch);
		function->module = without_hex(profile, function->module, &scratch);
	}
	for (size_t i = 0; i < profile->thread_count; i++)
		profile->threads[i].comm = without_hex(profile, profile->threads[i].comm, &scratch);
}

/* Leaves one value type and gives it the side's name, under which it is merged. */
static void rename_value(struct profile *run, value_id value, const char *name)
{
	profile_keep_value(run, value);
	struct value_type kept = run->values[value];
	kept.name = profile_string(run, name, strlen(name));
	run->values[0] = kept;
	run->value_count = 1;
	for (size_t i = 0; i < run->sample_count; i++)
		run->samples[i].value = 0;
}

static double unit_of(const struct profile *profile, value_id value)
{
	return pow(10, -(double)profile->values[value].decimals);
}

static void add_repeat(struct diff *diff, enum diff_side side, const struct profile *run)
{
	struct calltree_options options = diff->options.tree;
	options.values[0] = 0;
	options.values[1] = PROFILE_NONE;
	options.order = ORDER_INPUT;
	options.names = LABELS_FULL; /* short forms of one run may differ from those of another */
	struct calltree tree;
	calltree_build(&tree, run, &options);
	if (tree.total[0][0] > 0)
		diff_runs_add(diff->repeats, side, &tree, unit_of(run, 0), diff->options.normalize);
	calltree_release(&tree);
}

static str_id copy_string(struct profile *into, const struct profile *from, str_id id)
{
	return profile_string(into, profile_text(from, id), strpool_length(&from->strings, id));
}

int diff_add_run(struct diff *diff, enum diff_side side, struct profile *run, value_id value, struct err *err)
{
	if (profile_total(run, value) <= 0)
		return err_set(err, ERR_EMPTY, "the sum of the weights is zero: nothing to compare");
	if (!diff->runs[side]) {
		diff->event[side] = copy_string(&diff->profile, run, run->values[value].name);
		diff->unit[side] = copy_string(&diff->profile, run, run->values[value].unit);
		diff->profile.values[side].unit = diff->unit[side];
	}
	rename_value(run, value, side == DIFF_BEFORE ? "before" : "after");
	if (diff->options.strip_hex)
		strip_hex(run);
	reconcile_jit(run);
	if (diff->profile.function_count)
		reconcile_names(&diff->profile, run);
	if (diff->repeats)
		add_repeat(diff, side, run);
	profile_merge(&diff->profile, run);
	diff->runs[side]++;
	return 0;
}

void diff_scale(const struct diff *diff, int64_t *numerator, int64_t *denominator)
{
	if (diff->options.normalize) {
		*numerator = diff->tree.total[DIFF_AFTER][0];
		*denominator = diff->tree.total[DIFF_BEFORE][0];
	} else {
		*numerator = (int64_t)diff->runs[DIFF_AFTER];
		*denominator = (int64_t)diff->runs[DIFF_BEFORE];
	}
	if (*numerator == *denominator)
		*numerator = *denominator = 1;
}

/* Both sides per run after; before is what it would be at the size of after. */
static struct diff_change change_of(const struct diff *diff, int64_t before, int64_t after, double scale, double unit)
{
	double runs = (double)diff->runs[DIFF_AFTER];
	return (struct diff_change){
		.before = (double)before * unit * scale / runs,
		.after = (double)after * unit / runs,
		.before_share = (double)before / (double)diff->tree.total[DIFF_BEFORE][0],
		.after_share = (double)after / (double)diff->tree.total[DIFF_AFTER][0],
	};
}

static void fill_rows(struct diff *diff)
{
	struct function_table table;
	function_table_build(&table, &diff->tree);
	int64_t numerator, denominator;
	diff_scale(diff, &numerator, &denominator);
	double scale = (double)numerator / (double)denominator, unit = unit_of(&diff->profile, DIFF_BEFORE);
	diff->rows = mem_zalloc(table.count, sizeof *diff->rows);
	diff->row_count = table.count;
	for (size_t i = 0; i < table.count; i++) {
		const struct function_row *row = &table.rows[i];
		diff->rows[i] = (struct diff_row){
			.label = row->label,
			.frame = row->frame,
			.self = change_of(diff, row->self[DIFF_BEFORE], row->self[DIFF_AFTER], scale, unit),
			.total = change_of(diff, row->total[DIFF_BEFORE], row->total[DIFF_AFTER], scale, unit),
		};
	}
	function_table_release(&table);
	const struct calltree *tree = &diff->tree;
	double by_runs = (double)diff->runs[DIFF_AFTER] / (double)diff->runs[DIFF_BEFORE];
	diff->all = change_of(diff, tree->total[DIFF_BEFORE][0], tree->total[DIFF_AFTER][0], by_runs, unit);
}

void diff_compare(struct diff *diff)
{
	unsigned decimals[2] = {diff->profile.values[0].decimals, diff->profile.values[1].decimals};
	profile_set_decimals(&diff->profile, DIFF_BEFORE, decimals[DIFF_AFTER]);
	profile_set_decimals(&diff->profile, DIFF_AFTER, decimals[DIFF_BEFORE]);
	struct calltree_options options = diff->options.tree;
	options.values[0] = DIFF_BEFORE;
	options.values[1] = DIFF_AFTER;
	options.order = ORDER_NAME;
	options.names = LABELS_FULL;
	calltree_build(&diff->tree, &diff->profile, &options);
	for (int side = 0; side < 2; side++)
		if (!profile_sums_fit(&diff->profile, (value_id)side))
			diff->profile.quality.overflows++;
	fill_rows(diff);
	diff_judge(diff);
	if (diff->options.tree.names == LABELS_SHORT)
		calltree_shorten(&diff->tree, &diff->profile);
}

double diff_growth(const struct diff *diff, const struct diff_change *change)
{
	/* Normalised weights of before sum up to the total of after. */
	double whole = diff->options.normalize && change != &diff->all ? diff->all.after : diff->all.before;
	return 100 * (change->after - change->before) / whole;
}

static int64_t saturated(__int128 value)
{
	return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

unsigned diff_scale_tree(struct diff *diff)
{
	struct calltree *tree = &diff->tree;
	unsigned decimals = diff->profile.values[DIFF_BEFORE].decimals;
	int64_t numerator, denominator;
	diff_scale(diff, &numerator, &denominator);
	if (numerator == denominator)
		return decimals;
	/* Hundredths, unless the largest sum has no room for them. */
	bool finer = tree->total[DIFF_AFTER][0] < INT64_MAX / 1000 && tree->total[DIFF_BEFORE][0] < INT64_MAX / 1000;
	int64_t factor = finer ? 100 : 1;
	for (uint32_t i = 0; i < tree->count; i++) {
		__int128 before = (__int128)tree->self[DIFF_BEFORE][i] * numerator;
		if (__builtin_mul_overflow(before, (__int128)factor, &before))
			before = (__int128)INT64_MAX * denominator;
		tree->self[DIFF_BEFORE][i] = saturated((before + denominator / 2) / denominator);
		tree->self[DIFF_AFTER][i] = saturated((__int128)tree->self[DIFF_AFTER][i] * factor);
	}
	for (int side = 0; side < 2; side++) {
		memcpy(tree->total[side], tree->self[side], tree->count * sizeof *tree->total[side]);
		for (uint32_t i = tree->count; i-- > 1;) {
			int64_t *above = &tree->total[side][tree->parent[i]];
			*above = weight_add(*above, tree->total[side][i]);
		}
	}
	return decimals + (finer ? 2 : 0);
}

bool *diff_noise(const struct diff *diff)
{
	const struct calltree *tree = &diff->tree;
	int64_t numerator, denominator;
	diff_scale(diff, &numerator, &denominator);
	bool *noise = mem_zalloc(tree->label_count, sizeof *noise);
	/* What did not change at all is not noise. */
	for (uint32_t i = 1; i < tree->count; i++)
		if ((__int128)tree->total[DIFF_BEFORE][i] * numerator !=
		    (__int128)tree->total[DIFF_AFTER][i] * denominator)
			noise[tree->label[i]] = true;
	for (size_t i = 0; i < diff->row_count; i++)
		if (diff->rows[i].total.significant)
			noise[diff->rows[i].label] = false;
	return noise;
}
