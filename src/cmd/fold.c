#include "cmd/command.h"
#include "cmd/input.h"
#include "cmd/outputs.h"
#include "cmd/perf_rows.h"

#include <string.h>

struct fold_options {
	struct input_options input;
	const char *output;
};

/* clang-format off */
static const struct option_row fold_rows[] = {
	{.name = "output", .letter = 'o', .type = OPTION_STRING, .offset = offsetof(struct fold_options, output),
	 .argument = "FILE", .help = "Write to FILE. Default: standard output."},
	{.name = "perl", .type = OPTION_FLAG, .offset = INPUT_FIELD(struct fold_options, perl),
	 .help = "Write exactly the output of stackcollapse-perf.pl for perf script text, including its errors."},
	INPUT_OPTION_ROWS(struct fold_options),
	OPTION_END,
};
static const struct option_row fold_perf_rows[] = {PERF_FILE_ROWS, OPTION_END};
/* clang-format on */

static int run_fold(int argc, char **argv)
{
	struct fold_options options = {.input = input_defaults(false)};
	struct option_list files = {0};
	struct profile profile;
	struct calltree_options tree_options;
	profile_init(&profile);
	int result = options_parse(&command_fold, argc, argv, &options, &files);
	options.input.tidy = !options.input.names || strcmp(options.input.names, "full") != 0;
	if (result < 0)
		result = input_load(&profile, &options.input, &files, false);
	if (result < 0)
		result = input_tree_options(&profile, &options.input, &tree_options);
	if (result < 0) {
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
	.arguments = "[FILE…|-]",
	.description =
		"Reads perf.data, the text of perf script, or stacks that are folded already (texts plain or "
		"compressed with gzip, xz or zstd), and writes each distinct stack as one line: the frames from the "
		"outermost to the innermost with semicolons between, a blank and the weight. The lines are sorted by "
		"their bytes and the same for any number of threads.\n\n"
		"A sample weighs its period, as in stackcollapse-perf.pl. Where the input has several events, the "
		"first one is taken and the others are counted as skipped. Without FILE standard input is read, or "
		"the file perf.data when standard input is a terminal.\n\n"
		"Names in the text of perf script are shortened as that script does it: without parameters, quotes and "
		"the L of Java classes. Unlike there, brackets are balanced, so that different functions stay apart, "
		"and samples that the script drops are counted: those printed on one line, and the last one without an "
		"empty line behind it. --names full keeps names whole. With --perl the result is that of the script, "
		"to the byte.",
	.options = fold_rows,
	.perf_options = fold_perf_rows,
	.examples =
		(const struct command_example[]){
			{"wick fold perf.data > out.folded", "fold a recording"},
			{"perf script | wick fold > out.folded", "fold the text of perf script"},
			{"wick fold --all --tid out.perf.gz", "mark kernel and JIT frames, separate threads"},
			{"wick fold a.folded b.folded -o both.folded", "add up two folded files"},
			{0},
		},
	.run = run_fold,
};
