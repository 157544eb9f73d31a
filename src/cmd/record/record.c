/* wick record: from a running program to its flame graph. */
#include "cmd/record/record.h"

#include "base/remote_memory.h"
#include "cmd/confine.h"
#include "event/tee.h"
#include "sandbox/capabilities.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define EXIT_NOT_EXECUTABLE 126 /* as shells have it */
#define EXIT_NOT_FOUND 127

static int settle_events(struct record_run *run)
{
	struct err err = {0};
	for (size_t i = 0; i < run->options.events.count; i++)
		if (capture_events_parse(&run->events, run->options.events.items[i], &err))
			return say_failure(&err);
	return PROCEED;
}

static void say_step_down(void *context, const char *text)
{
	if (!((struct record_run *)context)->options.quiet)
		say_note("%s", text);
}

static void say_detail(void *context, const char *text)
{
	const struct record_run *run = context;
	if (run->options.verbose && !run->options.quiet)
		say_note("%s", text);
}

static void take_progress(void *context, const struct recorder_progress *progress)
{
	struct record_run *run = context;
	collector_flush(run->collector);
	record_flush_files(run, progress->elapsed);
	if (run->watch)
		watch_progress(run->watch, progress);
	else
		record_show_progress(run, progress);
}

static const struct event_source *give_sources(void *context, size_t *ret_count)
{
	return recorder_sources(((struct record_run *)context)->recorder, ret_count);
}

static int open_recorder(struct record_run *run, struct err *err)
{
	const struct record_options *options = &run->options;
	struct capture_options *capture = &run->options.capture;
	capture->processes = options->pids.count ? run->pids.data : NULL;
	capture->threads = options->tids.count ? run->tids.data : NULL;
	capture->command = run->command.count ? (char *const *)run->command.items : NULL;
	capture->names = options->names.count ? options->names.items : NULL;
	capture->user = options->user ? &run->user : NULL;
	capture->streams = run->streams;
	capture->environment = run->environment;
	capture->launched = run->launched;
	capture->perf_maps = options->runtime_options;
	capture->control = options->live ? &run->control : NULL;
	capture->events = &run->events;
	capture->progress = take_progress;
	capture->note = say_step_down;
	capture->detail = say_detail;
	capture->context = run;
	return recorder_open(&run->recorder, capture, err);
}

