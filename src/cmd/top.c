/* wick top: the functions that use the CPU now, on the whole screen. */
#include "cmd/record.h"

static int run_top(int argc, char **argv)
{
	struct record_run run = {.called_as = &command_top, .options = record_defaults(), .no_files = true};
	run.options.live = true;
	return record_main(&run, argc, argv);
}

static const struct command_example top_examples[] = {
	{"wick top", "everything that runs (root)"},
	{"wick top -p 1234", "one process"},
	{"wick top --window 0 -- ./program", "a program, from its start to its end"},
	{"wick top -t offcpu -p 1234", "where a process waits now, and for what"},
	{0},
};

const struct command command_top = {
	.name = "top",
	.summary = "Watch which functions use the CPU now",
	.arguments = "[-- COMMAND ARGUMENTS…]",
	.description =
		"Shows on the whole screen where the system, a process or a program spends its time, refreshed each "
		"second: the share of each function itself and with everything it called. Enter opens who calls a "
		"function and what it calls; h shows all keys. It records as wick record does, with the same options, "
		"and writes no files; wick record --live shows the same screen and writes them.\n\n"
		"Keys: q ends; arrows, j and k move; Enter shows callers and calls, Escape goes back; t shows the call "
		"tree of everything; s sorts by total or own time; K leaves the kernel out, whose time is its callers' "
		"then; / searches; w changes how far back is looked, z begins anew; p pauses, f freezes the screen; + "
		"and - refresh more or less often.\n\n"
		"Without a target it watches everything that runs, which is root's to do. What a command prints is "
		"shown when the screen is left.",
	.options = record_rows,
	.perf_options = record_perf_rows,
	.examples = top_examples,
	.runs_command = true,
	.run = run_top,
};
