/* Finds processes by name, their descendants, and cgroups by path. */
#include "capture/find.h"

#include "base/bisect.h"
#include "base/buf.h"
#include "container/container.h"
#include "system/proc_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

void pid_list_release(struct pid_list *list)
{
	free(list->items);
	*list = (struct pid_list){0};
}

static void add(struct pid_list *list, int32_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == pid)
			return;
	MEM_ROOM(list->items, list->count, list->capacity);
	list->items[list->count++] = pid;
}

static int open_folder(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* --- by name and user --- */

/* The text of a file in the folder of a process; "" when it is not there. */
static void read_text(int process, const char *file, char *text, size_t room)
{
	int fd = openat(process, file, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : read(fd, text, room - 1);
	if (fd >= 0)
		close(fd);
	text[size > 0 ? size : 0] = '\0';
}

/* Its first line, or its first argument. */
static void read_word(int process, const char *file, char *word, size_t room)
{
	read_text(process, file, word, room);
	word[strcspn(word, "\n")] = '\0';
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* The kernel cuts the name of a process after 15 bytes, and programs change it: that of the program counts as well. */
static bool is_called(int process, const char *const *names)
{
	char comm[64], program[4096];
	read_word(process, "comm", comm, sizeof comm);
	read_word(process, "cmdline", program, sizeof program);
	for (; *names; names++)
		if (!fnmatch(*names, comm, 0) || (*program && !fnmatch(*names, last_part(program), 0)))
			return true;
	return false;
}

void find_processes(struct pid_list *list, const struct find_filter *filter)
{
	struct proc_list processes = proc_list_processes();
	struct stat status;
	for (int32_t pid; proc_list_next(&processes, &pid);) {
		char path[32];
		snprintf(path, sizeof path, "/proc/%d", (int)pid);
		int process = pid == getpid() ? -1 : open_folder(path);
		if (process < 0)
			continue;
		bool mine = !filter->user || (fstat(process, &status) == 0 && status.st_uid == *filter->user);
		if (mine && (!filter->names || is_called(process, filter->names)))
			add(list, pid);
		close(process);
	}
}

/* --- by parent --- */

struct kinship {
	int32_t pid, parent;
	bool listed;
};

/* The fourth word of /proc/PID/stat; the second is a name in parentheses, which may hold anything. */
int32_t find_parent(int32_t pid)
{
	char path[32], line[512];
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	read_text(AT_FDCWD, path, line, sizeof line);
	const char *name_end = strrchr(line, ')');
	int parent = 0;
	return name_end && sscanf(name_end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

static struct kinship *read_kinships(size_t *ret_count)
{
	struct kinship *items = NULL;
	size_t count = 0, capacity = 0;
	struct proc_list processes = proc_list_processes();
	for (int32_t pid; proc_list_next(&processes, &pid);) {
		MEM_ROOM(items, count, capacity);
		items[count++] = (struct kinship){.pid = pid, .parent = find_parent(pid)};
	}
	*ret_count = count;
	return items;
}

static int by_parent(const void *left, const void *right)
{
	int32_t a = ((const struct kinship *)left)->parent, b = ((const struct kinship *)right)->parent;
	return (a > b) - (a < b);
}

/* The first one, of those in the order of parents, that is a child of `parent` or comes behind. */
static size_t first_child(const struct kinship *kinships, size_t count, int32_t parent)
{
	size_t at = BISECT(count, i, kinships[i].parent < parent);
	return at;
}

/* On machines with many thousands of processes: each is looked at once, with its parent. */
void find_descendants(struct pid_list *list)
{
	size_t count;
	struct kinship *kinships = read_kinships(&count);
	for (size_t i = 0; i < count; i++) {
		kinships[i].listed = kinships[i].pid == getpid();
		for (size_t known = 0; known < list->count && !kinships[i].listed; known++)
			kinships[i].listed = kinships[i].pid == list->items[known];
	}
	if (count)
		qsort(kinships, count, sizeof *kinships, by_parent);
	for (size_t done = 0; done < list->count; done++) { /* what is added is looked at in its turn */
		int32_t parent = list->items[done];
		for (size_t i = first_child(kinships, count, parent); i < count && kinships[i].parent == parent; i++) {
			if (kinships[i].listed)
				continue;
			kinships[i].listed = true;
			MEM_ROOM(list->items, list->count, list->capacity);
			list->items[list->count++] = kinships[i].pid;
		}
	}
	free(kinships);
}

/* --- by cgroup --- */

static int open_cgroup(const char *path)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0 && !faccessat(folder, "cgroup.procs", F_OK, 0))
		return folder;
	if (folder >= 0)
		close(folder);
	return -1;
}

static int open_below(const struct hierarchy *hierarchy, const char *path)
{
	CLEANUP_BUF struct buf below = {0};
	if (!hierarchy)
		return -1;
	buf_printf(&below, "%s/%s", hierarchy->directory, path + (*path == '/'));
	return open_cgroup(below.data);
}

int find_cgroup(const char *path, struct err *err)
{
	struct hierarchies hierarchies CLEANUP_HIERARCHIES;
	CLEANUP_BUF struct buf chosen = {0};
	struct err none = {0};
	int folder = *path == '/' ? open_cgroup(path) : -1;
	hierarchies_read(&hierarchies, "");
	if (folder < 0)
		folder = open_below(hierarchies_find(&hierarchies, ""), path);
	if (folder >= 0)
		return folder;
	int result = cgroup_choose("", path, &chosen, &none);
	if (!result)
		folder = open_cgroup(chosen.data);
	if (folder >= 0)
		return folder;
	return result == ERR_USAGE ?
		       err_set(err, ERR_USAGE, "%s", err_text(&none)) :
		       err_set(err, ERR_SYSTEM,
			       "cgroup %s does not exist; use its directory in the cgroup file system, its path in "
			       "/proc/PID/cgroup, or a part of that",
			       path);
}

static bool add_listed(void *context, const char *path, int folder)
{
	int fd = openat(folder, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	int pid;
	(void)path;
	while (file && fscanf(file, "%d", &pid) == 1)
		if (pid > 0 && pid != getpid()) /* 0: in another pid namespace */
			add(context, pid);
	if (file)
		fclose(file);
	return true;
}

void find_cgroup_processes(struct pid_list *list, int folder)
{
	cgroup_walk(folder, add_listed, list);
}
