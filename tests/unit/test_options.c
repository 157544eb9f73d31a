/* Option parsing, and that the tables of all commands are complete. */
#include "unit.h"

#include "base/text.h"
#include "cmd/help.h"

#include <unistd.h>

struct fields {
	bool plain, on;
	const char *text;
	int choice, shade;
	long long whole, size;
	double number;
	bool used;
	struct option_list list, rest;
};

static const char *const choices[] = {"red", "green", "blue", NULL};
#define AT(field) .offset = offsetof(struct fields, field)
/* clang-format off */
static const struct option_row shared_rows[] = {
	{.name = "shade", .type = OPTION_CHOICE, AT(shade), .argument = "COLOUR", .choices = choices, .help = "Shade.",
	 .initial = "blue"},
	{.name = "use", .type = OPTION_FLAG, AT(used), .negatable = true, .help = "Use it.", .initial = "on"},
	OPTION_END,
};
static const struct option_row rows[] = {
	{.type = OPTION_HEADING, .help = "Group"},
	{.name = "plain", .letter = 'p', .type = OPTION_FLAG, AT(plain), .help = "h"},
	{.name = "on", .type = OPTION_FLAG, AT(on), .negatable = true, .help = "h"},
	{.name = "text", .letter = 't', .type = OPTION_STRING, AT(text), .argument = "TEXT", .help = "h"},
	{.name = "texture", .type = OPTION_STRING, AT(text), .argument = "TEXT", .help = "h"},
	{.name = "choice", .type = OPTION_CHOICE, AT(choice), .argument = "COLOUR", .choices = choices, .help = "h"},
	{.name = "whole", .letter = 'n', .type = OPTION_INT, AT(whole), .argument = "N", .min = -5, .max = 5,
	 .help = "h"},
	{.name = "number", .type = OPTION_NUMBER, AT(number), .argument = "N", .help = "h"},
	{.name = "list", .type = OPTION_LIST, AT(list), .argument = "X", .help = "h"},
	{.name = "rest", .type = OPTION_REST, AT(rest), .argument = "FILE", .help = "h"},
	{.type = OPTION_TABLE, .table = shared_rows},
	{.name = "size", .type = OPTION_INT, AT(size), .argument = "N", .min = 0, .max = 9,
	 .help = "Size. Default: any.", .initial = "-1", .initial_described = true},
	{.name = "plaintext", .type = OPTION_FLAG, AT(plain), .hidden = true, .help = "h"},
	OPTION_END,
};
/* clang-format on */
static const struct command command = {.name = "trial", .summary = "s", .options = rows};

static struct fields fields;
static struct option_list arguments;

static int release_lists(void **state)
{
	(void)state;
	option_list_release(&fields.list);
	option_list_release(&fields.rest);
	option_list_release(&arguments);
	return 0;
}

/* Standard error of `parse` goes here. */
static char said[2048];

static int parse(char *first, ...)
{
	char *argv[16] = {"trial"};
	int argc = 1;
	va_list args;
	release_lists(NULL);
	fields = (struct fields){0};
	va_start(args, first);
	for (char *text = first; text; text = va_arg(args, char *))
		argv[argc++] = text;
	va_end(args);
	int ends[2], kept = dup(STDERR_FILENO);
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	int code = options_parse(&command, argc, argv, &fields, &arguments);
	dup2(kept, STDERR_FILENO);
	close(kept);
	ssize_t got = read(ends[0], said, sizeof said - 1);
	said[got > 0 ? got : 0] = '\0';
	close(ends[0]);
	return code;
}
#define PARSE(...) parse(__VA_ARGS__, NULL)

static void assert_usage(int code, const char *words)
{
	assert_int_equal(code, EXIT_USAGE);
	if (!strstr(said, words))
		fail_msg("'%s' is not in: %s", words, said);
}

static void values_come_next_or_after_an_equals_sign(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--text", "a b", "--whole=-3", "--number", "2.5e1", "--choice=green", "file"), PROCEED);
	assert_string_equal(fields.text, "a b");
	assert_int_equal(fields.whole, -3);
	assert_true(fields.number == 25);
	assert_int_equal(fields.choice, 1);
	assert_int_equal(arguments.count, 1);
	assert_string_equal(arguments.items[0], "file");
	assert_null(arguments.items[1]);
	assert_int_equal(PARSE("--text=", "--text=a=b"), PROCEED);
	assert_string_equal(fields.text, "a=b");
	assert_int_equal(PARSE("--text", "-x"), PROCEED);
	assert_string_equal(fields.text, "-x");
}

static void letters_can_be_bundled(void **state)
{
	(void)state;
	assert_int_equal(PARSE("-pn3", "-t", "x"), PROCEED);
	assert_true(fields.plain);
	assert_int_equal(fields.whole, 3);
	assert_string_equal(fields.text, "x");
	assert_int_equal(PARSE("-n=4"), PROCEED);
	assert_int_equal(fields.whole, 4);
	assert_usage(PARSE("-px"), "-x");
	assert_usage(PARSE("-n"), "-n needs a value");
}

