/*
 * Commands and their options, as tables. Parsing, `--help`, the man pages and the shell completions all come from the
 * same rows.
 */
#ifndef WICK_CMD_COMMAND_H
#define WICK_CMD_COMMAND_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum exit_code {
	EXIT_DONE = 0, /* done */
	EXIT_FAILED = 1, /* failed, said in one line on standard error */
	EXIT_USAGE = 2, /* wrong options or arguments */
	EXIT_THRESHOLD = 3, /* done, and a threshold was exceeded (diff --fail-if) */
	EXIT_MEMORY = 4, /* ended at the limit of --max-memory */
	/*
	 * Of functions that are a step of a command: it continues with the next one. No exit code, which has 8 bits,
	 * and no code of base/err.h, which are negative, has this value.
	 */
	PROCEED = 256,
};

enum option_type {
	OPTION_HEADING, /* only `help`: a heading in the list of options */
	OPTION_FLAG, /* bool; with `negatable`, --no-NAME clears it; with `list`, --NAME=ARGUMENT adds to that list */
	OPTION_STRING, /* const char * */
	OPTION_INT, /* long long, or an integer of `size` bytes; within [min, max] when max > min */
	OPTION_NUMBER, /* double, or uint64_t if it has a `scale`; within [min, max] when max > min */
	OPTION_CHOICE, /* an enum: the index of one of `choices`; without `initial` their number, if none was given */
	OPTION_LIST, /* struct option_list: may be given several times */
	OPTION_REST, /* struct option_list: takes all arguments up to the next option (--before a b c) */
	OPTION_COMMAS, /* struct option_list: a,b,c; may be given several times */
	OPTION_OPTIONAL, /* const char *: "" without a value; the next argument is one if it starts with a choice */
	OPTION_ARGUMENT, /* its value is an argument of the command (-i FILE) */
	OPTION_IGNORED, /* accepted without effect; takes a value when `argument` is set */
	OPTION_REFUSED, /* has no meaning in wick: `help` names what does */
	OPTION_TABLE, /* the rows of `table`, which several commands have */
};

struct option_list {
	const char **items; /* NULL-terminated when not NULL */
	size_t count, capacity;
};

struct option_row {
	const char *name; /* without the dashes */
	char letter; /* short form, or 0 */
	enum option_type type;
	size_t offset; /* of the field in the command's struct */
	const char *argument; /* what the value is called in help: "FILE" */
	const char *help; /* one or two sentences; states the default */
	void (*add_help)(struct buf *out); /* continues `help` from a table; NULL: nothing */
	const char *const *choices; /* NULL-terminated */
	/*
	 * What the field is when the option is not given, as it would be typed; "on" for a flag. Help ends with it,
	 * unless `initial_described`: then `help` has other words for it. NULL: the field stays as the command set it.
	 */
	const char *initial;
	bool initial_described;
	const struct option_row *table; /* of OPTION_TABLE; ended by OPTION_END */
	double min, max;
	size_t size; /* OPTION_INT: of the field; 0: that of long long */
	double scale; /* OPTION_NUMBER: the field counts 1/scale: 1e9 for seconds as nanoseconds; 0: none */
	const char *max_word; /* OPTION_INT: stands for `max` */
	const char *clash; /* what perf's option of this letter has to do with it, for who gives it a wrong value */
	size_t list; /* OPTION_FLAG: offset of a struct option_list; 0: none */
	size_t given; /* OPTION_FLAG: offset of a bool that says whether it was given; 0: none */
	const char *only; /* the command that has it, where several share a table; NULL: all of them */
	bool negatable;
	bool hidden; /* accepted for compatibility, not listed in --help; listed in the man page */
};
/* clang-format off */
#define OPTION_END {0}
/* clang-format on */

struct command_example {
	const char *command; /* what to type */
	const char *says; /* what it does */
};

/* A row of EXIT STATUS or ENVIRONMENT in help and man pages. */
struct command_fact {
	const char *name; /* "127", "DURATION" */
	const char *meaning;
};

struct command {
	const char *name;
	const char *summary; /* one line for `wick help` */
	const char *arguments; /* "[FILE…]" */
	const char *description; /* paragraphs, separated by blank lines */
	const struct option_row *options;
	/*
	 * What perf's command of this name takes besides, so that scripts continue to work; ended like `options`; NULL:
	 * none. Not in --help. A letter or name that is in both tables means what `options` says.
	 */
	const struct option_row *perf_options;
	const struct command_example *examples; /* ends with {0} */
	/* Those besides the ones of every command; they end with {0}; NULL: none. */
	const struct command_fact *exit_codes, *environment;
	bool runs_command; /* its arguments are a command with options of its own: the first one ends wick's */
	int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns an exit_code */
};

/* All commands, ended by NULL, in the order of `wick help`. */
extern const struct command *const commands[];

extern const struct command command_record, command_top, command_fold, command_flame, command_diff, command_report,
	command_script, command_doctor, command_containers;

/*
 * The row after `row` (NULL: the first) in the table `options` of a command, headings included; NULL after the last.
 * option_next_perf() is the same for `perf_options`.
 */
const struct option_row *option_next(const struct command *command, const struct option_row *row);
const struct option_row *option_next_perf(const struct command *command, const struct option_row *row);
/* All of its help; false where a row has none. */
bool option_help(const struct option_row *row, struct buf *out);
/*
 * Sets the initial values, then parses argv[1…] by the table into `fields`; what is no option goes to `arguments`. Long
 * options take "--name value" and "--name=value", unique prefixes are accepted as Getopt::Long does, "--" ends options,
 * "-" is an argument. Handles --help by itself. Returns PROCEED, or the exit code to leave with (messages were printed
 * and the lists in `fields` and `arguments` released).
 */
int options_parse(const struct command *command, int argc, char **argv, void *fields, struct option_list *arguments);
/* The one of `choices` (ended by NULL) that was meant more likely than `typed`; NULL: none comes near. */
const char *suggest_choice(const char *typed, const char *const *choices);
void option_list_add(struct option_list *list, const char *item);
void option_list_release(struct option_list *list);

/* "wick: TEXT" on standard error, as one line: control characters in it are replaced. */
void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for what is no failure. */
void say_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A wrong use of `command`: the message and where help is; returns EXIT_USAGE. */
int say_usage(const struct command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints a failure and returns its exit code; a closed pipe is silent. */
int say_failure(const struct err *err);

#endif
