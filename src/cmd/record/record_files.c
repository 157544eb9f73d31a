/* Chooses the output files of a recording by option, ending and format. */
#include "base/parallel.h"
#include "cmd/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FLUSH_NS 1000000000ull /* between writes of what was recorded so far; at the start each round is written */
#define PART_MIN 512 /* bytes: a header, an event and a record */
#define LATE_MAX 5000000000ull /* nanoseconds that a record may be older than one that came before it */

/* The files that are written while recording; the others are rows of output_formats. */
static const struct file_row {
	const char *format, *file, *ending;
	bool on_request; /* not by default */
} recorded_rows[RECORD_OUTPUTS] = {
	[RECORD_PERFDATA] = {.format = "perf.data", .file = "perf", .ending = ".data"},
	[RECORD_TEXT] = {.format = "out.perf", .file = "out", .ending = ".perf", .on_request = true},
};

static struct file_row file_row(int kind)
{
	if (kind < RECORD_OUTPUTS)
		return recorded_rows[kind];
	const struct output_format *format = output_formats[kind - RECORD_OUTPUTS];
	return (struct file_row){.format = format->name, .file = format->file, .ending = format->ending};
}

/* In the order of the help: the outputs, then what is written while recording. */
static int nth_file(int i)
{
	return (i + RECORD_OUTPUTS) % RECORD_FILES;
}

static void list_formats(struct buf *out, const char *before_last)
{
	for (int i = 0; i < RECORD_FILES; i++)
		buf_printf(out, "%s%s",
			   !i                   ? "" :
			   i + 1 < RECORD_FILES ? ", " :
						  before_last,
			   file_row(nth_file(i)).format);
}

void record_formats_help(struct buf *out)
{
	list_formats(out, ", ");
	buf_str(out, " (the text of wick script). Default: all except out.perf.");
}

void record_endings_help(struct buf *out)
{
	buf_str(out, "If PATH ends in ");
	for (int kind = 0, listed = 0; kind < RECORD_FILES; kind++) {
		struct file_row row = file_row(kind);
		if (row.on_request)
			continue;
		buf_printf(out, "%s%s", !listed++ ? "" : kind + 1 < RECORD_FILES ? ", " : " or ", row.ending);
	}
	buf_str(out, ", or is an existing file, write only that file. Default: the directory wick-YYYYMMDD-HHMMSS.");
}

/* What -o names by its ending, or by being there; RECORD_FILES: a folder. */
static int kind_of_output(const char *output)
{
	struct stat status;
	bool there = stat(output, &status) == 0;
	const char *ending = strrchr(output, '.');
	if (there && S_ISDIR(status.st_mode))
		return RECORD_FILES;
	for (int kind = 0; kind < RECORD_FILES && ending && ending > output; kind++)
		if (!strcmp(ending, file_row(kind).ending) && ending[-1] != '/')
			return kind;
	return there ? RECORD_PERFDATA : RECORD_FILES;
}

/* -o is a file: that one is written, and no folder. */
static int choose_single(struct record_run *run, enum record_file kind)
{
	const char *output = run->options.output, *format = run->options.format;
	struct stat status;
	if (stat(output, &status) == 0 && !S_ISREG(status.st_mode))
		return say_usage(run->called_as, "-o %s is neither a file nor a directory", output);
	if (format && strcmp(format, file_row(kind).format) != 0)
		return say_usage(run->called_as, "-o %s is a single file: --format %s needs a directory", output,
				 format);
	run->single = true;
	run->files[kind] = true;
	return PROCEED;
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
		run->files[kind] = !at && !file_row(kind).on_request;
	while (at && *at) {
		size_t length = strcspn(at, ",");
		int kind = 0;
		while (kind < RECORD_FILES &&
		       (strncmp(at, file_row(kind).format, length) != 0 || strlen(file_row(kind).format) != length))
			kind++;
		if (kind == RECORD_FILES) {
			CLEANUP_BUF struct buf formats = {0};
			list_formats(&formats, " or ");
			return say_usage(run->called_as, "--format must be %s, not '%.*s'", formats.data, (int)length,
					 at);
		}
		run->files[kind] = true;
		at += length + (at[length] == ',');
	}
	return PROCEED;
}

/* What root records is of others too, and of the kernel. */
static mode_t private_of(mode_t mode)
{
	return geteuid() ? mode : mode & 0700;
}