static void long_names_work_with_one_dash(void **state)
{
	(void)state;
	assert_int_equal(PARSE("-plain", "-text=a", "-noon"), PROCEED);
	assert_true(fields.plain);
	assert_string_equal(fields.text, "a");
}

static void flags_can_be_negated(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--on"), PROCEED);
	assert_true(fields.on);
	assert_int_equal(PARSE("--on", "--no-on"), PROCEED);
	assert_false(fields.on);
	assert_int_equal(PARSE("--on", "--noon"), PROCEED);
	assert_false(fields.on);
	assert_usage(PARSE("--no-plain"), "unknown option --no-plain");
	assert_usage(PARSE("--plain=1"), "--plain takes no value");
	assert_usage(PARSE("--no-on=1"), "--no-on takes no value");
}

static void unique_prefixes_are_enough(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--who", "2"), PROCEED);
	assert_int_equal(fields.whole, 2);
	assert_int_equal(PARSE("--text", "exact"), PROCEED);
	assert_string_equal(fields.text, "exact");
	assert_usage(PARSE("--te", "x"), "--te is ambiguous: --text, --texture");
	/* The hidden --plaintext does not stand in the way of --plain. */
	assert_int_equal(PARSE("--pl"), PROCEED);
	assert_true(fields.plain);
	assert_int_equal(PARSE("--plaint"), PROCEED);
	assert_true(fields.plain);
	assert_int_equal(PARSE("--no-o"), PROCEED);
}

static void slips_get_a_suggestion(void **state)
{
	(void)state;
	assert_usage(PARSE("--hwole=2"), "did you mean --whole?");
	assert_usage(PARSE("--nubmer", "2"), "did you mean --number?");
	assert_usage(PARSE("--choice=grene"), "did you mean green?");
	assert_usage(PARSE("--choice=mauve"), "one of red, green, blue");
	PARSE("--zebra");
	assert_null(strstr(said, "did you mean"));
	assert_usage(PARSE("--fail-if=x"), "wick diff");
}

static void bad_values_are_refused(void **state)
{
	(void)state;
	assert_usage(PARSE("--whole=6"), "from -5 to 5");
	assert_usage(PARSE("--whole=-99999999999999999999"), "from -5 to 5");
	assert_usage(PARSE("--whole=2x"), "whole number");
	assert_usage(PARSE("--whole="), "whole number");
	assert_usage(PARSE("--whole=1.5"), "whole number");
	assert_usage(PARSE("--number=nan"), "must be a number");
	assert_usage(PARSE("--number=1e999"), "must be a number");
	assert_usage(PARSE("--number=,5"), "must be a number");
	assert_usage(PARSE("--text"), "--text needs a value: TEXT");
	assert_usage(PARSE("--text", "--plain"), "--text=--plain");
}

static void lists_collect(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--list", "a", "x", "--list=b", "--rest", "c", "-", "d", "--plain", "y"), PROCEED);
	assert_int_equal(fields.list.count, 2);
	assert_string_equal(fields.list.items[1], "b");
	assert_int_equal(fields.rest.count, 3);
	assert_string_equal(fields.rest.items[1], "-");
	assert_int_equal(arguments.count, 2);
	assert_usage(PARSE("--list", "a", "--rest"), "--rest needs a value");
	assert_null(fields.list.items); /* released, since the caller leaves */
}

static void two_dashes_end_the_options(void **state)
{
	(void)state;
	assert_int_equal(PARSE("-", "--", "--plain", "--", "-p"), PROCEED);
	assert_false(fields.plain);
	assert_int_equal(arguments.count, 4);
	assert_string_equal(arguments.items[0], "-");
	assert_string_equal(arguments.items[2], "--");
}

static void fields_have_initial_values(void **state)
{
	(void)state;
	assert_int_equal(PARSE("file"), PROCEED);
	assert_int_equal(fields.choice, 3); /* the number of choices: none */
	assert_int_equal(fields.shade, 2);
	assert_int_equal(fields.size, -1);
	assert_true(fields.used);
	assert_int_equal(PARSE("--shade", "red", "--no-use", "--size=0", "--choice", "red"), PROCEED);
	assert_int_equal(fields.choice, 0);
	assert_int_equal(fields.shade, 0);
	assert_int_equal(fields.size, 0);
	assert_false(fields.used);
}

static void help_ends_with_the_initial_value(void **state)
{
	(void)state;
	const char *const texts[][2] = {{"shade", "Shade. Default: blue."},
					{"use", "Use it. Default: on."},
					{"size", "Size. Default: any."},
					{"plain", "h"}};
	size_t found = 0;
	for (const struct option_row *row = NULL; (row = option_next(&command, row));)
		for (size_t i = 0; row->name && i < sizeof texts / sizeof *texts; i++)
			if (!strcmp(row->name, texts[i][0])) {
				CLEANUP_BUF struct buf help = {0};
				option_help(row, &help);
				assert_string_equal(help.data, texts[i][1]);
				found++;
			}
	assert_int_equal(found, 4);
}

