/* wick diff: what changed between two profiles, or two sets of them. */
#include "base/term.h"
#include "cmd/input.h"
#include "render/diff.h"
#include "render/render.h"
#include "render/svg/svg.h"

#include <math.h>
#include <unistd.h>

enum diff_format_id { DIFF_TEXT, DIFF_SVG, DIFF_FOLDED, DIFF_JSON, DIFF_FORMATS };
enum diff_show { SHOW_BOTH, SHOW_SELF, SHOW_TOTAL };

struct diff_command_options {
	struct input_options input;
	struct option_list before, after, fail_if;
	enum diff_format_id format;
	enum diff_show show;
	const char *output, *title, *subtitle;
	bool normalize, strip_hex, fail_on_noise, negate, inverted;
	double confidence, sample_weight;
	long long limit, width;
};
INPUT_FIRST(struct diff_command_options);

static const char *const format_choices[] = {
	[DIFF_TEXT] = "text", [DIFF_SVG] = "svg", [DIFF_FOLDED] = "folded", [DIFF_JSON] = "json", [DIFF_FORMATS] = NULL,
};
static const char *const show_choices[] = {
	[SHOW_BOTH] = "both",
	[SHOW_SELF] = "self",
	[SHOW_TOTAL] = "total",
	NULL,
};

#define FIELD(field) offsetof(struct diff_command_options, field)
static const struct option_row diff_rows[] = {
	{.type = OPTION_HEADING, .help = "What to compare"},
	{.name = "before",
	 .type = OPTION_REST,
	 .offset = FIELD(before),
	 .argument = "FILE",
	 .help = "Runs before the change. Use with --after, instead of the two arguments."},
	{.name = "after",
	 .type = OPTION_REST,
	 .offset = FIELD(after),
	 .argument = "FILE",
	 .help = "Runs after the change. With two or more runs on a side, noise is estimated from their variance."},
	{.name = "normalize",
	 .letter = 'n',
	 .type = OPTION_FLAG,
	 .offset = FIELD(normalize),
	 .help = "Compare shares instead of weights: scale before to the total of after. For runs that differ in "
		 "length or load."},
	{.name = "strip-hex",
	 .letter = 's',
	 .type = OPTION_FLAG,
	 .offset = FIELD(strip_hex),
	 .help = "Replace hexadecimal numbers (0x45ef2a) with 0x..., so that addresses of two runs match."},
	{.name = "confidence",
	 .type = OPTION_NUMBER,
	 .offset = FIELD(confidence),
	 .argument = "P",
	 .min = 50,
	 .max = 99.9999,
	 .help = "Treat changes with less than P percent confidence as noise.",
	 .initial = "95"},
	{.name = "sample-weight",
	 .type = OPTION_NUMBER,
	 .offset = FIELD(sample_weight),
	 .argument = "W",
	 .min = 1e-9,
	 .max = 1e18,
	 .help = "Weight of one sample, if weights are times or bytes. Default: derived from the input."},
	{.type = OPTION_HEADING, .help = "Thresholds"},
	{.name = "fail-if",
	 .type = OPTION_LIST,
	 .offset = FIELD(fail_if),
	 .argument = "EXPRESSION",
	 .help = "Exit with code 3 if the expression is true: 'total>3%' (the total grew by more than 3 %), "
		 "'func:NAME>2%' (NAME with its callees grew by more than 2 % of the total before), 'self:NAME>2%' "
		 "(NAME itself), 'func:*>2%' (any function). Can be repeated."},
	{.name = "fail-on-noise",
	 .type = OPTION_FLAG,
	 .offset = FIELD(fail_on_noise),
	 .help = "Also fail if the growth is within noise. Default: fail only if the growth is significant."},
	{.type = OPTION_HEADING, .help = "Output"},
	{.name = "format",
	 .type = OPTION_CHOICE,
	 .offset = FIELD(format),
	 .argument = "FORMAT",
	 .choices = format_choices,
	 .help = "Output format. svg is a differential flame graph. folded has lines of stack, count before and "
		 "count after, like difffolded.pl. Default: chosen by the suffix of -o (.svg, .folded, .json), or "
		 "text."},
	{.name = "output",
	 .letter = 'o',
	 .type = OPTION_STRING,
	 .offset = FIELD(output),
	 .argument = "FILE",
	 .help = "Write to FILE instead of standard output."},
	{.name = "show",
	 .type = OPTION_CHOICE,
	 .offset = FIELD(show),
	 .argument = "WHAT",
	 .choices = show_choices,
	 .help = "Tables in text output: functions without callees (self), with callees (total), or both.",
	 .initial = "both"},
	{.name = "limit",
	 .type = OPTION_INT,
	 .offset = FIELD(limit),
	 .argument = "N",
	 .min = 0,
	 .max = 1e9,
	 .initial = "-1", /* not given */
	 .initial_described = true,
	 .help = "Show at most N functions per table, of which at most N/2 have changes within noise; 0: all. Default: "
		 "20 for text, otherwise all."},
	{.name = "width",
	 .type = OPTION_INT,
	 .offset = FIELD(width),
	 .argument = "N",
	 .min = 0,
	 .max = 100000,
	 .initial = "-1", /* not given */
	 .initial_described = true,
	 .help = "Text: shorten names so that lines fit into N columns; 0: do not shorten. Default: the width of the "
		 "terminal, or 0 if the output is not a terminal. SVG: width in pixels. Default: the width of the "
		 "window."},
	{.name = "title",
	 .type = OPTION_STRING,
	 .offset = FIELD(title),
	 .argument = "TEXT",
	 .help = "Title of the SVG. Default: Differential Flame Graph."},
	{.name = "subtitle",
	 .type = OPTION_STRING,
	 .offset = FIELD(subtitle),
	 .argument = "TEXT",
	 .help = "Second line of the title. Default: the names of the inputs."},
	{.name = "negate", .type = OPTION_FLAG, .offset = FIELD(negate), .help = "Swap red and blue in the SVG."},
	{.name = "inverted",
	 .type = OPTION_FLAG,
	 .offset = FIELD(inverted),
	 .help = "Draw the SVG as an icicle graph, with the outermost frames at the top."},
	{.type = OPTION_TABLE, .table = input_show_rows},
	{.type = OPTION_TABLE, .table = input_threads_long_rows},
	{.type = OPTION_TABLE, .table = input_inline_rows},
	{.type = OPTION_TABLE, .table = input_take_rows},
	OPTION_END,
};
#undef FIELD

