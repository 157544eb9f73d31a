/* Each sample of a recording as text, in the layout of `perf script`. */
#include "cmd/perf_rows.h"
#include "cmd/read_recording.h"
#include "cmd/script_text.h"

#include <string.h>
#include <unistd.h>

struct script_options {
	struct input_options input;
	const char *output, *fields;
	bool header, header_only;
	struct script_format format;
};
INPUT_FIRST(struct script_options);

#define NO_SCRIPTS "wick does not run scripts of perf; for flame graphs use wick flame"
#define NO_RECORDS "wick prints only samples; for other records use perf script"

/* clang-format off */
static const struct option_row script_rows[] = {
	{.name = "output", .letter = 'o', .type = OPTION_STRING, .offset = offsetof(struct script_options, output),
	 .argument = "FILE", .help = "Write to FILE. Default: standard output."},
	{.name = "inline",
	 .type = OPTION_FLAG,
	 .offset = INPUT_FIELD(inline_frames),
	 .negatable = true,
	 .given = INPUT_FIELD(uninline),
	 .help = "Show inlined functions as separate frames.",
	 .initial = "on"},
	{.type = OPTION_TABLE, .table = input_take_rows},
	{.name = "comm", .type = OPTION_LIST, .offset = INPUT_FIELD(comms),
	 .argument = "PATTERN", .help = "Select threads whose name matches a shell pattern."},
	{.name = "pid", .type = OPTION_LIST, .offset = INPUT_FIELD(pids), .argument = "LIST",
	 .help = "Select processes: 12,13."},
	{.name = "tid", .type = OPTION_LIST, .offset = INPUT_FIELD(tids), .argument = "LIST",
	 .help = "Select threads: 12,13."},
	{.type = OPTION_HEADING, .help = "Layout, like perf script"},
	{.name = "fields", .letter = 'F', .type = OPTION_STRING, .offset = offsetof(struct script_options, fields),
	 .argument = "LIST", .help = "Fields to print: comm, pid, tid, cpu, time, period, event, ip, sym, symoff, "
				     "dso. +FIELD adds to the default fields, -FIELD removes from them."},
	{.name = "header", .type = OPTION_FLAG, .offset = offsetof(struct script_options, header),
	 .help = "Print the header of perf.data first, as comments: the machine and the recording."},
	{.name = "header-only", .type = OPTION_FLAG, .offset = offsetof(struct script_options, header_only),
	 .help = "Print only the header."},
	{.name = "hide-call-graph", .letter = 'G', .type = OPTION_FLAG,
	 .offset = offsetof(struct script_options, format.no_stacks), .help = "Print only the innermost function."},
	{.name = "ns", .type = OPTION_FLAG, .offset = offsetof(struct script_options, format.nanoseconds),
	 .help = "Print times with nanoseconds."},
	OPTION_END,
};
static const struct option_row script_perf_rows[] = {
	{.type = OPTION_TABLE, .table = perf_reading_rows},
	{PERF_IGNORED("show-info"), .letter = 'I'},
	{PERF_IGNORED("debug-mode")},
	{PERF_REFUSED("script", NO_SCRIPTS), .letter = 's'},
	{PERF_REFUSED("gen-script", NO_SCRIPTS), .letter = 'g'},
	{PERF_REFUSED("list", NO_SCRIPTS), .letter = 'l'},
	{PERF_REFUSED("show-task-events", NO_RECORDS)},
	{PERF_REFUSED("show-mmap-events", NO_RECORDS)},
	{PERF_REFUSED("show-switch-events", NO_RECORDS)},
	{PERF_REFUSED("show-lost-events", NO_RECORDS)},
	{PERF_REFUSED("per-event-dump", "use --event-filter EVENT -o FILE for each event")},
	OPTION_END,
};
/* clang-format on */

struct script {
	const struct script_options *options;
	const struct input_filter *filter;
	struct outfile out;
	struct script_text *text;
};

