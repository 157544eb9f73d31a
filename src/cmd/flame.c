/* wick flame: the interactive flame graph. */
#include "base/text.h"
#include "cmd/input.h"
#include "profile/view.h"
#include "render/nameattr.h"
#include "render/outputs.h"
#include "render/palette_map.h"
#include "render/svg/svg.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define PALETTE_MAP_PATH "palette.map" /* in the current folder, as flamegraph.pl has it */
#define DEFAULT_OUTPUT "flamegraph.svg" /* when it would go to a terminal */
#define FEW_STACKS 100

enum flame_sort { SORT_NAME, SORT_WIDTH, SORT_UNSET };

struct flame_options {
	struct input_options input;
	const char *output, *title, *subtitle, *notes, *countname, *nametype, *fonttype, *encoding;
	const char *minwidth, *bgcolors, *uicolor, *search_color, *stroke_color, *nameattr;
	enum palette colors; /* PALETTE_COUNT: none was chosen */
	enum svg_theme theme;
	enum flame_sort sort;
	double fontsize, fontwidth, total, factor;
	long long width, height;
	bool hash, random, deterministic, cp, reverse, inverted, flamechart, negate, no_sort;
	bool truncate_text_right, colordiffusion, no_javascript, pretty_xml, quiet, verbose;
	struct option_list base;
};

INPUT_FIRST(struct flame_options);

static const char *const theme_choices[] = {
	[SVG_THEME_AUTO] = "auto",
	[SVG_THEME_LIGHT] = "light",
	[SVG_THEME_DARK] = "dark",
	NULL,
};
static const char *const sort_choices[] = {[SORT_NAME] = "name", [SORT_WIDTH] = "width", [SORT_UNSET] = NULL};

