/* What every command that reads profiles shares: its input options and loading. */
#ifndef WICK_CMD_INPUT_H
#define WICK_CMD_INPUT_H

#include "cmd/command.h"
#include "import/import.h"
#include "profile/calltree.h"

struct input_options {
	bool pid, tid, kernel, jit, all, addrs, inline_frames, no_inline, srcline;
	bool comm; /* negatable, default on */
	bool merge_threads, module;
	const char *event_filter;
	struct option_list skip_after;
	long long threads;
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
	{.name = "pid", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, pid),                                       \
	 .help = "Put the process id behind the thread's name: java-12. Needs perf script text with pids."},          \
	{.name = "tid", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, tid),                                       \
	 .help = "Put process and thread id behind the thread's name: java-12/13."},                                  \
	{.name = "kernel", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, kernel),                                 \
	 .help = "Mark kernel functions with _[k]."},                                                                 \
	{.name = "jit", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, jit),                                       \
	 .help = "Mark functions of just-in-time compiled code with _[j]."},                                          \
	{.name = "all", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, all), .help = "All marks: --kernel --jit."}, \
	{.name = "addrs", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, addrs),                                   \
	 .help = "Show the address of frames without a symbol."},                                                     \
	{.name = "inline", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, inline_frames), .negatable = true,       \
	 .help = "Keep the frames that perf marked (inlined). This is the default; --no-inline leaves them out."},    \
	{.name = "srcline", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, srcline),                               \
	 .help = "Add the source line to function names; for the output of perf script -F+srcline."},                 \
	{.name = "event-filter", .type = OPTION_STRING, .offset = INPUT_FIELD(owner, event_filter),                   \
	 .argument = "EVENT", .help = "Take the samples of this event. Default: the first event in the input."},      \
	{.name = "comm", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, comm), .negatable = true,                  \
	 .help = "Start each stack with the name of its thread. This is the default; --no-comm leaves it out."},      \
	{.name = "merge-threads", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, merge_threads), .negatable = true, \
	 .help = "Show pool threads (worker-1, worker-2, …) as one. Default for pictures and reports, not for fold."}, \
	{.name = "module", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, module),                                 \
	 .help = "Put the module before the function: libc.so.6`malloc."},                                            \
	{.name = "skip-after", .type = OPTION_LIST, .offset = INPUT_FIELD(owner, skip_after), .argument = "FUNCTION", \
	 .help = "Start stacks at this function and leave out its callers. May be given several times."},             \
	{.name = "threads", .letter = threads_letter, .type = OPTION_INT, .offset = INPUT_FIELD(owner, threads),      \
	 .argument = "N", .min = 1, .max = 1024, .help = "Read with N threads. Default: one for each core; one for folded text."}
/* clang-format on */

/* The defaults: comm and inline_frames on, merge_threads as given. */
struct input_options input_defaults(bool merge_threads);
void input_release(struct input_options *options);

/*
 * Reads all inputs (standard input when there is none) into an initialised profile and says on standard error what was
 * bad about single lines. Returns -1 to go on, else the exit code to leave with.
 */
int input_load(struct profile *profile, const struct input_options *options, const struct option_list *files,
	       bool keep_order);

/* Which value type is shown (says when others are left out), and how labels are made. -1 to go on, else exit code. */
int input_tree_options(struct profile *profile, const struct input_options *options, struct calltree_options *ret);

#endif
