#include "cmd/outputs.h"
#include "cmd/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const struct file_row {
	const char *format, *file, *ending;
} file_rows[RECORD_FILES] = {
	[RECORD_FOLDED] = {"folded", "out", ".folded"},
	[RECORD_SVG] = {"svg", "flamegraph", ".svg"},
	[RECORD_REPORT] = {"report", "report", ".txt"},
	[RECORD_PERFDATA] = {"perf.data", "perf.data", ""},
};

int record_choose_files(struct record_run *run)
{
	const char *at = run->options.format;
	for (int kind = 0; kind < RECORD_FILES; kind++)
		run->files[kind] = !at;
	while (at && *at) {
		size_t length = strcspn(at, ",");
		int kind = 0;
		while (kind < RECORD_FILES &&
		       (strncmp(at, file_rows[kind].format, length) || strlen(file_rows[kind].format) != length))
			kind++;
		if (kind == RECORD_FILES)
			return say_usage(run->called_as, "--format knows folded, svg, report and perf.data, not '%.*s'",
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

void record_path(const struct record_run *run, enum record_file kind, char *path, size_t room)
{
	char name[64];
	record_file_name(run, kind, name, sizeof name);
	snprintf(path, room, "%s/%s", run->folder, name);
}

void record_file_name(const struct record_run *run, enum record_file kind, char *name, size_t room)
{
	const char *suffix = run->shown.suffix && kind != RECORD_PERFDATA ? run->shown.suffix : "";
	snprintf(name, room, "%s%s%s%s", file_rows[kind].file, *suffix ? "-" : "", suffix, file_rows[kind].ending);
}

int record_open_writer(struct record_run *run, struct err *err)
{
	char path[sizeof run->folder + 64];
	struct perfdata_writer_options options = {.command = run->command_line, .compress = run->options.compress};
	if (!run->files[RECORD_PERFDATA])
		return 0;
	options.sources = recorder_sources(run->recorder, &options.source_count);
	record_path(run, RECORD_PERFDATA, path, sizeof path);
	return perfdata_writer_open(&run->writer, path, &options, err);
}

static int write_report(struct record_run *run, const char *path)
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

static int write_folded(struct record_run *run, const char *path)
{
	struct calltree tree;
	calltree_build(&tree, &run->profile, &run->tree_options);
	int code = output_folded(&tree, run->profile.values[run->tree_options.values[0]].decimals, path);
	calltree_release(&tree);
	return code;
}

static int write_file(struct record_run *run, enum record_file kind)
{
	char path[sizeof run->folder + 64];
	struct err err = {0};
	record_path(run, kind, path, sizeof path);
	switch (kind) {
	case RECORD_FOLDED:
		return write_folded(run, path);
	case RECORD_SVG:
		return output_flame(&run->profile, &run->tree_options, run->title.data, NULL, path);
	case RECORD_REPORT:
		return write_report(run, path);
	default: {
		struct perfdata_writer *writer = run->writer;
		run->writer = NULL;
		return perfdata_writer_finish(writer, &err) ? say_failure(&err) : EXIT_DONE;
	}
	}
}

int record_write_files(struct record_run *run)
{
	int code = EXIT_DONE;
	for (int kind = 0; kind < RECORD_FILES && code == EXIT_DONE; kind++)
		if (run->files[kind] && (kind != RECORD_PERFDATA || run->writer))
			code = write_file(run, kind);
	return code;
}