#define FIELD(field) offsetof(struct flame_options, field)
#define FLAG(text, field) .name = text, .type = OPTION_FLAG, .offset = FIELD(field)
#define TEXT(text, field, value) .name = text, .type = OPTION_STRING, .offset = FIELD(field), .argument = value
static const struct option_row flame_rows[] = {
	{.type = OPTION_HEADING, .help = "Output"},
	{TEXT("output", output, "FILE"), .letter = 'o',
	 .help = "Write to FILE. Default: standard output, or flamegraph.svg if that is a terminal."},
	{TEXT("title", title, "TEXT"), .help = "Title. Default: Flame Graph, Icicle Graph or Flame Chart."},
	{TEXT("subtitle", subtitle, "TEXT"), .help = "Second line of the title. Default: none."},
	{TEXT("notes", notes, "TEXT"), .help = "Comment in the file. Must not contain < or >. Default: none."},
	{TEXT("countname", countname, "TEXT"),
	 .help = "Name of the counts. Default: samples, or the event if periods are counted (cycles)."},
	{TEXT("nametype", nametype, "TEXT"), .help = "Name of the frames. Default: Function:"},
	{.name = "width",
	 .type = OPTION_INT,
	 .offset = FIELD(width),
	 .argument = "PIXELS",
	 .min = 40,
	 .max = 100000,
	 .help = "Fixed width of the graph. Default: the width of the window, or 1200 without scripts."},
	{.name = "height",
	 .type = OPTION_INT,
	 .offset = FIELD(height),
	 .argument = "PIXELS",
	 .min = 3,
	 .max = 1000,
	 .help = "Height of a frame.",
	 .initial = "16"},
	{TEXT("minwidth", minwidth, "WIDTH"),
	 .help = "Do not draw frames narrower than WIDTH, in pixels, or in percent of the total (0.5%). Default: "
		 "0.1, or 0.5 without scripts."},
	{TEXT("fonttype", fonttype, "FONT"), .help = "Font of the labels, or a list of fonts. Default: Verdana."},
	{.name = "fontsize",
	 .type = OPTION_NUMBER,
	 .offset = FIELD(fontsize),
	 .argument = "PIXELS",
	 .min = 1,
	 .max = 200,
	 .help = "Font size.",
	 .initial = "12"},
	{.name = "fontwidth",
	 .type = OPTION_NUMBER,
	 .offset = FIELD(fontwidth),
	 .argument = "RATIO",
	 .min = 0.01,
	 .max = 10,
	 .help = "Average width of a character, relative to the font size.",
	 .initial = "0.59"},
	{FLAG("truncate-text-right", truncate_text_right),
	 .help = "Shorten long names only at the right end. Default: remove outer qualifiers first."},
	{TEXT("encoding", encoding, "NAME"),
	 .help = "Ignored, for compatibility with flamegraph.pl. The SVG is always in UTF-8."},
	{FLAG("no-javascript", no_javascript), .help = "Write static frames only, without script and data."},
	{FLAG("quiet", quiet), .letter = 'q', .help = "Do not print warnings."},
	{FLAG("pretty-xml", pretty_xml), .hidden = true,
	 .help = "Ignored, for compatibility with inferno. Each frame is always on a separate line."},
	{FLAG("verbose", verbose), .letter = 'v', .hidden = true, .help = "Ignored, for compatibility with inferno."},

	{.type = OPTION_HEADING, .help = "Layout"},
	{FLAG("inverted", inverted), .letter = 'i',
	 .help = "Draw an icicle graph, with the outermost frames at the top."},
	{FLAG("reverse", reverse),
	 .help = "Reverse stacks: merge them from the innermost frame, with callers above callees."},
	{FLAG("flamechart", flamechart),
	 .help = "Draw a flame chart: keep stacks in input order (time), and merge only adjacent equal ones."},
	{.name = "sort",
	 .type = OPTION_CHOICE,
	 .offset = FIELD(sort),
	 .argument = "KEY",
	 .choices = sort_choices,
	 .help = "Order of frames with the same parent: by name, or the widest first. Default: name."},
	{FLAG("no-sort", no_sort), .help = "Keep frames with the same parent in input order."},
	{.name = "base",
	 .type = OPTION_LIST,
	 .offset = FIELD(base),
	 .argument = "FUNCTION",
	 .help = "Show only stacks with this function, without its callers. Can be repeated."},
	{.name = "total",
	 .type = OPTION_NUMBER,
	 .offset = FIELD(total),
	 .argument = "COUNT",
	 .min = 1e-9,
	 .max = 1e18,
	 .help = "Count of the full width, if larger than the sum. Default: the sum."},
	{.name = "factor",
	 .type = OPTION_NUMBER,
	 .offset = FIELD(factor),
	 .argument = "NUMBER",
	 .min = 1e-12,
	 .max = 1e12,
	 .help = "Multiply displayed counts by NUMBER.",
	 .initial = "1"},

	{.type = OPTION_HEADING, .help = "Colors"},
	{.name = "colors",
	 .letter = 'c',
	 .type = OPTION_CHOICE,
	 .offset = FIELD(colors),
	 .argument = "PALETTE",
	 .choices = palette_names,
	 .help = "Color palette. java, js, perl, python, rust, chain and safe color by kind of code (safe is "
		 "suitable for color-blind readers), state by kind of wait, the others by name. Default: hot; state "
		 "for off-CPU time, wall-clock time and page faults; python if most of the weight is in Python."},
	{.name = "color",
	 .type = OPTION_CHOICE,
	 .offset = FIELD(colors),
	 .argument = "PALETTE",
	 .hidden = true,
	 .choices = palette_names,
	 .help = "The same as --colors."},
	{TEXT("bgcolors", bgcolors, "COLOR"),
	 .help = "Background: yellow, blue, green, grey or #rrggbb. Default: depends on the palette."},
	{FLAG("hash", hash),
	 .help = "Choose shades by the first letters of names, so that similar names have similar shades."},
	{FLAG("random", random), .help = "Choose random shades."},
	{FLAG("deterministic", deterministic), .help = "Choose shades by a hash of the whole name, like inferno."},
	{FLAG("cp", cp),
	 .help = "Read the colors of names from palette.map in the current directory, and save them there."},
	{FLAG("colordiffusion", colordiffusion), .help = "Color by width: wider frames are redder."},
	{FLAG("negate", negate), .help = "Swap red and blue in comparisons."},
	{.name = "theme",
	 .type = OPTION_CHOICE,
	 .offset = FIELD(theme),
	 .argument = "THEME",
	 .choices = theme_choices,
	 .initial = "auto",
	 .initial_described = true,
	 .help = "Initial theme of the page. Default: auto, the setting of the reader's system."},
	{TEXT("search-color", search_color, "COLOR"), .help = "Color of search results: #rrggbb. Default: #e600e6."},
	{TEXT("stroke-color", stroke_color, "COLOR"), .help = "Outline of frames: #rrggbb or none. Default: none."},
	{TEXT("uicolor", uicolor, "COLOR"),
	 .help = "Color of text outside frames: #rrggbb. Default: depends on the theme."},
	{TEXT("nameattr", nameattr, "FILE"),
	 .help = "Read attributes of functions from FILE. Each line has a function, a tab, and key=value pairs "
		 "separated by tabs. Keys: href, target, title, class, id, style, g_extra, a_extra."},

	{.type = OPTION_TABLE, .table = input_show_rows},
	{.type = OPTION_TABLE, .table = input_threads_rows},
	{.type = OPTION_TABLE, .table = input_inline_rows},
	{.type = OPTION_TABLE, .table = input_take_rows},
	OPTION_END,
};
#undef FIELD
#undef FLAG
#undef TEXT

