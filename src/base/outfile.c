#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PENDING_SIZE ((size_t)256 * 1024)

/*
 * The temporaries that exist, for outfile_remove_temporaries(). A signal may come at any moment in any thread, so the
 * list only grows (entries are reused, never freed) and a name belongs to whoever exchanges it for NULL.
 */
struct temporary {
	_Atomic(char *) path;
	struct temporary *next;
};
static _Atomic(struct temporary *) temporaries;

static void temporaries_add(char *path)
{
	for (struct temporary *entry = atomic_load(&temporaries); entry; entry = entry->next) {
		char *expected = NULL;
		if (atomic_compare_exchange_strong(&entry->path, &expected, path))
			return;
	}
	struct temporary *entry = mem_zalloc(1, sizeof *entry);
	atomic_init(&entry->path, path);
	entry->next = atomic_load(&temporaries);
	while (!atomic_compare_exchange_weak(&temporaries, &entry->next, entry))
		;
}

/* Takes the name off the list and frees it, unless a dying thread has taken it already. */
static void temporaries_drop(char *path)
{
	for (struct temporary *entry = atomic_load(&temporaries); entry; entry = entry->next) {
		char *expected = path;
		if (atomic_compare_exchange_strong(&entry->path, &expected, NULL)) {
			free(path);
			return;
		}
	}
}

void outfile_remove_temporaries(void)
{
	int kept = errno;
	for (struct temporary *entry = atomic_load(&temporaries); entry; entry = entry->next) {
		char *path = atomic_exchange(&entry->path, NULL);
		if (path)
			unlink(path);
	}
	errno = kept;
}

/* What the user can do about a failed write or creation; begins with "; " or is empty. */
static const char *advice(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
		return "; free some space or write to another file system";
	case ENOENT:
		return "; create the directory first";
	case EACCES:
	case EPERM:
	case EROFS:
		return "; choose a directory that you can write to";
	case EIO:
		return "; the device may be failing, see dmesg";
	case EFBIG:
		return "; see ulimit -f";
	default:
		return "";
	}
}

static void failed_write(struct outfile *out, int error)
{
	if (out->failed.code)
		return;
	if (error == EPIPE)
		err_set(&out->failed, ERR_PIPE, "%s was closed by its reader", out->shown);
	else if (error == EBADF && !out->path)
		err_set(&out->failed, ERR_IO, "%s is closed", out->shown);
	else
		err_set(&out->failed, ERR_IO, "cannot write %s: %s%s", out->shown, strerror(error), advice(error));
}

/* Standard output may be a pipe that someone made non-blocking. */
static bool wait_writable(int fd)
{
	struct pollfd wait = {.fd = fd, .events = POLLOUT};
	return poll(&wait, 1, -1) >= 0 || errno == EINTR;
}

static void write_all(struct outfile *out, const char *bytes, size_t count)
{
	while (count && !out->failed.code) {
		ssize_t done = write(out->fd, bytes, count);
		if (done >= 0) {
			bytes += done;
			count -= (size_t)done;
		} else if (errno == EINTR || (errno == EAGAIN && wait_writable(out->fd))) {
			continue;
		} else {
			failed_write(out, errno);
		}
	}
}

static void flush(struct outfile *out)
{
	write_all(out, out->pending.data, out->pending.size);
	buf_clear(&out->pending);
}

void outfile_add(struct outfile *out, const void *bytes, size_t count)
{
	if (out->failed.code)
		return;
	if (out->pending.size + count > PENDING_SIZE)
		flush(out);
	if (count >= PENDING_SIZE)
		write_all(out, bytes, count);
	else
		buf_add(&out->pending, bytes, count);
}

void outfile_rewrite(struct outfile *out, uint64_t offset, const void *bytes, size_t count)
{
	flush(out);
	for (const char *at = bytes; count && !out->failed.code;) {
		ssize_t done = pwrite(out->fd, at, count, (off_t)offset);
		if (done >= 0) {
			at += done;
			offset += (uint64_t)done;
			count -= (size_t)done;
		} else if (errno != EINTR) {
			failed_write(out, errno);
		}
	}
}

void outfile_printf(struct outfile *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	buf_vprintf(&out->pending, format, args);
	va_end(args);
	if (out->pending.size > PENDING_SIZE || out->failed.code)
		flush(out);
}

static int cannot_create(struct err *err, const char *path, int error)
{
	return err_set(err, ERR_OPEN, "cannot create %s: %s%s", path, strerror(error), advice(error));
}

