/* Opens the inputs of a command and loads them into one profile. */
#include "cmd/input.h"

#include "base/text.h"
#include "cmd/confine.h"
#include "cmd/read_recording.h"
#include "import/uninline.h"
#include "profile/event_name.h"
#include "profile/view.h"
#include "sandbox/sandbox.h"

#include <glob.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const input_count_choices[] = {
	[INPUT_COUNT_PERIOD] = "period",
	[INPUT_COUNT_SAMPLES] = "samples",
	NULL,
};
const char *const input_name_choices[] = {
	[INPUT_NAMES_SHORT] = "short", [INPUT_NAMES_FULL] = "full", [INPUT_NAMES_PERF] = "perf",
	[INPUT_NAMES_RAW] = "raw",     [INPUT_NAMES_UNSET] = NULL,
};

const struct command_fact input_exit_codes[] = {MAX_MEMORY_EXIT, {0}};

struct input_options input_defaults(bool merge_threads)
{
	return (struct input_options){.comm = true, .demangle = true, .merge_threads = merge_threads};
}

enum name_style input_name_style(enum input_names names)
{
	return names == INPUT_NAMES_PERF ? NAMES_PERF : names == INPUT_NAMES_RAW ? NAMES_RAW : NAMES_FULL;
}

enum label_names input_label_names(enum input_names names)
{
	if (names == INPUT_NAMES_UNSET)
		return LABELS_DEFAULT;
	return names == INPUT_NAMES_SHORT ? LABELS_SHORT : LABELS_FULL;
}

int input_settle(struct input_options *options)
{
	if (!options->demangle)
		options->names = INPUT_NAMES_RAW;
	options->label_cpu |= options->group == INPUT_GROUP_CPU;
	options->label_cgroup |= options->group > INPUT_GROUP_CPU;
	return max_memory_apply(options->max_memory);
}

void input_confine(struct input_options *options, const char *output, const char *also)
{
	CLEANUP_BUF struct buf reason = {0};
	struct confine_options confined = {.output = output, .also = also, .cache = options->cache};
	options->sandbox = confine(&confined, &reason);
}

void input_release(struct input_options *options)
{
	struct option_list *lists[] = {&options->skip_after, &options->comms,   &options->pids,
				       &options->tids,       &options->cpus,    &options->dsos,
				       &options->symbols,    &options->cgroups, &options->labels};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		option_list_release(lists[i]);
	free(options->perl_event);
	sandbox_leave(options->sandbox);
}

