#include "base/parallel.h"
#include "cmd/outputs.h"
#include "cmd/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define FLUSH_NS 1000000000ull
#define LATE_MOST 5000000000ull /* nanoseconds that a record may be older than one that came before it */

static const struct file_row {
	const char *format, *file, *ending;
	bool once; /* of the recording, and not of each profile that is shown of it */
	bool on_request; /* not by default */
} file_rows[RECORD_FILES] = {
	[RECORD_PERFDATA] = {.format = "perf.data", .file = "perf.data", .ending = "", .once = true},
	[RECORD_TEXT] = {.format = "out.perf", .file = "out", .ending = ".perf", .once = true, .on_request = true},
	[RECORD_FOLDED] = {.format = "folded", .file = "out", .ending = ".folded"},
	[RECORD_SVG] = {.format = "svg", .file = "flamegraph", .ending = ".svg"},
	[RECORD_REPORT] = {.format = "report", .file = "report", .ending = ".txt"},
};

/* What -o names by its ending, or by being there; RECORD_FILES: a folder. */
static int kind_of_output(const char *output)
{
	static const struct {
		const char *ending;
		enum record_file kind;
	} endings[] = {{".data", RECORD_PERFDATA},
		       {".perf", RECORD_TEXT},
		       {".folded", RECORD_FOLDED},
		       {".svg", RECORD_SVG},
		       {".txt", RECORD_REPORT}};
	struct stat status;
	bool there = stat(output, &status) == 0;
	const char *ending = strrchr(output, '.');
	if (there && S_ISDIR(status.st_mode))
		return RECORD_FILES;
	for (size_t i = 0; i < sizeof endings / sizeof *endings && ending && ending > output; i++)
		if (!strcmp(ending, endings[i].ending) && ending[-1] != '/')
			return endings[i].kind;
	return there ? RECORD_PERFDATA : RECORD_FILES;
}

/* -o is a file: that one is written, and no folder. */
static int choose_single(struct record_run *run, enum record_file kind)
{
	const char *output = run->options.output, *format = run->options.format;
	struct stat status;
	if (stat(output, &status) == 0 && !S_ISREG(status.st_mode))
		return say_usage(run->called_as, "-o %s is neither a file nor a directory", output);
	if (format && strcmp(format, file_rows[kind].format) != 0)
		return say_usage(run->called_as, "-o %s is a single file: --format %s needs a directory", output,
				 format);
	run->single = true;
	run->files[kind] = true;
	return -1;
}

int record_choose_files(struct record_run *run)
{
	const char *at = run->options.format;
	if (run->options.output && !strcmp(run->options.output, "-"))
		return say_usage(run->called_as, "-o -: cannot write a recording to a pipe; use -o FILE.data");
	int single = run->options.output ? kind_of_output(run->options.output) : RECORD_FILES;
	if (single != RECORD_FILES)
		return choose_single(run, (enum record_file)single);
	for (int kind = 0; kind < RECORD_FILES; kind++)
		run->files[kind] = !at && !file_rows[kind].on_request;
	while (at && *at) {
		size_t length = strcspn(at, ",");
		int kind = 0;
		while (kind < RECORD_FILES &&
		       (strncmp(at, file_rows[kind].format, length) || strlen(file_rows[kind].format) != length))
			kind++;
		if (kind == RECORD_FILES)
			return say_usage(run->called_as,
					 "--format must be folded, svg, report, perf.data or out.perf, not '%.*s'",
					 (int)length, at);
		run->files[kind] = true;
		at += length + (at[length] == ',');
	}
	return -1;
}

