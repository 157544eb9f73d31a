/* wick report: where the time goes, as text. */
#include "base/term.h"
#include "cmd/perf_rows.h"
#include "cmd/read_recording.h"
#include "profile/own_code.h"
#include "render/report.h"

#include <stdlib.h>
#include <unistd.h>

struct report_options {
	struct input_options input;
	const char *by; /* one of by_choices, or the key of a label */
	bool by_label;
	enum report_format_id format;
	const char *sort, *output, *call_graph;
	bool header, tree, bottom_up, json, csv;
	bool children, no_children; /* of perf report */
	double min_percent;
	double table_percent; /* rows below it are omitted from tables */
	long long max_depth, limit, width;
};
INPUT_FIRST(struct report_options);

static const char *const by_choices[] = {"function", "module",    "thread", "comm", "process", "cpu",
					 "cgroup",   "container", "pod",    "unit", "gil",     "symbol",
					 "dso",      "tid",       "pid",    NULL};
/* What tables are called: those by labels of recordings, then the others. */
static const struct {
	const char *by, *kind, *heading;
} kinds[] = {
	{LABEL_CPU, "cpus", "CPU"},
	{LABEL_CGROUP, "cgroups", "Cgroup"},
	{LABEL_CONTAINER, "containers", "Container"},
	{LABEL_POD, "pods", "Pod"},
	{LABEL_UNIT, "units", "Unit"},
	{LABEL_GIL, "gil", "gil"},
#define LABEL_KINDS 6 /* as far as here */
	{"thread", "threads", "Thread"},
	{"process", "processes", "Process"},
	{"comm", "comms", "Thread name"},
	{"module", "modules", "Module"},
	{"function", "functions", "Function"},
};
#define KINDS (sizeof kinds / sizeof *kinds)
#define LABELS_LISTED 20 /* in a message */
static const char *const sort_choices[] = {"self", "total", "name", NULL};

#define FIELD(field) offsetof(struct report_options, field)
static const struct option_row report_rows[] = {
	{.type = OPTION_HEADING, .help = "What to show"},
	{.name = "by",
	 .type = OPTION_STRING,
	 .offset = FIELD(by),
	 .argument = "WHAT",
	 .choices = by_choices,
	 .help = "Group samples by WHAT. Default: function. thread: comm-pid/tid, as far as known. comm: threads "
		 "with the same name. cpu, cgroup, container, pod, unit (of systemd) and gil: perf.data only. gil: "
		 "whether threads of Python held the global interpreter lock. symbol, dso, tid and pid are synonyms "
		 "of function, module, thread and process. Any other WHAT is the key of a label that the samples "
		 "have. In folded stacks the outermost frame is used as the thread."},
	{.name = "header",
	 .type = OPTION_FLAG,
	 .offset = FIELD(header),
	 .help = "Print only the header of perf.data: the machine and the recording."},
	{.name = "tree",
	 .type = OPTION_FLAG,
	 .offset = FIELD(tree),
	 .help = "Show the call tree, from the outermost callers to the callees."},
	{.name = "bottom-up",
	 .type = OPTION_FLAG,
	 .offset = FIELD(bottom_up),
	 .help = "Show the inverted call tree, from the functions that used the time to their callers."},
	{.name = "sort",
	 .letter = 's',
	 .type = OPTION_STRING,
	 .offset = FIELD(sort),
	 .argument = "KEY",
	 .choices = sort_choices,
	 .help = "Order of the rows: by self time, total time (with callees) or name. Trees are always sorted by "
		 "weight. Keys of perf report, such as dso, select --by. Default: self."},
	{.name = "limit",
	 .type = OPTION_INT,
	 .offset = FIELD(limit),
	 .argument = "N",
	 .min = 0,
	 .max = 1e9,
	 .initial = "-1", /* not given */
	 .initial_described = true,
	 .help = "Show at most N rows, in trees at most N callees of each function; 0: all. Default: 30 for tables "
		 "as text, otherwise all."},
	{.name = "min-percent",
	 .type = OPTION_NUMBER,
	 .offset = FIELD(min_percent),
	 .argument = "P",
	 .max = 100,
	 .initial = "-1", /* not given */
	 .initial_described = true,
	 .help = "Omit tree branches and table rows below P percent of the total, and count them. Default: 0.5 for "
		 "trees as text, otherwise 0."},
	{.name = "max-depth",
	 .type = OPTION_INT,
	 .offset = FIELD(max_depth),
	 .argument = "N",
	 .min = 0,
	 .max = 1e9,
	 .help = "Omit tree levels below depth N; 0: no limit.",
	 .initial = "0"},
	{.type = OPTION_HEADING, .help = "Output"},
	{.name = "format",
	 .type = OPTION_CHOICE,
	 .offset = FIELD(format),
	 .argument = "FORMAT",
	 .choices = report_format_names,
	 .help = "Output format. Default: text."},
	{.name = "json", .type = OPTION_FLAG, .offset = FIELD(json), .help = "The same as --format json."},
	{.name = "csv", .type = OPTION_FLAG, .offset = FIELD(csv), .help = "The same as --format csv."},
	{.name = "output",
	 .letter = 'o',
	 .type = OPTION_STRING,
	 .offset = FIELD(output),
	 .argument = "FILE",
	 .help = "Write to FILE instead of standard output."},
	{.name = "width",
	 .type = OPTION_INT,
	 .offset = FIELD(width),
	 .argument = "COLUMNS",
	 .min = 0,
	 .max = 100000,
	 .initial = "-1", /* not given */
	 .initial_described = true,
	 .help = "Shorten names so that lines fit into COLUMNS; 0: do not shorten. Default: the width of the "
		 "terminal, or 0 if the output is not a terminal."},
	/* -n of perf report is another. */
	{.type = OPTION_TABLE, .table = input_show_rows},
	{.type = OPTION_TABLE, .table = input_threads_long_rows},
	{.type = OPTION_TABLE, .table = input_inline_rows},
	{.type = OPTION_TABLE, .table = input_take_rows},
	OPTION_END,
};

