/* Reads a perf.data file through the collector, and reports its quality. */
#include "cmd/read_recording.h"

#include "base/outfile.h"
#include "base/term.h"
#include "base/text.h"
#include "cmd/fetching.h"
#include "collect/collect.h"
#include "perfdata/perfdata.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *input_path(const char *path, struct buf *room)
{
	static const char *const files[] = {"perf.data", "perf.data.part", "out.folded"};
	struct stat status;
	if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
		return path;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		buf_clear(room);
		buf_printf(room, "%s/%s", path, files[i]);
		if (stat(room->data, &status) == 0 && S_ISREG(status.st_mode))
			return room->data;
	}
	return path;
}

bool input_head_open(struct input_head *head, const char *path)
{
	*head = (struct input_head){.fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) :
								   open(path, O_RDONLY | O_CLOEXEC)};
	if (head->fd < 0)
		return false;
	struct stat status;
	if (fstat(head->fd, &status) == 0 && S_ISDIR(status.st_mode)) {
		head->is_folder = faccessat(head->fd, "data", R_OK, 0) == 0;
		return true;
	}
	while (head->size < sizeof head->bytes) {
		ssize_t got = read(head->fd, head->bytes + head->size, sizeof head->bytes - head->size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		head->size += (size_t)got;
	}
	return true;
}

bool input_head_is_recording(const struct input_head *head)
{
	return head->is_folder || (head->size >= 8 && perfdata_is(head->bytes, head->size));
}

void input_head_close(struct input_head *head)
{
	if (head->fd >= 0)
		close(head->fd);
	head->fd = -1;
}

struct loading {
	const struct recording_use *use;
	struct perfdata *data;
	struct collector *collector;
	struct progress *progress;
	uint64_t shown;
};

static const struct event_source *give_sources(void *context, size_t *ret_count)
{
	return perfdata_sources(((struct loading *)context)->data, ret_count);
}

static void show_progress(void *context)
{
	struct loading *loading = context;
	uint64_t total, done = perfdata_progress(loading->data, &total);
	progress_add(loading->progress, done - loading->shown);
	loading->shown = done;
}

static void pass_build_ids(struct loading *loading)
{
	size_t count;
	const struct perfdata_build_id *ids = perfdata_build_ids(loading->data, &count);
	for (size_t i = 0; i < count; i++)
		collector_build_id(loading->collector, ids[i].path, &ids[i].build_id);
}

static void say_counted(const char *name, uint64_t count, const char *one, const char *many)
{
	CLEANUP_BUF struct buf text = {0};
	text_count(&text, count, one, many);
	if (count)
		say_warning("%s: %s", name, text.data);
}

static void say_quality(const struct perfdata *data, const char *name)
{
	const struct perfdata_quality *quality = perfdata_quality(data);
	const char *ending = strrchr(name, '.');
	if (ending && !strcmp(ending, ".part"))
		say_warning("%s: the recording was not finished; using what was written", name);
	if (quality->cut_off)
		say_warning("%s: the recording is truncated at byte %llu; using everything before", name,
			    (unsigned long long)quality->cut_at);
	say_counted(name, quality->malformed, "malformed record skipped", "malformed records skipped");
	say_counted(name, quality->unknown_records, "record of unknown type skipped",
		    "records of unknown types skipped");
	say_counted(name, quality->unknown_ids,
		    "sample of an event that is not in the header, counted as the first event",
		    "samples of events that are not in the header, counted as the first event");
	say_counted(name, quality->out_of_order, "record out of order: names and mappings near it may be wrong",
		    "records out of order: names and mappings near them may be wrong");
	say_counted(name, quality->deferred_missing, "sample without the user part of its stack",
		    "samples without the user part of their stack");
}

static void pass_stack(void *context, const struct batch_sample *sample, const struct stack_frame *frames, size_t count,
		       enum stack_end end)
{
	(void)end;
	struct loading *loading = context;
	loading->use->each(loading->use->context, collector_codes(loading->collector), sample, frames, count);
}

static int read_all(struct loading *loading, const char *name, bool filtered)
{
	struct err err = {0};
	struct event_sink sink = collector_sink(loading->collector);
	struct collect_reader reader = {.context = loading, .sources = give_sources, .progress = show_progress};
	uint64_t total;
	perfdata_progress(loading->data, &total);
	loading->progress = progress_new("reading", "B", total);
	collector_set_reader(loading->collector, &reader);
	pass_build_ids(loading);
	int result = perfdata_read(loading->data, &sink, &err);
	progress_free(loading->progress);
	if (result)
		return say_failure(&err);
	say_quality(loading->data, name);
	struct profile *profile = loading->use->profile;
	size_t before = profile ? profile->sample_count : 0;
	collector_finish(loading->collector, profile);
	if (!profile || profile->sample_count > before || filtered)
		return PROCEED;
	say_error("%s: no samples", name);
	return EXIT_FAILED;
}

