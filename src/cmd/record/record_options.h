/* The options of `wick record`, and what they are when nobody gives them. */
#ifndef WICK_CMD_RECORD_RECORD_OPTIONS_H
#define WICK_CMD_RECORD_RECORD_OPTIONS_H

#include "capture/options.h"
#include "cmd/input.h"

#define RECORD_SECOND 1e9

enum record_preset { PRESET_QUICK, PRESET_DEFAULT, PRESET_DETAILED, PRESET_SYSTEM, PRESET_UNSET };

struct record_options {
	struct input_options input; /* only how names are shown */
	struct capture_options capture; /* target and how it is recorded */
	struct option_list pids, tids, names, events, types;
	const char *container, *unit;
	const char *user, *call_graph, *output, *format, *delay;
	enum record_preset preset;
	const char *compression; /* of perf record */
	int clock; /* of perf record: all choices are the same */
	const char *duration_from; /* what set it: "-d"; NULL: nothing */
	double refresh; /* seconds */
	long long window; /* seconds; -1: the command's own default */
	bool compress, quiet, verbose, live, follow;
	bool runtime_options; /* runtimes are asked to describe their code */
	bool no_inherit, all_user, off_cpu; /* of perf record */
};
INPUT_FIRST(struct record_options);

extern const struct option_row record_rows[], record_perf_rows[];
/* Exit codes and variables of record and top. */
extern const struct command_fact record_exit_codes[], record_environment[];

/* What the help of --output and --format lists, for struct option_row. */
void record_endings_help(struct buf *out);
void record_formats_help(struct buf *out);

/*
 * After the command line was read: the preset, then the environment, for what was not given. PROCEED, or the exit code
 * to leave with.
 */
int record_settle_options(struct record_options *options, const struct command *called_as);
void record_options_release(struct record_options *options);

#endif
