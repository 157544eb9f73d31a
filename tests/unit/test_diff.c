/* diff and gate: what changed, how sure it is, and thresholds on it */
#include "unit.h"

#include "profile/gate.h"
#include "stacks.h"

#include <math.h>
#include <stdio.h>

struct stack_line {
	const char *path;
	int64_t weight;
};

static void add_run(struct diff *diff, enum diff_side side, const struct stack_line *lines)
{
	struct profile run;
	profile_init(&run);
	for (; lines->path; lines++)
		stacks_add(&run, 0, lines->path, lines->weight);
	assert_int_equal(diff_add_run(diff, side, &run, 0, NULL), 0);
	profile_release(&run);
}

static void compare(struct diff *diff, struct diff_options options, const struct stack_line *before,
		    const struct stack_line *after)
{
	options.confidence = options.confidence > 0 ? options.confidence : 0.95;
	diff_init(diff, &options);
	add_run(diff, DIFF_BEFORE, before);
	add_run(diff, DIFF_AFTER, after);
	diff_compare(diff);
}

static const struct diff_row *row_of(const struct diff *diff, const char *name)
{
	for (size_t i = 0; i < diff->row_count; i++)
		if (strcmp(diff->tree.labels[diff->rows[i].label].text, name) == 0)
			return &diff->rows[i];
	fail_msg("no row '%s'", name);
	return NULL;
}

static const struct stack_line base[] = {
	{"main;parse;lex", 400}, {"main;parse", 100}, {"main;render", 500}, {"main;idle", 3}, {NULL, 0},
};
static const struct stack_line slower[] = {
	{"main;parse;lex", 600}, {"main;parse", 105}, {"main;render", 510},
	{"main;idle", 4},        {"main;new", 50},    {NULL, 0},
};

static void large_changes_are_sure_and_small_ones_noise(void **state)
{
	(void)state;
	struct diff diff;
	compare(&diff, (struct diff_options){0}, base, slower);
	const struct diff_row *lex = row_of(&diff, "lex"), *parse = row_of(&diff, "parse");
	assert_true(lex->self.before == 400 && lex->self.after == 600);
	assert_true(lex->self.significant && lex->total.significant);
	assert_true(parse->total.before == 500 && parse->total.after == 705 && parse->total.significant);
	assert_true(parse->self.before == 100 && !parse->self.significant);
	assert_false(row_of(&diff, "render")->total.significant);
	assert_false(row_of(&diff, "idle")->total.significant);
	assert_true(row_of(&diff, "new")->total.significant);
	assert_true(fabs(diff.all.before_share - 1) < 1e-12 && diff.all.significant);
	assert_true(fabs(diff_growth(&diff, &lex->self) - 100.0 * 200 / 1003) < 1e-9);
	bool *noise = diff_noise(&diff);
	assert_false(noise[lex->label]);
	assert_true(noise[row_of(&diff, "render")->label]);
	free(noise);
	diff_release(&diff);
}

static void equal_profiles_do_not_differ(void **state)
{
	(void)state;
	struct diff diff;
	compare(&diff, (struct diff_options){0}, base, base);
	for (size_t i = 0; i < diff.row_count; i++) {
		assert_true(diff.rows[i].total.before == diff.rows[i].total.after);
		assert_false(diff.rows[i].total.significant || diff.rows[i].self.significant);
	}
	assert_true(diff.all.confidence < 0.1);
	bool *noise = diff_noise(&diff);
	for (size_t i = 0; i < diff.tree.label_count; i++)
		assert_false(noise[i]); /* what did not change is not noise */
	free(noise);
	diff_release(&diff);
}

static void normalized_means_shares(void **state)
{
	(void)state;
	static const struct stack_line half[] = {{"a", 3000}, {"b", 1000}, {NULL, 0}};
	static const struct stack_line whole[] = {{"a", 6000}, {"b", 2000}, {NULL, 0}};
	struct diff diff;
	compare(&diff, (struct diff_options){0}, half, whole);
	assert_true(row_of(&diff, "a")->total.significant);
	diff_release(&diff);
	compare(&diff, (struct diff_options){.normalize = true}, half, whole);
	const struct diff_row *a = row_of(&diff, "a");
	assert_true(fabs(a->total.before - 6000) < 1e-6 && a->total.after == 6000);
	assert_false(a->total.significant);
	assert_true(fabs(diff_growth(&diff, &a->total)) < 1e-9);
	assert_true(diff.all.before == 4000 && diff.all.significant); /* what was read stays */
	int64_t numerator, denominator;
	diff_scale(&diff, &numerator, &denominator);
	assert_true(numerator == 8000 && denominator == 4000);
	assert_int_equal(diff_scale_tree(&diff), 2);
	assert_int_equal(diff.tree.total[DIFF_BEFORE][0], 800000);
	assert_int_equal(diff.tree.total[DIFF_AFTER][0], 800000);
	diff_release(&diff);
}

