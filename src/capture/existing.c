/* Reads the running processes from /proc, and emits them as records. */
#include "capture/existing.h"

#include "base/mem.h"
#include "symbol/kernel.h"
#include "system/proc_list.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct walker {
	const struct event_sink *sink;
	char *line; /* of getline() */
	size_t line_capacity;
};

static void walker_release(struct walker *walker)
{
	free(walker->line);
}

/* The one character that the kernel escapes there. */
static void unescape_newlines(char *text)
{
	for (char *found; (found = strstr(text, "\\012")); text = found + 1) {
		*found = '\n';
		memmove(found + 1, found + 4, strlen(found + 4) + 1);
	}
}

/*
 * A line of /proc/PID/maps; false when it is no code. `line` is changed. The path is as the process itself sees it, as
 * in the records of the kernel: below its `root`, if it is in a chroot that we see from outside.
 */
static bool parse_mapping(char *line, const char *root, struct event_mmap *mmap)
{
	uint64_t end;
	char permissions[5];
	int path = 0;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &mmap->start, &end,
		   permissions, &mmap->offset, &mmap->major, &mmap->minor, &mmap->inode, &path) < 7 ||
	    permissions[2] != 'x')
		return false;
	char *text = line + path;
	text[strcspn(text, "\n")] = '\0';
	unescape_newlines(text);
	size_t above = strlen(root);
	if (above && !strncmp(text, root, above) && text[above] == '/')
		text += above;
	mmap->length = end - mmap->start;
	mmap->protection = PROT_EXEC | (permissions[0] == 'r' ? PROT_READ : 0) |
			   (permissions[1] == 'w' ? PROT_WRITE : 0);
	mmap->flags = permissions[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	mmap->path = *text ? text : "//anon";
	return true;
}

/* "" for the usual one. */
static void read_root(int32_t pid, char *root, size_t room)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
	ssize_t length = readlink(path, root, room - 1);
	root[length > 1 && (size_t)length < room - 1 ? length : 0] = '\0';
}

static int emit_mappings(struct walker *walker, int32_t pid)
{
	char path[64], root[PATH_MAX];
	int result = 0;
	read_root(pid, root, sizeof root);
	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return 0;
	while (result >= 0 && getline(&walker->line, &walker->line_capacity, file) > 0) {
		struct event_mmap mmap = {.pid = pid, .tid = pid};
		if (!parse_mapping(walker->line, root, &mmap))
			continue;
		result = sink_mmap(walker->sink, &mmap);
	}
	fclose(file);
	return result;
}

static int emit_comm(struct walker *walker, int32_t pid, int32_t tid)
{
	char path[64], comm[64];
	snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	FILE *file = fopen(path, "re");
	if (!file)
		return 0;
	size_t length = fread(comm, 1, sizeof comm - 1, file);
	fclose(file);
	if (!length)
		return 0;
	comm[comm[length - 1] == '\n' ? length - 1 : length] = '\0'; /* the name may have some too */
	struct event_comm event = {.pid = pid, .tid = tid, .comm = comm};
	return sink_comm(walker->sink, &event);
}

static int emit_process(struct walker *walker, int32_t pid)
{
	struct proc_list threads = proc_list_threads(pid);
	int result = 0;
	for (int32_t tid; result >= 0 && proc_list_next(&threads, &tid);)
		result = emit_comm(walker, pid, tid);
	proc_list_close(&threads);
	return result < 0 ? result : emit_mappings(walker, pid);
}

int existing_processes(const struct event_sink *sink, const int32_t *pids, size_t count)
{
	struct walker walker = {.sink = sink};
	int result = 0;
	for (size_t i = 0; i < count && result >= 0; i++)
		result = emit_process(&walker, pids[i]);
	walker_release(&walker);
	return result;
}

int existing_mappings(const struct event_sink *sink, int32_t pid)
{
	struct walker walker = {.sink = sink};
	int result = emit_mappings(&walker, pid);
	walker_release(&walker);
	return result;
}

int existing_all_processes(const struct event_sink *sink)
{
	struct walker walker = {.sink = sink};
	struct proc_list processes = proc_list_processes();
	int result = 0;
	for (int32_t pid; result >= 0 && proc_list_next(&processes, &pid);)
		result = emit_process(&walker, pid);
	proc_list_close(&processes);
	walker_release(&walker);
	return result;
}

/* --- the kernel --- */

/* Where the kernel's code begins; 0 when kernel.kptr_restrict hides it. It is among the first symbols. */
static uint64_t kernel_start(char symbol[8])
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[512], name[8];
	uint64_t address, found = 0;
	while (file && !found && fgets(line, sizeof line, file))
		if (sscanf(line, "%" SCNx64 " %*c %7s", &address, name) == 2 &&
		    (!strcmp(name, "_text") || !strcmp(name, "_stext"))) {
			found = address;
			strcpy(symbol, name);
		}
	if (file)
		fclose(file);
	return found;
}

static int emit_modules(const struct event_sink *sink)
{
	FILE *file = fopen("/proc/modules", "re");
	char line[1024], name[256], path[300];
	int result = 0;
	while (file && result >= 0 && fgets(line, sizeof line, file)) {
		struct event_mmap mmap = {.pid = -1, .kernel = true, .path = path, .protection = PROT_READ | PROT_EXEC};
		if (sscanf(line, "%255s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &mmap.length, &mmap.start) != 3 ||
		    !mmap.start)
			continue;
		snprintf(path, sizeof path, "[%s]", name);
		result = sink_mmap(sink, &mmap);
	}
	if (file)
		fclose(file);
	return result;
}

int existing_kernel(const struct event_sink *sink)
{
	char path[32] = "[kernel.kallsyms]", symbol[8] = "";
	uint64_t start = kernel_start(symbol);
	strcat(path, symbol);
	/* Without a start everything in the upper half is the kernel's: user space never is. */
	uint64_t first = start ? start : 1ull << 63;
	struct event_mmap mmap = {
		.pid = -1,
		.kernel = true,
		.protection = PROT_READ | PROT_EXEC,
		.start = first,
		.length = UINT64_MAX - first,
		.offset = start,
		.build_id = kernel_running_build_id(),
		.path = path,
	};
	int result = sink_mmap(sink, &mmap);
	return result < 0 ? result : emit_modules(sink);
}
