/* Man pages from the tables. They hold no date, so that the same source gives the same bytes. */
#include "base/text.h"
#include "cmd/help.h"

#include <ctype.h>

/* Text for roff: its control characters hidden, minus signs that can be copied, other than ASCII by code point. */
static void add_roff(struct buf *out, const char *text, size_t count)
{
	for (size_t at = 0; at < count;) {
		uint32_t code_point;
		bool line_start = !out->size || out->data[out->size - 1] == '\n';
		if (line_start && (text[at] == '.' || text[at] == '\''))
			buf_str(out, "\\&");
		at += text_utf8(text + at, count - at, &code_point);
		switch (code_point) {
		case '-':
			buf_str(out, "\\-");
			break;
		case '\\':
			buf_str(out, "\\e");
			break;
		case '`':
			buf_str(out, "\\(ga");
			break;
		case '\'':
			buf_str(out, "\\(aq");
			break;
		case '^':
			buf_str(out, "\\(ha");
			break;
		case '~':
			buf_str(out, "\\(ti");
			break;
		default:
			if (code_point < 0x80)
				buf_char(out, (char)code_point);
			else
				buf_printf(out, "\\[u%04X]", code_point);
		}
	}
}

static void add_text(struct buf *out, const char *text)
{
	add_roff(out, text, strlen(text));
}

static void add_line(struct buf *out, const char *text)
{
	add_text(out, text);
	buf_char(out, '\n');
}

/* As the help does: paragraphs parted by blank lines, those that begin with a space as they are. */
static void add_paragraphs(struct buf *out, const char *text)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		size_t length = end ? (size_t)(end - text) : strlen(text);
		bool literal = *text == ' ';
		buf_str(out, literal ? ".PP\n.nf\n" : ".PP\n");
		for (size_t line = 0; line < length; line++) {
			size_t size = strcspn(text + line, "\n");
			if (size > length - line)
				size = length - line;
			add_roff(out, text + line, size);
			buf_char(out, '\n');
			line += size;
		}
		if (literal)
			buf_str(out, ".fi\n");
		text += length;
		text += strspn(text, "\n");
	}
}

static void add_heading(struct buf *out, const char *name)
{
	CLEANUP_BUF struct buf upper = {0};
	for (const char *c = name; *c; c++)
		buf_char(&upper, (char)toupper((unsigned char)*c));
	buf_printf(out, ".TH %s 1 \"\" \"wick " WICK_VERSION "\" \"User Commands\"\n.SH NAME\n", upper.data);
}

/* What is typed, in bold; an option of one letter has no other name. */
static void add_spelling(struct buf *out, const struct option_row *row, const char *separator)
{
	bool named = row->name[1];
	if (row->letter)
		buf_printf(out, "\\fB\\-%c\\fR%s", row->letter, named ? separator : "");
	if (!named)
		return;
	buf_str(out, "\\fB\\-\\-");
	if (row->negatable)
		buf_str(out, "\\fR[\\fBno\\-\\fR]\\fB");
	add_text(out, row->name);
	buf_str(out, "\\fR");
}

/* The spelling of the help, with the value in italics. */
static void add_option(struct buf *out, const struct option_row *row)
{
	CLEANUP_BUF struct buf help = {0};
	buf_str(out, ".TP\n");
	add_spelling(out, row, ", ");
	if (row->type != OPTION_FLAG && (row->type != OPTION_IGNORED || row->argument)) {
		buf_str(out, " \\fI");
		add_text(out, row->argument ? row->argument : "VALUE");
		buf_printf(out, "\\fR%s", row->type == OPTION_REST ? "\\[u2026]" : "");
	} else if (row->list) {
		buf_str(out, "[=\\fI");
		add_text(out, row->argument);
		buf_str(out, "\\fR]");
	}
	buf_char(out, '\n');
	add_line(out, option_help(row, &help) ? help.data : "Ignored, for compatibility with other tools.");
	for (const char *const *choice = row->choices; choice && *choice; choice++) {
		buf_str(out, choice == row->choices ? "One of: \\fB" : "\\fR, \\fB");
		add_text(out, *choice);
	}
	if (row->choices)
		buf_str(out, "\\fR.\n");
}

static bool is_without_effect(const struct option_row *row)
{
	return row->type == OPTION_IGNORED && !row->help;
}

/* Those without an effect are many: one paragraph. */
static void add_perf_options(struct buf *out, const struct command *command)
{
	bool any = false;
	if (command->perf_options)
		buf_str(out, ".SS Options of perf\n");
	for (const struct option_row *row = NULL; (row = option_next_perf(command, row));)
		if (row->type != OPTION_REFUSED && !is_without_effect(row))
			add_option(out, row);
	for (const struct option_row *row = NULL; (row = option_next_perf(command, row));) {
		if (!is_without_effect(row))
			continue;
		buf_str(out, any ? ",\n" : ".PP\nThese options of perf are accepted and ignored:\n");
		add_spelling(out, row, "/");
		any = true;
	}
	if (any)
		buf_str(out, ".\n");
}