static const char *const call_graph_choices[] = {"none",   "graph",  "fractal", "flat",
						 "folded", "caller", "callee",  NULL};
#define NO_BROWSER "wick report writes text: use wick report FILE | less -S, or wick flame FILE -o flame.svg"
#define NO_COLUMNS "the columns are fixed; for other programs use --csv or --json"
#define NO_BRANCHES "wick does not read branch records; use perf report"
#define NO_LISTS "wick report shows only samples; use perf report"
static const struct option_row report_perf_rows[] = {
	{.type = OPTION_TABLE, .table = perf_reading_rows},
	{PERF_IGNORED("stdio")},
	{PERF_IGNORED("stdio2")},
	{PERF_IGNORED("show-nr-samples"), .letter = 'n', .help = "Ignored. The number of samples is always shown."},
	{PERF_IGNORED("show-total-period")},
	{PERF_IGNORED("showcpuutilization")},
	{PERF_IGNORED("show-info"), .letter = 'I'},
	{PERF_IGNORED("exclude-other"), .letter = 'x'},
	{PERF_IGNORED("percentage"), .argument = "WHAT"},
	{PERF_IGNORED("group")},
	{PERF_IGNORED("ns")},
	{PERF_IGNORED("skip-empty")},
	{PERF_IGNORED("asm-raw")},
	{PERF_IGNORED("disassembler-style"), .letter = 'M', .argument = "STYLE"},
	{PERF_IGNORED("objdump"), .argument = "PATH"},
	{.name = "children", .type = OPTION_FLAG, .offset = FIELD(children), .help = "The same as --sort total."},
	{.name = "no-children", .type = OPTION_FLAG, .offset = FIELD(no_children), .help = "The same as --sort self."},
	{.name = "percent-limit",
	 .type = OPTION_NUMBER,
	 .offset = FIELD(min_percent),
	 .argument = "P",
	 .max = 100,
	 .help = "The same as --min-percent."},
	{.name = "call-graph",
	 .letter = 'g',
	 .type = OPTION_OPTIONAL,
	 .offset = FIELD(call_graph),
	 .argument = "TYPE,THRESHOLD,ORDER",
	 .choices = call_graph_choices,
	 .help = "The same as --tree; with callee, the same as --bottom-up; with none, a table. folded is not "
		 "supported; use wick fold."},
	{.name = "inverted", .letter = 'G', .type = OPTION_FLAG, .offset = FIELD(tree), .help = "The same as --tree."},
	{.name = "header-only", .type = OPTION_FLAG, .offset = FIELD(header), .help = "The same as --header."},
	{PERF_REFUSED("tui", NO_BROWSER)},
	{PERF_REFUSED("gtk", NO_BROWSER)},
	{PERF_REFUSED("fields", NO_COLUMNS), .letter = 'F'},
	{PERF_REFUSED("field-separator", "use --csv for columns separated by commas"), .letter = 't'},
	{PERF_REFUSED("column-widths", "use --width COLUMNS for the width of lines"), .letter = 'w'},
	{PERF_REFUSED("thread-counters", "use --by thread for one row per thread"), .letter = 'T'},
	{PERF_REFUSED("parent", "use --symbol PATTERN to select stacks with a function"), .letter = 'p'},
	{PERF_REFUSED("symbol-filter", "use --symbol '*TEXT*' to select stacks with a matching function")},
	{PERF_REFUSED("ignore-callees", "use --skip-after FUNCTION to omit its callers")},
	{PERF_REFUSED("hide-unresolved", "use --symbol PATTERN to select stacks with a function"), .letter = 'U'},
	{PERF_REFUSED("hierarchy", "use --tree for the hierarchy of calls, --by module or --by thread for tables")},
	{PERF_REFUSED("branch-stack", NO_BRANCHES), .letter = 'b'},
	{PERF_REFUSED("branch-history", NO_BRANCHES)},
	{PERF_REFUSED("total-cycles", NO_BRANCHES)},
	{PERF_REFUSED("mem-mode", "wick does not read memory accesses; use perf mem report")},
	{PERF_REFUSED("mmaps", NO_LISTS)},
	{PERF_REFUSED("tasks", NO_LISTS)},
	{PERF_REFUSED("stats", NO_LISTS)},
	OPTION_END,
};
#undef FIELD

