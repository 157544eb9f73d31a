#include "base/text.h"
#include "cmd/record/record.h"
#include "profile/view.h"

#include <string.h>
#include <unistd.h>

#define MICROSECOND 1000.0

int record_choose_types(struct record_run *run)
{
	struct record_options *options = &run->options;
	struct err err = {0};
	for (size_t i = 0; i < options->types.count; i++)
		if (record_types_parse(options->types.items[i], &run->types, &err))
			return say_usage(run->called_as, "%s", err.text);
	if (!run->types)
		run->types = RECORD_CPU;
	if (options->waker && !(run->types & RECORD_OFFCPU))
		return say_usage(run->called_as, "--waker needs -t offcpu");
	bool thresholds = options->min_block || options->max_block;
	if (thresholds && !(run->types & RECORD_OFFCPU))
		return say_usage(run->called_as, "--min-block and --max-block need -t offcpu");
	if (thresholds && run->types & RECORD_WALL)
		return say_usage(run->called_as, "-t wall includes all waits: --min-block and --max-block cannot "
						 "be used");
	if (options->max_block && options->max_block < options->min_block)
		return say_usage(run->called_as, "--max-block is less than --min-block");
	return -1;
}

uint64_t record_min_block(const struct record_options *options)
{
	return (uint64_t)(options->min_block * MICROSECOND);
}

uint64_t record_max_block(const struct record_options *options)
{
	return (uint64_t)(options->max_block * MICROSECOND);
}

bool record_derives(const struct record_run *run)
{
	bool derives = run->types != RECORD_CPU;
	for (size_t i = 0; i < run->events.count; i++)
		derives = derives || run->events.items[i].derive.only_known;
	return derives;
}

struct derive *record_make_derive(struct record_run *run, const struct event_sink *next)
{
	const struct record_options *options = &run->options;
	const struct capture_events *events = &run->events;
	run->derive_sources = mem_zalloc(events->count + 1, sizeof *run->derive_sources);
	for (size_t i = 0; i < events->count; i++)
		run->derive_sources[i] = events->items[i].derive;
	struct derive_options derive = {
		.sources = run->derive_sources,
		.source_count = events->count,
		.first_derived = (uint32_t)events->count + 1,
		.page_size = (uint64_t)sysconf(_SC_PAGESIZE),
		.offcpu =
			{
				.waits = run->types & RECORD_WAITS && !events->waits_counted,
				.running = run->types & RECORD_WALL && !events->waits_counted,
				.wakers = options->waker,
				.unseen = run->types & RECORD_WALL || !options->all,
				.min_block = record_min_block(options),
				.max_block = record_max_block(options),
				.except_pid = options->all ? (int32_t)getpid() : 0,
				.prev_state = events->prev_state,
				.next_pid = events->next_pid,
				.woken_pid = events->woken_pid,
			},
	};
	return derive_new(&derive, next);
}

void record_say_derived(const struct record_run *run)
{
	struct offcpu_counts counts = derive_counts(run->derive);
	struct engine_statistics engine;
	if (recorder_uses_engine(run->recorder, &engine))
		counts.left_out += engine.left_out;
	CLEANUP_BUF struct buf text = {0};
	if (run->options.quiet)
		return;
	if (counts.left_out) {
		text_grouped(&text, (int64_t)counts.left_out);
		say_note("%s waits skipped by --min-block and --max-block", text.data);
	}
	if (counts.cut) {
		buf_clear(&text);
		text_grouped(&text, (int64_t)counts.cut);
		say_note("%s stacks have no user part, because too many threads wait at once: use --stack-size 4096",
			 text.data);
	}
}

/* --- what is shown of it --- */

static const struct shown_row {
	enum record_type type;
	const char *view;
} shown_rows[] = {{RECORD_CPU, NULL},    {RECORD_TRACE, NULL},      {RECORD_OFFCPU, "offcpu"},
		  {RECORD_WALL, "wall"}, {RECORD_FAULTS, "faults"}, {RECORD_FAULTS, "fault-bytes"}};
#define SHOWN_ROWS (sizeof shown_rows / sizeof *shown_rows)

const struct profile_view *record_first_view(const struct record_run *run)
{
	size_t i = 0;
	while (i < SHOWN_ROWS && !(run->types & shown_rows[i].type))
		i++;
	return i < SHOWN_ROWS && shown_rows[i].view ? profile_view_find(shown_rows[i].view) : NULL;
}

size_t record_list_shown(const struct record_run *run, struct record_shown shown[RECORD_SHOWN_MAX])
{
	size_t count = 0;
	for (size_t i = 0; i < SHOWN_ROWS; i++) {
		const struct shown_row *row = &shown_rows[i];
		if (!(run->types & row->type))
			continue;
		const struct profile_view *view = row->view ? profile_view_find(row->view) : NULL;
		if (view && !profile_view_has(&run->collected, view))
			continue;
		shown[count] = (struct record_shown){.view = view};
		if (!view)
			for (size_t k = 0; k < run->events.count && !shown[count].event; k++)
				if ((row->type == RECORD_TRACE) == run->events.items[k].trace)
					shown[count].event = run->events.items[k].name;
		shown[count].suffix = !count ? "" : view ? row->view : "trace";
		count++;
	}
	return count;
}
