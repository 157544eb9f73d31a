/*
 * The rules for files. A directory is compared by the descriptor that was opened, never by its path, and what a file is
 * by the descriptor that it is then opened through.
 */
#include "sandbox/files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A file by the directory that it is in. */
struct target {
	int directory;
	char name[NAME_MAX + 1];
};

/* --- names --- */

static bool ends_with(const char *name, size_t length, const char *ending)
{
	size_t size = strlen(ending);
	return length >= size && !memcmp(name + length - size, ending, size);
}

/* Bytes of a name without what is added while it is written: ".part", ".old", ".wick-PID-NUMBER" (of ".NAME"). */
static size_t plain_length(const char **name)
{
	size_t length = strlen(*name);
	const char *added = *name;
	if (ends_with(*name, length, ".part"))
		return length - strlen(".part");
	if (ends_with(*name, length, ".old"))
		return length - strlen(".old");
	for (const char *found = added; (found = strstr(found, ".wick-")); found++)
		added = found;
	if (**name == '.' && added > *name + 1 && !added[strspn(added, ".wick-0123456789")]) {
		++*name;
		return (size_t)(added - *name);
	}
	return length;
}

static bool matches(const struct sandbox_place *place, const char *name)
{
	if (!*place->stem && !*place->ending)
		return true;
	for (int added = 0; added < 2; added++) {
		const char *plain = name;
		size_t length = added ? plain_length(&plain) : strlen(name), stem = strlen(place->stem);
		if (length >= stem + strlen(place->ending) && !memcmp(plain, place->stem, stem) &&
		    ends_with(plain, length, place->ending))
			return true;
	}
	return false;
}

/* The place of the options that allows a name in a directory, or with NULL all names; NULL: none. */
static const struct sandbox_place *find_place(const struct files *files, int directory, const char *name)
{
	struct stat status, own;
	if (fstat(directory, &status) || !S_ISDIR(status.st_mode))
		return NULL;
	for (size_t i = 0; i < files->options.place_count; i++) {
		const struct sandbox_place *place = &files->options.places[i];
		bool same = place->directory >= 0 && !fstat(place->directory, &own) && own.st_dev == status.st_dev &&
			    own.st_ino == status.st_ino;
		if (same && (name ? matches(place, name) : !*place->stem && !*place->ending))
			return place;
	}
	return NULL;
}

/* --- paths --- */

/* Opens the directory of a path, whichever it is. */
static int split(const struct files *files, int directory, const char *path, struct target *target)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	if (!*name || !strcmp(name, ".") || !strcmp(name, "..") || strlen(name) > NAME_MAX)
		return -EPERM;
	memcpy(target->name, name, strlen(name) + 1);
	int base = peer_take_fd(&files->peer, directory);
	target->directory = base;
	if (!slash || base < 0)
		return base < 0 ? base : 0;
	snprintf(parent, sizeof parent, "%.*s", slash == path ? 1 : (int)(slash - path), path);
	target->directory = openat(base, parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int result = target->directory < 0 ? -errno : 0;
	close(base);
	return result;
}

static int read_and_split(const struct files *files, int directory, uint64_t address, struct target *target)
{
	char path[PATH_MAX];
	int result = peer_read_path(&files->peer, address, path);
	return result ? result : split(files, directory, path, target);
}

/* The same, if the options allow the name there. */
static int find_target(const struct files *files, int directory, uint64_t address, struct target *target)
{
	int result = read_and_split(files, directory, address, target);
	if (result)
		return result;
	if (find_place(files, target->directory, target->name))
		return 0;
	close(target->directory);
	return -EPERM;
}

/* --- opening --- */

/* Opens what a descriptor of O_PATH refers to, and closes it. */
static int reopen(int path_fd, int flags)
{
	char name[32];
	snprintf(name, sizeof name, "/proc/self/fd/%d", path_fd);
	int fd = open(name, flags | O_CLOEXEC);
	fd = fd < 0 ? -errno : fd;
	close(path_fd);
	return fd;
}

static bool is_open_to_write(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	return flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY;
}

/* The number in /dev/fd/3 and its like, which are descriptors of the other process; -1: it is another path. */
static int own_number(const char *path)
{
	static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/"};
	if (!strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < 2; i++) {
		const char *digits = path + strlen(prefixes[i]);
		if (!strncmp(path, prefixes[i], strlen(prefixes[i])) && *digits &&
		    !digits[strspn(digits, "0123456789")])
			return atoi(digits);
	}
	return -1;
}

static int take_own(const struct files *files, int number)
{
	int fd = peer_take_fd(&files->peer, number);
	if (fd < 0 || is_open_to_write(fd))
		return fd;
	close(fd);
	return -EPERM;
}

/* Where a temporary file without a name can be: it takes space, but nobody else sees it. */
static bool holds_temporaries(const char *path)
{
	const char *own = getenv("TMPDIR");
	return !strcmp(path, "/tmp") || !strcmp(path, "/var/tmp") || (own && !strcmp(path, own));
}

static bool is_listed_file(const struct files *files, const struct stat *status)
{
	for (size_t i = 0; i < files->options.file_count; i++)
		if (files->options.files[i].device == status->st_dev && files->options.files[i].inode == status->st_ino)
			return true;
	return false;
}

