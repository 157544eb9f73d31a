/*
 * Options that make language runtimes describe the code they generate, for a command that is about to be started: which
 * runtimes it starts, as far as that can be seen, and the environment variables that they read options from.
 */
#ifndef WICK_RUNTIME_LAUNCH_H
#define WICK_RUNTIME_LAUNCH_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* Bits of a set. */
enum launch_runtime { LAUNCH_JAVA = 1, LAUNCH_NODE = 2, LAUNCH_PYTHON = 4 };

struct launch_variable {
	enum launch_runtime runtime;
	const char *name, *options; /* separated by blanks */
};

/* NULL: there is none, and Python needs none. */
const struct launch_variable *launch_variable(enum launch_runtime runtime);

/*
 * The runtimes that a command starts: it is their program, a script that they run, a shell script whose text has their
 * name as a word, or a program such as env or sh that has it among its arguments.
 */
unsigned launch_find(char *const *command);
/* The runtimes that the text of a shell script names. Comments do not count. */
unsigned launch_find_in_script(const char *text, size_t size);

/*
 * Writes the value of a variable that has all options: `old` (may be NULL), and those that it does not have, switched
 * on or off. Returns whether there were any to add.
 */
bool launch_merge(struct buf *out, const char *old, const char *options);

/* Whether a program (found in PATH) accepts the value: its --version succeeds, within two seconds. */
bool launch_accepts(const char *program, const char *variable, const char *value);

#endif