static const struct command_example diff_examples[] = {
	{"wick diff before.folded after.folded", "show what changed, as a table"},
	{"wick diff -o diff.svg before.perf.gz after.perf.gz",
	 "draw a differential flame graph: red grew, blue shrank"},
	{"wick diff --before b1 b2 b3 --after a1 a2 a3", "compare three runs with three runs"},
	{"wick diff --fail-if 'total>3%' --fail-if 'func:parse>1%' base.folded new.folded",
	 "check thresholds in CI: exit code 3 if exceeded"},
	{"wick diff -n --format folded a.folded b.folded | wick flame -o d.svg", "like difffolded.pl -n"},
	{0},
};

struct run {
	struct diff_command_options options;
	struct option_list sides[2];
	struct gate *gates;
	struct diff diff;
	struct diff_view view;
	struct buf notes[3];
	size_t note_count;
	bool warned_of_sums; /* of a single run */
};

static bool is(const char *text, const char *word)
{
	return strcmp(text, word) == 0;
}

/* ".svg", ".folded", ".json" */
static enum diff_format_id format_of_name(const char *output)
{
	const char *dot = output ? strrchr(output, '.') : NULL;
	for (int format = DIFF_TEXT + 1; dot && dot > output && format < DIFF_FORMATS; format++)
		if (is(dot + 1, format_choices[format]))
			return (enum diff_format_id)format;
	return DIFF_TEXT;
}