/* A file that is there: one of the options, or a regular one of an allowed name that has no other name. */
static int open_existing(const struct files *files, const struct target *target, int flags)
{
	struct stat status;
	int path_fd = openat(target->directory, target->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (path_fd < 0)
		return -errno;
	bool allowed = !fstat(path_fd, &status) &&
		       (is_listed_file(files, &status) || (S_ISREG(status.st_mode) && status.st_nlink == 1 &&
							   find_place(files, target->directory, target->name)));
	if (allowed)
		return reopen(path_fd, flags & ~(O_CREAT | O_NOFOLLOW));
	close(path_fd);
	return -EPERM;
}

static int open_target(const struct files *files, const struct target *target, int flags, mode_t mode)
{
	if (!(flags & O_CREAT))
		return open_existing(files, target, flags);
	if (!find_place(files, target->directory, target->name))
		return -EPERM;
	int fd = openat(target->directory, target->name, flags | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode & 0777);
	if (fd < 0 && errno == EEXIST && !(flags & O_EXCL))
		return open_existing(files, target, flags);
	return fd < 0 ? -errno : fd;
}

int files_open_to_write(const struct files *files, int directory, uint64_t address, int flags, mode_t mode)
{
	char path[PATH_MAX];
	struct target target;
	int result = peer_read_path(&files->peer, address, path), fd;
	if (result)
		return result;
	bool temporary = (flags & O_TMPFILE) == O_TMPFILE;
	if (temporary ? holds_temporaries(path) : !strcmp(path, "/dev/tty") || !strcmp(path, "/dev/null")) {
		fd = open(path, (flags & ~O_CREAT) | O_CLOEXEC, mode & 0700);
		return fd < 0 ? -errno : fd;
	}
	if (temporary)
		return -EPERM;
	if (own_number(path) >= 0)
		return take_own(files, own_number(path));
	result = split(files, directory, path, &target);
	if (result)
		return result;
	result = open_target(files, &target, flags, mode);
	close(target.directory);
	return result;
}

/* The kernel does not pass on a descriptor of O_PATH: one for reading takes its place, of a file or a directory. */
static int make_readable(int path_fd)
{
	struct stat status;
	if (!fstat(path_fd, &status) && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
		return reopen(path_fd, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	close(path_fd);
	return -EPERM;
}

int files_open_below(const struct files *files, int directory, uint64_t address, uint64_t how_address, uint64_t size)
{
	enum { READS = O_PATH | O_CLOEXEC | O_NOFOLLOW | O_DIRECTORY | O_NONBLOCK | O_NOCTTY | O_LARGEFILE };
	struct open_how how = {0};
	char path[PATH_MAX];
	if (size != sizeof how || !peer_read(&files->peer, how_address, &how, sizeof how))
		return -EINVAL;
	if (how.flags & ~(uint64_t)READS || !(how.resolve & RESOLVE_IN_ROOT))
		return -EPERM;
	int result = peer_read_path(&files->peer, address, path);
	int root = result ? result : peer_take_fd(&files->peer, directory);
	if (root < 0)
		return root;
	how.flags |= O_PATH | O_CLOEXEC; /* nothing is opened before it is known what it is */
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
	result = fd < 0 ? -errno : make_readable(fd);
	close(root);
	return result;
}

/* --- other changes --- */

int files_remove(const struct files *files, int directory, uint64_t path)
{
	struct target target;
	int result = find_target(files, directory, path, &target);
	if (result)
		return result;
	result = unlinkat(target.directory, target.name, 0) ? -errno : 0;
	close(target.directory);
	return result;
}

int files_remove_directory(struct files *files, int directory, uint64_t path)
{
	struct target target;
	int result = read_and_split(files, directory, path, &target);
	if (result)
		return result;
	int fd = openat(target.directory, target.name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	result = fd < 0 ? -errno : find_place(files, fd, NULL) ? 0 : -EPERM;
	if (!result)
		result = unlinkat(target.directory, target.name, AT_REMOVEDIR) ? -errno : 0;
	if (fd >= 0)
		close(fd);
	close(target.directory);
	return result;
}

int files_rename(const struct files *files, int from, uint64_t old, int to, uint64_t new)
{
	struct target source, target;
	int result = find_target(files, from, old, &source);
	if (result)
		return result;
	result = find_target(files, to, new, &target);
	if (!result) {
		result = renameat(source.directory, source.name, target.directory, target.name) ? -errno : 0;
		close(target.directory);
	}
	close(source.directory);
	return result;
}

/* A regular file that the process can write to anyway. */
static bool is_own_file(int fd)
{
	struct stat status;
	return is_open_to_write(fd) && !fstat(fd, &status) && S_ISREG(status.st_mode);
}

int files_change_mode(const struct files *files, int number, mode_t mode)
{
	int fd = mode & ~0777u ? -EPERM : peer_take_fd(&files->peer, number);
	if (fd < 0)
		return fd;
	int result = !is_own_file(fd) ? -EPERM : fchmod(fd, mode) ? -errno : 0;
	close(fd);
	return result;
}

int files_change_owner(const struct files *files, int number, uid_t owner, gid_t group)
{
	const struct sandbox_options *options = &files->options;
	bool allowed = options->owner != (uid_t)-1 && owner == options->owner && group == options->group;
	int fd = allowed ? peer_take_fd(&files->peer, number) : -EPERM;
	if (fd < 0)
		return fd;
	bool own = is_own_file(fd) || find_place(files, fd, NULL);
	int result = !own ? -EPERM : fchown(fd, owner, group) ? -errno : 0;
	close(fd);
	return result;
}
