/* Messages of `wick record` at the start, during and at the end of a recording. */
#include "base/term.h"
#include "base/text.h"
#include "cmd/record/record.h"
#include "doctor/check.h"
#include "event/source_facts.h"

#include <stdio.h>
#include <unistd.h>

#define TOP_FUNCTIONS 10
#define FEW_SAMPLES 100 /* a share of 10 % is known within ±6 % then */
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

static void add_whole_stacks(struct buf *line, const struct collector *collector)
{
	uint64_t whole = collector_ends(collector, STACK_WHOLE), all = 0;
	for (int end = 0; end < STACK_ENDS; end++)
		all += collector_ends(collector, end);
	if (!all)
		return;
	double percent = 100.0 * (double)whole / (double)all;
	/* What is not all of it does not read as 100. */
	buf_printf(line, whole < all ? " · %.1f %% complete stacks" : " · %.0f %% complete stacks",
		   whole < all && percent > 99.9 ? 99.9 : percent);
}

/* Adds what was written since the last call, if there is room: a line that wraps could not be drawn over. */
static void add_part(struct buf *line, struct buf *part)
{
	size_t columns = (size_t)term_width(STDERR_FILENO, 80) - 1;
	if (part->size && text_columns(line->data, line->size) + text_columns(part->data, part->size) <= columns)
		buf_add(line, part->data, part->size);
	buf_clear(part);
}

void record_show_progress(struct record_run *run, const struct recorder_progress *progress)
{
	if (!run->live || progress->elapsed < run->drawn + REDRAW_NS)
		return;
	run->drawn = progress->elapsed;
	CLEANUP_BUF struct buf line = {0};
	CLEANUP_BUF struct buf part = {0};
	buf_printf(&line, "recording %.1f s", (double)progress->elapsed / RECORD_SECOND);
	if (progress->duration > progress->elapsed)
		buf_printf(&part, ", %.1f s left", (double)(progress->duration - progress->elapsed) / RECORD_SECOND);
	add_part(&line, &part);
	buf_str(&part, " · ");
	text_count(&part, progress->samples, "sample", "samples");
	add_part(&line, &part);
	buf_str(&part, " · ");
	text_grouped(&part, (int64_t)progress->lost);
	buf_str(&part, " lost");
	add_part(&line, &part);
	add_whole_stacks(&part, run->collector);
	add_part(&line, &part);
	buf_str(&part, " · Ctrl-C to stop");
	add_part(&line, &part);
	fprintf(stderr, "\r\033[K%s", line.data);
}

/* The files in the order in which they are listed: by interest, what was recorded last. */
static void order_files(enum record_file order[RECORD_FILES])
{
	for (int i = 0; i < RECORD_FILES; i++) {
		enum record_file kind =
			(enum record_file)(i < OUTPUT_COUNT ? RECORD_OUTPUTS + i : RECORD_FILES - 1 - i);
		int at = i;
		for (; at > 0 && record_file_interest(order[at - 1]) < record_file_interest(kind); at--)
			order[at] = order[at - 1];
		order[at] = kind;
	}
}

/* "wrote FOLDER/flamegraph.svg, report.txt, …": the path of what to open first, then the names of the others. */
static void show_files(const struct record_run *run, struct outfile *out)
{
	enum record_file order[RECORD_FILES];
	CLEANUP_BUF struct buf line = {0};
	order_files(order);
	for (size_t i = 0; i < RECORD_FILES; i++) {
		enum record_file kind = order[i];
		char path[RECORD_PATH_MAX], name[64];
		if (!run->files[kind] || (record_file_is_single(kind) && *run->shown.suffix))
			continue; /* is shown with the first */
		record_path(run, kind, path, sizeof path);
		record_file_name(run, kind, name, sizeof name);
		buf_printf(&line, "%s%s", line.size ? ", " : "wrote ", line.size ? name : path);
	}
	if (line.size)
		outfile_printf(out, "\n%s\n", line.data);
}

