#include "base/term.h"
#include "base/text.h"
#include "capture/check.h"
#include "cmd/outputs.h"
#include "cmd/record.h"

#include <stdio.h>
#include <unistd.h>

#define TOP_FUNCTIONS 10
#define REDRAW_NS 200000000ull

void record_show_start(struct record_run *run)
{
	run->live = !run->options.quiet && isatty(STDERR_FILENO) && (!run->command.count || !isatty(STDOUT_FILENO));
}

void record_show_end(const struct record_run *run)
{
	if (run->live && run->drawn)
		fputs("\r\033[K", stderr);
}

void record_show_progress(struct record_run *run, const struct recorder_progress *progress)
{
	if (!run->live || progress->elapsed < run->drawn + REDRAW_NS)
		return;
	run->drawn = progress->elapsed;
	CLEANUP_BUF struct buf line = {0};
	buf_printf(&line, "\r\033[Krecording %.1f s", (double)progress->elapsed / RECORD_SECOND);
	if (progress->duration)
		buf_printf(&line, " of %.15g", (double)progress->duration / RECORD_SECOND);
	buf_str(&line, " · ");
	text_grouped(&line, (int64_t)progress->samples);
	buf_str(&line, " samples · ");
	text_grouped(&line, (int64_t)progress->lost);
	buf_str(&line, " lost · Ctrl-C ends");
	fwrite(line.data, 1, line.size, stderr);
}

static void print_file(const struct record_run *run, enum record_file kind, struct outfile *out)
{
	char name[64];
	if (record_file_is_single(kind) && *run->shown.suffix)
		return; /* is shown with the first */
	record_file_name(run, kind, name, sizeof name);
	outfile_printf(out, "%s/%s\n", run->folder, name);
}

/* What the BPF engine did, and what it took. */
static void show_engine(const struct record_run *run, struct outfile *out)
{
	struct engine_statistics statistics;
	CLEANUP_BUF struct buf line = {0};
	if (*run->shown.suffix || !recorder_uses_engine(run->recorder, &statistics))
		return;
	buf_str(&line, "BPF engine: ");
	text_grouped(&line, (int64_t)(statistics.taken - statistics.copied));
	buf_str(&line, " stacks unwound in the kernel, ");
	text_grouped(&line, (int64_t)statistics.copied);
	buf_printf(&line, " outside; %zu unwind tables, %.1f MB of kernel memory\n", statistics.modules,
		   (double)statistics.kernel_bytes / 1e6);
	outfile_str(out, line.data);
}

void record_show_causes(const struct record_run *run)
{
	static const char *const rows[] = {"own processes", "seccomp", "perf_event_paranoid"};
	struct check_system system = check_this_system();
	for (size_t i = 0; i < sizeof rows / sizeof *rows && !run->options.quiet; i++) {
		struct check_result result;
		if (!check_run_name(&system, rows[i], &result))
			continue;
		if (result.verdict != CHECK_OK)
			say_note("%s %s; limits: %s; until reboot: %s; for good: %s", result.name, result.state.data,
				 result.limits, *result.now ? result.now : "-", *result.forever ? result.forever : "-");
		buf_release(&result.state);
	}
}

void record_show_summary(struct record_run *run)
{
	struct outfile out;
	struct err err = {0};
	const char *const inputs[] = {run->title.data, NULL};
	char name[64], rest[80];
	record_file_name(run, RECORD_REPORT, name, sizeof name);
	snprintf(rest, sizeof rest, "in %s", name);
	struct report report = {
		.inputs = inputs,
		.limit = TOP_FUNCTIONS,
		.rest = run->files[RECORD_REPORT] ? rest : "",
		.colour = term_colour(STDERR_FILENO),
		.width = term_width(STDERR_FILENO, 0),
	};
	outfile_open_stderr(&out);
	output_functions(&report, &run->profile, &run->tree_options, &out);
	outfile_str(&out, "\n");
	for (int kind = 0; kind < RECORD_FILES; kind++)
		if (run->files[kind])
			print_file(run, kind, &out);
	show_engine(run, &out);
	outfile_commit(&out, &err);
}