static const struct command_example flame_examples[] = {
	{"perf script | wick flame -o cpu.svg", "draw a recording made by perf"},
	{"wick flame --colors java --title 'Checkout' app.folded -o app.svg",
	 "draw folded stacks, colored by language"},
	{"wick flame --reverse --inverted --minwidth 0.5% out.perf.gz -o leaf.svg",
	 "show the callers of hot functions"},
	{"wick flame --base handle_request out.folded -o request.svg", "show only what one function does"},
	{"wick flame --colors io --countname us --title 'Off-CPU' off.folded >off.svg",
	 "use a unit other than samples"},
	{0},
};

struct run {
	struct flame_options options;
	struct option_list files;
	struct svg_options svg;
	struct profile profile;
	struct calltree_options tree_options;
	struct calltree tree;
	struct nameattr attributes;
	struct palette_map map;
	const char *output; /* NULL: standard output */
	bool output_chosen; /* not by the user */
	struct buf event_name; /* for svg.countname */
};

static int usage_colour(const char *option, const char *value)
{
	return say_usage(&command_flame, "--%s must be a color such as #1f77b4, not '%s'", option, value);
}

/* "12.5" or "0.5%", as flamegraph.pl takes it. */
static bool parse_minwidth(const char *text, double *ret_value, bool *ret_percent)
{
	size_t length = strspn(text, "0123456789.");
	bool percent = text[length] == '%';
	char *end;
	double value = strtod(text, &end);
	if (!length || end != text + length || text[length + percent] || !isfinite(value) || value > 1e6 ||
	    (percent && value > 100))
		return false;
	*ret_value = value;
	*ret_percent = percent;
	return true;
}

static int settle_colours(struct run *run)
{
	const struct flame_options *options = &run->options;
	struct svg_options *svg = &run->svg;
	svg->palette = options->colors != PALETTE_COUNT ? options->colors : PALETTE_HOT;
	const char *background = options->bgcolors ? options->bgcolors : palette_background_default(svg->palette);
	if (!palette_background(background, svg->background))
		return say_usage(&command_flame, "--bgcolors must be yellow, blue, green, grey or #rrggbb, not '%s'",
				 background);
	if (options->search_color && !rgb_parse(options->search_color, &svg->search_colour))
		return usage_colour("search-color", options->search_color);
	svg->has_ui_colour = options->uicolor;
	if (options->uicolor && !rgb_parse(options->uicolor, &svg->ui_colour))
		return usage_colour("uicolor", options->uicolor);
	svg->has_stroke_colour = options->stroke_color && strcmp(options->stroke_color, "none") != 0;
	if (svg->has_stroke_colour && !rgb_parse(options->stroke_color, &svg->stroke_colour))
		return usage_colour("stroke-color", options->stroke_color);
	if (options->hash && options->deterministic)
		return say_usage(&command_flame, "--hash and --deterministic cannot be used together");
	svg->shade = options->hash          ? SHADE_BY_HASH :
		     options->deterministic ? SHADE_BY_FNV :
		     options->random        ? SHADE_RANDOM :
					      SHADE_BY_SUM;
	if (options->random && getrandom(&svg->random, sizeof svg->random, 0) != sizeof svg->random)
		svg->random = (uint64_t)time(NULL);
	return PROCEED;
}

static int settle_texts(struct run *run)
{
	const struct flame_options *options = &run->options;
	struct svg_options *svg = &run->svg;
	if (options->notes && strpbrk(options->notes, "<>"))
		return say_usage(&command_flame, "--notes must not contain < or >");
	if (options->fonttype && !svg_font_ok(options->fonttype))
		return say_usage(&command_flame, "--fonttype must be the name of a font, not '%s'", options->fonttype);
	if (options->minwidth)
		svg->minwidth_static = 0;
	if (options->minwidth && !parse_minwidth(options->minwidth, &svg->minwidth, &svg->minwidth_percent))
		return say_usage(&command_flame, "--minwidth must be pixels or percent, such as 0.5 or 2%%, not '%s'",
				 options->minwidth);
	if (options->encoding && strcasecmp(options->encoding, "utf-8") != 0 &&
	    strcasecmp(options->encoding, "utf8") != 0 && !options->quiet)
		say_warning("--encoding %s: ignored, the SVG is always in UTF-8", options->encoding);
	svg->title = options->title;
	svg->subtitle = options->subtitle;
	svg->notes = options->notes;
	if (options->nametype)
		svg->nametype = options->nametype;
	if (options->fonttype)
		svg->fonttype = options->fonttype;
	return PROCEED;
}

