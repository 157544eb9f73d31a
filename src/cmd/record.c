/* wick record: from a running program to its flame graph. */
#include "base/term.h"
#include "base/text.h"
#include "capture/record.h"
#include "cmd/input.h"
#include "cmd/outputs.h"
#include "event/collect.h"
#include "event/tee.h"
#include "perfdata/write.h"

#include <errno.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1e9
#define TOP_FUNCTIONS 10
#define REDRAW_NS 200000000ull
#define STACK_SIZE_DEFAULT 16384
#define EXIT_NOT_EXECUTABLE 126 /* as shells have it */
#define EXIT_NOT_FOUND 127

struct record_options {
	struct input_options input; /* only how names are shown */
	struct option_list pids, tids, events;
	const char *cpus, *preset, *call_graph, *output, *format;
	double duration, delay;
	long long frequency, period, stack_size, max_depth;
	bool all, kernel, inherit, quiet;
};

static const char *const preset_choices[] = {"quick", "default", "detailed", "system", NULL};
static const char *const call_graph_choices[] = {"auto", "dwarf", "fp", "lbr", NULL};

#define FIELD(field) offsetof(struct record_options, field)
#define TEXT(text, field, value) .name = text, .type = OPTION_STRING, .offset = FIELD(field), .argument = value
#define LIST(text, field, value) .name = text, .type = OPTION_LIST, .offset = FIELD(field), .argument = value
#define WHOLE(text, field, value, least, most) \
	.name = text, .type = OPTION_INT, .offset = FIELD(field), .argument = value, .min = least, .max = most
static const struct option_row record_rows[] = {
	{.type = OPTION_HEADING, .help = "What to record"},
	{LIST("pid", pids, "PID"), .letter = 'p',
	 .help = "Processes that run already, 12,13 or several times: with their threads, those born later, and "
		 "children."},
	{LIST("tid", tids, "TID"), .help = "Single threads, and what they start."},
	{.name = "all",
	 .letter = 'a',
	 .type = OPTION_FLAG,
	 .offset = FIELD(all),
	 .help = "Everything that runs (root)."},
	{TEXT("cpu", cpus, "LIST"), .letter = 'C',
	 .help = "Only on these CPUs, such as 0,2-3. Alone it means everything that runs there."},
	{.name = "inherit",
	 .type = OPTION_FLAG,
	 .offset = FIELD(inherit),
	 .negatable = true,
	 .help = "Also threads and processes started later. Default: on."},

	{.type = OPTION_HEADING, .help = "How"},
	{.name = "duration",
	 .letter = 'd',
	 .type = OPTION_NUMBER,
	 .offset = FIELD(duration),
	 .argument = "SECONDS",
	 .min = 0.001,
	 .max = 1e7,
	 .help = "How long. A command that still runs then is ended. Default: DURATION of the environment, else until "
		 "the target ends or Ctrl-C."},
	{WHOLE("freq", frequency, "HZ", 1, 1e6), .letter = 'F',
	 .help = "Samples a second and CPU. Default: SAMPLING_FREQ of the environment, else 99."},
	{WHOLE("period", period, "COUNT", 1, 1e15), .letter = 'c',
	 .help = "Instead of a frequency: a sample every COUNT events."},
	{LIST("event", events, "EVENT"), .letter = 'e',
	 .help = "What is counted: cpu-clock, cycles, page-faults, L1-dcache-load-misses, sched:sched_switch, rHEX, "
		 "PMU/TERMS/, with modifiers such as :u. Default: cycles, or cpu-clock where there are no counters."},
	{.name = "kernel",
	 .type = OPTION_FLAG,
	 .offset = FIELD(kernel),
	 .negatable = true,
	 .help = "Also what the kernel does. Default: on, as far as the kernel allows."},
	{.name = "call-graph",
	 .type = OPTION_CHOICE,
	 .offset = FIELD(call_graph),
	 .argument = "HOW",
	 .choices = call_graph_choices,
	 .help = "How stacks are found: auto (unwind tables, frame pointers in code without), dwarf (the same), fp "
		 "(frame pointers, by the kernel), lbr (the processor's branch record). Default: auto."},
	{WHOLE("stack-size", stack_size, "BYTES", 256, 63488),
	 .help = "How much of the stack is looked at. Default: 16384."},
	{WHOLE("max-depth", max_depth, "FRAMES", 1, 65536), .help = "Deeper stacks are cut. Default: 1024."},
	{.name = "delay",
	 .type = OPTION_NUMBER,
	 .offset = FIELD(delay),
	 .argument = "SECONDS",
	 .min = 0,
	 .max = 1e7,
	 .help = "Begin to take samples later. Default: at once."},
	{.name = "preset",
	 .type = OPTION_CHOICE,
	 .offset = FIELD(preset),
	 .argument = "NAME",
	 .choices = preset_choices,
	 .help = "quick: 5 s at 99 Hz; default: 10 s at 99 Hz; detailed: 20 s at 997 Hz; system: all processes, 10 s "
		 "at 99 Hz. Other options win."},

	{.type = OPTION_HEADING, .help = "Output"},
	{TEXT("output", output, "FOLDER"), .letter = 'o',
	 .help = "Folder for the files; made if it is not there. Default: wick-YYYYMMDD-HHMMSS."},
	{TEXT("format", format, "LIST"),
	 .help = "Which files: folded, svg, report, perf.data, separated by commas. Default: all."},
	{.name = "quiet",
	 .letter = 'q',
	 .type = OPTION_FLAG,
	 .offset = FIELD(quiet),
	 .help = "Nothing on the terminal but failures."},
	{.name = "names",
	 .type = OPTION_CHOICE,
	 .offset = FIELD(input.names),
	 .argument = "STYLE",
	 .choices = input_name_choices,
	 .help = "Names of C++ and Rust functions: full (default), short or raw."},
	{.name = "inline",
	 .type = OPTION_FLAG,
	 .offset = FIELD(input.inline_frames),
	 .negatable = true,
	 .help = "Show inlined functions. Default: on."},
	{.name = "cache",
	 .type = OPTION_FLAG,
	 .offset = FIELD(input.cache),
	 .negatable = true,
	 .help = "Keep symbols and unwind tables for the next time. Default: on."},
	OPTION_END,
};
#undef FIELD
#undef TEXT
#undef LIST
#undef WHOLE