static void addresses_meet_without_their_digits(void **state)
{
	(void)state;
	static const struct stack_line before[] = {{"a;0x12ab;0xf", 3}, {"0x;0xg;x0x1y", 1}, {NULL, 0}};
	static const struct stack_line after[] = {{"a;0x99;0xABC", 4}, {NULL, 0}};
	struct diff diff;
	compare(&diff, (struct diff_options){.strip_hex = true}, before, after);
	const struct diff_row *row = row_of(&diff, "0x...");
	assert_true(row->total.before == 3 && row->total.after == 4);
	assert_int_equal(diff.tree.count, 7); /* all, a, 0x..., 0x..., and the three of the other stack */
	row_of(&diff, "0x");
	row_of(&diff, "0xg");
	row_of(&diff, "x0x...y");
	diff_release(&diff);
}

/* Each of them adds a string to the later run while its names are compared. */
static void many_cut_names_meet_whole_ones(void **state)
{
	(void)state;
	enum { NAMES = 40 };
	struct diff diff;
	struct profile runs[2];
	char path[64];
	diff_init(&diff, &(struct diff_options){.confidence = 0.95});
	for (int side = 0; side < 2; side++) {
		profile_init(&runs[side]);
		for (int i = 0; i < NAMES; i++) {
			snprintf(path, sizeof path, side ? "main;f%d(int)" : "main;f%d", i);
			stacks_add(&runs[side], 0, path, 5);
			snprintf(path, sizeof path, "main;f%d(long)", i);
			if (!side)
				stacks_add(&runs[side], 0, path, 5);
		}
		assert_int_equal(diff_add_run(&diff, side ? DIFF_AFTER : DIFF_BEFORE, &runs[side], 0, NULL), 0);
		profile_release(&runs[side]);
	}
	diff_compare(&diff);
	assert_true(row_of(&diff, "f39")->total.after == 5);
	diff_release(&diff);
}

static void runs_are_compared_per_run(void **state)
{
	(void)state;
	struct diff diff;
	struct diff_options options = {.confidence = 0.95, .repeated = true};
	diff_init(&diff, &options);
	for (int run = 0; run < 3; run++)
		add_run(&diff, DIFF_BEFORE,
			(struct stack_line[]){{"main;f", 1000 + 10 * run}, {"main;g", 500 - 5 * run}, {NULL, 0}});
	for (int run = 0; run < 2; run++)
		add_run(&diff, DIFF_AFTER,
			(struct stack_line[]){{"main;f", 2000 + 10 * run}, {"main;g", 501 + run}, {NULL, 0}});
	diff_compare(&diff);
	const struct diff_row *f = row_of(&diff, "f"), *g = row_of(&diff, "g");
	assert_true(fabs(f->total.before - 1010) < 1e-9 && fabs(f->total.after - 2005) < 1e-9);
	assert_true(f->total.significant);
	assert_true(fabs(g->total.before - 495) < 1e-9 && !g->total.significant);
	assert_int_equal(diff.runs[DIFF_BEFORE], 3);
	int64_t numerator, denominator;
	diff_scale(&diff, &numerator, &denominator);
	assert_true(numerator == 2 && denominator == 3);
	diff_release(&diff);
}

/* The same growth in each run and growth that only one of the runs has. */
static void one_odd_run_is_no_change(void **state)
{
	(void)state;
	struct diff diff;
	struct diff_options options = {.confidence = 0.95, .repeated = true};
	const int64_t odd[] = {1000, 1010, 1900}, steady[] = {1000, 1020, 990};
	diff_init(&diff, &options);
	for (int run = 0; run < 3; run++) {
		add_run(&diff, DIFF_BEFORE,
			(struct stack_line[]){{"odd", steady[run]}, {"steady", steady[run]}, {NULL, 0}});
		add_run(&diff, DIFF_AFTER,
			(struct stack_line[]){{"odd", odd[run]}, {"steady", steady[run] + 300}, {NULL, 0}});
	}
	diff_compare(&diff);
	assert_true(row_of(&diff, "steady")->total.significant);
	assert_false(row_of(&diff, "odd")->total.significant);
	diff_release(&diff);
}