static int print_file(struct script *script, const char *path)
{
	struct input_head head;
	struct buf room CLEANUP_BUF = {0};
	path = input_path(path, &room);
	bool header = script->options->header || script->options->header_only;
	if (header && strcmp(path, "-") == 0)
		return say_usage(&command_script, "--header needs a file");
	int result = header ? recording_write_facts(&script->out, path, "# %s : %s\n") : PROCEED;
	if (result != PROCEED || script->options->header_only)
		return result;
	struct recording_use use = {.each = script_text_sample, .context = script->text};
	if (!input_head_open(&head, path)) {
		say_error("%s: %m", path);
		return EXIT_FAILED;
	}
	if (input_head_is_recording(&head)) {
		script_text_next_recording(script->text);
		return recording_load(&head, path, &script->options->input, script->filter, &use);
	}
	input_head_close(&head);
	say_error("%s: not a perf.data file", strcmp(path, "-") == 0 ? "standard input" : path);
	return EXIT_FAILED;
}

static int print_files(struct script *script, const struct option_list *files)
{
	struct err err = {0};
	if (outfile_open(&script->out, script->options->output, &err))
		return say_failure(&err);
	CLEANUP_BUF struct buf room = {0};
	size_t count = files->count ? files->count : 1;
	int result = PROCEED;
	for (size_t i = 0; i < count && result == PROCEED; i++)
		result = print_file(script, files->count ? files->items[i] : input_without_files(&room));
	if (result == PROCEED && !script_text_printed(script->text) && !script->options->header_only) {
		bool filtered = script->filter->any || script->options->input.event_filter;
		say_error(filtered ? "no sample matches the filters" : "no samples");
		result = EXIT_FAILED;
	}
	if (result == PROCEED)
		return outfile_commit(&script->out, &err) ? say_failure(&err) : EXIT_DONE;
	outfile_abandon(&script->out);
	return result;
}

/* perf script flamegraph, perf script record NAME, … */
static bool names_script(const struct option_list *files)
{
	static const char *const words[] = {"record", "report", "flamegraph", "stackcollapse", "gecko"};
	bool found = false;
	for (size_t i = 0; i < sizeof words / sizeof *words && files->count; i++)
		found = found || (!strcmp(files->items[0], words[i]) && access(words[i], F_OK) != 0);
	return found;
}

/* PROCEED, or the exit code. */
static int settle(struct script_options *options, const struct option_list *files)
{
	struct err err = {0};
	int code = input_settle(&options->input);
	if (code != PROCEED)
		return code;
	options->format.fields = SCRIPT_USUAL;
	options->format.short_names = input_label_names(options->input.names) == LABELS_SHORT;
	if (names_script(files))
		return say_usage(&command_script, "%s: " NO_SCRIPTS, files->items[0]);
	if (options->fields && script_fields_parse(&options->format.fields, options->fields, &err))
		return say_usage(&command_script, "%s", err_text(&err));
	return PROCEED;
}

static int run_script(int argc, char **argv)
{
	struct script_options options = {.input = input_defaults(false)};
	struct option_list files = {0};
	struct input_filter filter;
	int result = options_parse(&command_script, argc, argv, &options, &files);
	if (result != PROCEED)
		return result;
	input_confine(&options.input, options.output, NULL);
	result = input_filter_parse(&filter, &options.input);
	if (result == PROCEED)
		result = settle(&options, &files);
	if (result == PROCEED) {
		struct script script = {.options = &options, .filter = &filter};
		script.text = script_text_new(&script.out, &filter.takes.profile, options.input.event_filter,
					      &options.format);
		result = print_files(&script, &files);
		script_text_free(script.text);
	}
	input_filter_release(&filter);
	option_list_release(&files);
	input_release(&options.input);
	return result;
}

const struct command command_script = {
	.name = "script",
	.summary = "Print each sample as text, like perf script",
	.arguments = "[FILE…]",
	.description =
		"Reads perf.data and prints each sample with its stack, unwound and resolved, in the format of perf "
		"script, so that programs that read this format keep working. Samples are sorted by time.\n\n"
		"Without FILE, or if FILE is -, reads standard input. If that is a terminal, reads the newest "
		"recording in the current directory: perf.data, or a directory of wick record.",
	.options = script_rows,
	.perf_options = script_perf_rows,
	.examples =
		(const struct command_example[]){
			{"wick script perf.data | stackcollapse-perf.pl >out.folded", "use an existing script"},
			{"wick script --no-inline --comm nginx perf.data",
			 "print the samples of one program, without inlined frames"},
			{"perf record -o - -g -- ./server | wick script", "read a pipe, without a file"},
			{0},
		},
	.exit_codes = input_exit_codes,
	.run = run_script,
};