enum output_kind { OUTPUT_FOLDED, OUTPUT_SVG, OUTPUT_REPORT, OUTPUT_PERFDATA, OUTPUT_KINDS };
static const struct output_row {
	const char *format, *file;
} output_rows[OUTPUT_KINDS] = {
	[OUTPUT_FOLDED] = {"folded", "out.folded"},
	[OUTPUT_SVG] = {"svg", "flamegraph.svg"},
	[OUTPUT_REPORT] = {"report", "report.txt"},
	[OUTPUT_PERFDATA] = {"perf.data", "perf.data"},
};

struct run {
	struct record_options options;
	struct option_list command;
	char **command_line; /* all of it */
	struct buf pids, tids, title;
	bool formats[OUTPUT_KINDS];
	char folder[4096];
	bool made_folder;
	struct capture_events events;
	struct recorder *recorder;
	struct collector *collector;
	struct perfdata_writer *writer;
	struct recorder_result result;
	struct profile profile;
	struct calltree_options tree_options;
	bool live; /* a line on the terminal while recording */
	uint64_t drawn;
};

/* --- options --- */

static int settle_formats(struct run *run)
{
	const char *at = run->options.format;
	for (int kind = 0; kind < OUTPUT_KINDS; kind++)
		run->formats[kind] = !at;
	while (at && *at) {
		size_t length = strcspn(at, ",");
		int kind = 0;
		while (kind < OUTPUT_KINDS &&
		       (strncmp(at, output_rows[kind].format, length) || strlen(output_rows[kind].format) != length))
			kind++;
		if (kind == OUTPUT_KINDS)
			return say_usage(&command_record,
					 "--format knows folded, svg, report and perf.data, not '%.*s'", (int)length,
					 at);
		run->formats[kind] = true;
		at += length + (at[length] == ',');
	}
	return -1;
}

