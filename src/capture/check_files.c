#include "capture/check_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MOST 65536

static void below_root(struct buf *out, const struct check_system *system, const char *path)
{
	buf_str(out, system->root);
	buf_str(out, path);
}

bool check_read(const struct check_system *system, const char *path, struct buf *out)
{
	CLEANUP_BUF struct buf full = {0};
	below_root(&full, system, path);
	int fd = open(full.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	buf_clear(out);
	ssize_t got;
	while (out->size < FILE_MOST && (got = read(fd, buf_reserve(out, 4096), 4096)) > 0) {
		out->size += (size_t)got;
		out->data[out->size] = '\0';
	}
	close(fd);
	buf_reserve(out, 1)[0] = '\0';
	return out->size > 0;
}

bool check_number(const struct check_system *system, const char *path, long long *ret_value)
{
	CLEANUP_BUF struct buf text = {0};
	char *end;
	if (!check_read(system, path, &text))
		return false;
	long long value = strtoll(text.data, &end, 10);
	if (end == text.data)
		return false;
	*ret_value = value;
	return true;
}

bool check_exists(const struct check_system *system, const char *path)
{
	CLEANUP_BUF struct buf full = {0};
	struct stat status;
	below_root(&full, system, path);
	return stat(full.data, &status) == 0;
}

bool check_readable(const struct check_system *system, const char *path)
{
	CLEANUP_BUF struct buf full = {0};
	below_root(&full, system, path);
	return access(full.data, R_OK) == 0;
}

bool check_entry(const struct check_system *system, const char *folder, const char *beginning)
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

bool check_contains(const struct check_system *system, const char *path, const char *text)
{
	CLEANUP_BUF struct buf content = {0};
	return check_read(system, path, &content) && memmem(content.data, content.size, text, strlen(text));
}

uint64_t check_status(const struct check_system *system, const char *field, int base)
{
	CLEANUP_BUF struct buf text = {0};
	if (!check_read(system, "/proc/self/status", &text))
		return 0;
	for (char *line = text.data; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (!strncmp(line, field, strlen(field)))
			return strtoull(line + strlen(field), NULL, base);
	return 0;
}

bool check_root(const struct check_system *system)
{
	CLEANUP_BUF struct buf text = {0};
	const char *line = check_read(system, "/proc/self/status", &text) ? strstr(text.data, "\nUid:") : NULL;
	unsigned real, effective;
	return line && sscanf(line, "\nUid: %u %u", &real, &effective) == 2 && effective == 0;
}

bool check_user_namespace(const struct check_system *system)
{
	CLEANUP_BUF struct buf text = {0};
	unsigned inside, outside, count;
	if (!check_read(system, "/proc/self/uid_map", &text) ||
	    sscanf(text.data, "%u %u %u", &inside, &outside, &count) != 3)
		return false;
	return inside || outside || count != UINT32_MAX;
}

bool check_other_namespace(const struct check_system *system, const char *name)
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

bool check_capable(const struct check_system *system, enum check_capability capability)
{
	return !check_user_namespace(system) && check_status(system, "CapEff:", 16) >> capability & 1;
}

bool check_privileged(const struct check_system *system)
{
	return check_capable(system, CAN_PERFMON) || check_capable(system, CAN_SYS_ADMIN);
}