static const struct command_example report_examples[] = {
	{"wick report perf.data", "show the functions with the most self time"},
	{"wick report --by cpu --time 2.5-4s perf.data", "show which CPUs were busy in a time range"},
	{"wick report --sort total --limit 50 out.folded", "show the fifty functions with the most total time"},
	{"wick report --tree --min-percent 2 out.perf.gz", "show the call tree without branches below 2 %"},
	{"wick report --by thread perf.data", "show the time of each thread"},
	{"wick report --json out.folded | jq '.rows[0].name'", "print the hottest function, for a script"},
	{0},
};

struct run {
	struct report_options options;
	struct option_list files;
	struct profile profile;
	struct calltree_options tree_options;
	struct report report;
	struct outfile out;
};

static bool is(const char *text, const char *word)
{
	return strcmp(text, word) == 0;
}

/* The words that perf report's users know. */
static const char *plain_name(const char *by)
{
	static const char *const others[][2] = {
		{"symbol", "function"}, {"dso", "module"}, {"tid", "thread"}, {"pid", "process"}};
	for (size_t i = 0; by && i < sizeof others / sizeof *others; i++)
		if (is(by, others[i][0]))
			return others[i][1];
	return by ? by : "function";
}

/* The keys of perf's --sort, as rows of wick: one of them makes a table. */
static int settle_sort_keys(struct report_options *options)
{
	static const char *const other_columns[] = {"overhead", "overhead_children", "sample", "period", NULL};
	const char *first = NULL;
	size_t count = 0;
	bool function = false;
	for (const char *at = options->sort; *at;) {
		size_t length = strcspn(at, ",");
		const char *const *key = by_choices, *const *other = other_columns;
		while (*key && (strncmp(*key, at, length) || strlen(*key) != length))
			key++;
		while (*other && (strncmp(*other, at, length) || strlen(*other) != length))
			other++;
		bool short_symbol = length == 3 && !strncmp(at, "sym", 3);
		if (!*key && !*other && !short_symbol)
			return say_usage(&command_report,
					 "--sort must be self, total, name or a value of --by, not '%.*s'", (int)length,
					 at);
		const char *by = short_symbol ? "function" : plain_name(*key);
		if (*key || short_symbol) {
			function = function || is(by, "function");
			first = first ? first : by;
			count++;
		}
		at += length + (at[length] == ',');
	}
	if (count > 1 && !function)
		return say_usage(&command_report, "--sort %s: only one kind of row is supported; use --by %s",
				 options->sort, first);
	if (function && strstr(options->sort, "comm"))
		say_note("showing functions of all threads; for thread names use --by comm");
	if (first && !options->by)
		options->by = function ? "function" : first;
	options->sort = "self";
	return PROCEED;
}