/* A number of the environment; 0: not set. */
static int environment_number(const char *name, double most, double *ret_value)
{
	const char *text = getenv(name);
	char *end;
	*ret_value = 0;
	if (!text || !*text)
		return -1;
	double value = strtod(text, &end);
	if (*end == 's' && !end[1])
		end++;
	if (end == text || *end || !(value > 0) || value > most)
		return say_usage(&command_record, "%s in the environment must be a number, not '%s'", name, text);
	*ret_value = value;
	return -1;
}

static int settle_times(struct record_options *options)
{
	double duration, frequency;
	int code = environment_number("DURATION", 1e7, &duration);
	if (code < 0)
		code = environment_number("SAMPLING_FREQ", 1e6, &frequency);
	if (code >= 0)
		return code;
	if (options->preset) {
		bool detailed = !strcmp(options->preset, "detailed");
		duration = !strcmp(options->preset, "quick") ? 5 : detailed ? 20 : 10;
		frequency = detailed ? 997 : 99;
	}
	if (!options->duration)
		options->duration = duration;
	if (!options->frequency)
		options->frequency = frequency >= 1 ? (long long)frequency : 99;
	return -1;
}

static void join(struct buf *out, const struct option_list *list, const char *between)
{
	for (size_t i = 0; i < list->count; i++)
		buf_printf(out, "%s%s", i ? between : "", list->items[i]);
}

static int settle_target(struct run *run)
{
	struct record_options *options = &run->options;
	join(&run->pids, &options->pids, ",");
	join(&run->tids, &options->tids, ",");
	bool some = run->command.count || options->pids.count || options->tids.count;
	if (options->preset && !strcmp(options->preset, "system"))
		options->all = true;
	if (options->cpus && !some)
		options->all = true;
	if (run->command.count && (options->pids.count || options->tids.count))
		return say_usage(&command_record, "a command and --pid exclude each other");
	if (options->all && (options->pids.count || options->tids.count))
		return say_usage(&command_record, "--all and --pid exclude each other");
	if (!some && !options->all)
		return say_usage(&command_record, "what should be recorded? -- COMMAND, -p PID or -a");
	if (run->command.count)
		join(&run->title, &run->command, " ");
	else if (options->all)
		buf_str(&run->title, "whole system");
	else
		buf_printf(&run->title, "%s %s", options->pids.count ? "process" : "thread",
			   options->pids.count ? run->pids.data : run->tids.data);
	return -1;
}

static int settle_events(struct run *run)
{
	struct err err = {0};
	for (size_t i = 0; i < run->options.events.count; i++)
		if (capture_events_parse(&run->events, run->options.events.items[i], &err))
			return say_failure(&err);
	return -1;
}

static int settle_folder(struct run *run)
{
	const char *output = run->options.output;
	if (output) {
		snprintf(run->folder, sizeof run->folder, "%s", output);
		run->made_folder = mkdir(output, 0777) == 0;
		if (run->made_folder || errno == EEXIST)
			return -1;
		say_error("cannot create the folder %s: %s", output, strerror(errno));
		return EXIT_FAILED;
	}
	time_t now = time(NULL);
	char stamp[64];
	struct tm local;
	strftime(stamp, sizeof stamp, "wick-%Y%m%d-%H%M%S", localtime_r(&now, &local));
	for (unsigned attempt = 1; attempt < 100; attempt++) {
		if (attempt == 1)
			snprintf(run->folder, sizeof run->folder, "%s", stamp);
		else
			snprintf(run->folder, sizeof run->folder, "%s-%u", stamp, attempt);
		run->made_folder = mkdir(run->folder, 0777) == 0;
		if (run->made_folder)
			return -1;
		if (errno != EEXIST)
			break;
	}
	say_error("cannot create the folder %s: %s; -o chooses another", run->folder, strerror(errno));
	return EXIT_FAILED;
}

/* --- recording --- */