static void weights_that_are_no_counts_are_not_taken_for_counts(void **state)
{
	(void)state;
	/* Nanoseconds at 99 Hz: each sample weighs 10101010. */
	struct stack_line before[11] = {{NULL, 0}}, after[11] = {{NULL, 0}};
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
	for (int i = 0; i < 10; i++) {
		before[i] = (struct stack_line){names[i], 10101010ll * (20 + i)};
		after[i] = (struct stack_line){names[i], 10101010ll * (22 + i)};
	}
	struct diff diff;
	compare(&diff, (struct diff_options){0}, before, after);
	assert_int_equal(diff.counting, COUNTING_PERIOD);
	assert_true(fabs(diff.samples[DIFF_BEFORE] - 245) < 1e-6);
	assert_false(row_of(&diff, "a")->total.significant);
	diff_release(&diff);
	/* Microseconds off the CPU: nothing says how many waits there were. */
	for (int i = 0; i < 10; i++)
		before[i].weight = 123457 * (i + 1) + i, after[i].weight = 123457 * (i + 1) + 1000;
	compare(&diff, (struct diff_options){0}, before, after);
	assert_int_equal(diff.counting, COUNTING_STACKS);
	assert_true(diff.samples[DIFF_BEFORE] < 10.5);
	diff_release(&diff);
	compare(&diff, (struct diff_options){.sample_weight = 100}, before, after);
	assert_int_equal(diff.counting, COUNTING_GIVEN);
	diff_release(&diff);
}

static void add_event(struct diff *diff, enum diff_side side, const char *event, int64_t period, uint64_t samples)
{
	struct profile run;
	profile_init(&run);
	stacks_add(&run, 0, "main;f", period * (int64_t)samples);
	run.values[0].name = profile_string(&run, event, strlen(event));
	run.values[0].unit = profile_string(&run, "ns", 2);
	run.values[0].samples = samples;
	assert_int_equal(diff_add_run(diff, side, &run, 0, NULL), 0);
	profile_release(&run);
}

/* However few stacks there are, and with another frequency on each side. */
static void samples_of_a_clock_are_counted(void **state)
{
	(void)state;
	struct diff diff;
	struct diff_options options = {.confidence = 0.95};
	diff_init(&diff, &options);
	add_event(&diff, DIFF_BEFORE, "cpu-clock", 10101010, 200);
	add_event(&diff, DIFF_AFTER, "cpu-clock:u", 1001001, 8000);
	diff_compare(&diff);
	assert_int_equal(diff.counting, COUNTING_SAMPLES);
	assert_true(fabs(diff.samples[DIFF_BEFORE] - 200) < 1e-6 && fabs(diff.samples[DIFF_AFTER] - 8000) < 1e-6);
	assert_true(diff.all.significant);
	diff_release(&diff);
	/* A record of off-CPU time may be the sum of many waits. */
	diff_init(&diff, &options);
	add_event(&diff, DIFF_BEFORE, "time-sleeping", 10101010, 200);
	add_event(&diff, DIFF_AFTER, "time-sleeping", 1001001, 8000);
	diff_compare(&diff);
	assert_int_equal(diff.counting, COUNTING_STACKS);
	diff_release(&diff);
}

static void nothing_cannot_be_compared(void **state)
{
	(void)state;
	struct diff diff;
	struct profile run;
	struct err err = {0};
	diff_init(&diff, &(struct diff_options){.confidence = 0.95});
	profile_init(&run);
	stacks_add(&run, 0, "a", 0);
	assert_int_equal(diff_add_run(&diff, DIFF_BEFORE, &run, 0, &err), ERR_EMPTY);
	profile_release(&run);
	diff_release(&diff);
}

