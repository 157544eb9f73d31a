/* What every command that reads profiles shares: its input options and loading. */
#ifndef WICK_CMD_INPUT_H
#define WICK_CMD_INPUT_H

#include "cmd/command.h"
#include "cmd/max_memory.h"
#include "import/import.h"
#include "name/demangle.h"
#include "profile/calltree.h"

/* Choices of --names and --count. */
enum input_names { INPUT_NAMES_SHORT, INPUT_NAMES_FULL, INPUT_NAMES_PERF, INPUT_NAMES_RAW, INPUT_NAMES_UNSET };
enum input_count { INPUT_COUNT_PERIOD, INPUT_COUNT_SAMPLES };

/* Of input_group_choices; those behind are labels of cgroups. */
enum input_group { INPUT_GROUP_THREAD, INPUT_GROUP_CPU };

struct input_options {
	bool pid, tid, kernel, jit, all, addrs, inline_frames, srcline;
	bool uninline; /* inlined functions were requested: text without them is completed */
	bool comm;
	bool merge_threads, module, cache;
	bool demangle; /* off is INPUT_NAMES_RAW */
	enum input_names names;
	enum input_count count;
	enum input_group group;
	const char *event_filter, *time, *symfs, *max_memory;
	struct option_list skip_after, comms, pids, tids, cpus, dsos, symbols, cgroups, labels;
	long long threads;
	bool tidy; /* set by the command: names of perf script text are tidied, else they stay whole */
	bool perl; /* perf script text as stackcollapse-perf.pl reads it */
	char *perl_event; /* owned: with `perl`, the first event of the files before */
	bool label_cpu, label_cgroup, label_gil; /* set by the command: samples of recordings have these labels */
	bool has_recording; /* set by input_load(): the input was perf.data */
	struct sandbox *sandbox; /* of input_confine(); NULL: none */
};

/*
 * Tables of rows for OPTION_TABLE. The options of a command that has them begin with a struct input_options: see
 * INPUT_FIRST.
 */
extern const struct option_row input_show_rows[]; /* how the input is read and shown; without --threads: */
extern const struct option_row input_threads_rows[]; /* with -n */
extern const struct option_row input_threads_long_rows[]; /* where -n is another option */
extern const struct option_row input_inline_rows[]; /* --inline, of text too */
extern const struct option_row input_take_rows[]; /* what is taken of the input and what is looked up */
#define INPUT_FIELD(field) offsetof(struct input_options, field)
#define INPUT_FIRST(options) _Static_assert(offsetof(options, input) == 0, "tables of rows need it to be the first")

extern const struct command_fact input_exit_codes[];
extern const char *const input_count_choices[], *const input_name_choices[], *const input_group_choices[];

/* What is not in the table of every command: comm and demangle on, merge_threads as given. */
struct input_options input_defaults(bool merge_threads);
/* What a choice means for symbols; unset: full. */
enum name_style input_name_style(enum input_names names);
/* And for labels; unset: the output decides. */
enum label_names input_label_names(enum input_names names);
/* What follows from the options together. input_load() does it by itself. PROCEED, or the exit code. */
int input_settle(struct input_options *options);
/*
 * Gives up the privileges that reading does not need, before anything is read. `output` and `also` are files that will
 * be written; NULL: none.
 */
void input_confine(struct input_options *options, const char *output, const char *also);
void input_release(struct input_options *options);

/*
 * What is read when no file is named: "-", or the last recording when standard input is a terminal or /dev/null, which
 * is said. The result may lie in `room`.
 */
const char *input_without_files(struct buf *room);

/*
 * Reads all inputs into an initialised profile, with the filters applied, and says on standard error what was bad about
 * them. Returns PROCEED or the exit code to leave with.
 */
int input_load(struct profile *profile, struct input_options *options, const struct option_list *files,
	       bool keep_order);

/* How good a recording was, on standard error; nothing for text. For commands whose output does not say it. */
void input_say_quality(const struct profile *profile, const struct input_options *options);

/* Warns of sums that were held at the limit of 64 bits. */
void input_say_overflows(const struct quality *quality);

/*
 * Which value type is shown (says when others are omitted, and when its weights do not add up in 64 bits), and how
 * labels are made. PROCEED, or an exit code.
 */
int input_tree_options(struct profile *profile, const struct input_options *options, struct calltree_options *ret);

#endif