static void say_step_down(void *context, const char *text)
{
	if (!((struct run *)context)->options.quiet)
		say_note("%s", text);
}

static void clear_line(const struct run *run)
{
	if (run->live && run->drawn)
		fputs("\r\033[K", stderr);
}

static void show_progress(void *context, const struct recorder_progress *progress)
{
	struct run *run = context;
	collector_flush(run->collector);
	if (!run->live || progress->elapsed < run->drawn + REDRAW_NS)
		return;
	run->drawn = progress->elapsed;
	CLEANUP_BUF struct buf line = {0};
	buf_printf(&line, "\r\033[Krecording %.1f s", (double)progress->elapsed / SECOND);
	if (progress->duration)
		buf_printf(&line, " of %.15g", (double)progress->duration / SECOND);
	buf_str(&line, " · ");
	text_grouped(&line, (int64_t)progress->samples);
	buf_str(&line, " samples · ");
	text_grouped(&line, (int64_t)progress->lost);
	buf_str(&line, " lost · Ctrl-C ends");
	fwrite(line.data, 1, line.size, stderr);
}

static const struct event_source *give_sources(void *context, size_t *ret_count)
{
	return recorder_sources(((struct run *)context)->recorder, ret_count);
}

static void path_of(const struct run *run, enum output_kind kind, char *path, size_t room)
{
	snprintf(path, room, "%s/%s", run->folder, output_rows[kind].file);
}

static enum call_graph call_graph_of(const char *name)
{
	return name && !strcmp(name, "fp")  ? CALL_GRAPH_FP :
	       name && !strcmp(name, "lbr") ? CALL_GRAPH_LBR :
					      CALL_GRAPH_DWARF;
}

static int open_recorder(struct run *run, struct err *err)
{
	const struct record_options *options = &run->options;
	struct recorder_options recorder = {
		.processes = options->pids.count ? run->pids.data : NULL,
		.threads = options->tids.count ? run->tids.data : NULL,
		.command = run->command.count ? (char *const *)run->command.items : NULL,
		.whole_system = options->all,
		.cpus = options->cpus,
		.events = &run->events,
		.call_graph = call_graph_of(options->call_graph),
		.stack_size = (uint32_t)options->stack_size & ~7u,
		.frequency = (uint64_t)options->frequency,
		.period = (uint64_t)options->period,
		.inherit = options->inherit,
		.no_kernel = !options->kernel,
		.duration = (uint64_t)(options->duration * SECOND),
		.delay = (uint64_t)(options->delay * SECOND),
		.progress = show_progress,
		.note = say_step_down,
		.context = run,
	};
	return recorder_open(&run->recorder, &recorder, err);
}

static int open_writer(struct run *run, struct err *err)
{
	char path[sizeof run->folder + 32];
	struct perfdata_writer_options options = {.command = run->command_line};
	if (!run->formats[OUTPUT_PERFDATA])
		return 0;
	options.sources = recorder_sources(run->recorder, &options.source_count);
	path_of(run, OUTPUT_PERFDATA, path, sizeof path);
	return perfdata_writer_open(&run->writer, path, &options, err);
}

static struct collector *make_collector(const struct run *run)
{
	const struct input_options *input = &run->options.input;
	struct collect_options collect = {
		.max_depth = (size_t)run->options.max_depth,
		.count_samples = capture_events_are_clocks(&run->events),
		.each = run->writer ? perfdata_writer_stack : NULL,
		.each_context = run->writer,
		.each_and_profile = true,
		.live = true,
		.symbols =
			{
				.names = input_name_style(input->names),
				.inlines = input->inline_frames,
				.cache = input->cache,
				.root = "",
			},
	};
	return collector_new(&collect);
}