/* Creates a file of a name that nobody else uses in the folder of `path`. Returns its descriptor or -errno. */
static int create_temporary(const char *path, mode_t mode, char **ret_name)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path + 1) : 0;
	/* A long final name is cut, so that the temporary's does not become too long for the file system. */
	for (unsigned attempt = 0;; attempt++) {
		struct buf name = {0};
		buf_printf(&name, "%.*s.%.200s.wick-%d-%u", folder, path, path + folder, (int)getpid(), attempt);
		/* On the list before it exists: a signal in between then leaves nothing behind. */
		temporaries_add(name.data);
		int fd = open(name.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd >= 0) {
			*ret_name = name.data;
			return fd;
		}
		int error = errno;
		temporaries_drop(name.data);
		if (error != EEXIST || attempt == 1000)
			return -error;
	}
}

static int open_in_place(struct outfile *out, const char *path, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return err_set(err, ERR_OPEN, "cannot write %s: %s%s", path, strerror(errno), advice(errno));
	*out = (struct outfile){.fd = fd, .path = mem_strdup(path)};
	out->shown = out->path;
	return 0;
}

/* `existing` is NULL for a new file. One that is replaced keeps its permissions and must be writable itself. */
static int open_beside(struct outfile *out, const char *path, const struct stat *existing, struct err *err)
{
	if (existing && access(path, W_OK) != 0)
		return err_set(err, ERR_OPEN, "cannot write %s: %s%s", path, strerror(errno), advice(errno));
	char *temporary = NULL;
	int fd = create_temporary(path, existing ? existing->st_mode & 0777 : 0666, &temporary);
	if (fd < 0)
		return cannot_create(err, path, -fd);
	if (existing)
		(void)!fchmod(fd, existing->st_mode & 0777);
	*out = (struct outfile){.fd = fd, .path = mem_strdup(path), .temporary = temporary};
	out->shown = out->path;
	return 0;
}

int outfile_open_part(struct outfile *out, const char *path, struct err *err)
{
	struct buf part = {0};
	buf_printf(&part, "%s.part", path);
	unlink(part.data); /* a link there would lead elsewhere */
	int fd = open(part.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		int error = errno;
		buf_release(&part);
		return cannot_create(err, path, error);
	}
	*out = (struct outfile){.fd = fd, .path = mem_strdup(path), .temporary = part.data, .keeps = true};
	out->shown = out->path;
	return 0;
}

void outfile_open_stderr(struct outfile *out)
{
	*out = (struct outfile){.fd = STDERR_FILENO, .shown = "standard error"};
}

int outfile_open(struct outfile *out, const char *path, struct err *err)
{
	if (!path || !strcmp(path, "-")) {
		*out = (struct outfile){.fd = STDOUT_FILENO, .shown = "standard output"};
		return 0;
	}
	if (!*path)
		return err_set(err, ERR_OPEN, "the output file name is empty");
	struct stat status;
	if (stat(path, &status) != 0) {
		if (errno != ENOENT)
			return cannot_create(err, path, errno);
		return open_beside(out, path, NULL, err);
	}
	if (S_ISDIR(status.st_mode))
		return err_set(err, ERR_OPEN, "cannot write %s: it is a directory; use the name of a file in it", path);
	if (!S_ISREG(status.st_mode))
		return open_in_place(out, path, err);
	/* A symbolic link stays one: its target is replaced. */
	struct stat link;
	bool is_link = lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
	CLEANUP_FREE char *target = is_link ? realpath(path, NULL) : NULL;
	return open_beside(out, target ? target : path, &status, err);
}

static void release(struct outfile *out)
{
	if (out->temporary && out->keeps)
		free(out->temporary);
	else if (out->temporary)
		temporaries_drop(out->temporary);
	free(out->path);
	buf_release(&out->pending);
	*out = (struct outfile){.fd = -1};
}

int outfile_commit(struct outfile *out, struct err *err)
{
	flush(out);
	/* Some file systems tell only here that the bytes did not arrive. */
	if (out->path && close(out->fd) != 0)
		failed_write(out, errno);
	if (out->temporary && !out->failed.code && rename(out->temporary, out->path) != 0)
		failed_write(out, errno);
	if (out->temporary && out->failed.code && !out->keeps)
		unlink(out->temporary);
	int code = out->failed.code;
	if (code && err)
		*err = out->failed;
	release(out);
	return code;
}

void outfile_abandon(struct outfile *out)
{
	if (out->path)
		close(out->fd);
	if (out->temporary)
		unlink(out->temporary);
	release(out);
}
