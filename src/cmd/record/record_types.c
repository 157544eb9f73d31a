/* Chooses the profile types and events of `wick record`. */
#include "base/text.h"
#include "cmd/record/record.h"
#include "profile/view.h"

#include <string.h>
#include <unistd.h>

int record_choose_types(struct record_run *run)
{
	struct record_options *options = &run->options;
	struct err err = {0};
	for (size_t i = 0; i < options->types.count; i++)
		if (profile_types_parse(options->types.items[i], &options->capture.types, &err))
			return say_usage(run->called_as, "%s", err.text);
	if (!options->capture.types)
		options->capture.types = PROFILE_TYPES_DEFAULT;
	run->needs = profile_types_needs(options->capture.types);
	if (options->capture.wakers && !(run->needs & TYPE_WAIT_FILTER))
		return say_usage(run->called_as, "--waker needs -t offcpu");
	bool thresholds = options->capture.min_block || options->capture.max_block;
	if (thresholds && !(run->needs & TYPE_WAIT_FILTER))
		return say_usage(run->called_as, "--min-block and --max-block need -t offcpu");
	if (thresholds && run->needs & TYPE_RUN_TIME)
		return say_usage(run->called_as, "-t wall includes all waits: --min-block and --max-block cannot "
						 "be used");
	if (options->capture.max_block && options->capture.max_block < options->capture.min_block)
		return say_usage(run->called_as, "--max-block is less than --min-block");
	return PROCEED;
}

void record_say_derived(const struct record_run *run)
{
	const struct offcpu_counts counts = run->result.waits;
	CLEANUP_BUF struct buf text = {0};
	if (run->options.quiet)
		return;
	if (counts.skipped) {
		text_grouped(&text, (int64_t)counts.skipped);
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

static void add_shown(const struct record_run *run, bool views, struct record_shown *shown, size_t *count)
{
	for (size_t i = 0; i < profile_type_count; i++) {
		const struct profile_type *type = &profile_types[i];
		if (!(run->options.capture.types & 1u << i) || (type->views[0].name != NULL) != views)
			continue;
		if (!views)
			shown[(*count)++] = (struct record_shown){.type = type};
		for (size_t k = 0; k < TYPE_VIEWS_MAX && type->views[k].name; k++)
			shown[(*count)++] = (struct record_shown){.type = type, .view = &type->views[k]};
	}
}

/* Events that are shown as they are come before views of derived ones. */
static size_t list_chosen(const struct record_run *run, struct record_shown shown[RECORD_SHOWN_MAX])
{
	size_t count = 0;
	add_shown(run, false, shown, &count);
	add_shown(run, true, shown, &count);
	return count;
}

const struct profile_view *record_first_view(const struct record_run *run)
{
	struct record_shown shown[RECORD_SHOWN_MAX];
	return list_chosen(run, shown) ? shown[0].view : NULL;
}

static const char *first_event(const struct record_run *run, bool each)
{
	for (size_t i = 0; i < run->events.count; i++)
		if (run->events.items[i].trace == each)
			return run->events.items[i].name;
	return NULL;
}

size_t record_list_shown(const struct record_run *run, struct record_shown shown[RECORD_SHOWN_MAX])
{
	size_t chosen = list_chosen(run, shown), count = 0;
	for (size_t i = 0; i < chosen; i++) {
		struct record_shown *at = &shown[i];
		if (at->view && !profile_view_has(&run->collected, at->view))
			continue;
		if (!at->view)
			at->event = first_event(run, at->type->needs & TYPE_EACH_EVENT);
		at->suffix = !count ? "" : at->view ? at->view->name : at->type->name;
		shown[count++] = *at;
	}
	return count;
}
