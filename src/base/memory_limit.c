/* Reads the memory limits of the machine and of cgroups from /proc and /sys/fs/cgroup. */
#include "base/memory_limit.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX (256u << 10) /* bytes that are read: mountinfo is the longest */
#define LEVELS_MAX 64u

/* The files of a hierarchy. */
struct hierarchy {
	const char *type; /* of its file system */
	const char *controller; /* in the options of the file system and in /proc/self/cgroup; "": version 2 */
	const char *limit, *used;
	const char *caches[2]; /* in memory.stat */
};
static const struct hierarchy hierarchies[] = {
	{"cgroup2", "", "memory.max", "memory.current", {"inactive_file ", "active_file "}},
	{"cgroup",
	 "memory",
	 "memory.limit_in_bytes",
	 "memory.usage_in_bytes",
	 {"total_inactive_file ", "total_active_file "}},
};

static bool read_text(struct buf *text, const char *root, const char *directory, const char *name)
{
	CLEANUP_BUF struct buf path = {0};
	buf_printf(&path, "%s%s/%s", root, directory, name);
	buf_clear(text);
	int fd = open(path.data, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t got = 1;
	while (got > 0 && text->size < FILE_MAX) {
		got = read(fd, buf_reserve(text, 4096), 4096);
		text->size += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	buf_str(text, "");
	return text->size;
}

/* The number behind `key` at the start of a line. */
static bool find_number(const struct buf *text, const char *key, uint64_t *ret_value)
{
	size_t length = strlen(key);
	for (const char *line = text->data; *line; line += *line == '\n') {
		unsigned long long value;
		if (strncmp(line, key, length) == 0 && sscanf(line + length, "%llu", &value) == 1) {
			*ret_value = value;
			return true;
		}
		line += strcspn(line, "\n");
	}
	return false;
}

static bool has_word(const char *list, size_t length, const char *word)
{
	for (const char *end = list + length, *at = list; at < end; at++) {
		size_t part = strcspn(at, ",:\n ");
		if (part == strlen(word) && strncmp(at, word, part) == 0)
			return true;
		at += part;
	}
	return false;
}

/* Of "4:memory:/user.slice": the path. */
static bool find_path(const struct buf *cgroups, const char *controller, struct buf *ret_path)
{
	for (const char *line = cgroups->data; *line; line += *line == '\n') {
		size_t whole = strcspn(line, "\n");
		const char *list = memchr(line, ':', whole);
		const char *path = list ? memchr(list + 1, ':', whole - (size_t)(list + 1 - line)) : NULL;
		size_t length = path ? (size_t)(path - list - 1) : 0;
		if (path && (*controller ? has_word(list + 1, length, controller) : !length)) {
			buf_clear(ret_path);
			buf_add(ret_path, path + 1, whole - (size_t)(path + 1 - line));
			return true;
		}
		line += whole;
	}
	return false;
}

/* Where the hierarchy is mounted, and which of its directories is there. */
static bool find_mount(const struct buf *mounts, const struct hierarchy *hierarchy, char *top, char *point, size_t room)
{
	for (const char *line = mounts->data; *line; line += *line == '\n') {
		size_t whole = strcspn(line, "\n");
		const char *rest = memmem(line, whole, " - ", 3);
		char format[64], type[32], options[512] = "";
		snprintf(format, sizeof format, "%%*s %%*s %%*s %%%zus %%%zus", room - 1, room - 1);
		if (rest && sscanf(rest, " - %31s %*s %511s", type, options) >= 1 && !strcmp(type, hierarchy->type) &&
		    (!*hierarchy->controller || has_word(options, strlen(options), hierarchy->controller)) &&
		    sscanf(line, format, top, point) == 2)
			return true;
		line += whole;
	}
	return false;
}

static void take_level(struct memory_limit *limit, const char *root, const char *directory,
		       const struct hierarchy *hierarchy)
{
	CLEANUP_BUF struct buf text = {0};
	uint64_t max, used, cached = 0;
	if (!read_text(&text, root, directory, hierarchy->limit) || !find_number(&text, "", &max))
		return; /* "max", or the root */
	if (max < limit->limit)
		limit->limit = max;
	if (!read_text(&text, root, directory, hierarchy->used) || !find_number(&text, "", &used))
		return;
	if (read_text(&text, root, directory, "memory.stat"))
		for (size_t i = 0; i < 2; i++) {
			uint64_t value;
			if (find_number(&text, hierarchy->caches[i], &value))
				cached += value;
		}
	used -= cached < used ? cached : used;
	uint64_t left = used < max ? max - used : 0;
	if (left < limit->left) {
		limit->left = left;
		limit->by_cgroup = true;
	}
}

/* The cgroup and all above it, up to where the hierarchy is mounted. */
static void take_hierarchy(struct memory_limit *limit, const char *root, const struct buf *cgroups,
			   const struct buf *mounts, const struct hierarchy *hierarchy)
{
	CLEANUP_BUF struct buf path = {0};
	char top[1024], point[1024];
	if (!find_path(cgroups, hierarchy->controller, &path) || !find_mount(mounts, hierarchy, top, point, sizeof top))
		return;
	/* In a container, only its own part may be mounted. A path above that begins with "/..". */
	size_t skip = strcmp(top, "/") ? strlen(top) : 0;
	const char *below = strncmp(path.data, top, skip) ? "" : path.data + skip;
	CLEANUP_BUF struct buf directory = {0};
	buf_str(&directory, point);
	if (*below == '/' && below[1] && strncmp(below, "/..", 3) != 0)
		buf_str(&directory, below);
	for (unsigned i = 0; i < LEVELS_MAX; i++) {
		take_level(limit, root, directory.data, hierarchy);
		char *slash = strrchr(directory.data, '/');
		if (directory.size <= strlen(point) || !slash)
			break;
		*slash = '\0';
		directory.size = (size_t)(slash - directory.data);
	}
}

struct memory_limit memory_limit_read(const char *root)
{
	struct memory_limit limit = {.limit = UINT64_MAX, .left = UINT64_MAX};
	CLEANUP_BUF struct buf text = {0}, mounts = {0};
	uint64_t kilobytes;
	if (read_text(&text, root, "/proc", "meminfo")) {
		if (find_number(&text, "MemTotal:", &kilobytes))
			limit.limit = kilobytes << 10;
		if (find_number(&text, "MemAvailable:", &kilobytes))
			limit.left = kilobytes << 10;
	}
	if (read_text(&text, root, "/proc/self", "cgroup") && read_text(&mounts, root, "/proc/self", "mountinfo"))
		for (size_t i = 0; i < sizeof hierarchies / sizeof *hierarchies; i++)
			take_hierarchy(&limit, root, &text, &mounts, &hierarchies[i]);
	return limit;
}
