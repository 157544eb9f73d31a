/*
 * The environment of a command that starts a language runtime: options by which it describes the code it generates. And
 * what it has written, which goes to the recording.
 */
#include "cmd/record/record.h"
#include "runtime/launch.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Node.js refuses to start with options that it does not allow there. */
static bool is_accepted(struct record_run *run, const struct launch_variable *variable, const char *value)
{
	const char *program = run->command.items[0], *slash = strrchr(program, '/');
	if (variable->runtime != LAUNCH_NODE)
		return true;
	if (strncmp(slash ? slash + 1 : program, "node", 4) != 0)
		program = "node";
	return launch_accepts(program, variable->name, value);
}

/*
 * Runtimes follow links when they write their map. One of another user, made in advance for the number of a process,
 * would lead them to a file of theirs to choose, where the kernel does not prevent it (fs.protected_symlinks).
 */
static bool has_foreign_link(struct buf *ret_path)
{
	struct stat status;
	DIR *places = opendir("/tmp");
	for (const struct dirent *entry; places && !ret_path->size && (entry = readdir(places));)
		if (!strncmp(entry->d_name, "perf-", 5) &&
		    !fstatat(dirfd(places), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) && S_ISLNK(status.st_mode) &&
		    status.st_uid && status.st_uid != geteuid())
			buf_printf(ret_path, "/tmp/%s", entry->d_name);
	if (places)
		closedir(places);
	return ret_path->size;
}

/* Who gives such an option wants its files too: they are not removed. */
static bool has_map_option(const char *text)
{
	return strstr(text, "--perf-basic-prof") || strstr(text, "--perf-prof") || strstr(text, "DumpPerfMapAtExit");
}

static bool wants_map(const struct record_run *run, const char *variable)
{
	for (size_t i = 0; i < run->command.count; i++)
		if (has_map_option(run->command.items[i]))
			return true;
	return variable && has_map_option(variable);
}

static void add_variable(struct record_run *run, enum launch_runtime runtime)
{
	const struct launch_variable *variable = launch_variable(runtime);
	const char *old = getenv(variable->name);
	CLEANUP_BUF struct buf value = {0};
	struct buf *text = &run->environment_texts[run->environment_count];
	if (!launch_merge(&value, old, variable->options))
		return;
	if (!is_accepted(run, variable, value.data)) {
		if (run->options.verbose && !run->options.quiet)
			say_note("%s is not changed: node does not accept %s there", variable->name, variable->options);
		return;
	}
	buf_printf(text, "%s=%s", variable->name, value.data);
	run->environment[run->environment_count++] = text->data;
	if (!wants_map(run, old))
		run->launched |= runtime;
	if (run->options.verbose && !run->options.quiet)
		say_note("environment of the command: %s", text->data);
}

void record_choose_environment(struct record_run *run)
{
	const struct record_options *options = &run->options;
	/* A command beside another target is not recorded. */
	bool other = options->pids.count || options->tids.count || options->names.count || options->user ||
		     options->capture.cgroup;
	if (!run->command.count || other || !options->runtime_options)
		return;
	unsigned runtimes = launch_find((char *const *)run->command.items) & (LAUNCH_JAVA | LAUNCH_NODE);
	CLEANUP_BUF struct buf link = {0};
	if (runtimes && has_foreign_link(&link)) {
		say_warning("no options for Java or Node.js: %s is a symbolic link of another user; remove it",
			    link.data);
		return;
	}
	for (unsigned runtime = 1; runtime <= LAUNCH_NODE; runtime <<= 1)
		if (runtimes & runtime)
			add_variable(run, runtime);
}

/* --- perf maps --- */

#define MAP_MAX ((size_t)256 << 20) /* as symbol/perfmap reads it */

struct keeping {
	struct record_run *run;
	int32_t *pids; /* of which there is a copy */
	size_t count, capacity;
	bool failed;
};

static void map_name(char name[64], int32_t pid)
{
	snprintf(name, 64, "perf.data.%d.map", (int)pid);
}

static void keep_map(void *context, int32_t pid, int fd)
{
	struct keeping *keeping = context;
	struct outfile out;
	struct err err = {0};
	char name[64], bytes[65536];
	size_t left = MAP_MAX;
	ssize_t count = 0;
	map_name(name, pid);
	if (outfile_open_at(&out, &keeping->run->place, name, &err)) {
		keeping->failed = true;
		return;
	}
	for (; left && (count = read(fd, bytes, sizeof bytes < left ? sizeof bytes : left)) > 0; left -= (size_t)count)
		outfile_add(&out, bytes, (size_t)count);
	if (count < 0 || outfile_commit(&out, &err)) {
		if (count < 0)
			outfile_abandon(&out);
		keeping->failed = true;
		return;
	}
	MEM_ROOM(keeping->pids, keeping->count, keeping->capacity);
	keeping->pids[keeping->count++] = pid;
}

/* Those of a recording that was in the directory before would be taken for maps of this one. */
static bool is_stale(const struct keeping *keeping, const char *name)
{
	int pid, end = 0;
	if (sscanf(name, "perf.data.%9d.map%n", &pid, &end) != 1 || !end || name[end])
		return false;
	for (size_t i = 0; i < keeping->count; i++)
		if (keeping->pids[i] == pid)
			return false;
	return true;
}

static void remove_stale(const struct keeping *keeping)
{
	int fd = openat(keeping->run->place.directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !directory)
		close(fd);
	for (const struct dirent *entry; directory && (entry = readdir(directory));)
		if (is_stale(keeping, entry->d_name))
			unlinkat(keeping->run->place.directory, entry->d_name, 0);
	if (directory)
		closedir(directory);
}

void record_keep_maps(struct record_run *run)
{
	struct keeping keeping = {.run = run};
	if (run->no_files || !run->files[RECORD_PERFDATA])
		return;
	if (!run->single) {
		collector_each_map(run->collector, &keeping, keep_map);
		remove_stale(&keeping);
	}
	if (run->single || keeping.failed)
		recorder_keep_maps(run->recorder);
	free(keeping.pids);
}