static int settle_sort(struct report_options *options)
{
	if (!options->sort)
		options->sort = options->children && !options->no_children ? "total" : "self";
	for (const char *const *choice = sort_choices; *choice; choice++)
		if (is(options->sort, *choice))
			return PROCEED;
	return settle_sort_keys(options);
}

/* "graph,0.5,callee": how perf prints call graphs. */
static int settle_call_graph(struct report_options *options)
{
	const char *at = options->call_graph;
	if (!at || !strncmp(at, "none", 4))
		return PROCEED;
	if (!strncmp(at, "folded", 6))
		return say_usage(&command_report, "-g %s: use wick fold FILE", at);
	bool callee = strstr(at, "callee");
	options->bottom_up = options->bottom_up || callee;
	options->tree = !options->bottom_up;
	while (*at) {
		char *end;
		double percent = strtod(at, &end);
		if (end != at && (!*end || *end == ',') && options->min_percent < 0 && percent >= 0 && percent <= 100)
			options->min_percent = percent;
		at += strcspn(at, ",");
		at += *at == ',';
	}
	return PROCEED;
}

static size_t kind_of(const char *by)
{
	size_t i = 0;
	while (i < KINDS && !is(by, kinds[i].by))
		i++;
	return i;
}

/* Which labels the samples need. Whether they have another one is only known when they are read. */
static void settle_label(struct report_options *options)
{
	struct input_options *input = &options->input;
	bool other = true;
	for (const char *const *choice = by_choices; *choice; choice++)
		other = other && !is(options->by, *choice);
	options->by_label = other || kind_of(options->by) < LABEL_KINDS;
	input->label_cpu = other || is(options->by, LABEL_CPU);
	input->label_gil = other || is(options->by, LABEL_GIL);
	input->label_cgroup = other || (options->by_label && !input->label_cpu && !input->label_gil);
}

/* Settles what depends on several options. PROCEED, or the exit code. */
static int settle(struct report_options *options)
{
	const struct command *command = &command_report;
	int code = settle_sort(options);
	if (code == PROCEED)
		code = settle_call_graph(options);
	if (code != PROCEED)
		return code;
	if (options->tree && options->bottom_up)
		return say_usage(command, "--tree and --bottom-up cannot be used together");
	bool tree = options->tree || options->bottom_up;
	if (tree && options->by && !is(options->by, "function"))
		return say_usage(command, "--by %s has no tree: trees show functions", options->by);
	if (options->json && options->csv)
		return say_usage(command, "--json and --csv cannot be used together");
	enum report_format_id flag = options->json ? REPORT_JSON : options->csv ? REPORT_CSV : REPORT_FORMAT_COUNT;
	if (flag != REPORT_FORMAT_COUNT && options->format != REPORT_FORMAT_COUNT && options->format != flag)
		return say_usage(command, "--format %s and --%s cannot be used together",
				 report_format_names[options->format], report_format_names[flag]);
	if (flag != REPORT_FORMAT_COUNT)
		options->format = flag;
	if (options->format == REPORT_FORMAT_COUNT)
		options->format = REPORT_TEXT;
	bool text = options->format == REPORT_TEXT;
	options->by = plain_name(options->by);
	settle_label(options);
	if (options->limit < 0)
		options->limit = text && !tree ? 30 : 0;
	options->table_percent = options->min_percent;
	if (options->min_percent < 0)
		options->min_percent = text ? 0.5 : 0;
	return PROCEED;
}

static void fit_terminal(struct run *run)
{
	bool to_stdout = !run->options.output || is(run->options.output, "-");
	run->report.colour = to_stdout && term_colour(STDOUT_FILENO);
	if (run->options.width >= 0)
		run->report.width = (int)run->options.width;
	else if (to_stdout && isatty(STDOUT_FILENO))
		run->report.width = term_width(STDOUT_FILENO, 0);
}

static void write_tree(struct run *run)
{
	struct calltree tree;
	struct tree_lines lines;
	struct report *report = &run->report;
	const struct report_options *options = &run->options;
	run->tree_options.reverse = options->bottom_up;
	run->tree_options.order = ORDER_WIDTH;
	calltree_build(&tree, &run->profile, &run->tree_options);
	struct tree_pruning pruning = {
		.min_percent = options->min_percent,
		.max_depth = (uint32_t)options->max_depth,
		.limit = report->limit,
	};
	tree_lines_build(&lines, &tree, &pruning);
	report->total = tree.total[0][0];
	report->kind = options->bottom_up ? "bottom-up" : "tree";
	report->heading = options->bottom_up ? "Function, with its callers below" :
					       "Function, with its callees "
					       "below";
	report->bottom_up = options->bottom_up;
	report_formats[options->format]->tree(report, &tree, &lines, &run->out);
	tree_lines_release(&lines);
	calltree_release(&tree);
}