static int settle_inputs(struct run *run, const struct option_list *arguments)
{
	struct diff_command_options *options = &run->options;
	bool sets = options->before.count || options->after.count;
	if (sets && arguments->count)
		return say_usage(&command_diff, "'%s' is in neither --before nor --after", arguments->items[0]);
	if (sets && !(options->before.count && options->after.count))
		return say_usage(&command_diff, "--before and --after must be used together");
	if (!sets && arguments->count != 2)
		return say_usage(&command_diff,
				 "two profiles are needed, not %zu; for sets of profiles use --before and --after",
				 arguments->count);
	size_t from_stdin = 0;
	for (int side = 0; side < 2; side++) {
		const struct option_list *set = side == DIFF_BEFORE ? &options->before : &options->after;
		for (size_t i = 0; i < set->count; i++)
			option_list_add(&run->sides[side], set->items[i]);
		if (!sets)
			option_list_add(&run->sides[side], arguments->items[side]);
		for (size_t i = 0; i < run->sides[side].count; i++)
			from_stdin += is(run->sides[side].items[i], "-");
	}
	if (from_stdin > 1)
		return say_usage(&command_diff, "standard input can be read only once");
	return PROCEED;
}

static int settle(struct run *run, const struct option_list *arguments)
{
	struct diff_command_options *options = &run->options;
	int code = settle_inputs(run, arguments);
	if (code != PROCEED)
		return code;
	if (options->format == DIFF_FORMATS)
		options->format = format_of_name(options->output);
	if (options->limit < 0)
		options->limit = options->format == DIFF_TEXT ? 20 : 0;
	run->gates = mem_zalloc(options->fail_if.count, sizeof *run->gates);
	for (size_t i = 0; i < options->fail_if.count; i++) {
		struct err err = {0};
		if (gate_parse(&run->gates[i], options->fail_if.items[i], &err) < 0)
			return say_usage(&command_diff, "--fail-if %s", err_text(&err));
	}
	return PROCEED;
}

static int load_run(struct run *run, enum diff_side side, const char *path)
{
	static const char *const side_names[] = {"BEFORE", "AFTER"};
	struct option_list one = {0};
	struct profile profile;
	struct err err = {0};
	profile_init(&profile);
	option_list_add(&one, path);
	int code = input_load(&profile, &run->options.input, &one, false);
	option_list_release(&one);
	if (code == PROCEED && profile.differential) {
		say_error("%s: already a comparison (two counts per line); draw it with wick flame", path);
		code = EXIT_FAILED;
	}
	struct calltree_options tree = {0};
	if (code == PROCEED)
		code = input_tree_options(&profile, &run->options.input, &tree);
	if (code == PROCEED) {
		run->warned_of_sums |= profile.quality.overflows > 0;
		if (!run->diff.runs[DIFF_BEFORE] && side == DIFF_BEFORE)
			run->diff.options.tree = tree;
		if (run->options.format == DIFF_TEXT)
			run->diff.options.tree.names = label_names_of_table(tree.names);
		if (diff_add_run(&run->diff, side, &profile, tree.values[0], &err) < 0) {
			say_error("%s (%s): %s", path, side_names[side], err_text(&err));
			code = EXIT_FAILED;
		}
	}
	profile_release(&profile);
	return code;
}

static int load(struct run *run)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < run->sides[side].count; i++) {
			int code = load_run(run, (enum diff_side)side, run->sides[side].items[i]);
			if (code != PROCEED)
				return code;
		}
	return PROCEED;
}

static struct buf *new_note(struct run *run)
{
	return &run->notes[run->note_count++];
}

/* What makes the comparison less than it seems. */
static void add_notes(struct run *run)
{
	const struct diff *diff = &run->diff;
	const char *before = profile_text(&diff->profile, diff->event[DIFF_BEFORE]);
	const char *after = profile_text(&diff->profile, diff->event[DIFF_AFTER]);
	if (diff->event[DIFF_BEFORE] != diff->event[DIFF_AFTER])
		buf_printf(new_note(run), "comparing different events: %s and %s", *before ? before : "unnamed",
			   *after ? after : "unnamed");
	double growth = diff_growth(diff, &diff->all);
	bool folded = run->options.format == DIFF_FOLDED;
	if (!diff->options.normalize && !folded && diff->all.significant && fabs(growth) >= 5)
		buf_printf(new_note(run),
			   "the totals differ by %+.1f %%; if the runs did different amounts of work, use "
			   "--normalize",
			   growth);
	if (diff->runs[0] != diff->runs[1] && !diff->options.normalize && (folded || run->options.format == DIFF_SVG))
		buf_printf(new_note(run), "%zu runs before, %zu after: before is scaled to the same number",
			   diff->runs[0], diff->runs[1]);
	for (size_t i = 0; i < run->note_count; i++)
		run->view.notes[i] = run->notes[i].data;
}