static int exit_code_of_exec(int error)
{
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* Before the writer ends: the workers write too. */
static void stop_collector(struct run *run)
{
	if (run->collector)
		collector_free(run->collector);
	run->collector = NULL;
}

static int record_all(struct run *run)
{
	struct err err = {0};
	if (open_recorder(run, &err) || open_writer(run, &err))
		return say_failure(&err);
	run->collector = make_collector(run);
	collector_set_tap(run->collector, &(struct collect_tap){.context = run, .sources = give_sources});
	struct event_tee tee = {.first = collector_sink(run->collector)};
	struct event_sink sink = tee.first;
	if (run->writer) {
		tee.second = perfdata_writer_sink(run->writer);
		sink = event_tee_sink(&tee);
	}
	int result = recorder_run(run->recorder, &sink, &run->result, &err);
	clear_line(run);
	if (run->writer && perfdata_writer_failed(run->writer)) {
		struct perfdata_writer *writer = run->writer;
		run->writer = NULL;
		stop_collector(run);
		result = perfdata_writer_finish(writer, &err); /* tells what went wrong */
	}
	if (result) {
		say_failure(&err);
		return run->result.exec_error ? exit_code_of_exec(run->result.exec_error) : EXIT_FAILED;
	}
	collector_finish(run->collector, &run->profile);
	return -1;
}

/* --- what comes out --- */

static int write_report(struct run *run, const char *path)
{
	struct outfile out;
	struct err err = {0};
	const char *const inputs[] = {run->title.data, NULL};
	struct report report = {.inputs = inputs};
	if (outfile_open(&out, path, &err))
		return say_failure(&err);
	output_functions(&report, &run->profile, &run->tree_options, &out);
	return outfile_commit(&out, &err) ? say_failure(&err) : EXIT_DONE;
}

static int write_folded(struct run *run, const char *path)
{
	struct calltree tree;
	calltree_build(&tree, &run->profile, &run->tree_options);
	int code = output_folded(&tree, run->profile.values[run->tree_options.values[0]].decimals, path);
	calltree_release(&tree);
	return code;
}

static int write_file(struct run *run, enum output_kind kind)
{
	char path[sizeof run->folder + 32];
	struct err err = {0};
	path_of(run, kind, path, sizeof path);
	switch (kind) {
	case OUTPUT_FOLDED:
		return write_folded(run, path);
	case OUTPUT_SVG:
		return output_flame(&run->profile, &run->tree_options, run->title.data, NULL, path);
	case OUTPUT_REPORT:
		return write_report(run, path);
	default: {
		struct perfdata_writer *writer = run->writer;
		run->writer = NULL;
		return perfdata_writer_finish(writer, &err) ? say_failure(&err) : EXIT_DONE;
	}
	}
}

/* What would make stacks whole that are not. */
static void advise(const struct run *run)
{
	const struct quality *quality = &run->profile.quality;
	const struct record_options *options = &run->options;
	if (call_graph_of(options->call_graph) == CALL_GRAPH_DWARF && quality->truncated * 100 > quality->samples &&
	    options->stack_size < STACK_SIZE_MOST)
		say_note("%.1f %% of the stacks reach further than the %lld bytes that were copied: --stack-size %u",
			 100.0 * (double)quality->truncated / (double)quality->samples, options->stack_size,
			 STACK_SIZE_MOST);
}

static void show_summary(struct run *run)
{
	struct outfile out;
	struct err err = {0};
	const char *const inputs[] = {run->title.data, NULL};
	struct report report = {
		.inputs = inputs,
		.limit = TOP_FUNCTIONS,
		.rest = run->formats[OUTPUT_REPORT] ? "in report.txt" : "",
		.colour = term_colour(STDERR_FILENO),
		.width = term_width(STDERR_FILENO, 0),
	};
	outfile_open_stderr(&out);
	output_functions(&report, &run->profile, &run->tree_options, &out);
	outfile_str(&out, "\n");
	for (int kind = 0; kind < OUTPUT_KINDS; kind++)
		if (run->formats[kind])
			outfile_printf(&out, "%s/%s\n", run->folder, output_rows[kind].file);
	outfile_commit(&out, &err);
}

/* Pictures and tables show one event: the first that was asked for, if it happened. */
static int choose_event(struct run *run)
{
	const char *first = run->events.items[0].name;
	struct profile *profile = &run->profile;
	for (size_t i = 0; i < profile->value_count; i++)
		if (!strcmp(profile_text(profile, profile->values[i].name), first))
			run->options.input.event_filter = first;
	int code = input_tree_options(profile, &run->options.input, &run->tree_options);
	if (code < 0 && profile->quality.filtered && run->options.input.event_filter && !run->options.quiet)
		say_note("showing event %s; wick flame --event-filter EVENT %s/perf.data shows another", first,
			 run->folder);
	return code;
}

static int write_all(struct run *run)
{
	int code = EXIT_DONE;
	if (!run->profile.sample_count) {
		say_error("no samples in %.1f s: %s did not run on a CPU; off-CPU time is not seen by %s",
			  (double)run->result.last.elapsed / SECOND, run->title.data, run->events.items[0].name);
		return EXIT_FAILED;
	}
	int chosen = choose_event(run);
	if (chosen >= 0)
		return chosen;
	for (int kind = 0; kind < OUTPUT_KINDS && code == EXIT_DONE; kind++)
		if (run->formats[kind])
			code = write_file(run, kind);
	if (code == EXIT_DONE && !run->options.quiet) {
		show_summary(run);
		advise(run);
	}
	return code;
}

static int record(struct run *run)
{
	int code = settle_times(&run->options);
	if (code < 0)
		code = settle_target(run);
	if (code < 0)
		code = settle_formats(run);
	if (code < 0)
		code = settle_events(run);
	if (code < 0)
		code = settle_folder(run);
	if (code >= 0)
		return code;
	run->live = !run->options.quiet && isatty(STDERR_FILENO) && (!run->command.count || !isatty(STDOUT_FILENO));
	code = record_all(run);
	if (code < 0)
		code = write_all(run);
	stop_collector(run);
	if (run->writer)
		perfdata_writer_abandon(run->writer);
	if (code != EXIT_DONE && run->made_folder)
		rmdir(run->folder); /* stays when there is something in it */
	return code;
}

static int record_run(int argc, char **argv)
{
	struct run run = {
		.command_line = argv,
		.options = {.input = input_defaults(true),
			    .stack_size = STACK_SIZE_DEFAULT,
			    .kernel = true,
			    .inherit = true},
	};
	int code = options_parse(&command_record, argc, argv, &run.options, &run.command);
	if (code >= 0)
		return code;
	profile_init(&run.profile);
	code = record(&run);
	int command_code = run.recorder ? recorder_wait(run.recorder) : 0;
	recorder_close(run.recorder);
	capture_events_release(&run.events);
	profile_release(&run.profile);
	struct option_list *lists[] = {&run.command, &run.options.pids, &run.options.tids, &run.options.events};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		option_list_release(lists[i]);
	buf_release(&run.pids);
	buf_release(&run.tids);
	buf_release(&run.title);
	return command_code ? command_code : code;
}

static const struct command_example record_examples[] = {
	{"wick record -- ./program arguments", "record a program from its first instruction to its end"},
	{"wick record -p 1234 -d 10", "record a running process for ten seconds"},
	{"wick record -a --preset system", "everything that runs"},
	{"wick record -e page-faults -c 1 -- ./program", "where memory is touched for the first time"},
	{0},
};

const struct command command_record = {
	.name = "record",
	.summary = "Record a program or process and draw its flame graph",
	.arguments = "[-- COMMAND ARGUMENTS…]",
	.description =
		"Takes samples of what a program does and leaves a folder with a flame graph (flamegraph.svg), folded "
		"stacks (out.folded), a table of functions (report.txt) and the recording (perf.data), then shows the "
		"hottest functions. Nothing has to be rebuilt or restarted: stacks are unwound by the tables that "
		"every program has, while it runs.\n\n"
		"A command keeps its standard input and output, and its exit code is passed on. Ctrl-C ends the "
		"recording and still writes everything; a second one stops the writing. What cannot be had (hardware "
		"counters, the kernel's part) is done without, and said in one line.",
	.options = record_rows,
	.examples = record_examples,
	.runs_command = true,
	.run = record_run,
};
