/* Prints the help of commands from their tables. */
#include "cmd/help.h"

#include "base/term.h"
#include "base/text.h"

#include <unistd.h>

#define HELP_WIDTH_MAX 100 /* longer lines read badly */
#define OPTION_COLUMN 28 /* where the help of an option starts */
#define OPTION_COLUMN_NARROW 10 /* on narrow terminals it goes below its option */

#define EXIT_COLUMN 7

static const struct command_fact common_exit_codes[] = {
	{"0", "success"},
	{"1", "failure; one line on standard error gives the reason"},
	{"2", "wrong options or arguments"},
	{0},
};

static void add_spaces(struct buf *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_char(out, ' ');
}

/*
 * Adds words of `text` up to `width` columns. The line stands at column `column` already; further lines begin with
 * `indent` spaces. Ends with a newline.
 */
static void add_wrapped(struct buf *out, const char *text, size_t column, size_t indent, size_t width)
{
	bool first = true;
	for (;;) {
		text += strspn(text, " \n");
		size_t length = strcspn(text, " \n"), columns = text_columns(text, length);
		if (!length)
			break;
		if (!first && column + 1 + columns > width) {
			buf_char(out, '\n');
			add_spaces(out, indent);
			column = indent;
			first = true;
		}
		if (!first)
			buf_char(out, ' ');
		buf_add(out, text, length);
		column += columns + !first;
		first = false;
		text += length;
	}
	buf_char(out, '\n');
}

/* Paragraphs are parted by blank lines; one that begins with a space keeps its lines. */
static void add_paragraphs(struct buf *out, const char *text, size_t width)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		size_t length = end ? (size_t)(end - text) : strlen(text);
		CLEANUP_BUF struct buf paragraph = {0};
		buf_add(&paragraph, text, length);
		buf_char(out, '\n');
		if (*text == ' ')
			buf_printf(out, "%s\n", paragraph.data);
		else
			add_wrapped(out, paragraph.data, 0, 0, width);
		text += length;
		text += strspn(text, "\n");
	}
}

/* "-o, --output FILE" */
static void write_spelling(struct buf *out, const struct option_row *row)
{
	if (row->letter)
		buf_printf(out, "-%c, ", row->letter);
	buf_printf(out, "--%s%s", row->negatable ? "[no-]" : "", row->name);
	if (row->type != OPTION_FLAG)
		buf_printf(out, " %s%s", row->argument ? row->argument : "VALUE", row->type == OPTION_REST ? "…" : "");
	else if (row->list)
		buf_printf(out, "[=%s]", row->argument);
}

static void add_option(struct buf *out, const struct option_row *row, size_t width)
{
	CLEANUP_BUF struct buf spelling = {0};
	CLEANUP_BUF struct buf text = {0};
	write_spelling(&spelling, row);
	/* Long names stand in one column, with or without a letter before them. */
	size_t lead = row->letter ? 2 : 6;
	size_t column = lead + text_columns(spelling.data, spelling.size);
	size_t help_column = width < 64 ? OPTION_COLUMN_NARROW : OPTION_COLUMN;
	add_spaces(out, lead);
	buf_str(out, spelling.data);
	if (column + 1 > help_column) {
		buf_char(out, '\n');
		column = 0;
	}
	add_spaces(out, help_column - column);
	option_help(row, &text);
	for (const char *const *choice = row->choices; choice && *choice; choice++)
		buf_printf(&text, "%s%s", choice == row->choices ? " One of: " : ", ", *choice);
	if (row->choices)
		buf_char(&text, '.');
	add_wrapped(out, text.data, help_column, help_column, width);
}

static void add_options(struct buf *out, const struct command *command, size_t width)
{
	if (command->options->type != OPTION_HEADING)
		buf_str(out, "\nOptions:\n");
	for (const struct option_row *row = NULL; (row = option_next(command, row));) {
		if (row->type == OPTION_HEADING)
			buf_printf(out, "\n%s:\n", row->help);
		else if (!row->hidden)
			add_option(out, row, width);
	}
	static const struct option_row help_row = {
		.name = "help", .letter = 'h', .help = "Show this help.", .type = OPTION_FLAG};
	buf_char(out, '\n');
	add_option(out, &help_row, width);
}

static const struct command_fact *find_fact(const struct command_fact *facts, const char *name)
{
	for (; facts && facts->name; facts++)
		if (!strcmp(facts->name, name))
			return facts;
	return NULL;
}

const struct command_fact *exit_code_next(const struct command *command, const struct command_fact *row)
{
	const struct command_fact *common = row ? find_fact(common_exit_codes, row->name) : NULL;
	bool in_common = !row || common;
	const struct command_fact *next = !row ? common_exit_codes : in_common ? common + 1 : row + 1;
	if (in_common && next->name) {
		const struct command_fact *own = find_fact(command->exit_codes, next->name);
		return own ? own : next;
	}
	if (in_common)
		next = command->exit_codes;
	while (next && next->name && find_fact(common_exit_codes, next->name))
		next++;
	return next && next->name ? next : NULL;
}

static void add_exit_codes(struct buf *out, const struct command *command, size_t width)
{
	buf_str(out, "\nExit codes:\n");
	for (const struct command_fact *row = NULL; (row = exit_code_next(command, row));) {
		buf_printf(out, "  %-*s  ", EXIT_COLUMN - 4, row->name);
		add_wrapped(out, row->meaning, EXIT_COLUMN, EXIT_COLUMN, width);
	}
}