static void fill_view(struct run *run)
{
	const struct diff_command_options *options = &run->options;
	struct diff_view *view = &run->view;
	bool to_stdout = !options->output || is(options->output, "-");
	view->diff = &run->diff;
	view->inputs[DIFF_BEFORE] = run->sides[DIFF_BEFORE].items;
	view->inputs[DIFF_AFTER] = run->sides[DIFF_AFTER].items;
	view->gates = run->gates;
	view->gate_count = options->fail_if.count;
	view->limit = (size_t)options->limit;
	view->show_self = options->show != SHOW_TOTAL;
	view->show_total = options->show != SHOW_SELF;
	view->colour = to_stdout && term_colour(STDOUT_FILENO);
	if (options->width >= 0)
		view->width = (int)options->width;
	else if (to_stdout && isatty(STDOUT_FILENO))
		view->width = term_width(STDOUT_FILENO, 0);
	add_notes(run);
}

static void describe(const struct run *run, struct buf *out)
{
	for (int side = 0; side < 2; side++) {
		const struct option_list *files = &run->sides[side];
		const char *slash = strrchr(files->items[0], '/');
		buf_str(out, side ? " → " : "");
		if (files->count > 1)
			buf_printf(out, "%zu runs", files->count);
		else
			buf_str(out, slash && slash[1] ? slash + 1 : files->items[0]);
	}
	if (run->options.normalize)
		buf_str(out, " (normalized)");
}

static void write_svg(struct run *run, struct outfile *out)
{
	const struct diff_command_options *options = &run->options;
	struct diff *diff = &run->diff;
	struct svg_options svg = svg_defaults();
	struct buf subtitle CLEANUP_BUF = {0};
	describe(run, &subtitle);
	bool *noise CLEANUP_FREE = diff_noise(diff);
	const char *unit = profile_text(&diff->profile, diff->unit[DIFF_AFTER]);
	svg.title = options->title ? options->title : "Differential Flame Graph";
	svg.subtitle = options->subtitle ? options->subtitle : subtitle.data;
	if (*unit)
		svg.countname = unit;
	if (options->width > 0) {
		svg.width = (unsigned)options->width;
		svg.fixed_width = true;
	}
	svg.negate = options->negate;
	svg.names = diff->options.tree.names;
	svg.inverted = options->inverted;
	svg.diff_names[0] = "before";
	svg.diff_names[1] = "after";
	svg.noise = noise;
	svg.decimals = diff_scale_tree(diff);
	svg_render(&diff->tree, &diff->profile, &svg, out);
}

static void write_folded(struct run *run, struct outfile *out)
{
	int64_t numerator, denominator;
	diff_scale(&run->diff, &numerator, &denominator);
	render_folded_scaled(&run->diff.tree, run->diff.profile.values[DIFF_BEFORE].decimals, numerator, denominator,
			     out);
}

static void write_text(struct run *run, struct outfile *out)
{
	diff_text(&run->view, out);
}

static void write_json(struct run *run, struct outfile *out)
{
	diff_json(&run->view, out);
}

static const struct diff_format {
	void (*write)(struct run *run, struct outfile *out);
	bool has_notes; /* what the reader must know is part of it */
} diff_formats[DIFF_FORMATS] = {
	[DIFF_TEXT] = {.write = write_text, .has_notes = true},
	[DIFF_SVG] = {.write = write_svg},
	[DIFF_FOLDED] = {.write = write_folded},
	[DIFF_JSON] = {.write = write_json, .has_notes = true},
};

