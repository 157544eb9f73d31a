/* One run of `wick record`, shared by the files that make it up. */
#ifndef WICK_CMD_RECORD_RECORD_H
#define WICK_CMD_RECORD_RECORD_H

#include "cmd/fetching.h"
#include "cmd/record/record_options.h"
#include "cmd/script_text.h"
#include "cmd/watch.h"
#include "collect/collect.h"
#include "perfdata/write.h"
#include "profile/view.h"
#include "recorder/recorder.h"
#include "render/outputs.h"

/* One profile of the recording that gets files of its own. */
struct record_shown {
	const struct profile_type *type;
	const struct profile_view *view; /* NULL: one event */
	const char *event;
	const char *suffix; /* in the names of its files; "" for the first */
};
#define RECORD_SHOWN_MAX (32 * TYPE_VIEWS_MAX) /* a set of types has 32 bits */

#define RECORD_ENVIRONMENT_MAX 2 /* variables: one for each runtime of runtime/launch.h */

#define RECORD_PATH_MAX (4096 + 64)

/* In the order in which they are written: what cannot be made again comes first. */
enum record_file {
	RECORD_PERFDATA,
	RECORD_TEXT,
	RECORD_OUTPUTS, /* from here on: plus enum output_id */
	RECORD_FILES = RECORD_OUTPUTS + OUTPUT_COUNT,
};

struct record_run {
	const struct command *called_as; /* record or top */
	struct record_options options;
	struct option_list command;
	char **command_line; /* all of it */
	struct buf pids, tids, title;
	struct buf cgroup; /* directory of --container or --unit */
	struct buf environment_texts[RECORD_ENVIRONMENT_MAX];
	char *environment[RECORD_ENVIRONMENT_MAX + 1]; /* for the command: pointers to the texts, ended by NULL */
	size_t environment_count;
	unsigned launched; /* runtimes that got options there (runtime/launch.h) */
	uid_t user; /* of --user */
	bool files[RECORD_FILES];
	char folder[4096];
	bool made_folder;
	struct outfile_place place; /* of the files */
	struct buf prefix; /* of their names in messages */
	bool single; /* -o names a file: `folder` is its path, and only it is written */
	unsigned needs; /* of the types: see profile/types.h */
	struct capture_events events;
	struct recorder *recorder;
	struct sandbox *sandbox; /* NULL: privileges are kept */
	struct collector *collector;
	struct fetching fetching;
	struct perfdata_writer *writer;
	uint64_t flushed; /* when the recording so far was last written down */
	struct script_text *text; /* of out.perf */
	uint64_t stacks; /* written so far to the two */
	struct outfile text_out;
	bool incomplete; /* a file could not be written, which was said */
	struct recorder_result result;
	struct profile collected; /* everything */
	struct record_shown shown; /* what is written now: */
	struct profile profile; /* that part of it */
	struct calltree_options tree_options;
	bool no_files; /* only the screen: wick top */
	struct recorder_control control;
	struct watch *watch; /* the screen while it is there; NULL: none */
	int streams[3]; /* for the command, as capture_options has it */
	bool live; /* a line on the terminal while recording */
	uint64_t drawn;
};

/* --- record_target.c --- */

/* Who is recorded, by the options: fills in the lists and the title. PROCEED, or the exit code to leave with. */
int record_choose_target(struct record_run *run);

/* --- record_runtimes.c --- */

/* What a command gets in its environment, for the runtimes that it starts. */
void record_choose_environment(struct record_run *run);
/* Copies the perf maps of Java and Node.js beside perf.data, as perf.data.PID.map; those in /tmp can be removed. */
void record_keep_maps(struct record_run *run);

/* --- record_types.c: what kinds of profiles --- */

/* By the options. PROCEED, or the exit code to leave with. */
int record_choose_types(struct record_run *run);
/* What deriving skipped. */
void record_say_derived(const struct record_run *run);
/* What is shown while recording: the view of the first type; NULL: the first event. */
const struct profile_view *record_first_view(const struct record_run *run);
/* The profiles that get files of their own. Returns how many there are. */
size_t record_list_shown(const struct record_run *run, struct record_shown shown[RECORD_SHOWN_MAX]);

/* --- record_files.c: the folder and what is written to it. Those that return int: PROCEED, or an exit code. --- */

/* Which files, by --format. */
int record_choose_files(struct record_run *run);
/* Makes the folder. */
int record_make_folder(struct record_run *run);
/* When all files are written. Removes it if there are none. */
void record_close_folder(struct record_run *run);
/* Where a file goes, or its name without the folder. */
void record_path(const struct record_run *run, enum record_file kind, char *path, size_t room);
/* One for the recording, and not one for each profile that is shown of it. */
bool record_file_is_single(enum record_file kind);
/* How early it is listed: see struct output_format. */
unsigned record_file_interest(enum record_file kind);
void record_file_name(const struct record_run *run, enum record_file kind, char *name, size_t room);
/* Those that are written while recording; 0 or a code of err. */
int record_open_files(struct record_run *run, struct err *err);
/* Takes a finished stack: the `each` of the collector. */
void record_take_stack(void *run, const struct batch_sample *sample, const struct stack_frame *frames, size_t count,
		       enum stack_end end);
/* Now and then while recording: what was recorded so far survives whatever happens to wick. */
void record_flush_files(struct record_run *run, uint64_t elapsed);
/* Completes them; what fails is said, and noted in run->incomplete. */
void record_finish_files(struct record_run *run);
/* When there is nothing to keep: does nothing after record_finish_files(). */
void record_abandon_files(struct record_run *run);
/* All others that were chosen. An exit code. */
int record_write_files(struct record_run *run);

/* --- record_screen.c: the full screen of --live and wick top --- */

/* Whether there is a terminal, and where a command's output goes meanwhile. PROCEED, or the exit code. */
int record_prepare_screen(struct record_run *run);
int record_open_screen(struct record_run *run, struct err *err); /* 0 or a code of err */
/* Gives the screen back and shows what the command has printed meanwhile. */
void record_close_screen(struct record_run *run);

/* --- record.c --- */

/* All of `wick record` or `wick top`, by what `called_as`, `no_files` and the defaults of the options say. */
int record_main(struct record_run *run, int argc, char **argv);

/* --- record_show.c: what the terminal shows --- */

void record_show_start(struct record_run *run);
/* What the samples of a clock stand for. */
struct record_coverage {
	struct extent extent; /* the CPU time of the target, and that of the samples */
	double due; /* samples */
};
/* False where it is not known, or the event is not a clock. */
bool record_coverage(const struct record_run *run, struct record_coverage *ret_coverage);
/* --- record_coverage.c --- */

/* The samples stand for less than they should, and chance does not explain it. */
bool record_coverage_is_low(const struct record_run *run, const struct record_coverage *coverage);
/* The frequency at which they would stand for all of it. */
long long record_coverage_rate(const struct record_run *run, const struct record_coverage *coverage);
/* Why there are none: "did not run on a CPU; use …". */
void record_explain_no_samples(const struct record_run *run, struct buf *out);
/* The line that changes while recording. */
void record_show_progress(struct record_run *run, const struct recorder_progress *progress);
void record_show_end(const struct record_run *run);
/* The hottest functions, how good the recording is, what would make it better, and where the files are. */
void record_show_summary(struct record_run *run);

#endif