static int settle_layout(struct run *run)
{
	const struct flame_options *options = &run->options;
	struct svg_options *svg = &run->svg;
	bool in_order = options->flamechart || options->no_sort;
	if (options->sort != SORT_UNSET && in_order)
		return say_usage(&command_flame, "--sort and --%s cannot be used together",
				 options->flamechart ? "flamechart" : "no-sort");
	svg->order = in_order ? ORDER_INPUT : options->sort == SORT_WIDTH ? ORDER_WIDTH : ORDER_NAME;
	svg->fixed_width = options->width > 0;
	if (options->width > 0)
		svg->width = (unsigned)options->width;
	svg->frame_height = (unsigned)options->height;
	svg->fontsize = options->fontsize;
	svg->fontwidth = options->fontwidth;
	svg->total = options->total;
	svg->factor = options->factor;
	svg->inverted = options->inverted;
	svg->reverse = options->reverse;
	svg->flamechart = options->flamechart;
	svg->negate = options->negate;
	svg->truncate_right = options->truncate_text_right;
	svg->colordiffusion = options->colordiffusion;
	svg->script = !options->no_javascript;
	svg->theme = options->theme;
	return PROCEED;
}

/* The files besides the profile. */
static int read_side_files(struct run *run)
{
	const struct flame_options *options = &run->options;
	struct err err = {0};
	if (options->nameattr) {
		if (nameattr_read(&run->attributes, options->nameattr, &err) < 0)
			return say_failure(&err);
		if (run->attributes.dropped > 1 && !options->quiet)
			say_warning("%s (and %llu more)", run->attributes.first_dropped,
				    (unsigned long long)run->attributes.dropped - 1);
		else if (run->attributes.dropped && !options->quiet)
			say_warning("%s", run->attributes.first_dropped);
		run->svg.attributes = &run->attributes;
	}
	if (options->cp) {
		if (palette_map_read(&run->map, PALETTE_MAP_PATH, &err) < 0)
			return say_failure(&err);
		if (run->map.bad_lines && !options->quiet)
			say_warning("%s: lines skipped because they are not NAME->rgb(R,G,B): %llu", PALETTE_MAP_PATH,
				    (unsigned long long)run->map.bad_lines);
		run->svg.map = &run->map;
	}
	return PROCEED;
}

static void warn_about_counts(const struct run *run, double counted)
{
	const struct svg_options *svg = &run->svg;
	CLEANUP_BUF struct buf count = {0};
	text_decimal_grouped(&count, svg_total(&run->tree), svg->decimals);
	if (run->options.quiet)
		return;
	if (!strcmp(svg->countname, "samples") && counted < FEW_STACKS)
		say_warning("only %s sample%s; is the input complete?", count.data, counted == 1 ? "" : "s");
	/* A total that is a little too small comes from rounding and needs no word. */
	if (svg->total > 0 && svg->total < counted && svg->total / counted > 0.02)
		say_warning("--total %.15g is less than the sum %s: ignored", svg->total, count.data);
}

static int build_tree(struct run *run)
{
	const struct flame_options *options = &run->options;
	struct calltree_options *tree_options = &run->tree_options;
	int code = input_tree_options(&run->profile, &options->input, tree_options);
	if (code != PROCEED)
		return code;
	unsigned decimals = 0;
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < 2 && tree_options->values[i] != PROFILE_NONE; i++) {
			value_id value = tree_options->values[i];
			if (pass)
				profile_set_decimals(&run->profile, value, decimals);
			else if (run->profile.values[value].decimals > decimals)
				decimals = run->profile.values[value].decimals;
		}
	}
	run->svg.decimals = decimals;
	run->svg.marks_are_ours = !tree_options->annotate_kernel && !tree_options->annotate_jit;
	tree_options->annotate_kernel = tree_options->annotate_jit = true;
	tree_options->order = run->svg.order;
	run->svg.names = tree_options->names;
	tree_options->reverse = options->reverse;
	tree_options->base = options->base.count ? options->base.items : NULL;
	output_budget(tree_options, &run->svg);
	calltree_build(&run->tree, &run->profile, tree_options);
	if (run->tree.total[0][0] > 0 || (run->tree.total[1] && run->tree.total[1][0] > 0))
		return PROCEED;
	if (options->base.count)
		say_error("no stack contains the function of --base");
	else
		say_error("nothing to draw: the counts of all stacks are zero");
	return EXIT_FAILED;
}

