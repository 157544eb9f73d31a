/* Parses the command line with the tables of a command. */
#include "base/text.h"
#include "cmd/help.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

void option_list_add(struct option_list *list, const char *item)
{
	if (list->count + 2 > list->capacity)
		list->items = mem_grow(list->items, &list->capacity, list->count + 2, sizeof *list->items);
	list->items[list->count++] = item;
	list->items[list->count] = NULL;
}

void option_list_release(struct option_list *list)
{
	free(list->items);
	*list = (struct option_list){0};
}

bool option_help(const struct option_row *row, struct buf *out)
{
	if (!row->help)
		return false;
	buf_str(out, row->help);
	if (row->add_help) {
		buf_char(out, ' ');
		row->add_help(out);
	}
	if (row->initial && !row->initial_described)
		buf_printf(out, " Default: %s.", row->initial);
	return true;
}

struct parser {
	const struct command *command;
	int argc;
	char **argv;
	int at; /* the next argument */
	void *fields;
	struct option_list *arguments;
};

/* Every table has --help, without a row of its own. */
static const struct option_row help_row = {.name = "help", .letter = 'h', .type = OPTION_FLAG};

/* An option as it was typed: its row, and whether "no-" came before. */
struct match {
	const struct option_row *row;
	bool negated;
};

static void *field_of(const struct parser *parser, const struct option_row *row)
{
	return (char *)parser->fields + row->offset;
}

/* The first row after `row`, once that was found. Rows of tables stand where the table is. */
static const struct option_row *next_row(const struct command *command, const struct option_row *table,
					 const struct option_row *row, bool *found)
{
	for (const struct option_row *at = table; at && (at->type != OPTION_HEADING || at->help); at++) {
		if (at->type == OPTION_TABLE) {
			const struct option_row *next = next_row(command, at->table, row, found);
			if (next)
				return next;
		} else if (*found && (!at->only || strcmp(at->only, command->name) == 0)) {
			return at;
		} else {
			*found = *found || at == row;
		}
	}
	return NULL;
}

const struct option_row *option_next(const struct command *command, const struct option_row *row)
{
	bool found = !row;
	return next_row(command, command->options, row, &found);
}

const struct option_row *option_next_perf(const struct command *command, const struct option_row *row)
{
	bool found = !row;
	return next_row(command, command->perf_options, row, &found);
}

/* Over all options: those of the command, --help, those of perf. */
static const struct option_row *next_option(const struct command *command, const struct option_row *row)
{
	bool of_perf = row == &help_row;
	for (const struct option_row *perf = NULL; !of_perf && row && (perf = option_next_perf(command, perf));)
		of_perf = perf == row;
	if (of_perf)
		return option_next_perf(command, row == &help_row ? NULL : row);
	while ((row = option_next(command, row)))
		if (row->type != OPTION_HEADING)
			return row;
	return &help_row;
}

static bool match_exact(const struct command *command, const char *name, struct match *ret)
{
	for (const struct option_row *row = NULL; (row = next_option(command, row));) {
		if (!strcmp(row->name, name)) {
			*ret = (struct match){row, false};
			return true;
		}
	}
	if (strncmp(name, "no", 2) != 0)
		return false;
	/* "--no-comm", and "--nocomm" as Getopt::Long takes it */
	const char *positive = name[2] == '-' ? name + 3 : name + 2;
	for (const struct option_row *row = NULL; (row = next_option(command, row));) {
		if (row->negatable && !strcmp(row->name, positive)) {
			*ret = (struct match){row, true};
			return true;
		}
	}
	return false;
}

/* 2 with "--no-NAME", else 1 */
static int spellings_of(const struct option_row *row)
{
	return row->negatable ? 2 : 1;
}

static void add_spelling(struct buf *out, const struct match *match)
{
	buf_printf(out, "--%s%s", match->negated ? "no-" : "", match->row->name);
}

/* Counts what `prefix` may stand for; `spellings` gets their list for the message about an ambiguous one. */
static unsigned match_prefix(const struct command *command, const char *prefix, bool hidden, struct match *ret,
			     struct buf *spellings)
{
	size_t length = strlen(prefix);
	unsigned found = 0;
	for (const struct option_row *row = NULL; (row = next_option(command, row));) {
		for (int negated = 0; negated < spellings_of(row); negated++) {
			struct match match = {row, negated};
			CLEANUP_BUF struct buf spelling = {0};
			add_spelling(&spelling, &match);
			if (row->hidden != hidden || strncmp(spelling.data + 2, prefix, length) != 0)
				continue;
			if (found++)
				buf_str(spellings, ", ");
			buf_str(spellings, spelling.data);
			*ret = match;
		}
	}
	return found;
}