static int write_output(struct run *run)
{
	const struct diff_format *format = &diff_formats[run->options.format];
	struct outfile out;
	struct err err = {0};
	if (outfile_open(&out, run->options.output, &err) < 0)
		return say_failure(&err);
	format->write(run, &out);
	if (!format->has_notes)
		for (size_t i = 0; i < run->note_count; i++)
			say_warning("%s", run->notes[i].data);
	return outfile_commit(&out, &err) < 0 ? say_failure(&err) : PROCEED;
}

static int say_verdicts(const struct run *run)
{
	int code = EXIT_DONE;
	for (size_t i = 0; i < run->view.gate_count; i++) {
		const struct gate *gate = &run->gates[i];
		struct buf line CLEANUP_BUF = {0};
		diff_verdict(&run->diff, gate, &line);
		const char *nearest = gate->found ? NULL : gate_suggest(gate, &run->diff);
		say_error("%s%s%s%s", line.data, nearest ? "; did you mean '" : "", nearest ? nearest : "",
			  nearest ? "'?" : "");
		if (gate->failed)
			code = EXIT_THRESHOLD;
	}
	return code;
}

static int compare(struct run *run)
{
	const struct diff_command_options *options = &run->options;
	struct diff_options how = {
		.normalize = options->normalize,
		.strip_hex = options->strip_hex,
		.confidence = options->confidence / 100,
		.sample_weight = options->sample_weight,
		.repeated = run->sides[0].count > 1 || run->sides[1].count > 1,
	};
	diff_init(&run->diff, &how);
	int code = load(run);
	if (code == PROCEED) {
		diff_compare(&run->diff);
		if (!run->warned_of_sums)
			input_say_overflows(&run->diff.profile.quality);
		for (size_t i = 0; i < options->fail_if.count; i++)
			gate_check(&run->gates[i], &run->diff, options->fail_on_noise);
		fill_view(run);
		code = write_output(run);
	}
	if (code == PROCEED)
		code = say_verdicts(run);
	diff_release(&run->diff);
	return code;
}

static int diff_run(int argc, char **argv)
{
	struct run run = {.options = {.input = input_defaults(true)}};
	struct option_list arguments = {0};
	int code = options_parse(&command_diff, argc, argv, &run.options, &arguments);
	if (code != PROCEED)
		return code;
	input_confine(&run.options.input, run.options.output, NULL);
	code = settle(&run, &arguments);
	if (code == PROCEED)
		code = compare(&run);
	for (size_t i = 0; i < sizeof run.notes / sizeof *run.notes; i++)
		buf_release(&run.notes[i]);
	for (int side = 0; side < 2; side++)
		option_list_release(&run.sides[side]);
	free(run.gates);
	option_list_release(&arguments);
	option_list_release(&run.options.before);
	option_list_release(&run.options.after);
	option_list_release(&run.options.fail_if);
	input_release(&run.options.input);
	return code;
}

const struct command command_diff = {
	.name = "diff",
	.summary = "Show what changed between two profiles",
	.arguments = "BEFORE AFTER | --before FILE… --after FILE…",
	.description =
		"Compares two profiles (perf.data, perf script text or folded stacks), or two sets of profiles. "
		"Shows for each function how its weight changed, and the confidence of the change. If the runs "
		"differ in length or load, use --normalize to compare shares instead of weights.\n\n"
		"With single runs, the confidence is computed from the number of samples, or from the spread of "
		"weights over stacks if the weights are not numbers of samples. It accounts for the "
		"randomness of sampling, but not for differences from run to run. With two or more runs on a side, "
		"it is computed from their variance. Confidences are corrected for the number of functions (false "
		"discovery rate). Changes below --confidence are marked with ~, and are gray in the SVG.\n\n"
		"With --fail-if the exit code is 3 if a threshold is exceeded by more than noise, otherwise 0. Use "
		"it in CI.",
	.options = diff_rows,
	.examples = diff_examples,
	.exit_codes =
		(const struct command_fact[]){
			{"3", "success, but a threshold was exceeded (wick diff --fail-if)"},
			MAX_MEMORY_EXIT,
			{0},
		},
	.run = diff_run,
};
