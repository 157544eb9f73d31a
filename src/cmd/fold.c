/* `wick fold`: writes a profile as folded stacks. */
#include "cmd/command.h"
#include "cmd/input.h"
#include "cmd/perf_rows.h"
#include "render/outputs.h"

#include <string.h>

struct fold_options {
	struct input_options input;
	const char *output;
};
INPUT_FIRST(struct fold_options);

/* clang-format off */
static const struct option_row fold_rows[] = {
	{.name = "output", .letter = 'o', .type = OPTION_STRING, .offset = offsetof(struct fold_options, output),
	 .argument = "FILE", .help = "Write to FILE. Default: standard output."},
	{.name = "perl", .type = OPTION_FLAG, .offset = INPUT_FIELD(perl),
	 .help = "Write exactly the output of stackcollapse-perf.pl for perf script text, including its errors."},
	{.type = OPTION_TABLE, .table = input_show_rows},
	{.type = OPTION_TABLE, .table = input_threads_rows},
	{.type = OPTION_TABLE, .table = input_inline_rows},
	{.type = OPTION_TABLE, .table = input_take_rows},
	OPTION_END,
};
/* clang-format on */

static int run_fold(int argc, char **argv)
{
	struct fold_options options = {.input = input_defaults(false)};
	struct option_list files = {0};
	struct profile profile;
	struct calltree_options tree_options;
	profile_init(&profile);
	int result = options_parse(&command_fold, argc, argv, &options, &files);
	options.input.tidy = options.input.names != INPUT_NAMES_FULL;
	if (result == PROCEED) {
		input_confine(&options.input, options.output, NULL);
		result = input_load(&profile, &options.input, &files, false);
	}
	if (result == PROCEED)
		result = input_tree_options(&profile, &options.input, &tree_options);
	if (result == PROCEED) {
		struct calltree tree;
		unsigned decimals = profile.values[tree_options.values[0]].decimals;
		calltree_build(&tree, &profile, &tree_options);
		input_say_quality(&profile, &options.input);
		struct err err = {0};
		result = output_folded(&tree, decimals, options.output, &err) ? say_failure(&err) : EXIT_DONE;
		calltree_release(&tree);
	}
	profile_release(&profile);
	option_list_release(&files);
	input_release(&options.input);
	return result;
}

const struct command command_fold = {
	.name = "fold",
	.summary = "Convert stacks to folded lines with counts",
	.arguments = "[FILE…]",
	.description =
		"Reads perf.data, perf script text or folded stacks (text can be compressed with gzip, xz or "
		"zstd), and writes each distinct stack as one line: the frames from the outermost to the "
		"innermost, separated by semicolons, a space, and the weight. Lines are sorted by their bytes. "
		"The output does not depend on the number of threads.\n\nThe weight of a sample is its period, "
		"as in stackcollapse-perf.pl. If the input has several events, samples of all but the first are "
		"skipped and counted. Without FILE, or if FILE is -, reads standard input. If that is a terminal, "
		"reads the newest recording in the current directory: perf.data, or a directory of wick "
		"record.\n\nNames in perf "
		"script text are shortened as in stackcollapse-perf.pl: "
		"parameters, quotes and the L of Java classes are removed. Unlike that script, fold keeps "
		"brackets balanced, so that different functions stay distinct, and counts samples that the "
		"script drops: samples printed on one line, and a last sample that is not followed by an empty "
		"line. Use --names full to keep full names. Use --perl to write exactly the output of the script.",
	.options = fold_rows,
	.perf_options = perf_file_rows,
	.examples =
		(const struct command_example[]){
			{"wick fold perf.data > out.folded", "fold a recording"},
			{"perf script | wick fold > out.folded", "fold the text of perf script"},
			{"wick fold --all --tid out.perf.gz", "mark kernel and JIT frames, separate threads"},
			{"wick fold a.folded b.folded -o both.folded", "add up two folded files"},
			{0},
		},
	.exit_codes = input_exit_codes,
	.run = run_fold,
};