static void add_options(struct buf *out, const struct command *command)
{
	buf_str(out, ".SH OPTIONS\n");
	for (const struct option_row *row = NULL; (row = option_next(command, row));) {
		if (row->type == OPTION_HEADING) {
			buf_str(out, ".SS ");
			add_line(out, row->help);
		} else {
			add_option(out, row);
		}
	}
	add_perf_options(out, command);
	buf_str(out, ".SS Help\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nShow the options and examples.\n"
		     ".PP\n"
		     "Long options can be abbreviated if they are unambiguous. Their value is the next argument, or "
		     "follows \\(lq=\\(rq.\n");
}

static void add_examples(struct buf *out, const struct command_example *examples)
{
	for (const struct command_example *example = examples; example && example->command; example++) {
		buf_str(out, ".TP\n\\fB");
		add_text(out, example->command);
		buf_str(out, "\\fR\n");
		add_line(out, example->says);
	}
}

static const struct command_fact common_environment[] = {
	{"COLUMNS", "Width of the output, instead of the width of the terminal."},
	{"NO_COLOR", "If set and not empty, the output has no colors."},
	{"DEBUGINFOD_URLS", "debuginfod servers to query for missing debug files, separated by spaces. Default: none."},
	{"XDG_CACHE_HOME", "Directory of the cache. wick keeps unwind tables and function names in its subdirectory "
			   "wick. Default: ~/.cache."},
	{0},
};

static void add_fact(struct buf *out, const struct command_fact *fact)
{
	buf_str(out, ".TP\n\\fB");
	add_text(out, fact->name);
	buf_str(out, "\\fR\n");
	add_line(out, fact->meaning);
}

static void add_facts(struct buf *out, const struct command_fact *facts)
{
	for (const struct command_fact *fact = facts; fact && fact->name; fact++)
		add_fact(out, fact);
}

static void add_foot(struct buf *out, const struct command *command)
{
	buf_str(out, ".SH EXIT STATUS\n");
	for (const struct command_fact *row = NULL; (row = exit_code_next(command ? command : &command_diff, row));)
		add_fact(out, row);
	buf_str(out, ".SH ENVIRONMENT\n");
	add_facts(out, command ? command->environment : NULL);
	add_facts(out, common_environment);
	buf_str(out, ".SH SEE ALSO\n");
	const char *separator = "";
	if (command) {
		buf_str(out, ".BR wick (1)");
		separator = ",\n";
	}
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i] == command || commands[i] == &command_help)
			continue;
		buf_printf(out, "%s.BR wick\\-%s (1)", separator, commands[i]->name);
		separator = ",\n";
	}
	buf_char(out, '\n');
}

static void add_command_page(struct buf *out, const struct command *command)
{
	CLEANUP_BUF struct buf name = {0};
	buf_printf(&name, "wick-%s", command->name);
	add_heading(out, name.data);
	add_text(out, name.data);
	buf_str(out, " \\- ");
	add_line(out, command->summary);
	buf_printf(out, ".SH SYNOPSIS\n\\fBwick %s\\fR [\\fIoptions\\fR] ", command->name);
	add_line(out, command->arguments ? command->arguments : "");
	buf_str(out, ".SH DESCRIPTION\n");
	add_paragraphs(out, command->description ? command->description : command->summary);
	add_options(out, command);
	buf_str(out, ".SH EXAMPLES\n");
	add_examples(out, command->examples);
	add_foot(out, command);
}

static const struct command_example first_examples[] = {
	{"wick record -- ./program", "record a command, draw a flame graph and print the hottest functions"},
	{"sudo wick top", "watch the whole system"},
	{"wick flame -o cpu.svg perf.data", "draw a recording made by perf"},
	{"wick diff before.folded after.folded", "show what changed between two profiles"},
	{0},
};

static void add_main_page(struct buf *out)
{
	add_heading(out, "wick");
	buf_str(out,
		"wick \\- a sampling profiler for Linux\n"
		".SH SYNOPSIS\n\\fBwick\\fR \\fICOMMAND\\fR [\\fIoptions\\fR] [\\fIarguments\\fR]\n"
		".br\n\\fBwick help\\fR [\\fICOMMAND\\fR]\n.br\n\\fBwick \\-\\-version\\fR\n"
		".SH DESCRIPTION\n"
		"wick records programs, processes or the whole system, or reads existing profiles: perf.data, the\n"
		"text of \\fBperf script\\fR, or folded stacks. Text may be compressed with gzip, xz or zstd.\n"
		"It shows where the time is spent: as an interactive flame graph in one SVG file, as a comparison,\n"
		"as tables and call trees, or as folded stacks for other tools.\n"
		".SH COMMANDS\n");
	for (size_t i = 0; commands[i]; i++) {
		buf_printf(out, ".TP\n\\fBwick %s\\fR\n", commands[i]->name);
		add_line(out, commands[i]->summary);
	}
	buf_str(out, ".SS Options of wick help\n");
	for (const struct option_row *row = command_help.options; row->type != OPTION_HEADING; row++)
		add_option(out, row);
	buf_str(out, ".SH EXAMPLES\n");
	add_examples(out, first_examples);
	add_examples(out, command_help.examples);
	add_foot(out, NULL);
}

void manual_page(struct buf *out, const struct command *command)
{
	if (command && command != &command_help)
		add_command_page(out, command);
	else
		add_main_page(out);
}