/* What the BPF engine did, and what it took. */
static void show_engine(const struct record_run *run, struct outfile *out)
{
	struct engine_statistics statistics;
	CLEANUP_BUF struct buf line = {0};
	if (!run->options.verbose || *run->shown.suffix || !recorder_uses_engine(run->recorder, &statistics))
		return;
	buf_str(&line, "BPF engine: ");
	text_count(&line, statistics.taken - statistics.copied, "stack", "stacks");
	buf_str(&line, " unwound in the kernel, ");
	text_grouped(&line, (int64_t)statistics.copied);
	buf_str(&line, " in user space; ");
	text_count(&line, statistics.modules, "unwind table", "unwind tables");
	buf_printf(&line, ", %.1f MB of kernel memory", (double)statistics.kernel_bytes / 1e6);
	if (statistics.evicted || statistics.refused)
		buf_printf(&line, "; not enough room for all tables (--kernel-memory): %zu removed, %zu delayed",
			   statistics.evicted, statistics.refused);
	if (statistics.uncounted) {
		buf_str(&line, "; no room to count ");
		text_count(&line, statistics.uncounted, "stack, which was sent separately",
			   "stacks, which were sent separately");
	}
	if (statistics.runs)
		buf_printf(&line, "; %.2f µs per sample",
			   (double)statistics.nanoseconds / 1e3 / (double)statistics.runs);
	outfile_printf(out, "%s\n", line.data);
}

/* The line of `wick doctor`, if it has something to say. */
static void show_check(const char *row)
{
	struct system system = system_this();
	struct check_result result;
	if (!check_run_name(&system, row, &result))
		return;
	if (result.verdict != CHECK_OK)
		say_note("%s: %s: %s; %s", result.name, result.state.data, result.limits,
			 *result.now ? result.now : result.forever);
	buf_release(&result.state);
}

/* Shares of a few samples say little, which a table does not show. Where samples were lost, -F is advised already. */
static void say_when_few(const struct record_run *run)
{
	const struct quality *quality = &run->profile.quality;
	if (run->shown.view || run->options.capture.period || quality->samples >= FEW_SAMPLES || quality->lost)
		return;
	say_note("few samples, so percentages are rough: record longer, or with more than %llu Hz (-F)",
		 (unsigned long long)run->options.capture.frequency);
}

bool record_coverage(const struct record_run *run, struct record_coverage *ret_coverage)
{
	const struct capture_event *event = run->events.items;
	bool clock = run->events.count == 1 && attr_is_clock(&event->attr);
	if (!clock || run->needs & TYPE_DERIVED || run->result.cpu_time == RECORDER_TIME_UNKNOWN)
		return false;
	/* The kernel may allow less than was requested. */
	uint64_t frequency = event->attr.freq ? event->attr.sample_freq : 0;
	double period = run->options.capture.period ?
				(double)run->options.capture.period :
				RECORD_SECOND / (double)(frequency ? frequency : run->options.capture.frequency);
	ret_coverage->extent = (struct extent){
		.cpu_time = run->result.cpu_time,
		.samples = run->result.last.samples,
		.sampled = (uint64_t)((double)run->result.last.samples * period),
		.user_only = event->attr.exclude_kernel,
	};
	ret_coverage->due = (double)run->result.cpu_time / period;
	return true;
}

static bool say_when_not_covered(const struct record_run *run)
{
	struct record_coverage coverage;
	if (*run->shown.suffix || !record_coverage(run, &coverage) || !record_coverage_is_low(run, &coverage))
		return false;
	say_note("the samples cover %.0f %% of the CPU time: %sthreads shorter than a sampling period are not sampled; "
		 "%suse -F %lld",
		 100 * extent_coverage(&coverage.extent), coverage.extent.user_only ? "kernel code and " : "",
		 recorder_uses_engine(run->recorder, NULL) ? "" : "run with sudo, or ",
		 record_coverage_rate(run, &coverage));
	return true;
}

void record_show_summary(struct record_run *run)
{
	struct outfile out;
	struct err err = {0};
	const char *const inputs[] = {run->title.data, NULL};
	char name[64], rest[80];
	const enum record_file table = RECORD_OUTPUTS + OUTPUT_REPORT;
	record_file_name(run, table, name, sizeof name);
	snprintf(rest, sizeof rest, "in %s", name);
	struct report report = {
		.inputs = inputs,
		.limit = TOP_FUNCTIONS,
		.rest = run->files[table] ? rest : "",
		.brief = true,
		.colour = term_colour(STDERR_FILENO),
		.width = term_width(STDERR_FILENO, 0),
	};
	outfile_open_stderr(&out);
	output_functions(&report, &run->profile, &run->tree_options, &out);
	show_files(run, &out);
	show_engine(run, &out);
	outfile_commit(&out, &err);
	if ((run->result.last.lost || run->result.last.lost_records) && !*run->shown.suffix)
		show_check("buffers");
	if (!say_when_not_covered(run))
		say_when_few(run);
}