static void rows_of_a_table_stand_where_it_is(void **state)
{
	(void)state;
	const struct option_row *row = option_next(&command, NULL);
	while (row && (!row->name || strcmp(row->name, "rest") != 0))
		row = option_next(&command, row);
	assert_non_null(row);
	row = option_next(&command, row);
	assert_string_equal(row->name, "shade");
	row = option_next(&command, option_next(&command, row));
	assert_string_equal(row->name, "size");
}

/* What every table must have so that help, man page and completion say something useful. */
static void tables_are_complete(void **state)
{
	(void)state;
	for (size_t c = 0; commands[c]; c++) {
		assert_true(strlen(commands[c]->summary) > 0 && strlen(commands[c]->summary) <= 66);
		assert_non_null(commands[c]->description);
		assert_true(commands[c]->examples && commands[c]->examples[0].command);
		const struct option_row *first = option_next(commands[c], NULL);
		for (const struct option_row *row = first; row; row = option_next(commands[c], row)) {
			if (row->type == OPTION_HEADING)
				continue;
			if (!row->help || strlen(row->help) < 10)
				fail_msg("%s --%s has no useful help", commands[c]->name, row->name);
			if (row->type != OPTION_FLAG && !row->argument)
				fail_msg("%s --%s does not name its value", commands[c]->name, row->name);
			bool text = row->type == OPTION_STRING || row->type == OPTION_OPTIONAL;
			if (row->type == OPTION_CHOICE ? !row->choices : row->choices && !text)
				fail_msg("%s --%s: choices and type disagree", commands[c]->name, row->name);
			if (row->negatable && row->type != OPTION_FLAG)
				fail_msg("%s --%s: only flags can be negated", commands[c]->name, row->name);
			for (const struct option_row *other = first; other != row;
			     other = option_next(commands[c], other)) {
				if (other->type == OPTION_HEADING)
					continue;
				if (!strcmp(other->name, row->name) || (row->letter && other->letter == row->letter))
					fail_msg("%s --%s is there twice", commands[c]->name, row->name);
			}
		}
	}
}

static bool has_letter(const struct command *owner, char letter)
{
	for (const struct option_row *row = NULL; letter && (row = option_next(owner, row));)
		if (row->letter == letter)
			return true;
	return false;
}

/* A letter of perf's that wick uses for something else would be dead in the second table. */
static void tables_for_perf_are_complete(void **state)
{
	(void)state;
	size_t count = 0;
	for (size_t c = 0; commands[c]; c++) {
		const struct option_row *first = option_next_perf(commands[c], NULL);
		for (const struct option_row *row = first; row; row = option_next_perf(commands[c], row), count++) {
			if (row->type == OPTION_REFUSED && (!row->help || strlen(row->help) < 10))
				fail_msg("%s --%s is refused without a word", commands[c]->name, row->name);
			if (has_letter(commands[c], row->letter))
				fail_msg("%s -%c has another meaning", commands[c]->name, row->letter);
			for (const struct option_row *other = first; other != row;
			     other = option_next_perf(commands[c], other))
				if (!strcmp(other->name, row->name) || (row->letter && other->letter == row->letter))
					fail_msg("%s --%s is there twice", commands[c]->name, row->name);
		}
	}
	assert_true(count > 100);
}

/* Lines of help fit the width, except for examples, which cannot be broken. */
static void help_fits_the_width(void **state)
{
	(void)state;
	for (size_t c = 0; commands[c]; c++) {
		CLEANUP_BUF struct buf help = {0};
		help_command(&help, commands[c], 80);
		char *examples = strstr(help.data, "\nExamples:");
		assert_non_null(examples);
		*examples = '\0';
		for (char *line = strtok(help.data, "\n"); line; line = strtok(NULL, "\n"))
			if (text_columns(line, strlen(line)) > 80)
				fail_msg("longer than 80 columns: %s", line);
	}
}

#define TEST(name) cmocka_unit_test_teardown(name, release_lists)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(values_come_next_or_after_an_equals_sign),
		TEST(letters_can_be_bundled),
		TEST(long_names_work_with_one_dash),
		TEST(flags_can_be_negated),
		TEST(unique_prefixes_are_enough),
		TEST(slips_get_a_suggestion),
		TEST(bad_values_are_refused),
		TEST(lists_collect),
		TEST(two_dashes_end_the_options),
		TEST(fields_have_initial_values),
		TEST(help_ends_with_the_initial_value),
		TEST(rows_of_a_table_stand_where_it_is),
		TEST(tables_are_complete),
		TEST(tables_for_perf_are_complete),
		TEST(help_fits_the_width),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