static struct collector *make_collector(struct record_run *run)
{
	/* Names are looked up while recording then, and a download would keep the screen waiting. */
	if (!run->options.live)
		fetching_start(&run->fetching);
	const struct input_options *input = &run->options.input;
	struct collect_options collect = {
		.max_depth = run->options.capture.max_depth,
		.each = run->writer || run->text ? record_take_stack : NULL,
		.each_context = run,
		.each_and_profile = true,
		.live = true,
		.python = run->options.capture.python,
		.engine = recorder_uses_engine(run->recorder, NULL),
		.followed = run->options.live,
		/* The files do not show the numbers of threads and processes, the screen those of processes. */
		.threads_apart = run->options.live ? TALLY_BY_PROCESS : TALLY_BY_NAME,
		.debuginfod = run->fetching.client,
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
static void stop_collector(struct record_run *run)
{
	if (!run->collector)
		return;
	unsigned not_fetched = collector_not_fetched(run->collector);
	collector_free(run->collector);
	run->collector = NULL;
	fetching_end(&run->fetching, not_fetched);
}

static int open_all(struct record_run *run)
{
	struct err err = {0};
	if (open_recorder(run, &err))
		return say_failure(&err);
	int code = run->no_files ? PROCEED : record_make_folder(run);
	if (code == PROCEED && record_open_files(run, &err))
		code = say_failure(&err);
	return code;
}

static void keep_for_memory(void)
{
	capabilities_keep(CAPABILITY(CAP_SYS_PTRACE));
}

/* All that needs privileges is open; from now on wick reads files of others. */
static void give_up_privileges(struct record_run *run)
{
	CLEANUP_BUF struct buf reason = {0}, text = {0};
	struct confine_options options = {
		.place = run->no_files ? NULL : &run->place,
		.output = run->single ? run->folder : NULL,
		.cache = run->options.input.cache,
		.command = recorder_command(run->recorder),
		.own_directory = run->made_folder,
		.recording = true,
		.kernel_stacks = recorder_lists_sleepers(run->recorder),
	};
	if (sandbox_is_needed())
		remote_memory_begin(keep_for_memory);
	run->sandbox = confine(&options, &reason);
	if (!reason.size)
		return;
	buf_printf(&text, "privileges are kept: %s", reason.data);
	say_detail(run, text.data);
}

static int record_all(struct record_run *run)
{
	struct err err = {0};
	run->collector = make_collector(run);
	if (run->writer)
		perfdata_writer_set_interpreted(run->writer, &collector_codes(run->collector)->interpreted);
	collector_set_reader(run->collector, &(struct collect_reader){.context = run, .sources = give_sources});
	struct event_tee tee = {.first = collector_sink(run->collector)};
	struct event_sink sink = tee.first;
	struct source_consumer consumer = {collector_codes(run->collector), collector_stack_needs(run->collector)};
	if (run->writer) {
		tee.second = perfdata_writer_sink(run->writer);
		sink = event_tee_sink(&tee);
	}
	int result = run->options.live ? record_open_screen(run, &err) : 0;
	if (!result)
		result = recorder_run(run->recorder, &sink, &consumer, &run->result, &err);
	record_close_screen(run);
	record_show_end(run);
	collector_stop(run->collector);
	/* That ends the recording, and is said when the file is finished. */
	bool full = run->writer && perfdata_writer_failed(run->writer);
	bool keep = run->stacks || (run->single && run->files[RECORD_PERFDATA]);
	if (full || (keep && !result))
		record_finish_files(run);
	else
		record_abandon_files(run);
	recorder_unblock_signals(run->recorder);
	if (result && !full) {
		say_failure(&err);
		return run->result.exec_error ? exit_code_of_exec(run->result.exec_error) : EXIT_FAILED;
	}
	if (full && !run->stacks)
		return EXIT_FAILED; /* nothing was recorded, and why was said */
	if (run->result.end == RECORDER_MEMORY_SHORT)
		say_warning("stopped recording after %.1f s: wick needs the rest of its memory limit of %llu "
			    "MiB to write the files (--max-memory)%s",
			    (double)run->result.last.elapsed / RECORD_SECOND, (unsigned long long)mem_limit() >> 20,
			    run->command.count ? "; the command continues" : "");
	collector_finish(run->collector, &run->collected);
	if (run->result.stopped_command && run->result.end == RECORDER_TIME_OVER && !run->options.quiet)
		say_note("stopped %s after %g s (%s)", run->command.items[0],
			 (double)run->options.capture.duration / RECORD_SECOND, run->options.duration_from);
	record_say_derived(run);
	return PROCEED;
}

/* Pictures and tables of events show one: the first requested one, if it happened. */
static int choose_event(struct record_run *run, const char *first)
{
	struct profile *profile = &run->profile;
	run->options.input.event_filter = NULL;
	for (size_t i = 0; i < profile->value_count; i++)
		if (!strcmp(profile_text(profile, profile->values[i].name), first))
			run->options.input.event_filter = first;
	int code = input_tree_options(profile, &run->options.input, &run->tree_options);
	char path[RECORD_PATH_MAX];
	record_path(run, RECORD_PERFDATA, path, sizeof path);
	if (code == PROCEED && profile->quality.filtered && run->options.input.event_filter && !run->options.quiet &&
	    run->files[RECORD_PERFDATA])
		say_note("showing event %s; for another: wick flame --event-filter EVENT %s", first, path);
	return code;
}

/* `last`: what was collected is not needed any more. */
static int write_shown(struct record_run *run, struct record_shown shown, bool last)
{
	run->shown = shown;
	if (last) {
		run->profile = run->collected;
		profile_init(&run->collected);
	} else {
		profile_init(&run->profile);
		profile_merge(&run->profile, &run->collected);
	}
	if (shown.view) {
		profile_view_apply(&run->profile, shown.view);
		run->options.input.event_filter = shown.view->name;
	}
	int code = shown.view ? input_tree_options(&run->profile, &run->options.input, &run->tree_options) :
				choose_event(run, shown.event);
	if (shown.view)
		run->profile.quality.filtered = 0; /* the other types have files of their own */
	if (code == PROCEED)
		code = record_write_files(run);
	/* Who leaves wick top has seen it all. */
	bool seen = run->no_files && run->result.end == RECORDER_INTERRUPTED;
	if (code == EXIT_DONE && !run->options.quiet && !seen)
		record_show_summary(run);
	profile_release(&run->profile);
	return code;
}

/*
 * A command that ran and used no CPU is no failure, and its exit code is the one to pass on. Who names a process and
 * gets nothing does not have what was requested.
 */
static int end_without_samples(const struct record_run *run)
{
	double elapsed = (double)run->result.last.elapsed / RECORD_SECOND;
	CLEANUP_BUF struct buf why = {0};
	record_explain_no_samples(run, &why);
	bool written = run->single && run->files[RECORD_PERFDATA];
	say_error("no samples in %.1f s: %s %s%s", elapsed, run->title.data, why.data,
		  written || run->no_files ? "" : "; no files were written");
	return run->command.count ? EXIT_DONE : EXIT_FAILED;
}

static int write_all(struct record_run *run)
{
	struct record_shown shown[RECORD_SHOWN_MAX];
	size_t count = record_list_shown(run, shown);
	int code = EXIT_DONE;
	if (!run->collected.sample_count && run->no_files && run->result.end == RECORDER_INTERRUPTED)
		return EXIT_DONE;
	if (!run->collected.sample_count || !count)
		return end_without_samples(run);
	for (size_t i = 0; i < count && code == EXIT_DONE; i++)
		code = write_shown(run, shown[i], i + 1 == count);
	if (code == EXIT_DONE && run->result.end == RECORDER_MEMORY_SHORT)
		code = EXIT_MEMORY;
	return run->incomplete ? EXIT_FAILED : code;
}

static int record(struct record_run *run)
{
	int code = record_settle_options(&run->options, run->called_as);
	if (code == PROCEED)
		code = record_choose_target(run);
	if (code == PROCEED && !run->no_files)
		code = record_choose_files(run);
	if (code == PROCEED)
		code = record_choose_types(run);
	if (code == PROCEED)
		code = settle_events(run);
	if (code == PROCEED && run->options.live)
		code = record_prepare_screen(run);
	if (code != PROCEED)
		return code;
	record_choose_environment(run);
	record_show_start(run);
	code = open_all(run);
	if (code == PROCEED) {
		give_up_privileges(run);
		code = record_all(run);
	}
	if (code == PROCEED)
		record_keep_maps(run);
	if (code == PROCEED)
		code = write_all(run);
	stop_collector(run);
	record_abandon_files(run);
	record_close_folder(run);
	return code;
}

int record_main(struct record_run *run, int argc, char **argv)
{
	for (int fd = 0; fd < 3; fd++)
		run->streams[fd] = -1;
	run->command_line = argv;
	int code = options_parse(run->called_as, argc, argv, &run->options, &run->command);
	if (code != PROCEED)
		return code;
	profile_init(&run->collected);
	code = record(run);
	int command_code = run->recorder ? recorder_wait(run->recorder) : 0;
	recorder_close(run->recorder);
	remote_memory_end();
	sandbox_leave(run->sandbox);
	capture_events_release(&run->events);
	profile_release(&run->collected);
	option_list_release(&run->command);
	record_options_release(&run->options);
	buf_release(&run->pids);
	buf_release(&run->tids);
	buf_release(&run->cgroup);
	buf_release(&run->title);
	for (size_t i = 0; i < RECORD_ENVIRONMENT_MAX; i++)
		buf_release(&run->environment_texts[i]);
	return command_code ? command_code : code;
}

static int run_record(int argc, char **argv)
{
	struct record_run run = {.called_as = &command_record, .options = {.input = input_defaults(true)}};
	return record_main(&run, argc, argv);
}

const struct command_fact record_exit_codes[] = {
	MAX_MEMORY_EXIT,
	{"126", "the command cannot be executed"},
	{"127", "the command was not found"},
	{"N", "with a command: its exit code, or 128 plus the number of the signal that ended it"},
	{0},
};

const struct command_fact record_environment[] = {
	{"DURATION", "Default of --duration, in seconds."},
	{"SAMPLING_FREQ", "Default of --freq, in samples per second."},
	{"WICK_HOST_ROOT", "Default of --host-root."},
	{0},
};

static const struct command_example record_examples[] = {
	{"wick record -- ./program arguments", "record a command from start to end"},
	{"wick record -p 1234 -d 10", "record a running process for ten seconds"},
	{"wick record -a --preset system", "record the whole system for ten seconds"},
	{"wick record -t offcpu -p 1234 -d 10", "record where its threads wait, and for what"},
	{"wick record -t wall -- ./program", "record running and waiting time"},
	{"wick record -t faults -- ./program", "record where memory is touched for the first time"},
	{0},
};

const struct command command_record = {
	.name = "record",
	.summary = "Record a command or processes and draw a flame graph",
	.arguments = "[-- COMMAND ARGUMENTS…]",
	.description =
		"Samples the target and writes a directory with a flame graph (flamegraph.svg), folded stacks "
		"(out.folded), a table of functions (report.txt) and the recording (perf.data). Then prints the "
		"hottest functions. The target does not have to be rebuilt or restarted: stacks are unwound with the "
		"unwind tables of the program.\n\n"
		"A command keeps its standard input and output, and its exit code is passed on. Ctrl-C ends the "
		"recording and writes all files; a second Ctrl-C skips files that are not written yet. Unavailable "
		"features, such as kernel code without root, are skipped with a one-line notice.\n\n"
		"Several types (-t cpu,offcpu) share one recording; each type has separate files. Page faults (-t "
		"faults) show which code makes memory resident. They do not show memory that is freed, or memory "
		"that an allocator reuses.",
	.options = record_rows,
	.perf_options = record_perf_rows,
	.examples = record_examples,
	.exit_codes = record_exit_codes,
	.environment = record_environment,
	.runs_command = true,
	.run = run_record,
};