void help_command(struct buf *out, const struct command *command, int width)
{
	size_t columns = width < HELP_WIDTH_MAX ? (size_t)width : HELP_WIDTH_MAX;
	buf_printf(out, "wick %s: ", command->name);
	add_wrapped(out, command->summary, 7 + strlen(command->name), 0, columns);
	buf_printf(out, "\nUsage: wick %s [options]%s%s\n", command->name, command->arguments ? " " : "",
		   command->arguments ? command->arguments : "");
	if (command->description)
		add_paragraphs(out, command->description, columns);
	add_options(out, command, columns);
	if (command->examples)
		buf_str(out, "\nExamples:\n");
	for (const struct command_example *example = command->examples; example && example->command; example++) {
		buf_printf(out, "  %s\n      ", example->command);
		add_wrapped(out, example->says, 6, 6, columns);
	}
	add_exit_codes(out, command, columns);
}

static void write_overview(struct buf *out, int width)
{
	size_t columns = width < HELP_WIDTH_MAX ? (size_t)width : HELP_WIDTH_MAX;
	buf_str(out, "wick " WICK_VERSION ": ");
	add_wrapped(out, "a sampling profiler for Linux", 12, 0, columns);
	buf_str(out, "\nUsage: wick COMMAND [options] [arguments]\n\nCommands:\n");
	for (size_t i = 0; commands[i]; i++) {
		buf_printf(out, "  %-10s  ", commands[i]->name);
		add_wrapped(out, commands[i]->summary, 14, 14, columns);
	}
	buf_str(out, "\nFirst steps:\n"
		     "  wick record -- ./program              record a command, draw a flame graph\n"
		     "  wick record -p PID -d 10              record a running process\n"
		     "  wick top                              show what uses the CPUs now\n"
		     "  wick flame perf.data -o flame.svg     draw a recording made by perf\n"
		     "  wick diff before after                compare two recordings\n"
		     "  wick doctor                           check what this system allows\n\n");
	add_wrapped(out, "wick COMMAND --help shows the options with examples. wick --version shows the version.", 0, 0,
		    columns);
	add_exit_codes(out, &command_diff, columns);
}

static int print(const struct buf *text)
{
	struct outfile out;
	struct err err = {0};
	if (outfile_open(&out, NULL, &err) < 0)
		return say_failure(&err);
	outfile_add(&out, text->data, text->size);
	return outfile_commit(&out, &err) < 0 ? say_failure(&err) : EXIT_DONE;
}

int help_print(const struct command *command)
{
	CLEANUP_BUF struct buf text = {0};
	int width = term_width(STDOUT_FILENO, 80);
	if (command)
		help_command(&text, command, width);
	else
		write_overview(&text, width);
	return print(&text);
}

struct help_options {
	bool manual;
	enum shell { SHELL_BASH, SHELL_ZSH, SHELL_NONE } completion;
};

static const char *const shells[] = {[SHELL_BASH] = "bash", [SHELL_ZSH] = "zsh", [SHELL_NONE] = NULL};

/* clang-format off */
static const struct option_row help_options[] = {
	{.name = "man", .type = OPTION_FLAG, .offset = offsetof(struct help_options, manual),
	 .help = "Write the man page of the command, or of wick if no command is given, in roff format."},
	{.name = "completion", .type = OPTION_CHOICE, .offset = offsetof(struct help_options, completion),
	 .argument = "SHELL", .choices = shells, .help = "Write the completion script for this shell."},
	OPTION_END,
};
/* clang-format on */

static const struct command_example help_examples[] = {
	{"wick help flame", "show the options of wick flame, with examples"},
	{"wick help --man flame | man -l -", "show a man page without installing it"},
	{"source <(wick help --completion bash)", "enable completion in the running bash"},
	{0},
};

static int help_run(int argc, char **argv)
{
	struct help_options options = {0};
	struct option_list arguments = {0};
	const struct command *topic = NULL;
	CLEANUP_BUF struct buf text = {0};
	int code = options_parse(&command_help, argc, argv, &options, &arguments);
	if (code != PROCEED)
		return code;
	const char *name = arguments.count ? arguments.items[0] : NULL;
	bool too_many = arguments.count > 1;
	option_list_release(&arguments);
	if (too_many)
		return say_usage(&command_help, "help takes at most one command");
	if (name && !(topic = command_find(name))) {
		const struct command *near = command_suggest(name);
		return near ? say_usage(NULL, "unknown command '%s'; did you mean %s?", name, near->name) :
			      say_usage(NULL, "unknown command '%s'", name);
	}
	if (options.completion == SHELL_ZSH) {
		completion_zsh(&text);
	} else if (options.completion == SHELL_BASH) {
		completion_bash(&text);
	} else if (options.manual) {
		manual_page(&text, topic);
	} else {
		return help_print(topic);
	}
	return print(&text);
}

const struct command command_help = {
	.name = "help",
	.summary = "Show the commands, or the options of a command",
	.arguments = "[COMMAND]",
	.description = "Without a command, lists all commands. Also writes man pages and shell completion scripts.",
	.options = help_options,
	.examples = help_examples,
	.run = help_run,
};