unsigned suggest_limit(const char *typed)
{
	size_t length = strlen(typed);
	return length < 3 ? 1 : length < 9 ? 2 : 3;
}

static bool suggest_option(const struct command *command, const char *name, struct buf *ret_spelling)
{
	unsigned best = suggest_limit(name) + 1;
	for (const struct option_row *row = NULL; (row = next_option(command, row));) {
		if (row->type == OPTION_IGNORED || row->type == OPTION_REFUSED)
			continue;
		for (int negated = 0; negated < spellings_of(row); negated++) {
			CLEANUP_BUF struct buf spelling = {0};
			add_spelling(&spelling, &(struct match){row, negated});
			unsigned distance = text_distance(name, spelling.data + 2);
			if (distance >= best || distance >= strlen(name))
				continue;
			best = distance;
			buf_clear(ret_spelling);
			buf_str(ret_spelling, spelling.data);
		}
	}
	return ret_spelling->size > 0;
}

static int unknown_option(const struct command *command, const char *typed, const char *name)
{
	CLEANUP_BUF struct buf spelling = {0};
	struct match match;
	if (suggest_option(command, name, &spelling))
		return say_usage(command, "unknown option %s; did you mean %s?", typed, spelling.data);
	for (size_t i = 0; commands[i]; i++)
		if (commands[i] != command && match_exact(commands[i], name, &match))
			return say_usage(command, "unknown option %s; it is an option of wick %s", typed,
					 commands[i]->name);
	return say_usage(command, "unknown option %s", typed);
}

static int match_long(const struct command *command, const char *name, struct match *ret)
{
	CLEANUP_BUF struct buf spellings = {0};
	CLEANUP_BUF struct buf typed = {0};
	if (match_exact(command, name, ret))
		return PROCEED;
	buf_printf(&typed, "--%s", name);
	if (!*name)
		return say_usage(command, "unknown option %s", typed.data);
	unsigned found = match_prefix(command, name, false, ret, &spellings);
	if (!found)
		found = match_prefix(command, name, true, ret, &spellings);
	if (found == 1)
		return PROCEED;
	if (found)
		return say_usage(command, "%s is ambiguous: %s", typed.data, spellings.data);
	return unknown_option(command, typed.data, name);
}

/* A listed option where a value should be: the value was forgotten more likely than meant. */
static bool looks_like_option(const struct parser *parser, const char *text)
{
	struct match match;
	return !strncmp(text, "--", 2) && text[2] && match_exact(parser->command, text + 2, &match);
}

static void store_int(const struct parser *parser, const struct option_row *row, long long value)
{
	if (row->size == sizeof(int32_t))
		*(int32_t *)field_of(parser, row) = (int32_t)value;
	else
		*(long long *)field_of(parser, row) = value;
}

static void store_double(const struct parser *parser, const struct option_row *row, double value)
{
	if (row->scale > 0)
		*(uint64_t *)field_of(parser, row) = value > 0 ? (uint64_t)(value * row->scale) : 0;
	else
		*(double *)field_of(parser, row) = value;
}

static int out_of_range(const struct parser *parser, const char *shown, const struct option_row *row, const char *value)
{
	return say_usage(parser->command, "%s must be from %.15g to %.15g, not %s", shown, row->min, row->max, value);
}

static int store_number(struct parser *parser, const char *shown, const struct option_row *row, const char *value)
{
	char *end;
	double number;
	errno = 0;
	if (row->type == OPTION_INT) {
		long long whole = strtoll(value, &end, 10);
		number = (double)whole;
		if (end == value || *end)
			return say_usage(parser->command, "%s must be a whole number, not '%s'", shown, value);
		if (!errno)
			store_int(parser, row, whole);
	} else {
		number = strtod(value, &end);
		if (end == value || *end || !isfinite(number))
			return say_usage(parser->command, "%s must be a number, not '%s'%s%s", shown, value,
					 row->clash ? "; " : "", row->clash ? row->clash : "");
	}
	if (row->max > row->min && (errno || number < row->min || number > row->max))
		return out_of_range(parser, shown, row, value);
	if (errno == ERANGE && number != 0)
		return say_usage(parser->command, "%s: %s is too large", shown, value);
	if (row->type == OPTION_NUMBER)
		store_double(parser, row, number);
	return PROCEED;
}

const char *suggest_choice(const char *typed, const char *const *choices)
{
	const char *nearest = NULL;
	unsigned best = suggest_limit(typed) + 1;
	for (; *choices; choices++) {
		unsigned distance = text_distance(typed, *choices);
		if (distance < best) {
			best = distance;
			nearest = *choices;
		}
	}
	return nearest;
}

