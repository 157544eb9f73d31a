/* What every command that reads profiles shares: its input options and loading. */
#ifndef WICK_CMD_INPUT_H
#define WICK_CMD_INPUT_H

#include "cmd/command.h"
#include "import/import.h"
#include "profile/calltree.h"
#include "symbol/demangle.h"

struct input_options {
	bool pid, tid, kernel, jit, all, addrs, inline_frames, srcline;
	bool uninline; /* inlined functions were asked for: text that does not tell them is completed */
	bool comm; /* negatable, default on */
	bool merge_threads, module, cache;
	bool demangle; /* default on; off is names "raw" */
	const char *event_filter, *names, *count, *time, *symfs;
	struct option_list skip_after, comms, pids, tids, cpus, dsos, symbols, cgroups;
	long long threads;
	bool tidy; /* set by the command: names of perf script text are tidied, else they stay whole */
	bool perl; /* perf script text as stackcollapse-perf.pl reads it */
	char *perl_event; /* owned: with `perl`, the first event of the files before */
	bool by_cpu, by_cgroup; /* set by the command: threads are called by what they ran on or in */
	bool has_recording; /* set by input_load(): the input was perf.data */
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
	 .help = "Put the process id behind the thread's name: java-12. With =12,13: take only these processes."},    \
	{.name = "tid", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, tid), .argument = "LIST",                   \
	 .list = INPUT_FIELD(owner, tids),                                                                            \
	 .help = "Put process and thread id behind the name: java-12/13. With =12,13: take only these threads."},     \
	{.name = "comm", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, comm), .negatable = true,                  \
	 .argument = "PATTERN", .list = INPUT_FIELD(owner, comms),                                                    \
	 .help = "Start each stack with the name of its thread. This is the default; --no-comm leaves it out. With "  \
		 "=PATTERN: take only threads of such a name (*, ? and [] as in a shell)."},                          \
	{.name = "merge-threads", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, merge_threads), .negatable = true, \
	 .help = "Show pool threads (worker-1, worker-2, …) as one. Default for pictures and reports, not for fold."}, \
	{.name = "kernel", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, kernel),                                 \
	 .help = "Mark kernel functions with _[k]."},                                                                 \
	{.name = "jit", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, jit),                                       \
	 .help = "Mark functions of just-in-time compiled code with _[j]."},                                          \
	{.name = "all", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, all), .help = "All marks: --kernel --jit."}, \
	{.name = "addrs", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, addrs),                                   \
	 .help = "Show the address of frames without a symbol."},                                                     \
	{.name = "module", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, module),                                 \
	 .help = "Put the module before the function: libc.so.6`malloc."},                                            \
	{.name = "srcline", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, srcline),                               \
	 .help = "Add the source line to function names; needs debug information, or perf script -F+srcline."},       \
	{.name = "skip-after", .type = OPTION_LIST, .offset = INPUT_FIELD(owner, skip_after), .argument = "FUNCTION", \
	 .help = "Start stacks at this function and leave out its callers. May be given several times."},             \
	{.name = "count", .type = OPTION_CHOICE, .offset = INPUT_FIELD(owner, count), .argument = "WHAT",             \
	 .choices = input_count_choices,                                                                              \
	 .help = "What a sample of perf.data weighs: its period (default), or one with samples."},                    \
	{.name = "threads", .letter = threads_letter, .type = OPTION_INT, .offset = INPUT_FIELD(owner, threads),      \
	 .argument = "N", .min = 1, .max = 1024, .help = "Read with N threads. Default: all cores; one for folded."}, \
	INPUT_TAKE_ROWS(owner)
/* What is taken of an input and what is looked up, without how it is shown. */
#define INPUT_TAKE_ROWS(owner)                                                                                        \
	{.name = "inline", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, inline_frames), .negatable = true,       \
	 .given = INPUT_FIELD(owner, uninline),                                                                       \
	 .help = "Show inlined functions as frames of their own. This is the default; --no-inline leaves them out. "  \
		 "With --inline also in the text of perf script --no-inline, as far as the files it names are here."}, \
	{.name = "names", .type = OPTION_CHOICE, .offset = INPUT_FIELD(owner, names), .argument = "STYLE",            \
	 .choices = input_name_choices,                                                                               \
	 .help = "Function names: short (no parameters and template arguments, but for functions that they tell "     \
		 "apart; default for tables), full (as c++filt prints them; default for everything else), perf (as "  \
		 "perf prints them, without parameters) or raw (as the linker has them)."},                           \
	{.name = "cache", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, cache), .negatable = true,                \
	 .help = "Keep what was found out about files in ~/.cache/wick. This is the default; --no-cache does not."},  \
	{.name = "symfs", .type = OPTION_STRING, .offset = INPUT_FIELD(owner, symfs), .argument = "FOLDER",           \
	 .help = "Look for the files that perf.data names below FOLDER: a copy of the file system of the machine or " \
		 "container that was recorded."},                                                                     \
	{.type = OPTION_HEADING, .help = "Filters"},                                                                  \
	{.name = "cpu", .type = OPTION_LIST, .offset = INPUT_FIELD(owner, cpus), .argument = "LIST",                  \
	 .help = "Take only samples of these CPUs: 0,2-3. For perf.data."},                                           \
	{.name = "dso", .type = OPTION_LIST, .offset = INPUT_FIELD(owner, dsos), .argument = "PATTERN",               \
	 .help = "Take only stacks with a frame of such a module: libc.so*. May be given several times."},            \
	{.name = "symbol", .type = OPTION_LIST, .offset = INPUT_FIELD(owner, symbols), .argument = "PATTERN",         \
	 .help = "Take only stacks with such a function: 'tcp_*'. Of C++, parameters and template arguments may be "  \
		 "left out. May be given several times."},                                                            \
	{.name = "cgroup", .type = OPTION_LIST, .offset = INPUT_FIELD(owner, cgroups), .argument = "PATTERN",         \
	 .help = "Take only samples of such a cgroup. Recordings of perf need perf record --all-cgroups."},           \
	{.name = "time", .type = OPTION_STRING, .offset = INPUT_FIELD(owner, time), .argument = "FROM-TO",            \
	 .help = "Take only samples of this time since the first one: 2.5-4s, 300ms-, -10s. For perf.data."},         \
	{.name = "event-filter", .type = OPTION_STRING, .offset = INPUT_FIELD(owner, event_filter),                   \
	 .argument = "EVENT", .help = "Take the samples of this event. Default: the first event in the input."},      \
	{.name = "event", .type = OPTION_STRING, .offset = INPUT_FIELD(owner, event_filter), .argument = "EVENT",     \
	 .hidden = true, .help = "Another name of --event-filter."}
/* clang-format on */

extern const char *const input_count_choices[], *const input_name_choices[];

/* The defaults: comm, inline_frames and cache on, merge_threads as given. */
struct input_options input_defaults(bool merge_threads);
/* What a choice of input_name_choices means for symbols; NULL: full. */
enum name_style input_name_style(const char *names);
/* And for labels; NULL: the output decides. */
enum label_names input_label_names(const char *names);
/* What follows from the options together. input_load() does it by itself. */
void input_settle(struct input_options *options);
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

/* Which value type is shown (says when others are left out), and how labels are made. -1 to go on, else exit code. */
int input_tree_options(struct profile *profile, const struct input_options *options, struct calltree_options *ret);

#endif
