/* wick top: the functions that use the CPU now, on the whole screen. */
#include "cmd/record/record.h"

static int run_top(int argc, char **argv)
{
	struct record_run run = {
		.called_as = &command_top, .options = {.input = input_defaults(true)}, .no_files = true};
	run.options.live = true;
	return record_main(&run, argc, argv);
}

static const struct command_example top_examples[] = {
	{"wick top", "watch the whole system (needs root)"},
	{"wick top -p 1234", "watch a process"},
	{"wick top --window 0 -- ./program", "watch a command from start to end"},
	{"wick top -t offcpu -p 1234", "watch where a process waits, and for what"},
	{0},
};

const struct command command_top = {
	.name = "top",
	.summary = "Show the functions that use the CPU now",
	.arguments = "[-- COMMAND ARGUMENTS…]",
	.description =
		"Shows where the target spends its time on a full screen that is updated every second: for each "
		"function its share of the time, without and with its callees. Takes the same options as wick record "
		"but writes no files. wick record --live shows the same screen and writes files.\n\n"
		"Without a target it watches the whole system, which needs root. The output of a command is shown "
		"when the screen is closed.\n\n"
		"Keys: q quits. Arrow keys, j and k move. Enter shows callers and callees, Escape goes back. t shows "
		"the call tree. s sorts by self or total time. K hides kernel functions and adds their time to their "
		"callers. / searches. w changes the time window, z resets the counts. p pauses the recording, f "
		"freezes the screen. + and - change the update interval. h shows all keys.",
	.options = record_rows,
	.perf_options = record_perf_rows,
	.examples = top_examples,
	.exit_codes = record_exit_codes,
	.environment = record_environment,
	.runs_command = true,
	.run = run_top,
};
