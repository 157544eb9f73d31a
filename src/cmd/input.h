/* What every command that reads profiles shares: its input options and loading. */
#ifndef WICK_CMD_INPUT_H
#define WICK_CMD_INPUT_H

#include "cmd/command.h"
#include "cmd/max_memory.h"
#include "import/import.h"
#include "name/demangle.h"
#include "profile/calltree.h"

struct input_options {
	bool pid, tid, kernel, jit, all, addrs, inline_frames, srcline;
	bool uninline; /* inlined functions were asked for: text that does not tell them is completed */
	bool comm; /* negatable, default on */
	bool merge_threads, module, cache;
	bool demangle; /* default on; off is names "raw" */
	const char *event_filter, *names, *count, *time, *symfs, *max_memory;
	struct option_list skip_after, comms, pids, tids, cpus, dsos, symbols, cgroups;
	long long threads;
	bool tidy; /* set by the command: names of perf script text are tidied, else they stay whole */
	bool perl; /* perf script text as stackcollapse-perf.pl reads it */
	char *perl_event; /* owned: with `perl`, the first event of the files before */
	bool label_cpu, label_cgroup; /* set by the command: samples of recordings have these labels */
	bool has_recording; /* set by input_load(): the input was perf.data */
	struct sandbox *sandbox; /* of input_confine(); NULL: none */
};

/*
 * Rows for a command's table; `owner` is the struct with a member `input` of type struct input_options. With _LETTER
 * the short form of --threads is another, or 0 for none (-n of diff is --normalize, as difffolded.pl's users know it).
 */
#define INPUT_FIELD(owner, field) (offsetof(owner, input) + offsetof(struct input_options, field))
#define INPUT_OPTION_ROWS(owner) INPUT_OPTION_ROWS_LETTER(owner, 'n')
/* clang-format off */
#define INPUT_OPTION_ROWS_LETTER(owner, threads_letter)                                                               \
	{.type = OPTION_HEADING, .help = "Input"},                                                                    \
	{.name = "pid", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, pid), .argument = "LIST",                   \
	 .list = INPUT_FIELD(owner, pids),                                                                            \
	 .help = "Add the process ID to the thread name: java-12. With =12,13: select these processes."},             \
	{.name = "tid", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, tid), .argument = "LIST",                   \
	 .list = INPUT_FIELD(owner, tids),                                                                            \
	 .help = "Add process and thread ID to the name: java-12/13. With =12,13: select these threads."},            \
	{.name = "comm", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, comm), .negatable = true,                  \
	 .argument = "PATTERN", .list = INPUT_FIELD(owner, comms),                                                    \
	 .help = "Start each stack with the thread name. Default: on. With =PATTERN: select threads whose name "      \
		 "matches a shell pattern."},                                                                         \
	{.name = "merge-threads", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, merge_threads), .negatable = true, \
	 .help = "Merge threads of a pool (worker-1, worker-2, …). Default: on for flame, diff and report, off "      \
		 "for fold."},                                                                                        \
	{.name = "kernel", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, kernel),                                 \
	 .help = "Mark kernel functions with _[k]."},                                                                 \
	{.name = "jit", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, jit),                                       \
	 .help = "Mark JIT functions with _[j]."},                                                                    \
	{.name = "all", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, all),                                       \
	 .help = "The same as --kernel --jit."},                                                                      \
	{.name = "addrs", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, addrs),                                   \
	 .help = "Show the addresses of unresolved frames."},                                                         \
	{.name = "module", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, module),                                 \
	 .help = "Add the module to function names: libc.so.6`malloc."},                                              \
	{.name = "srcline", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, srcline),                               \
	 .help = "Add the source line to function names. Needs debug information, or perf script -F+srcline."},       \
	{.name = "skip-after", .type = OPTION_LIST, .offset = INPUT_FIELD(owner, skip_after), .argument = "FUNCTION", \
	 .help = "Start stacks at this function and omit its callers. Can be repeated."},                             \
	{.name = "count", .type = OPTION_CHOICE, .offset = INPUT_FIELD(owner, count), .argument = "WHAT",             \
	 .choices = input_count_choices,                                                                              \
	 .help = "Weight of a sample in perf.data: its period, or 1 (samples). Default: period."},                    \
	{.name = "threads", .letter = threads_letter, .type = OPTION_INT, .offset = INPUT_FIELD(owner, threads),      \
	 .argument = "N", .min = 1, .max = 1024,                                                                      \
	 .help = "Read with N threads. Default: all cores; 1 for folded text."},                                      \
	INPUT_TAKE_ROWS(owner, " for perf.data. --inline also adds them to the text of perf script --no-inline, if "  \
			       "the files it names exist.")