static bool names_modules(const struct profile *profile)
{
	for (size_t i = 0; i < profile->function_count; i++)
		if (profile->functions[i].module)
			return true;
	return false;
}

static void fill_from_tree(struct run *run, struct function_table *table, struct calltree *tree)
{
	struct calltree_options options = run->tree_options;
	const char *by = run->options.by;
	if (is(by, "function") || is(by, "module")) {
		options.thread_label = THREAD_LABEL_NONE;
		options.show_module = true;
	} else {
		options.skip_after = NULL; /* it would take the threads away with the callers */
		options.label = run->options.by_label && run->options.input.has_recording ? by : NULL;
	}
	if (run->report.samples)
		options.weigh = TREE_WEIGHTS_AND_SAMPLES;
	calltree_build(tree, &run->profile, &options);
	if (is(by, "module")) {
		function_table_modules(table, tree, &run->profile);
	} else if (is(by, "function")) {
		function_table_build(table, tree);
		if (!run->options.input.module)
			function_table_drop_modules(table, &run->profile);
	} else {
		function_table_outermost(table, tree);
	}
}

static void fill_table(struct run *run, struct function_table *table, struct calltree *tree)
{
	struct report *report = &run->report;
	const struct profile *profile = &run->profile;
	const char *by = run->options.by;
	bool by_label = run->options.by_label;
	bool by_thread = is(by, "thread"), by_process = is(by, "process"), by_comm = is(by, "comm") || by_label;
	bool threads_known = profile_names_threads(profile, report->value);
	report->flat_groups = by_thread || by_process || by_comm;
	if (by_label && !run->options.input.has_recording)
		report->note = "text has no CPUs and cgroups; use perf.data";
	else if (report->flat_groups && !threads_known)
		report->note = "the input has no thread names: using the outermost frame";
	else if (is(by, "module") && !names_modules(profile))
		report->note = "the input has no module names; use perf.data or perf script text";
	if ((by_thread || by_process) && threads_known)
		function_table_threads(table, profile, report->value, by_process);
	else
		fill_from_tree(run, table, tree);
	size_t kind = kind_of(by);
	report->kind = kind < KINDS ? kinds[kind].kind : by;
	report->heading = kind < KINDS ? kinds[kind].heading : by;
}

/* Rows are in their order: those that are omitted are the last. A table has at least one. */
static void limit_by_percent(struct run *run, const struct function_table *table, bool by_total, struct buf *rest)
{
	struct report *report = &run->report;
	double min = run->options.table_percent / 100 * (double)report->total;
	size_t rows = 0;
	while (rows < table->count &&
	       (double)(by_total ? table->rows[rows].total[0] : table->rows[rows].self[0]) >= min)
		rows++;
	rows = rows ? rows : 1;
	if (report->limit && report->limit <= rows)
		return;
	report->limit = rows;
	buf_printf(rest, "below %g %%", run->options.table_percent);
	report->rest = rest->data;
}

static void write_table(struct run *run)
{
	struct function_table table;
	struct calltree tree = {0};
	const struct report_options *options = &run->options;
	run->report.samples = report_wants_samples(&run->profile, run->report.value);
	/* Programs that read a report get the functions as they are. */
	if (is(options->by, "function") && options->format == REPORT_TEXT &&
	    own_code_applies(&run->profile, run->report.value))
		own_code_apply(&run->profile, run->report.value);
	fill_table(run, &table, &tree);
	enum function_order order = is(options->sort, "total") ? FUNCTIONS_BY_TOTAL :
				    is(options->sort, "name")  ? FUNCTIONS_BY_NAME :
								 FUNCTIONS_BY_SELF;
	function_table_sort(&table, order);
	CLEANUP_BUF struct buf rest = {0};
	if (options->table_percent > 0 && order != FUNCTIONS_BY_NAME)
		limit_by_percent(run, &table, order == FUNCTIONS_BY_TOTAL, &rest);
	report_formats[options->format]->table(&run->report, &table, &run->out);
	function_table_release(&table);
	calltree_release(&tree);
}

