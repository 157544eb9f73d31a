/* The outputs that several commands write, and the table of all formats. */
#include "render/outputs.h"

#include "profile/own_code.h"
#include "profile/view.h"
#include "render/render.h"

#include <math.h>
#include <string.h>

/* The event without modifiers such as :u, which a reader of "1,234 cycles" does not need. */
static const char *plain_event(const char *name, struct buf *scratch)
{
	const char *colon = strrchr(name, ':');
	if (!colon || colon == name || !colon[1] || colon[1 + strspn(colon + 1, "ukhGHIpPSDWeb")])
		return name;
	buf_clear(scratch);
	buf_add(scratch, name, (size_t)(colon - name));
	return scratch->data;
}

const char *output_countname(const struct profile *profile, value_id value, int64_t total, struct buf *scratch)
{
	if (total < 0 || profile->differential)
		return "samples";
	const struct value_type *type = &profile->values[value];
	const char *name = profile_text(profile, type->name), *unit = profile_text(profile, type->unit);
	if (*unit && strcmp(unit, "samples") != 0)
		return unit;
	if (!*name || *unit)
		return "samples";
	/* Filters leave samples out, so the whole profile is asked and not the tree. */
	double counted = (double)profile_total(profile, value) / pow(10, type->decimals);
	return counted == (double)profile->quality.samples ? "samples" : plain_event(name, scratch);
}

void output_budget(struct calltree_options *options, const struct svg_options *svg)
{
	double narrowest = svg->minwidth_percent ? svg->minwidth / 100 : svg->minwidth / svg->width;
	options->node_budget = svg->node_budget;
	options->keep_share = narrowest * 0.99; /* rounding must not tip what is just wide enough */
}

/* Whether most of the weight of a value is in stacks with functions of Python. */
static bool is_mostly_python(const struct profile *profile, const char *value)
{
	CLEANUP_FREE bool *python = mem_zalloc(profile->stack_count, sizeof *python);
	double all = 0, part = 0;
	for (size_t i = 1; i < profile->stack_count; i++) {
		const struct stack *stack = &profile->stacks[i]; /* callers come first */
		python[i] = python[stack->parent] || profile->frames[stack->frame].kind == FRAME_PYTHON;
	}
	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct sample *sample = &profile->samples[i];
		if (strcmp(profile_text(profile, profile->values[sample->value].name), value) != 0)
			continue;
		all += (double)sample->weight;
		part += python[sample->stack] ? (double)sample->weight : 0;
	}
	return part > all / 2;
}

void output_colours(struct svg_options *svg, const struct profile *profile, const char *value)
{
	const struct profile_view *view = profile_view_find(value);
	bool wakers = view && strpool_find(&profile->strings, "--", 2) != INDEX_NONE;
	svg->palette = wakers                           ? PALETTE_CHAIN :
		       view                             ? PALETTE_STATE :
		       is_mostly_python(profile, value) ? PALETTE_PYTHON :
							  PALETTE_HOT;
	palette_background(view ? view->background : palette_background_default(svg->palette), svg->background);
}

int output_folded(const struct calltree *tree, unsigned decimals, const char *path, struct err *err)
{
	struct outfile out;
	int code = outfile_open(&out, path, err);
	if (code)
		return code;
	render_folded(tree, decimals, &out);
	return outfile_commit(&out, err);
}

/* With the defaults of `wick flame`. */
static void write_flame(const struct profile *profile, const struct calltree_options *options, const char *title,
			struct outfile *out)
{
	struct svg_options svg = svg_defaults();
	struct calltree_options tree_options = *options;
	struct calltree tree;
	const char *value = profile_text(profile, profile->values[options->values[0]].name);
	CLEANUP_BUF struct buf titles = {0}, countname = {0};
	output_colours(&svg, profile, value);
	if (profile_view_find(value))
		buf_printf(&titles, "%s: ", profile_view_find(value)->title);
	buf_str(&titles, title);
	svg.title = titles.data;
	svg.marks_are_ours = true;
	svg.names = options->names;
	svg.decimals = profile->values[options->values[0]].decimals;
	tree_options.annotate_kernel = tree_options.annotate_jit = true;
	tree_options.order = svg.order;
	output_budget(&tree_options, &svg);
	calltree_build(&tree, profile, &tree_options);
	svg.countname = output_countname(profile, options->values[0], svg_total(&tree), &countname);
	svg_render(&tree, profile, &svg, out);
	calltree_release(&tree);
}

void output_functions(struct report *report, const struct profile *profile, const struct calltree_options *options,
		      struct outfile *out)
{
	struct calltree_options tree_options = *options;
	struct function_table table;
	struct calltree tree;
	struct profile waits; /* others read the profile at the same time */
	profile_init(&waits);
	if (own_code_applies(profile, options->values[0])) {
		const struct value_type *type = &profile->values[options->values[0]];
		profile_merge(&waits, profile);
		tree_options.values[0] =
			profile_value(&waits, profile_text(profile, type->name), profile_text(profile, type->unit));
		own_code_apply(&waits, tree_options.values[0]);
		profile = &waits;
	}
	tree_options.thread_label = THREAD_LABEL_NONE;
	tree_options.show_module = true;
	tree_options.names = label_names_of_table(options->names);
	report->samples = report_wants_samples(profile, tree_options.values[0]);
	if (report->samples)
		tree_options.weigh = TREE_WEIGHTS_AND_SAMPLES;
	calltree_build(&tree, profile, &tree_options);
	function_table_build(&table, &tree);
	function_table_drop_modules(&table, profile);
	function_table_sort(&table, FUNCTIONS_BY_SELF);
	report->profile = profile;
	report->value = tree_options.values[0];
	report->total = profile_total(profile, report->value);
	report->kind = "functions";
	report->heading = "Function";
	report_text.table(report, &table, out);
	function_table_release(&table);
	calltree_release(&tree);
	profile_release(&waits);
}

static void write_folded(const struct output *output, struct outfile *out)
{
	struct calltree tree;
	struct calltree_options options = *output->tree;
	/* Folded stacks name no unit: whoever reads them takes their numbers for samples. */
	const struct value_type *value = &output->profile->values[options.values[0]];
	if (!output->view && strcmp(profile_text(output->profile, value->unit), "ns") == 0)
		options.weigh = TREE_SAMPLES;
	calltree_build(&tree, output->profile, &options);
	render_folded(&tree, value->decimals, out);
	calltree_release(&tree);
}

static void write_svg(const struct output *output, struct outfile *out)
{
	write_flame(output->profile, output->tree, output->title, out);
}

static void write_report(const struct output *output, struct outfile *out)
{
	const char *const inputs[] = {output->title, NULL};
	struct report report = {.inputs = inputs};
	output_functions(&report, output->profile, output->tree, out);
}

const struct output_format output_format_folded = {.name = "folded",
						   .file = "out",
						   .ending = ".folded",
						   .write = write_folded};
const struct output_format output_format_svg = {.name = "svg",
						.file = "flamegraph",
						.ending = ".svg",
						.interest = 2,
						.write = write_svg};
const struct output_format output_format_report = {.name = "report",
						   .file = "report",
						   .ending = ".txt",
						   .interest = 1,
						   .write = write_report};

const struct output_format *const output_formats[OUTPUT_COUNT] = {
#define OUTPUT_ROW(id, row) [OUTPUT_##id] = &output_format_##row,
	OUTPUT_FORMATS(OUTPUT_ROW)
#undef OUTPUT_ROW
};