/* Opens what `head` has looked into; takes its descriptor over. */
static int open_data(struct perfdata **ret_data, struct input_head *head, const char *path, const char *name,
		     struct err *err)
{
	if (head->is_folder) {
		input_head_close(head);
		return perfdata_open(ret_data, path, err);
	}
	int fd = head->fd;
	head->fd = -1;
	return perfdata_open_fd(ret_data, fd, name, head->bytes, head->size, err);
}

static bool is_by_wick(const struct perfdata *data)
{
	size_t count;
	const struct perfdata_fact *facts = perfdata_facts(data, &count);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(facts[i].name, "perf version") && !strncmp(facts[i].text, "wick ", 5))
			return true;
	return false;
}

int recording_load(struct input_head *head, const char *path, const struct input_options *options,
		   const struct input_filter *filter, const struct recording_use *use)
{
	struct loading loading = {.use = use};
	struct fetching fetching;
	struct err err = {0};
	struct collect_options collect = {
		.threads = (unsigned)options->threads,
		.count_samples = options->count == INPUT_COUNT_SAMPLES,
		.keep_order = use->keep_order,
		.each = use->each ? pass_stack : NULL,
		.each_context = &loading,
		.label_cpu = options->label_cpu,
		.label_cgroup = options->label_cgroup,
		.label_gil = options->label_gil,
		.keep_lines = options->srcline,
		.addresses = options->addrs,
		.filter = filter->takes,
		.symbols =
			{
				.names = input_name_style(options->names),
				.inlines = options->inline_frames,
				.lines = options->srcline,
				.cache = options->cache,
				.root = options->symfs ? options->symfs : "",
				.recording = head->is_folder || !strcmp(path, "-") ? NULL : path,
			},
	};
	mem_keep_freed();
	const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
	if (open_data(&loading.data, head, path, name, &err))
		return say_failure(&err);
	fetching_start(&fetching);
	collect.debuginfod = fetching.client;
	const char *machine = perfdata_arch(loading.data);
	collect.machine = arch_of_name(machine);
	collect.foreign = *machine && !collect.machine;
	collect.by_wick = is_by_wick(loading.data);
	loading.collector = collector_new(&collect);
	int result = read_all(&loading, name, filter->any);
	unsigned not_fetched = collector_not_fetched(loading.collector);
	collector_free(loading.collector);
	fetching_end(&fetching, not_fetched);
	perfdata_close(loading.data);
	return result;
}

/* As it is in the file, but one line that does not drive the terminal. */
static void write_fact(struct outfile *out, const char *format, const char *name, const char *text)
{
	CLEANUP_BUF struct buf shown_name = {0}, shown = {0};
	text_terminal(&shown_name, name, strlen(name));
	text_terminal(&shown, text, strlen(text));
	outfile_printf(out, format, shown_name.data ? shown_name.data : "", shown.data ? shown.data : "");
}

int recording_write_facts(struct outfile *out, const char *path, const char *format)
{
	struct perfdata *data;
	struct err err = {0};
	struct buf room CLEANUP_BUF = {0};
	if (perfdata_open(&data, input_path(path, &room), &err))
		return say_failure(&err);
	size_t count;
	const struct perfdata_fact *facts = perfdata_facts(data, &count);
	if (!count) {
		/* From a pipe they come with the records. */
		if (perfdata_read(data, &(struct event_sink){0}, &err)) {
			perfdata_close(data);
			return say_failure(&err);
		}
		facts = perfdata_facts(data, &count);
	}
	for (size_t i = 0; i < count; i++)
		write_fact(out, format, facts[i].name, facts[i].text);
	const struct event_source *sources = perfdata_sources(data, &count);
	for (size_t i = 0; i < count; i++)
		write_fact(out, format, "event", sources[i].name);
	perfdata_close(data);
	return PROCEED;
}

int recording_print_facts(const struct option_list *files)
{
	struct outfile out;
	struct err err = {0};
	CLEANUP_BUF struct buf room = {0};
	int result = PROCEED;
	if (outfile_open(&out, "-", &err))
		return say_failure(&err);
	for (size_t i = 0; i < (files->count ? files->count : 1) && result == PROCEED; i++)
		result = recording_write_facts(&out, files->count ? files->items[i] : input_without_files(&room),
					       "%-14s %s\n");
	if (result != PROCEED)
		outfile_abandon(&out);
	else
		result = outfile_commit(&out, &err) ? say_failure(&err) : EXIT_DONE;
	return result;
}
