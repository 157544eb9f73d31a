/* Reads files below the root of a machine, and its namespaces and capabilities. */
#include "system/system.h"

#include "system/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_MAX 65536

static void below_root(struct buf *out, const struct system *system, const char *path)
{
	buf_str(out, system->root);
	buf_str(out, path);
}

bool system_read(const struct system *system, const char *path, struct buf *out)
{
	CLEANUP_BUF struct buf full = {0};
	below_root(&full, system, path);
	int fd = open(full.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	buf_clear(out);
	ssize_t got;
	while (out->size < FILE_MAX && (got = read(fd, buf_reserve(out, 4096), 4096)) > 0) {
		out->size += (size_t)got;
		out->data[out->size] = '\0';
	}
	close(fd);
	buf_reserve(out, 1)[0] = '\0';
	return out->size > 0;
}

bool system_number(const struct system *system, const char *path, long long *ret_value)
{
	CLEANUP_BUF struct buf text = {0};
	char *end;
	if (!system_read(system, path, &text))
		return false;
	long long value = strtoll(text.data, &end, 10);
	if (end == text.data)
		return false;
	*ret_value = value;
	return true;
}

bool system_exists(const struct system *system, const char *path)
{
	CLEANUP_BUF struct buf full = {0};
	struct stat status;
	below_root(&full, system, path);
	return stat(full.data, &status) == 0;
}

bool system_readable(const struct system *system, const char *path)
{
	CLEANUP_BUF struct buf full = {0};
	below_root(&full, system, path);
	return access(full.data, R_OK) == 0;
}

bool system_has_entry(const struct system *system, const char *folder, const char *beginning)
{
	CLEANUP_BUF struct buf full = {0};
	bool found = false;
	below_root(&full, system, folder);
	DIR *entries = opendir(full.data);
	for (struct dirent *entry; entries && !found && (entry = readdir(entries));)
		found = !strncmp(entry->d_name, beginning, strlen(beginning));
	if (entries)
		closedir(entries);
	return found;
}

bool system_contains(const struct system *system, const char *path, const char *text)
{
	CLEANUP_BUF struct buf content = {0};
	return system_read(system, path, &content) && memmem(content.data, content.size, text, strlen(text));
}

uint64_t system_status(const struct system *system, const char *field, int base)
{
	CLEANUP_BUF struct buf text = {0};
	if (!system_read(system, "/proc/self/status", &text))
		return 0;
	for (char *line = text.data; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (!strncmp(line, field, strlen(field)))
			return strtoull(line + strlen(field), NULL, base);
	return 0;
}

bool system_is_root(const struct system *system)
{
	CLEANUP_BUF struct buf text = {0};
	const char *line = system_read(system, "/proc/self/status", &text) ? strstr(text.data, "\nUid:") : NULL;
	unsigned real, effective;
	return line && sscanf(line, "\nUid: %u %u", &real, &effective) == 2 && effective == 0;
}

bool system_in_user_namespace(const struct system *system)
{
	CLEANUP_BUF struct buf text = {0};
	unsigned inside, outside, count;
	if (!system_read(system, "/proc/self/uid_map", &text) ||
	    sscanf(text.data, "%u %u %u", &inside, &outside, &count) != 3)
		return false;
	return inside || outside || count != UINT32_MAX;
}

bool system_in_other_namespace(const struct system *system, const char *name)
{
	/* These numbers are fixed in the kernel (include/uapi/linux/nsfs.h has them since 6.18). */
	static const struct {
		const char *name;
		unsigned inode;
	} first[] = {{"cgroup", 0xeffffffbu}, {"ipc", 0xefffffffu}, {"pid", 0xeffffffcu}, {"uts", 0xeffffffeu}};
	CLEANUP_BUF struct buf full = {0};
	char link[64];
	unsigned inode;
	buf_printf(&full, "%s/proc/self/ns/%s", system->root, name);
	ssize_t length = readlink(full.data, link, sizeof link - 1);
	if (length <= 0)
		return false;
	link[length] = '\0';
	const char *bracket = strchr(link, '[');
	if (!bracket || sscanf(bracket, "[%u]", &inode) != 1)
		return false;
	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		if (!strcmp(first[i].name, name))
			return inode != first[i].inode;
	return false;
}

bool system_capable(const struct system *system, enum system_capability capability)
{
	return !system_in_user_namespace(system) && system_status(system, "CapEff:", 16) >> capability & 1;
}

bool system_is_privileged(const struct system *system)
{
	return system_capable(system, CAN_PERFMON) || system_capable(system, CAN_SYS_ADMIN);
}

/* --- this system --- */

static int open_event(const struct perf_event_attr *attr)
{
	struct perf_event_attr copy = *attr;
	long fd = syscall(SYS_perf_event_open, &copy, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	close((int)fd);
	return 0;
}

static const char *environment(const char *name)
{
	return getenv(name);
}

/* Nothing is mounted for the question. */
static int open_tracefs(void)
{
	struct tracefs tracefs = tracefs_open(false);
	int result = tracefs.fd < 0 ? -tracefs.error : 0;
	tracefs_close(&tracefs);
	return result;
}

struct system system_this(void)
{
	return (struct system){
		.root = "", .open_event = open_event, .open_tracefs = open_tracefs, .environment = environment};
}
