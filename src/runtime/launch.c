/* Finds out which runtimes a command starts, and merges their options. */
#include "runtime/launch.h"

#include "base/clock.h"
#include "base/regular_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCRIPT_MAX 65536 /* bytes of a script that are searched */
#define ACCEPT_MS 2000

/*
 * DumpPerfMapAtExit came with JDK 17; older ones must not refuse to start because of it. Diagnostic options have to be
 * unlocked first.
 */
static const struct launch_variable variables[] = {
	{LAUNCH_JAVA, "JAVA_TOOL_OPTIONS",
	 "-XX:+IgnoreUnrecognizedVMOptions -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions "
	 "-XX:+DebugNonSafepoints -XX:+DumpPerfMapAtExit"},
	{LAUNCH_NODE, "NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack"},
};

const struct launch_variable *launch_variable(enum launch_runtime runtime)
{
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		if (variables[i].runtime == runtime)
			return &variables[i];
	return NULL;
}

/* --- which runtimes --- */

static bool is_one_of(const char *name, size_t length, const char *const *names)
{
	for (; *names; names++)
		if (strlen(*names) == length && !memcmp(*names, name, length))
			return true;
	return false;
}

static unsigned runtime_of_name(const char *name, size_t length)
{
	static const char *const java[] = {"java", "javac", "jshell", NULL}, *const node[] = {"node", "nodejs", NULL};
	bool python = length >= strlen("python") && !memcmp(name, "python", strlen("python")); /* "python3.12" */
	return (is_one_of(name, length, java) ? LAUNCH_JAVA : 0u) | (is_one_of(name, length, node) ? LAUNCH_NODE : 0u) |
	       (python ? LAUNCH_PYTHON : 0u);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static unsigned runtime_of_path(const char *path)
{
	const char *name = base_name(path);
	return runtime_of_name(name, strlen(name));
}

/* Programs that run what their arguments name. */
static bool runs_arguments(const char *path)
{
	static const char *const names[] = {"env",     "nice",    "nohup",   "timeout", "taskset", "setsid",
					    "stdbuf",  "time",    "numactl", "chrt",    "ionice",  "sudo",
					    "setpriv", "runuser", "sh",      "bash",    "dash",    "ksh",
					    "zsh",     "busybox", "xargs",   "unshare", "chroot",  NULL};
	const char *name = base_name(path);
	return is_one_of(name, strlen(name), names);
}

static bool is_shell(const char *path)
{
	static const char *const names[] = {"sh", "bash", "dash", "ksh", "zsh", "busybox", NULL};
	const char *name = base_name(path);
	return is_one_of(name, strlen(name), names);
}

static bool in_word(unsigned char c)
{
	return isalnum(c) || c == '_' || c == '-' || c == '.' || c >= 0x80;
}

unsigned launch_find_in_script(const char *text, size_t size)
{
	unsigned found = 0;
	bool line_begins = true;
	for (size_t i = 0; i < size;) {
		if (line_begins && text[i] == '#') {
			const char *end = memchr(text + i, '\n', size - i);
			i = end ? (size_t)(end - text) : size;
			continue;
		}
		if (!in_word((unsigned char)text[i])) {
			line_begins = text[i] == '\n' || (line_begins && isblank((unsigned char)text[i]));
			i++;
			continue;
		}
		size_t start = i;
		while (i < size && in_word((unsigned char)text[i]))
			i++;
		found |= runtime_of_name(text + start, i - start);
		line_begins = false;
	}
	return found;
}

/* The file that execvp() would run. */
static bool find_program(const char *name, char path[PATH_MAX])
{
	if (strchr(name, '/'))
		return realpath(name, path);
	const char *places = getenv("PATH");
	for (const char *at = places ? places : "/bin:/usr/bin"; at;
	     at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
		char candidate[PATH_MAX];
		int length = (int)strcspn(at, ":");
		int written =
			snprintf(candidate, sizeof candidate, "%.*s/%s", length ? length : 1, length ? at : ".", name);
		if (written > 0 && (size_t)written < sizeof candidate && !access(candidate, X_OK) &&
		    realpath(candidate, path))
			return true;
	}
	return false;
}

/* "#!/usr/bin/env node": the words of the first line name it. The text of a shell script does too. */
static unsigned find_in_file(const char *path)
{
	CLEANUP_BUF struct buf text = {0};
	struct stat status;
	int fd = regular_file_open(path, true, &status);
	if (fd < 0)
		return 0;
	char *room = buf_reserve(&text, SCRIPT_MAX);
	ssize_t count = read(fd, room, SCRIPT_MAX);
	close(fd);
	if (count < 3 || room[0] != '#' || room[1] != '!')
		return 0;
	const char *end = memchr(room, '\n', (size_t)count);
	size_t line = end ? (size_t)(end - room) : (size_t)count;
	unsigned found = launch_find_in_script(room + 2, line - 2);
	char interpreter[64] = "";
	sscanf(room + 2, "%*[ \t]%63[^ \t\n]", interpreter);
	if (!*interpreter)
		sscanf(room + 2, "%63[^ \t\n]", interpreter);
	/* "env bash", "env -S bash" */
	bool shell = is_shell(interpreter) || !strcmp(base_name(interpreter), "env");
	return found || !shell ? found : launch_find_in_script(room + line, (size_t)count - line);
}

unsigned launch_find(char *const *command)
{
	char path[PATH_MAX];
	unsigned found = runtime_of_path(command[0]);
	if (!found && find_program(command[0], path))
		found = runtime_of_path(path) | find_in_file(path);
	if (found || !runs_arguments(command[0]))
		return found;
	for (size_t i = 1; command[i]; i++) {
		found |= launch_find_in_script(command[i], strlen(command[i]));
		/* Scripts and programs; most arguments are not the name of either. */
		if (command[i][0] != '-' && find_program(command[i], path))
			found |= runtime_of_path(path) | find_in_file(path);
	}
	return found;
}

/* --- options --- */

/* "-XX:+Name" and "-XX:-Name" are the same option, and so are "--name" and "--name=value". */
static void option_name(const char *option, size_t length, const char **ret_name, size_t *ret_length)
{
	size_t skipped = length > 5 && !strncmp(option, "-XX:", 4) && (option[4] == '+' || option[4] == '-') ? 5 : 0;
	const char *value = memchr(option, '=', length);
	*ret_name = option + skipped;
	*ret_length = (value ? (size_t)(value - option) : length) - skipped;
}

static bool has_option(const char *text, const char *option, size_t length)
{
	const char *wanted, *name;
	size_t wanted_length, name_length;
	option_name(option, length, &wanted, &wanted_length);
	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		size_t word = strcspn(text, " \t");
		option_name(text, word, &name, &name_length);
		if (name_length == wanted_length && !memcmp(name, wanted, wanted_length))
			return true;
		text += word;
	}
	return false;
}

bool launch_merge(struct buf *out, const char *old, const char *options)
{
	bool added = false;
	if (old)
		buf_str(out, old);
	for (options += strspn(options, " "); *options; options += strspn(options, " ")) {
		size_t length = strcspn(options, " ");
		if (!old || !has_option(old, options, length)) {
			buf_printf(out, "%s%.*s", out->size ? " " : "", (int)length, options);
			added = true;
		}
		options += length;
	}
	return added;
}

/* --- trying them --- */

static _Noreturn void run_version(const char *program, const char *variable, const char *value)
{
	int null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	setenv(variable, value, 1);
	execlp(program, program, "--version", (char *)NULL);
	_exit(127);
}

bool launch_accepts(const char *program, const char *variable, const char *value)
{
	int status = -1;
	pid_t child = fork();
	if (child < 0)
		return false;
	if (child == 0)
		run_version(program, variable, value);
	int fd = (int)syscall(SYS_pidfd_open, child, 0);
	struct pollfd ended = {.fd = fd, .events = POLLIN};
	if (fd < 0 || poll(&ended, 1, ACCEPT_MS) <= 0)
		kill(child, SIGKILL);
	if (fd >= 0)
		close(fd);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}