static void choose_output(struct run *run)
{
	run->output_chosen = !run->options.output && isatty(STDOUT_FILENO);
	run->output = run->output_chosen ? DEFAULT_OUTPUT : run->options.output;
}

static int write_picture(struct run *run)
{
	struct err err = {0};
	struct outfile out;
	if (outfile_open(&out, run->output, &err) < 0)
		return say_failure(&err);
	svg_render(&run->tree, &run->profile, &run->svg, &out);
	if (outfile_commit(&out, &err) < 0)
		return say_failure(&err);
	if (run->options.cp && palette_map_write(&run->map, PALETTE_MAP_PATH, &err) < 0)
		return say_failure(&err);
	if (run->output_chosen)
		fprintf(stderr, "wick: wrote %s\n", DEFAULT_OUTPUT);
	return EXIT_DONE;
}

static int draw(struct run *run)
{
	int code = input_load(&run->profile, &run->options.input, &run->files, run->options.flamechart);
	if (code == PROCEED)
		code = build_tree(run);
	if (code != PROCEED)
		return code;
	const char *value = profile_text(&run->profile, run->profile.values[run->tree_options.values[0]].name);
	if (run->options.colors == PALETTE_COUNT && !run->options.bgcolors)
		output_colours(&run->svg, &run->profile, value);
	if (!run->options.title && profile_view_find(value))
		run->svg.title = profile_view_find(value)->title;
	run->svg.countname = run->options.countname ? run->options.countname :
						      output_countname(&run->profile, run->tree_options.values[0],
								       svg_total(&run->tree), &run->event_name);
	warn_about_counts(run, (double)svg_total(&run->tree) / pow(10, run->svg.decimals));
	if (!run->options.quiet)
		input_say_quality(&run->profile, &run->options.input);
	return write_picture(run);
}

static int flame_run(int argc, char **argv)
{
	struct run run = {
		.options = {.input = input_defaults(true)},
		.svg = svg_defaults(),
	};
	int code = options_parse(&command_flame, argc, argv, &run.options, &run.files);
	if (code != PROCEED)
		return code;
	choose_output(&run);
	input_confine(&run.options.input, run.output, run.options.cp ? PALETTE_MAP_PATH : NULL);
	profile_init(&run.profile);
	nameattr_init(&run.attributes);
	palette_map_init(&run.map);
	code = settle_texts(&run);
	if (code == PROCEED)
		code = settle_colours(&run);
	if (code == PROCEED)
		code = settle_layout(&run);
	if (code == PROCEED)
		code = read_side_files(&run);
	if (code == PROCEED)
		code = draw(&run);
	calltree_release(&run.tree);
	palette_map_release(&run.map);
	nameattr_release(&run.attributes);
	profile_release(&run.profile);
	buf_release(&run.event_name);
	option_list_release(&run.options.base);
	option_list_release(&run.files);
	input_release(&run.options.input);
	return code;
}

const struct command command_flame = {
	.name = "flame",
	.summary = "Draw an interactive flame graph (SVG)",
	.arguments = "[FILE…]",
	.description =
		"Reads perf.data, perf script text or folded stacks, and writes a single SVG file. Open it in a "
		"browser to zoom, search, filter, invert or reverse the graph; the URL contains the view. If "
		"scripts are disabled, the file shows the static graph.\n\n"
		"The options of flamegraph.pl and inferno-flamegraph are supported with the same names and meanings. "
		"Colors are the same as those of flamegraph.pl. Folded lines with two counts are drawn as a "
		"comparison: functions that grew, including their callees, are red, and functions that shrank are "
		"blue.\n\n"
		"Without FILE, or if FILE is -, reads standard input. If that is a terminal, reads the newest "
		"recording in the current directory: perf.data, or a directory of wick record.",
	.options = flame_rows,
	.examples = flame_examples,
	.exit_codes = input_exit_codes,
	.run = flame_run,
};