int record_make_folder(struct record_run *run)
{
	const char *output = run->options.output;
	if (output) {
		snprintf(run->folder, sizeof run->folder, "%s", output);
		if (run->single)
			return -1;
		run->made_folder = mkdir(output, 0777) == 0;
		if (run->made_folder || errno == EEXIST)
			return -1;
		say_error("cannot create directory %s: %s", output, strerror(errno));
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
	say_error("cannot create directory %s: %s; use -o to choose another", run->folder, strerror(errno));
	return EXIT_FAILED;
}

void record_path(const struct record_run *run, enum record_file kind, char *path, size_t room)
{
	char name[64];
	const char *suffix = run->shown.suffix && !file_rows[kind].once ? run->shown.suffix : "";
	const char *ending = strrchr(run->folder, '.');
	if (run->single && *suffix && ending) {
		snprintf(path, room, "%.*s-%s%s", (int)(ending - run->folder), run->folder, suffix, ending);
	} else if (run->single) {
		snprintf(path, room, "%s", run->folder);
	} else {
		record_file_name(run, kind, name, sizeof name);
		snprintf(path, room, "%s/%s", run->folder, name);
	}
}

bool record_file_is_single(enum record_file kind)
{
	return file_rows[kind].once;
}

void record_file_name(const struct record_run *run, enum record_file kind, char *name, size_t room)
{
	const char *suffix = run->shown.suffix && !file_rows[kind].once ? run->shown.suffix : "";
	snprintf(name, room, "%s%s%s%s", file_rows[kind].file, *suffix ? "-" : "", suffix, file_rows[kind].ending);
}

static int open_writer(struct record_run *run, struct err *err)
{
	char path[RECORD_PATH_MOST];
	struct perfdata_writer_options options = {.command = run->command_line,
						  .compress = run->options.compress,
						  .steady_clocks = true,
						  .keep_part = true};
	options.sources = recorder_sources(run->recorder, &options.source_count);
	record_path(run, RECORD_PERFDATA, path, sizeof path);
	return perfdata_writer_open(&run->writer, path, &options, err);
}

static int open_text(struct record_run *run, struct err *err)
{
	static const struct profile_filter everything;
	struct script_format format = {
		.fields = SCRIPT_USUAL,
		.short_names = input_label_names(run->options.input.names) == LABELS_SHORT,
	};
	char path[RECORD_PATH_MOST];
	record_path(run, RECORD_TEXT, path, sizeof path);
	int result = outfile_open(&run->text_out, path, err);
	if (!result)
		run->text = script_text_new(&run->text_out, &everything, NULL, &format);
	return result;
}

int record_open_files(struct record_run *run, struct err *err)
{
	int result = run->files[RECORD_PERFDATA] ? open_writer(run, err) : 0;
	return !result && run->files[RECORD_TEXT] ? open_text(run, err) : result;
}

void record_take_stack(void *context, const struct batch_sample *sample, const struct stack_frame *frames, size_t count,
		       enum stack_end end)
{
	struct record_run *run = context;
	run->stacks++;
	if (run->writer) {
		perfdata_writer_stack(run->writer, sample, frames, count, end);
		perfdata_writer_settled(run->writer, sample->since > LATE_MOST ? sample->since - LATE_MOST : 0);
	}
	if (run->text)
		script_text_sample(run->text, collector_codes(run->collector), sample, frames, count);
}

void record_flush_files(struct record_run *run, uint64_t elapsed)
{
	if (!run->writer || elapsed < run->flushed + FLUSH_NS)
		return;
	perfdata_writer_flush(run->writer);
	run->flushed = elapsed;
}

/* As perf does: the last recording of this name is still there. */
static void keep_old(const char *path)
{
	char old[RECORD_PATH_MOST + 4];
	snprintf(old, sizeof old, "%s.old", path);
	if (rename(path, old) && errno != ENOENT)
		say_note("cannot rename %s to %s: %s; it is replaced", path, old, strerror(errno));
}

static void finish_writer(struct record_run *run)
{
	struct err err = {0};
	struct perfdata_writer *writer = run->writer;
	char path[RECORD_PATH_MOST];
	record_path(run, RECORD_PERFDATA, path, sizeof path);
	run->writer = NULL;
	if (run->single)
		keep_old(path);
	if (!perfdata_writer_finish(writer, &err))
		return;
	say_failure(&err);
	say_note("the recording so far is in %s.part; read it with wick flame %s%s", path, run->folder,
		 run->single ? ".part" : "");
	run->incomplete = true;
	run->files[RECORD_PERFDATA] = false;
}

static void finish_text(struct record_run *run)
{
	struct err err = {0};
	script_text_free(run->text);
	run->text = NULL;
	if (!outfile_commit(&run->text_out, &err))
		return;
	say_failure(&err);
	run->incomplete = true;
	run->files[RECORD_TEXT] = false;
}

void record_finish_files(struct record_run *run)
{
	if (run->writer)
		finish_writer(run);
	if (run->text)
		finish_text(run);
}

void record_abandon_files(struct record_run *run)
{
	if (run->writer)
		perfdata_writer_abandon(run->writer);
	run->writer = NULL;
	if (run->text)
		outfile_abandon(&run->text_out);
	script_text_free(run->text);
	run->text = NULL;
}

static int write_report(struct record_run *run, const char *path, struct err *err)
{
	struct outfile out;
	const char *const inputs[] = {run->title.data, NULL};
	struct report report = {.inputs = inputs};
	int code = outfile_open(&out, path, err);
	if (code)
		return code;
	output_functions(&report, &run->profile, &run->tree_options, &out);
	return outfile_commit(&out, err);
}

static int write_folded(struct record_run *run, const char *path, struct err *err)
{
	struct calltree tree;
	struct calltree_options options = run->tree_options;
	/* Folded stacks name no unit: whoever reads them takes their numbers for samples. */
	const struct value_type *value = &run->profile.values[options.values[0]];
	if (!run->shown.view && strcmp(profile_text(&run->profile, value->unit), "ns") == 0)
		options.weigh = TREE_SAMPLES;
	calltree_build(&tree, &run->profile, &options);
	int code = output_folded(&tree, run->profile.values[run->tree_options.values[0]].decimals, path, err);
	calltree_release(&tree);
	return code;
}

static int write_file(struct record_run *run, enum record_file kind, struct err *err)
{
	char path[RECORD_PATH_MOST];
	record_path(run, kind, path, sizeof path);
	switch (kind) {
	case RECORD_FOLDED:
		return write_folded(run, path, err);
	case RECORD_SVG:
		return output_flame(&run->profile, &run->tree_options, run->title.data, NULL, path, err);
	case RECORD_REPORT:
		return write_report(run, path, err);
	default: /* was written while recording */
		return 0;
	}
}

struct writing {
	struct record_run *run;
	_Atomic int next; /* enum record_file */
	struct err errors[RECORD_FILES];
};

static void write_some(void *context, unsigned worker)
{
	struct writing *writing = context;
	struct record_run *run = writing->run;
	(void)worker;
	for (int kind; (kind = writing->next++) < RECORD_FILES;)
		if (run->files[kind])
			write_file(run, kind, &writing->errors[kind]);
}

int record_write_files(struct record_run *run)
{
	struct writing writing = {.run = run};
	unsigned cores = parallel_cores();
	parallel_run(cores < RECORD_FILES ? cores : RECORD_FILES, write_some, &writing);
	for (int kind = 0; kind < RECORD_FILES; kind++)
		if (writing.errors[kind].code)
			return say_failure(&writing.errors[kind]); /* one for all: a full disk is full for every file */
	return EXIT_DONE;
}