/* --by with a key that no sample has, from which a name of by_choices may be meant. */
static int unknown_label(const struct profile *profile, const char *by, const str_id *keys, size_t count)
{
	CLEANUP_BUF struct buf text = {0};
	const char *nearest = suggest_choice(by, by_choices);
	if (nearest)
		return say_usage(&command_report, "--by cannot be '%s'; did you mean %s?", by, nearest);
	for (const char *const *choice = by_choices; *choice; choice++)
		buf_printf(&text, "%s%s", text.size ? ", " : "", *choice);
	buf_str(&text, count ? "; labels of the input: " : "; the input has no labels");
	for (size_t i = 0; i < count && i < LABELS_LISTED; i++)
		buf_printf(&text, "%s%s", i ? ", " : "", profile_text(profile, keys[i]));
	buf_str(&text, count > LABELS_LISTED ? ", …" : "");
	return say_usage(&command_report, "--by cannot be '%s'; use one of %s", by, text.data);
}

static int check_label(const struct run *run)
{
	const struct profile *profile = &run->profile;
	if (!run->options.by_label || kind_of(run->options.by) < LABEL_KINDS)
		return PROCEED;
	str_id *keys CLEANUP_FREE = NULL;
	size_t count = label_sets_keys(&profile->label_sets, &profile->strings, &keys);
	for (size_t i = 0; i < count; i++)
		if (is(profile_text(profile, keys[i]), run->options.by))
			return PROCEED;
	return unknown_label(profile, run->options.by, keys, count);
}

static int report_loaded(struct run *run)
{
	struct report_options *options = &run->options;
	struct err err = {0};
	int code = check_label(run);
	if (code == PROCEED)
		code = input_tree_options(&run->profile, &options->input, &run->tree_options);
	if (code != PROCEED)
		return code;
	if (options->format == REPORT_TEXT)
		run->tree_options.names = label_names_of_table(run->tree_options.names);
	if (run->profile.differential) {
		run->tree_options.values[0] = run->tree_options.values[1];
		run->tree_options.values[1] = PROFILE_NONE;
		run->report.note = "the input compares two profiles: showing the second (draw both with wick flame)";
	}
	run->report.profile = &run->profile;
	run->report.value = run->tree_options.values[0];
	run->report.total = profile_total(&run->profile, run->report.value);
	run->report.inputs = run->files.items;
	run->report.limit = (size_t)options->limit;
	fit_terminal(run);
	if (outfile_open(&run->out, options->output, &err) < 0)
		return say_failure(&err);
	if (options->tree || options->bottom_up)
		write_tree(run);
	else
		write_table(run);
	return outfile_commit(&run->out, &err) < 0 ? say_failure(&err) : EXIT_DONE;
}

static int report_run(int argc, char **argv)
{
	struct run run = {.options = {.input = input_defaults(true)}};
	CLEANUP_BUF struct buf last = {0};
	int code = options_parse(&command_report, argc, argv, &run.options, &run.files);
	if (code != PROCEED)
		return code;
	input_confine(&run.options.input, run.options.output, NULL);
	profile_init(&run.profile);
	code = settle(&run.options);
	if (code == PROCEED && !run.files.count)
		option_list_add(&run.files, input_without_files(&last));
	if (code == PROCEED && run.options.header)
		code = recording_print_facts(&run.files);
	if (code == PROCEED)
		code = input_load(&run.profile, &run.options.input, &run.files, false);
	if (code == PROCEED)
		code = report_loaded(&run);
	profile_release(&run.profile);
	option_list_release(&run.files);
	input_release(&run.options.input);
	return code;
}

const struct command command_report = {
	.name = "report",
	.summary = "Show where the time goes: functions, call trees, threads",
	.arguments = "[FILE…]",
	.description =
		"Reads perf.data, perf script text or folded stacks, and prints a table with the weight of each "
		"function without its callees (self) and with them (total). A recursive function counts once per "
		"stack.\n\n"
		"On a terminal, lines are colored and fit the width of the terminal. Otherwise the output is plain, "
		"and lines are not shortened. The last lines show the quality of the profile: samples, lost samples, "
		"truncated stacks, unresolved frames, and how to improve it.\n\n"
		"Without FILE, or if FILE is -, reads standard input. If that is a terminal, reads the newest "
		"recording in the current directory: perf.data, or a directory of wick record.",
	.options = report_rows,
	.perf_options = report_perf_rows,
	.examples = report_examples,
	.exit_codes = input_exit_codes,
	.run = report_run,
};