static int store_choice(struct parser *parser, const char *shown, const struct option_row *row, const char *value)
{
	CLEANUP_BUF struct buf list = {0};
	for (const char *const *choice = row->choices; *choice; choice++) {
		if (!strcmp(*choice, value)) {
			*(int *)field_of(parser, row) = (int)(choice - row->choices);
			return PROCEED;
		}
		buf_printf(&list, "%s%s", list.size ? ", " : "", *choice);
	}
	const char *nearest = suggest_choice(value, row->choices);
	if (nearest)
		return say_usage(parser->command, "%s cannot be '%s'; did you mean %s?", shown, value, nearest);
	return say_usage(parser->command, "%s cannot be '%s'; use one of %s", shown, value, list.data);
}

static void store_commas(struct option_list *list, const char *value)
{
	/* Arguments of a program may be written to. */
	for (char *at = (char *)value, *comma; at; at = comma ? comma + 1 : NULL) {
		comma = strchr(at, ',');
		if (comma)
			*comma = '\0';
		option_list_add(list, at);
	}
}

static int store_value(struct parser *parser, const char *shown, const struct option_row *row, const char *value)
{
	void *field = field_of(parser, row);
	switch (row->type) {
	case OPTION_INT:
		if (row->max_word && !strcmp(value, row->max_word)) {
			store_int(parser, row, (long long)row->max);
			return PROCEED;
		}
		return store_number(parser, shown, row, value);
	case OPTION_NUMBER:
		return store_number(parser, shown, row, value);
	case OPTION_CHOICE:
		return store_choice(parser, shown, row, value);
	case OPTION_STRING:
	case OPTION_OPTIONAL:
		*(const char **)field = value;
		return PROCEED;
	case OPTION_COMMAS:
		store_commas(field, value);
		return PROCEED;
	case OPTION_ARGUMENT:
		option_list_add(parser->arguments, value);
		return PROCEED;
	case OPTION_LIST:
	case OPTION_REST:
		option_list_add(field, value);
		return PROCEED;
	case OPTION_HEADING:
	case OPTION_FLAG:
	case OPTION_IGNORED:
	case OPTION_REFUSED:
	case OPTION_TABLE:
		break;
	}
	return PROCEED;
}

static bool takes_value(const struct option_row *row)
{
	return row->type != OPTION_FLAG && row->type != OPTION_REFUSED &&
	       (row->type != OPTION_IGNORED || row->argument);
}

/* Whether the next argument belongs to an option that can do without. */
static bool value_follows(const struct parser *parser, const struct option_row *row)
{
	const char *next = parser->at < parser->argc ? parser->argv[parser->at] : "";
	size_t length = strcspn(next, ",");
	for (const char *const *choice = row->choices; choice && *choice; choice++)
		if (strlen(*choice) == length && !strncmp(next, *choice, length))
			return true;
	return false;
}

/* "--pid 12,13", as perf takes it: a list, and no file. */
static bool numbers_follow(const struct parser *parser)
{
	const char *next = parser->at < parser->argc ? parser->argv[parser->at] : "";
	return *next && !next[strspn(next, "0123456789,")] && access(next, F_OK) != 0;
}

/* `value` is what came with the option ("=VALUE", or behind its letter), or NULL. `shown` is the option as typed. */
static int take_option(struct parser *parser, const char *shown, struct match match, const char *value)
{
	const struct option_row *row = match.row;
	if (row->type == OPTION_REFUSED)
		return say_usage(parser->command, "%s: %s", shown, row->help);
	if (row->type == OPTION_IGNORED && (value || !row->argument))
		return PROCEED;
	if (row->type == OPTION_OPTIONAL && !value && !value_follows(parser, row))
		return store_value(parser, shown, row, "");
	if (row->type == OPTION_FLAG) {
		if (!value && row->list && !match.negated && numbers_follow(parser))
			value = parser->argv[parser->at++];
		if (value && row->list && !match.negated) {
			option_list_add((struct option_list *)((char *)parser->fields + row->list), value);
			return PROCEED;
		}
		if (value)
			return say_usage(parser->command, "%s takes no value", shown);
		if (row == &help_row)
			return help_print(parser->command);
		*(bool *)field_of(parser, row) = !match.negated;
		if (row->given)
			*(bool *)((char *)parser->fields + row->given) = !match.negated;
		return PROCEED;
	}
	if (!value) {
		const char *next = parser->at < parser->argc ? parser->argv[parser->at] : NULL;
		if (!next)
			return say_usage(parser->command, "%s needs a value: %s", shown,
					 row->argument ? row->argument : "VALUE");
		if (looks_like_option(parser, next))
			return say_usage(parser->command, "%s needs a value; if the value is %s, use %s=%s", shown,
					 next, shown, next);
		value = next;
		parser->at++;
	}
	int code = store_value(parser, shown, row, value);
	while (code == PROCEED && row->type == OPTION_REST && parser->at < parser->argc) {
		const char *next = parser->argv[parser->at];
		if (next[0] == '-' && next[1])
			break;
		code = store_value(parser, shown, row, next);
		parser->at++;
	}
	return code;
}