static void sums_at_the_limit_are_held(void **state)
{
	(void)state;
	static const struct stack_line large[] = {{"a", INT64_MAX}, {"b", INT64_MAX}, {NULL, 0}};
	static const struct stack_line small[] = {{"a", 1}, {"b", 2}, {NULL, 0}};
	struct diff diff;
	compare(&diff, (struct diff_options){.normalize = true}, small, large);
	diff_scale_tree(&diff);
	assert_true(diff.tree.total[DIFF_BEFORE][0] > 0 && diff.tree.total[DIFF_AFTER][0] == INT64_MAX);
	diff_release(&diff);
	compare(&diff, (struct diff_options){.normalize = true}, large, small);
	diff_scale_tree(&diff);
	assert_true(diff.tree.total[DIFF_BEFORE][0] >= 0);
	diff_release(&diff);
}

static void thresholds_are_read(void **state)
{
	(void)state;
	struct gate gate;
	assert_int_equal(gate_parse(&gate, "total>3%", NULL), 0);
	assert_true(gate.kind == GATE_TOTAL && gate.limit == 3);
	assert_int_equal(gate_parse(&gate, " total > 0.5 % ", NULL), 0);
	assert_true(gate.kind == GATE_TOTAL && gate.limit == 0.5);
	assert_int_equal(gate_parse(&gate, "func:std::vector<a, b>::at(int) const>2", NULL), 0);
	assert_true(gate.kind == GATE_FUNCTION && gate.limit == 2);
	assert_int_equal(gate.name_length, strlen("std::vector<a, b>::at(int) const"));
	assert_int_equal(gate_parse(&gate, "self:operator->>1e1%", NULL), 0);
	assert_true(gate.kind == GATE_SELF && gate.limit == 10 && gate.name_length == strlen("operator->"));
	static const char *const wrong[] = {
		"",          "total",    "total>",      "total>x",    "total>3%%", "total>-1%", "tot>3%",
		"totals>3%", "func:>3%", "function>3%", "total>inf%", "total>nan", "total>3%5", "func:a<3%",
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct err err = {0};
		assert_int_equal(gate_parse(&gate, wrong[i], &err), ERR_USAGE);
		assert_true(err.text[0]);
	}
}

static bool fails(const struct diff *diff, const char *text, bool noise_fails)
{
	struct gate gate;
	assert_int_equal(gate_parse(&gate, text, NULL), 0);
	gate_check(&gate, diff, noise_fails);
	return gate.failed;
}

static void thresholds_are_kept_or_not(void **state)
{
	(void)state;
	struct diff diff;
	compare(&diff, (struct diff_options){0}, base, slower);
	/* 1003 → 1269 is +26.5 % */
	assert_true(fails(&diff, "total>26%", false));
	assert_false(fails(&diff, "total>27%", false));
	/* lex 400 → 600: 19.9 % of 1003; parse 500 → 705: 20.4 % */
	assert_true(fails(&diff, "func:lex>19%", false));
	assert_false(fails(&diff, "func:lex>20%", false));
	assert_true(fails(&diff, "func:parse>20%", false));
	assert_false(fails(&diff, "self:parse>20%", false));
	assert_false(fails(&diff, "func:missing>0%", true));
	/* render 500 → 510 is within noise */
	assert_false(fails(&diff, "func:render>0.5%", false));
	assert_true(fails(&diff, "func:render>0.5%", true));
	assert_true(fails(&diff, "self:*>19%", false));
	assert_false(fails(&diff, "self:*>20%", false));
	struct gate gate;
	gate_parse(&gate, "func:pars>1%", NULL);
	gate_check(&gate, &diff, false);
	assert_false(gate.found);
	assert_string_equal(gate_suggest(&gate, &diff), "parse");
	diff_release(&diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_changes_are_sure_and_small_ones_noise),
		cmocka_unit_test(equal_profiles_do_not_differ),
		cmocka_unit_test(normalized_means_shares),
		cmocka_unit_test(addresses_meet_without_their_digits),
		cmocka_unit_test(many_cut_names_meet_whole_ones),
		cmocka_unit_test(runs_are_compared_per_run),
		cmocka_unit_test(one_odd_run_is_no_change),
		cmocka_unit_test(weights_that_are_no_counts_are_not_taken_for_counts),
		cmocka_unit_test(samples_of_a_clock_are_counted),
		cmocka_unit_test(nothing_cannot_be_compared),
		cmocka_unit_test(sums_at_the_limit_are_held),
		cmocka_unit_test(thresholds_are_read),
		cmocka_unit_test(thresholds_are_kept_or_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