static void say_report(const struct import_report *report)
{
	if (report->bad_lines == 1)
		say_warning("%s; line skipped", report->first_bad);
	else if (report->bad_lines)
		say_warning("%s; %llu such lines skipped", report->first_bad, (unsigned long long)report->bad_lines);
	if (report->cut_stacks)
		say_warning("%s: the input ends within this stack; stack skipped", report->first_cut);
	if (report->damage[0])
		say_warning("%s", report->damage);
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
	return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec :
							a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* The newest of perf.data and the recordings that wick record made here without -o; NULL: there is none. */
static const char *last_recording(struct buf *room)
{
	struct stat status, best = {0};
	glob_t found = {0};
	if (stat("perf.data", &best) == 0)
		buf_str(room, "perf.data");
	glob("wick-[0-9]*-[0-9]*/perf.data", 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (stat(found.gl_pathv[i], &status) || (room->size && !is_newer(&status, &best)))
			continue;
		best = status;
		buf_clear(room);
		buf_str(room, found.gl_pathv[i]);
	}
	globfree(&found);
	return room->size && access(room->data, R_OK) == 0 ? room->data : NULL;
}

const char *input_without_files(struct buf *room)
{
	struct stat status;
	const char *last = NULL;
	if (fstat(STDIN_FILENO, &status) == 0 && S_ISCHR(status.st_mode))
		last = last_recording(room);
	if (last)
		say_note("reading %s", last);
	return last ? last : "-";
}

/* Text, from what was opened to see what it is or, where that failed, by its path, to learn why. */
static int import_text(struct profile *profile, const char *path, struct input_head *head,
		       const struct input_options *options, bool keep_order, struct import_report *report)
{
	struct import_opened opened = {.fd = head->fd, .head = head->bytes, .head_size = head->size};
	struct import_perl perl = {
		.pid = options->pid,
		.tid = options->tid,
		.kernel = options->kernel || options->all,
		.jit = options->jit || options->all,
		.event = options->event_filter ? options->event_filter : options->perl_event,
	};
	struct import_options import = {
		.threads = (unsigned)options->threads,
		.keep_order = keep_order,
		.addresses = options->addrs,
		.source_lines = options->srcline,
		.tidy = options->tidy,
		.perl = options->perl ? &perl : NULL,
		.progress = true,
		.opened = head->fd < 0 ? NULL : &opened,
	};
	struct err err = {0};
	head->fd = -1;
	if (options->uninline) {
		/* The names around those that are added have no parameters. */
		enum name_style style = input_name_style(options->names);
		import.uninliner =
			uninliner_new(&(struct symbol_options){.names = style == NAMES_RAW ? style : NAMES_PERF});
	}
	int result = import_file(profile, path, &import, report, &err);
	uninliner_free(import.uninliner);
	if (!result)
		return PROCEED;
	say_report(report);
	return say_failure(&err);
}

static int load_text(struct profile *profile, const char *path, struct input_head *head,
		     const struct input_options *options, const struct input_filter *filter, bool keep_order,
		     struct import_report *report)
{
	if (filter->recordings_only) {
		input_head_close(head);
		say_error("%s: --cpu, --cgroup and --time need perf.data", path);
		return EXIT_USAGE;
	}
	if (!filter->any)
		return import_text(profile, path, head, options, keep_order, report);
	struct profile all;
	profile_init(&all);
	int result = import_text(&all, path, head, options, keep_order, report);
	if (result == PROCEED) {
		profile_keep(&all, &filter->takes.profile);
		profile->ordered = keep_order;
		profile_merge(profile, &all);
	}
	profile_release(&all);
	return result;
}

/* One input, whatever it is. */
static int load_one(struct profile *profile, const char *path, struct input_options *options,
		    const struct input_filter *filter, bool keep_order, struct import_report *report)
{
	struct input_head head;
	struct buf room CLEANUP_BUF = {0};
	path = input_path(path, &room);
	if (!input_head_open(&head, path) || !input_head_is_recording(&head))
		return load_text(profile, path, &head, options, filter, keep_order, report);
	options->has_recording = true;
	return recording_load(&head, path, options, filter,
			      &(struct recording_use){.profile = profile, .keep_order = keep_order});
}

/* The first in the input of those that have a name, or of those that differ from `wanted` in their modifiers only. */
static value_id first_value(const struct profile *profile, const char *wanted)
{
	value_id first = PROFILE_NONE;
	for (size_t i = 0; i < profile->value_count; i++) {
		const struct value_type *value = &profile->values[i];
		if (value->name && (!wanted || event_is_same(profile_text(profile, value->name), wanted)) &&
		    (first == PROFILE_NONE || value->first_seen < profile->values[first].first_seen))
			first = (value_id)i;
	}
	return first;
}

static int load_all(struct profile *profile, struct input_options *options, const struct option_list *files,
		    const struct input_filter *filter, bool keep_order)
{
	struct import_report report = {0};
	CLEANUP_BUF struct buf room = {0};
	size_t count = files->count ? files->count : 1;
	for (size_t i = 0; i < count; i++) {
		const char *path = files->count ? files->items[i] : input_without_files(&room);
		int result = load_one(profile, path, options, filter, keep_order, &report);
		if (result != PROCEED)
			return result;
		value_id first = options->perl && !options->perl_event ? first_value(profile, NULL) : PROFILE_NONE;
		if (first != PROFILE_NONE)
			options->perl_event = mem_strdup(profile_text(profile, profile->values[first].name));
	}
	say_report(&report);
	if (profile->sample_count || !filter->any)
		return PROCEED;
	say_error("no sample matches the filters");
	return EXIT_FAILED;
}

int input_load(struct profile *profile, struct input_options *options, const struct option_list *files, bool keep_order)
{
	struct input_filter filter;
	int result = input_filter_parse(&filter, options);
	if (result == PROCEED)
		result = input_settle(options);
	if (result == PROCEED)
		result = load_all(profile, options, files, &filter, keep_order);
	input_filter_release(&filter);
	return result;
}

void input_say_quality(const struct profile *profile, const struct input_options *options)
{
	if (!options->has_recording)
		return;
	struct buf text CLEANUP_BUF = {0};
	quality_line(&profile->quality, &profile->strings, &text);
	buf_char(&text, '\n');
	quality_advice(&profile->quality, &profile->strings, QUALITY_ADVICE_MAX, &text);
	for (const char *at = text.data; *at; at = strchr(at, '\n') + 1)
		say_note("%.*s", (int)strcspn(at, "\n"), at);
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

/*
 * The requested event or view, or the first event with a name. `join`: an event without modifiers is all that differ in
 * them only.
 */
static int choose_value(struct profile *profile, const char *wanted, bool join, value_id *ret_value)
{
	const struct profile_view *view = wanted ? profile_view_find(wanted) : profile_view_default(profile);
	if (view && profile_view_has(profile, view) && (!wanted || find_value(profile, view->name) == PROFILE_NONE)) {
		*ret_value = profile_view_apply(profile, view);
		return PROCEED;
	}
	size_t base = 0;
	join = join && (!wanted || (event_base(wanted, &base) == wanted && !wanted[base]));
	value_id value = wanted && !join ? find_value(profile, wanted) : first_value(profile, wanted);
	if (wanted && value == PROFILE_NONE) {
		struct buf events CLEANUP_BUF = {0};
		list_events(profile, &events);
		say_error("no sample of event '%s'; the input has: %s", wanted,
			  events.size ? events.data : "unnamed events");
		return EXIT_FAILED;
	}
	if (value == PROFILE_NONE)
		value = profile_first_value(profile);
	else if (join)
		profile_join_event(profile, value);
	*ret_value = value;
	return PROCEED;
}

static void say_filtered(const struct profile *profile, value_id value)
{
	struct buf count CLEANUP_BUF = {0};
	text_count(&count, profile->quality.filtered, "sample", "samples");
	say_warning("showing event %s; %s of other events skipped (use --event-filter to choose)",
		    profile_text(profile, profile->values[value].name), count.data);
}

void input_say_overflows(const struct quality *quality)
{
	if (quality->overflows)
		say_warning("the sum of the weights does not fit into 64 bits; sums are limited to %lld",
			    (long long)INT64_MAX);
}

/* For every output at once: whichever sums it shows are sums of these weights. */
static void check_sums(struct profile *profile, const struct calltree_options *tree)
{
	for (size_t i = 0; i < 2; i++)
		if (tree->values[i] < profile->value_count && !profile_sums_fit(profile, tree->values[i]))
			profile->quality.overflows++;
	input_say_overflows(&profile->quality);
}

int input_tree_options(struct profile *profile, const struct input_options *options, struct calltree_options *ret)
{
	/* Read as the Perl script does, text has marks, source lines and ids in its names. */
	bool in_names = options->perl && !options->has_recording;
	*ret = (struct calltree_options){
		.values = {0, PROFILE_NONE},
		.merge_threads = options->merge_threads,
		.annotate_kernel = (options->kernel || options->all) && !in_names,
		.annotate_jit = (options->jit || options->all) && !in_names,
		.hide_inlined = !options->inline_frames,
		.show_module = options->module,
		.show_line = options->srcline && !in_names,
		.names = input_label_names(options->names),
		.skip_after = options->skip_after.items,
		.label = options->has_recording && options->group ? input_group_choices[options->group] : NULL,
		.thread_label = !options->comm            ? THREAD_LABEL_NONE :
				options->tid && !in_names ? THREAD_LABEL_TID :
				options->pid && !in_names ? THREAD_LABEL_PID :
							    THREAD_LABEL_COMM,
	};
	if (profile->differential) {
		ret->values[1] = 1;
		check_sums(profile, ret);
		return PROCEED;
	}
	bool join = !options->has_recording && !options->perl;
	int result = choose_value(profile, options->event_filter, join, &ret->values[0]);
	if (result != PROCEED)
		return result;
	profile_keep_value(profile, ret->values[0]);
	if (profile->quality.filtered && !options->event_filter)
		say_filtered(profile, ret->values[0]);
	check_sums(profile, ret);
	return PROCEED;
}