/* Who called sudo gets the files. */
static void give_to_caller(struct outfile_place *place)
{
	const char *user = getenv("SUDO_UID"), *group = getenv("SUDO_GID");
	char *end;
	if (geteuid() || !user || *user < '0' || *user > '9')
		return;
	unsigned long uid = strtoul(user, &end, 10), gid = group ? strtoul(group, NULL, 10) : 0;
	if (*end || uid >= OUTFILE_OWN || gid >= OUTFILE_OWN)
		return;
	place->owner = (uid_t)uid;
	place->group = group ? (gid_t)gid : (gid_t)-1;
}

/*
 * Opens the directory of -o. A link of another user is not followed: it would lead to a directory of theirs to choose,
 * where files are replaced and removed. Returns a descriptor or -errno; -ELOOP: it is such a link.
 */
static int open_folder(const struct record_run *run)
{
	char path[PATH_MAX];
	struct stat status;
	int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	snprintf(path, sizeof path, "%s", run->folder);
	for (size_t length = strlen(path); length > 1 && path[length - 1] == '/';)
		path[--length] = '\0'; /* behind a slash links are always followed */
	if (lstat(path, &status))
		return -errno;
	if (!S_ISLNK(status.st_mode) || run->made_folder)
		flags |= O_NOFOLLOW;
	else if (status.st_uid && status.st_uid != geteuid())
		return -ELOOP;
	int fd = open(path, flags);
	return fd < 0 ? -errno : fd;
}

/*
 * Files are created relative to the directory that was opened here: whoever can rename it does not decide where they go
 * to.
 */
static int open_place(struct record_run *run)
{
	run->place = outfile_usual_place();
	run->place.mode = private_of(run->place.mode);
	give_to_caller(&run->place);
	if (run->single)
		return PROCEED;
	struct stat status;
	run->place.directory = open_folder(run);
	if (run->place.directory == -ELOOP) {
		say_error("%s is a symbolic link of another user; use the directory that it leads to", run->folder);
		return EXIT_FAILED;
	}
	if (run->place.directory < 0 || fstat(run->place.directory, &status)) {
		say_error("cannot open directory %s: %s", run->folder,
			  strerror(run->place.directory < 0 ? -run->place.directory : errno));
		return EXIT_FAILED;
	}
	if (run->made_folder && status.st_uid != geteuid()) {
		say_error("directory %s was replaced by user %u; use -o to choose another place", run->folder,
			  status.st_uid);
		return EXIT_FAILED;
	}
	buf_printf(&run->prefix, "%s/", run->folder);
	run->place.prefix = run->prefix.data;
	run->place.replace = true;
	return PROCEED;
}

void record_close_folder(struct record_run *run)
{
	int directory = run->place.directory;
	if (!run->place.prefix || directory == AT_FDCWD)
		return;
	if (run->made_folder && run->place.owner != OUTFILE_OWN)
		(void)!fchown(directory, run->place.owner, run->place.group);
	close(directory);
	if (run->made_folder)
		rmdir(run->folder); /* stays when there is something in it */
	buf_release(&run->prefix);
}

int record_make_folder(struct record_run *run)
{
	const char *output = run->options.output;
	mode_t mode = private_of(0777);
	if (output) {
		snprintf(run->folder, sizeof run->folder, "%s", output);
		if (run->single)
			return open_place(run);
		run->made_folder = mkdir(output, mode) == 0;
		if (run->made_folder || errno == EEXIST)
			return open_place(run);
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
		run->made_folder = mkdir(run->folder, mode) == 0;
		if (run->made_folder)
			return open_place(run);
		if (errno != EEXIST)
			break;
	}
	say_error("cannot create directory %s: %s; use -o to choose another", run->folder, strerror(errno));
	return EXIT_FAILED;
}

/* Relative to the place. */
static void name_in_place(const struct record_run *run, enum record_file kind, char *name, size_t room)
{
	if (run->single)
		record_path(run, kind, name, room);
	else
		record_file_name(run, kind, name, room);
}

/* As perf does: what has the addresses is for its owner only. */
static struct outfile_place place_of(const struct record_run *run, enum record_file kind)
{
	struct outfile_place place = run->place;
	if (kind < RECORD_OUTPUTS)
		place.mode &= 0600;
	return place;
}

void record_path(const struct record_run *run, enum record_file kind, char *path, size_t room)
{
	char name[64];
	const char *suffix = run->shown.suffix && !record_file_is_single(kind) ? run->shown.suffix : "";
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
	return kind < RECORD_OUTPUTS;
}

unsigned record_file_interest(enum record_file kind)
{
	return kind < RECORD_OUTPUTS ? 0 : output_formats[kind - RECORD_OUTPUTS]->interest;
}

