/* Opens a path with O_PATH, checks what is there, and opens it again for reading. */
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Only to look at it. Before Linux 5.6 links below a root are resolved as if it were ours. */
static int look(const char *path, bool links)
{
	int root, below = 0, flags = O_PATH | O_CLOEXEC | (links ? 0 : O_NOFOLLOW);
	if (sscanf(path, "/proc/self/fd/%d/%n", &root, &below) != 1 || !below)
		return open(path, flags);
	struct open_how how = {.flags = (unsigned)flags, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int fd = (int)syscall(SYS_openat2, root, path + below, &how, sizeof how);
	return fd < 0 && errno == ENOSYS ? open(path, flags) : fd;
}

static int reopen(int seen)
{
	char name[40];
	snprintf(name, sizeof name, "/proc/self/fd/%d", seen);
	return open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int regular_file_open(const char *path, bool links, struct stat *ret_status)
{
	int fd = -1, error = 0, seen = look(path, links);
	if (seen < 0)
		return -errno;
	if (fstat(seen, ret_status))
		error = errno;
	else if (!S_ISREG(ret_status->st_mode))
		error = S_ISLNK(ret_status->st_mode) ? ELOOP : ENOTSUP;
	else if ((fd = reopen(seen)) < 0)
		error = errno;
	close(seen);
	return error ? -error : fd;
}

int regular_file_open_of(const char *path, uid_t user, struct stat *ret_status)
{
	int fd = regular_file_open(path, false, ret_status);
	if (fd < 0 || ret_status->st_uid == 0 || ret_status->st_uid == user)
		return fd;
	close(fd);
	return -EPERM;
}

int regular_file_refused(const char *path, int error, struct err *err)
{
	if (error == -ENOTSUP || error == -ELOOP)
		return err_set(err, ERR_OPEN, "%s: not a regular file", path);
	if (error == -EPERM)
		return err_set(err, ERR_OPEN, "%s: does not belong to the user of the process", path);
	return err_set(err, ERR_OPEN, "%s: %s", path, strerror(-error));
}

bool regular_file_read(int fd, uint64_t offset, void *out, size_t size)
{
	for (uint8_t *at = out; size;) {
		ssize_t got = pread(fd, at, size, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}
