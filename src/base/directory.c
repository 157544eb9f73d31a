/* Opens a directory component by component, and follows links only where others cannot change them. */
#include "base/directory.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 32

static bool is_trusted(uid_t owner)
{
	return owner == 0 || owner == geteuid();
}

/* Nobody else may replace what is in it. A group of one's own is usual for homes, not for what root uses. */
static bool is_safe(const struct stat *status)
{
	mode_t others = geteuid() ? S_IWOTH : S_IWGRP | S_IWOTH;
	return is_trusted(status->st_uid) && (!(status->st_mode & others) || status->st_mode & S_ISVTX);
}

/* The way that is left: components, and in front of them those of links that were met. */
struct way {
	int at; /* where we are */
	struct buf left;
	unsigned links;
};

static int step_to(struct way *way, int fd)
{
	if (fd < 0)
		return -errno;
	close(way->at);
	way->at = fd;
	return 0;
}

static int follow_link(struct way *way, const char *name, const struct stat *status)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(way->at, name, target, sizeof target);
	if (length < 0)
		return -errno;
	if (!is_trusted(status->st_uid))
		return -EPERM;
	if (length == sizeof target || way->links++ == LINKS_MAX)
		return -ELOOP;
	struct buf left = {0};
	buf_add(&left, target, (size_t)length);
	buf_printf(&left, "/%s", way->left.data);
	buf_release(&way->left);
	way->left = left;
	return target[0] == '/' ? step_to(way, open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) : 0;
}

static int step(struct way *way, const char *name)
{
	enum { FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
	struct stat status;
	if (fstatat(way->at, name, &status, AT_SYMLINK_NOFOLLOW)) {
		if (errno != ENOENT || (mkdirat(way->at, name, 0700) && errno != EEXIST))
			return -errno;
	} else if (S_ISLNK(status.st_mode)) {
		return follow_link(way, name, &status);
	}
	int code = step_to(way, openat(way->at, name, FLAGS));
	if (code)
		return code;
	return fstat(way->at, &status) ? -errno : is_safe(&status) ? 0 : -EPERM;
}

static int walk(struct way *way)
{
	for (;;) {
		const char *start = way->left.data + strspn(way->left.data, "/");
		size_t length = strcspn(start, "/");
		if (!length)
			return 0;
		CLEANUP_BUF struct buf name = {0};
		buf_add(&name, start, length);
		struct buf left = {0};
		buf_str(&left, start + length);
		buf_release(&way->left);
		way->left = left;
		int code = step(way, name.data);
		if (code)
			return code;
	}
}

int directory_open_private(const char *path)
{
	struct way way = {.at = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	struct stat status;
	if (path[0] != '/')
		return -EINVAL;
	if (way.at < 0)
		return -errno;
	buf_str(&way.left, path);
	int code = walk(&way);
	buf_release(&way.left);
	if (!code && (fstat(way.at, &status) || status.st_uid != geteuid() || status.st_mode & (S_IWGRP | S_IWOTH)))
		code = -EPERM;
	if (code)
		close(way.at);
	return code ? code : way.at;
}

bool directory_is_own(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}