void record_file_name(const struct record_run *run, enum record_file kind, char *name, size_t room)
{
	const char *suffix = run->shown.suffix && !record_file_is_single(kind) ? run->shown.suffix : "";
	struct file_row row = file_row(kind);
	snprintf(name, room, "%s%s%s%s", row.file, *suffix ? "-" : "", suffix, row.ending);
}

static int open_writer(struct record_run *run, struct err *err)
{
	char name[RECORD_PATH_MAX];
	struct outfile_place place = place_of(run, RECORD_PERFDATA);
	struct perfdata_writer_options options = {.command = run->command_line,
						  .compress = run->options.compress,
						  .steady_clocks = true,
						  .keep_part = true,
						  .place = &place};
	options.sources = recorder_sources(run->recorder, &options.source_count);
	name_in_place(run, RECORD_PERFDATA, name, sizeof name);
	return perfdata_writer_open(&run->writer, name, &options, err);
}

static int open_text(struct record_run *run, struct err *err)
{
	static const struct profile_filter everything;
	struct script_format format = {
		.fields = SCRIPT_USUAL,
		.short_names = input_label_names(run->options.input.names) == LABELS_SHORT,
	};
	char name[RECORD_PATH_MAX];
	struct outfile_place place = place_of(run, RECORD_TEXT);
	name_in_place(run, RECORD_TEXT, name, sizeof name);
	int result = outfile_open_at(&run->text_out, &place, name, err);
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
		perfdata_writer_stack(run->writer, &sample->event, frames, count, end);
		perfdata_writer_settled(run->writer,
					sample->event.since > LATE_MAX ? sample->event.since - LATE_MAX : 0);
	}
	if (run->text)
		script_text_sample(run->text, collector_codes(run->collector), sample, frames, count);
}

void record_flush_files(struct record_run *run, uint64_t elapsed)
{
	if (!run->writer || (elapsed > FLUSH_NS && elapsed < run->flushed + FLUSH_NS))
		return;
	perfdata_writer_flush(run->writer);
	run->flushed = elapsed;
}

/* As perf does: the last recording of this name is still there. */
static void keep_old(const char *path)
{
	char old[RECORD_PATH_MAX + 4];
	snprintf(old, sizeof old, "%s.old", path);
	if (rename(path, old) && errno != ENOENT)
		say_note("cannot rename %s to %s: %s; it is replaced", path, old, strerror(errno));
}

/* Removes one in which nothing is: the disk was full from the start. */
static bool part_is_readable(const struct record_run *run)
{
	char name[RECORD_PATH_MAX], part[RECORD_PATH_MAX + 8];
	struct stat status;
	name_in_place(run, RECORD_PERFDATA, name, sizeof name);
	snprintf(part, sizeof part, "%s.part", name);
	if (fstatat(run->place.directory, part, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_size >= PART_MIN)
		return true;
	unlinkat(run->place.directory, part, 0);
	return false;
}

static void finish_writer(struct record_run *run)
{
	struct err err = {0};
	struct perfdata_writer *writer = run->writer;
	char path[RECORD_PATH_MAX];
	record_path(run, RECORD_PERFDATA, path, sizeof path);
	run->writer = NULL;
	if (run->single)
		keep_old(path);
	if (!perfdata_writer_finish(writer, &err))
		return;
	say_failure(&err);
	if (part_is_readable(run))
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

static int write_file(const struct record_run *run, enum record_file kind, struct err *err)
{
	char name[RECORD_PATH_MAX];
	struct outfile_place place = place_of(run, kind);
	struct outfile out;
	if (kind < RECORD_OUTPUTS)
		return 0; /* were written while recording */
	struct output output = {
		.profile = &run->profile,
		.tree = &run->tree_options,
		.title = run->title.data,
		.view = run->shown.view,
	};
	name_in_place(run, kind, name, sizeof name);
	int code = outfile_open_at(&out, &place, name, err);
	if (code)
		return code;
	output_formats[kind - RECORD_OUTPUTS]->write(&output, &out);
	return outfile_commit(&out, err);
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
	unsigned cores = mem_is_short() ? 1 : parallel_cores();
	parallel_run(cores < RECORD_FILES ? cores : RECORD_FILES, write_some, &writing);
	for (int kind = 0; kind < RECORD_FILES; kind++)
		if (writing.errors[kind].code)
			return say_failure(&writing.errors[kind]); /* one for all: a full disk is full for every file */
	return EXIT_DONE;
}
