/* What is written from the tables of the commands: help, man pages, shell completions. */
#ifndef WICK_CMD_HELP_H
#define WICK_CMD_HELP_H

#include "base/outfile.h"
#include "cmd/command.h"

extern const struct command command_help;

/*
 * The exit codes of a command, in order: the row after `row` (NULL: the first); NULL after the last. Those of every
 * command come first, with the meaning that this one gives them.
 */
const struct command_fact *exit_code_next(const struct command *command, const struct command_fact *row);

/* The command of a name, or NULL. */
const struct command *command_find(const char *name);
/* The command that is written most like `name`, or NULL when none comes near. */
const struct command *command_suggest(const char *name);
/* An edit distance that still looks like a slip when `typed` was meant to be something else. */
unsigned suggest_limit(const char *typed);

/* `wick CMD --help`, for `width` columns. */
void help_command(struct buf *out, const struct command *command, int width);
/* Prints the help of a command (NULL: the overview) on standard output; returns an exit code. */
int help_print(const struct command *command);

/* The man page of a command, or wick(1) for NULL. */
void manual_page(struct buf *out, const struct command *command);

/* The completion script for "bash" or "zsh". */
void completion_bash(struct buf *out);
void completion_zsh(struct buf *out);

#endif