/* What is taken of an input and what is looked up, without how it is shown. `inlined`: the end of a sentence. */
#define INPUT_TAKE_ROWS(owner, inlined)                                                                               \
	{.name = "inline", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, inline_frames), .negatable = true,       \
	 .given = INPUT_FIELD(owner, uninline),                                                                       \
	 .help = "Show inlined functions as separate frames. Default: on" inlined},                                   \
	{.name = "names", .type = OPTION_CHOICE, .offset = INPUT_FIELD(owner, names), .argument = "STYLE",            \
	 .choices = input_name_choices,                                                                               \
	 .help = "Style of function names. short: without parameters and template arguments, unless needed to "       \
		 "distinguish functions. full: like c++filt. perf: like perf, without parameters. raw: mangled. "     \
		 "Default: short for tables, otherwise full."},                                                       \
	{.name = "cache", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, cache), .negatable = true,                \
	 .help = "Keep data about files in ~/.cache/wick. Default: on."},                                             \
	{.name = "symfs", .type = OPTION_STRING, .offset = INPUT_FIELD(owner, symfs), .argument = "DIRECTORY",        \
	 .help = "Look for the files named in perf.data below DIRECTORY, a copy of the file system of the "           \
		 "recorded machine or container."},                                                                   \
	MAX_MEMORY_ROW(INPUT_FIELD(owner, max_memory)),                                                               \
	{.type = OPTION_HEADING, .help = "Filters"},                                                                  \
	{.name = "cpu", .type = OPTION_LIST, .offset = INPUT_FIELD(owner, cpus), .argument = "LIST",                  \
	 .help = "Select samples on these CPUs: 0,2-3. perf.data only."},                                             \
	{.name = "dso", .type = OPTION_LIST, .offset = INPUT_FIELD(owner, dsos), .argument = "PATTERN",               \
	 .help = "Select stacks with a matching module: libc.so*. Can be repeated."},                                 \
	{.name = "symbol", .type = OPTION_LIST, .offset = INPUT_FIELD(owner, symbols), .argument = "PATTERN",         \
	 .help = "Select stacks with a matching function: 'tcp_*'. Parameters and template arguments of C++ "         \
		 "functions can be omitted. Can be repeated."},                                                       \
	{.name = "cgroup", .type = OPTION_LIST, .offset = INPUT_FIELD(owner, cgroups), .argument = "PATTERN",         \
	 .help = "Select samples in matching cgroups. Recordings of perf need perf record --all-cgroups."},           \
	{.name = "time", .type = OPTION_STRING, .offset = INPUT_FIELD(owner, time), .argument = "FROM-TO",            \
	 .help = "Select samples in a time range relative to the first sample: 2.5-4s, 300ms-, -10s. perf.data "      \
		 "only."},                                                                                            \
	{.name = "event-filter", .type = OPTION_STRING, .offset = INPUT_FIELD(owner, event_filter),                   \
	 .argument = "EVENT", .help = "Select the samples of this event. Default: the first event in the input."},    \
	{.name = "event", .type = OPTION_STRING, .offset = INPUT_FIELD(owner, event_filter), .argument = "EVENT",     \
	 .hidden = true, .help = "The same as --event-filter."}
/* clang-format on */

extern const struct command_fact input_exit_codes[];
extern const char *const input_count_choices[], *const input_name_choices[];

/* The defaults: comm, inline_frames and cache on, merge_threads as given. */
struct input_options input_defaults(bool merge_threads);
/* What a choice of input_name_choices means for symbols; NULL: full. */
enum name_style input_name_style(const char *names);
/* And for labels; NULL: the output decides. */
enum label_names input_label_names(const char *names);
/* What follows from the options together. input_load() does it by itself. -1 to go on, else the exit code. */
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
 * them. Returns -1 to go on, else the exit code to leave with.
 */
int input_load(struct profile *profile, struct input_options *options, const struct option_list *files,
	       bool keep_order);

/* How good a recording was, on standard error; nothing for text. For commands whose output does not say it. */
void input_say_quality(const struct profile *profile, const struct input_options *options);

/* Warns of sums that were held at the limit of 64 bits. */
void input_say_overflows(const struct quality *quality);

/*
 * Which value type is shown (says when others are left out, and when its weights do not add up in 64 bits), and how
 * labels are made. -1 to go on, else exit code.
 */
int input_tree_options(struct profile *profile, const struct input_options *options, struct calltree_options *ret);

#endif
