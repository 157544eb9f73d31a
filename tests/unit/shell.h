/* Programs of the system as witnesses, and a folder for what they write. */
#ifndef WICK_TESTS_SHELL_H
#define WICK_TESTS_SHELL_H

#include "unit.h"

#include "base/buf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char shell_folder[] = "/tmp/wick-test-XXXXXX";

/* Group set-up and teardown: makes the folder, enters it, removes it. */
static inline int shell_enter(void **state)
{
	(void)state;
	return !mkdtemp(shell_folder) || chdir(shell_folder);
}

static inline int shell_leave(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", shell_folder, shell_folder);
	return chdir("/") || system(command);
}

static inline bool shell_has(const char *program)
{
	char command[128];
	snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
	return !system(command);
}

/* Runs a command that must succeed. */
static inline void shell(const char *command)
{
	int status = system(command);
	if (status)
		print_error("status %d: %s\n", status, command);
	assert_int_equal(status, 0);
}

/* What a command writes; the caller releases it. */
static inline struct buf shell_output(const char *command)
{
	struct buf out = {0};
	FILE *pipe = popen(command, "re");
	assert_non_null(pipe);
	size_t count;
	while ((count = fread(buf_reserve(&out, 65536), 1, 65536, pipe)))
		out.size += count;
	buf_char(&out, '\0');
	out.size--;
	assert_int_equal(pclose(pipe), 0);
	return out;
}

/* Takes the next line off *text and ends it; NULL when there is none. */
static inline char *shell_line(char **text)
{
	char *line = *text;
	if (!line || !*line)
		return NULL;
	char *end = strchr(line, '\n');
	if (end)
		*end++ = '\0';
	*text = end;
	return line;
}

static inline struct buf shell_file(const char *path)
{
	struct buf bytes = {0};
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	size_t count;
	while ((count = fread(buf_reserve(&bytes, 65536), 1, 65536, file)))
		bytes.size += count;
	fclose(file);
	return bytes;
}

#endif