/* `text` is behind the dashes: "name" or "name=value". */
static int take_long(struct parser *parser, const char *text)
{
	const char *equals = strchr(text, '=');
	CLEANUP_BUF struct buf name = {0};
	CLEANUP_BUF struct buf shown = {0};
	struct match match;
	buf_add(&name, text, equals ? (size_t)(equals - text) : strlen(text));
	int code = match_long(parser->command, name.data, &match);
	if (code != PROCEED)
		return code;
	add_spelling(&shown, &match);
	return take_option(parser, shown.data, match, equals ? equals + 1 : NULL);
}

/* "-title x": one dash before a long name, which Getopt::Long takes too, so scripts have it. */
static bool is_long_with_one_dash(const struct command *command, const char *text)
{
	CLEANUP_BUF struct buf name = {0};
	struct match match;
	size_t length = strcspn(text, "=");
	buf_add(&name, text, length);
	return length > 1 && match_exact(command, name.data, &match);
}

/* "-x", "-xyz", "-xVALUE" */
static int take_letters(struct parser *parser, const char *letters)
{
	for (const char *letter = letters; *letter; letter++) {
		const struct option_row *row = NULL;
		char shown[3] = {'-', *letter, '\0'};
		while ((row = next_option(parser->command, row)))
			if (row->letter == *letter)
				break;
		if (!row && letter == letters) {
			CLEANUP_BUF struct buf typed = {0};
			buf_printf(&typed, "-%s", letters);
			return unknown_option(parser->command, typed.data, letters);
		}
		if (!row)
			return say_usage(parser->command, "unknown option -%c (in -%s)", *letter, letters);
		bool flag = !takes_value(row);
		const char *value = flag || !letter[1] ? NULL : letter[1] == '=' ? letter + 2 : letter + 1;
		int code = take_option(parser, shown, (struct match){row, false}, value);
		if (code != PROCEED || !flag)
			return code;
	}
	return PROCEED;
}

static int take_argument(struct parser *parser, const char *text, bool *options_ended)
{
	if (*options_ended || text[0] != '-' || !text[1]) {
		option_list_add(parser->arguments, text);
		*options_ended |= parser->command->runs_command;
		return PROCEED;
	}
	if (text[1] != '-')
		return is_long_with_one_dash(parser->command, text + 1) ? take_long(parser, text + 1) :
									  take_letters(parser, text + 1);
	if (text[2])
		return take_long(parser, text + 2);
	*options_ended = true;
	return PROCEED;
}

static void release_lists(const struct parser *parser)
{
	for (const struct option_row *row = NULL; (row = next_option(parser->command, row));)
		if (row->type == OPTION_LIST || row->type == OPTION_REST || row->type == OPTION_COMMAS)
			option_list_release(field_of(parser, row));
		else if (row->list)
			option_list_release((struct option_list *)((char *)parser->fields + row->list));
	option_list_release(parser->arguments);
}

static void set_initial(struct parser *parser, const struct option_row *row)
{
	if (row->type == OPTION_CHOICE && !row->initial) {
		int count = 0;
		while (row->choices[count])
			count++;
		*(int *)field_of(parser, row) = count;
	} else if (row->initial && row->type == OPTION_FLAG) {
		*(bool *)field_of(parser, row) = !strcmp(row->initial, "on");
	} else if (row->initial && row->type == OPTION_INT) {
		store_int(parser, row, strtoll(row->initial, NULL, 10)); /* -1 may be out of range */
	} else if (row->initial && row->type == OPTION_NUMBER) {
		store_double(parser, row, strtod(row->initial, NULL));
	} else if (row->initial) {
		store_value(parser, row->name, row, row->initial);
	}
}

int options_parse(const struct command *command, int argc, char **argv, void *fields, struct option_list *arguments)
{
	struct parser parser = {command, argc, argv, 1, fields, arguments};
	bool options_ended = false;
	int code = PROCEED;
	for (const struct option_row *row = NULL; (row = next_option(command, row));)
		set_initial(&parser, row);
	while (code == PROCEED && parser.at < argc) {
		const char *text = argv[parser.at++];
		code = take_argument(&parser, text, &options_ended);
	}
	if (code != PROCEED)
		release_lists(&parser);
	return code;
}
