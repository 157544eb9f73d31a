#include "cmd/input.h"

#include "base/text.h"

#include <string.h>

struct input_options input_defaults(bool merge_threads)
{
	return (struct input_options){.comm = true, .inline_frames = true, .merge_threads = merge_threads};
}

void input_release(struct input_options *options)
{
	option_list_release(&options->skip_after);
}

static void say_report(const struct import_report *report)
{
	if (report->bad_lines == 1)
		say_warning("%s; the line was left out", report->first_bad);
	else if (report->bad_lines)
		say_warning("%s; %llu such lines were left out", report->first_bad,
			    (unsigned long long)report->bad_lines);
	if (report->cut_stacks)
		say_warning("%s: the input ends inside this stack (an empty line must end it); it was left out",
			    report->first_cut);
	if (report->damage[0])
		say_warning("%s", report->damage);
}

int input_load(struct profile *profile, const struct input_options *options, const struct option_list *files,
	       bool keep_order)
{
	struct import_options import = {
		.threads = (unsigned)options->threads,
		.keep_order = keep_order,
		.addresses = options->addrs,
		.source_lines = options->srcline,
		.java_as_written = options->pid || options->tid,
		.progress = true,
	};
	struct import_report report = {0};
	size_t count = files->count ? files->count : 1;
	for (size_t i = 0; i < count; i++) {
		struct err err = {0};
		if (import_file(profile, files->count ? files->items[i] : "-", &import, &report, &err)) {
			say_report(&report);
			return say_failure(&err);
		}
	}
	say_report(&report);
	if (profile->quality.overflows)
		say_warning("counts add up to more than 64 bits can hold; %llu were held at the limit",
			    (unsigned long long)profile->quality.overflows);
	return -1;
}

static value_id find_value(const struct profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->value_count; i++)
		if (strcmp(profile_text(profile, profile->values[i].name), name) == 0)
			return (value_id)i;
	return PROFILE_NONE;
}

static void list_events(const struct profile *profile, struct buf *out)
{
	for (size_t i = 0; i < profile->value_count; i++)
		if (profile->values[i].name) {
			buf_str(out, out->size ? ", " : "");
			buf_str(out, profile_text(profile, profile->values[i].name));
		}
}

/* The event asked for, or the first one with a name. */
static int choose_value(const struct profile *profile, const char *wanted, value_id *ret_value)
{
	value_id value = PROFILE_NONE;
	if (wanted) {
		value = find_value(profile, wanted);
		if (value == PROFILE_NONE) {
			struct buf events CLEANUP_BUF = {0};
			list_events(profile, &events);
			say_error("no sample of event '%s'; the input has: %s", wanted,
				  events.size ? events.data : "none named");
			return EXIT_FAILED;
		}
	} else {
		for (size_t i = 0; i < profile->value_count; i++)
			if (profile->values[i].name &&
			    (value == PROFILE_NONE ||
			     profile->values[i].first_seen < profile->values[value].first_seen))
				value = (value_id)i;
		if (value == PROFILE_NONE)
			value = profile_first_value(profile);
	}
	*ret_value = value;
	return -1;
}

static void say_filtered(const struct profile *profile, value_id value)
{
	struct buf count CLEANUP_BUF = {0};
	text_grouped(&count, (int64_t)profile->quality.filtered);
	say_warning("showing event %s; %s sample%s of other events left out (--event-filter chooses)",
		    profile_text(profile, profile->values[value].name), count.data,
		    profile->quality.filtered == 1 ? "" : "s");
}

int input_tree_options(struct profile *profile, const struct input_options *options, struct calltree_options *ret)
{
	*ret = (struct calltree_options){
		.values = {0, PROFILE_NONE},
		.merge_threads = options->merge_threads,
		.annotate_kernel = options->kernel || options->all,
		.annotate_jit = options->jit || options->all,
		.hide_inlined = !options->inline_frames,
		.show_module = options->module,
		.show_line = options->srcline,
		.skip_after = options->skip_after.items,
		.thread_label = !options->comm ? THREAD_LABEL_NONE :
				options->tid   ? THREAD_LABEL_TID :
				options->pid   ? THREAD_LABEL_PID :
						 THREAD_LABEL_COMM,
	};
	if (profile->differential) {
		ret->values[1] = 1;
		return -1;
	}
	int result = choose_value(profile, options->event_filter, &ret->values[0]);
	if (result >= 0)
		return result;
	profile_keep_value(profile, ret->values[0]);
	if (profile->quality.filtered && !options->event_filter)
		say_filtered(profile, ret->values[0]);
	return -1;
}
