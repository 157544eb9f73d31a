/* Buffered output to a temporary file, its rename, and its removal on failure or signals. */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PENDING_SIZE ((size_t)256 * 1024)

/*
 * The temporaries that exist, for outfile_remove_temporaries(). A signal may come at any moment in any thread, so the
 * list only grows (entries are reused, never freed) and a file belongs to whoever exchanges it for NULL.
 */
struct outfile_listed {
	int directory;
	char name[];
};

struct temporary {
	_Atomic(struct outfile_listed *) file;
	struct temporary *next;
};
static _Atomic(struct temporary *) temporaries;

/*
 * A thread that is about to create a file when another one removes the temporaries would leave it behind. So whoever
 * removes them waits for the threads that are creating one, and no other thread begins to.
 */
static atomic_bool removing;
static atomic_int creating;
static _Thread_local volatile sig_atomic_t creates_here; /* a handler does not wait for the thread that it interrupts */

static void begin_creating(void)
{
	creates_here = 1;
	atomic_fetch_add(&creating, 1);
	if (!atomic_load(&removing))
		return;
	atomic_fetch_sub(&creating, 1);
	for (;;)
		pause(); /* the process ends */
}

static void end_creating(void)
{
	atomic_fetch_sub(&creating, 1);
	creates_here = 0;
}

static void wait_for_creators(void)
{
	enum { LONGEST_MS = 2000 }; /* a file system that hangs must not make Ctrl-C hang */
	atomic_store(&removing, true);
	for (int waited = 0; atomic_load(&creating) > creates_here && waited < LONGEST_MS; waited++)
		poll(NULL, 0, 1);
}

static struct outfile_listed *temporaries_add(int directory, const char *name)
{
	struct outfile_listed *file = mem_alloc(sizeof *file + strlen(name) + 1);
	file->directory = directory;
	memcpy(file->name, name, strlen(name) + 1);
	for (struct temporary *entry = atomic_load(&temporaries); entry; entry = entry->next) {
		struct outfile_listed *expected = NULL;
		if (atomic_compare_exchange_strong(&entry->file, &expected, file))
			return file;
	}
	struct temporary *entry = mem_zalloc(1, sizeof *entry);
	atomic_init(&entry->file, file);
	entry->next = atomic_load(&temporaries);
	while (!atomic_compare_exchange_weak(&temporaries, &entry->next, entry))
		;
	return file;
}

/*
 * Takes the file off the list, unless a dying thread has taken it already. Files of other threads may be freed at any
 * moment, so they are compared by address and not read.
 */
static void temporaries_drop(struct outfile_listed *file)
{
	for (struct temporary *entry = atomic_load(&temporaries); entry; entry = entry->next) {
		struct outfile_listed *expected = file;
		if (atomic_compare_exchange_strong(&entry->file, &expected, NULL)) {
			free(file);
			return;
		}
	}
}

void outfile_remove_temporaries(void)
{
	int kept = errno;
	wait_for_creators();
	for (struct temporary *entry = atomic_load(&temporaries); entry; entry = entry->next) {
		struct outfile_listed *file = atomic_exchange(&entry->file, NULL);
		if (file)
			unlinkat(file->directory, file->name, 0);
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

void outfile_move(struct outfile *out, struct buf *text)
{
	outfile_add(out, text->data, text->size);
	buf_clear(text);
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

static int cannot(struct err *err, const char *what, const struct outfile_place *place, const char *name, int error)
{
	return err_set(err, ERR_OPEN, "cannot %s %s%s: %s%s", what, place->prefix, name, strerror(error),
		       advice(error));
}

struct outfile_place outfile_usual_place(void)
{
	return (struct outfile_place){.directory = AT_FDCWD, .prefix = "", .mode = 0666, .owner = OUTFILE_OWN};
}

static void begin(struct outfile *out, const struct outfile_place *place, int fd, const char *name)
{
	struct buf shown = {0};
	buf_printf(&shown, "%s%s", place->prefix, name);
	*out = (struct outfile){.fd = fd, .place = *place, .path = mem_strdup(name), .shown = shown.data};
}

/* Creates a file of a name that nobody else uses in the directory of `path`, and begins `out` with it. 0 or -errno. */
static int create_temporary(struct outfile *out, const struct outfile_place *place, const char *path, mode_t mode)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path + 1) : 0;
	/* A long final name is cut, so that the temporary's does not become too long for the file system. */
	for (unsigned attempt = 0;; attempt++) {
		struct buf name = {0};
		buf_printf(&name, "%.*s.%.200s.wick-%d-%u", folder, path, path + folder, (int)getpid(), attempt);
		/* On the list before it exists: a signal in between then leaves nothing behind. */
		begin_creating();
		struct outfile_listed *listed = temporaries_add(place->directory, name.data);
		int fd = openat(place->directory, name.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		int error = errno;
		end_creating();
		if (fd >= 0) {
			begin(out, place, fd, path);
			out->temporary = name.data;
			out->listed = listed;
			return 0;
		}
		temporaries_drop(listed);
		buf_release(&name);
		if (error != EEXIST || attempt == 1000)
			return -error;
	}
}

static int open_in_place(struct outfile *out, const struct outfile_place *place, const char *path, struct err *err)
{
	int fd = openat(place->directory, path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return cannot(err, "write", place, path, errno);
	begin(out, place, fd, path);
	return 0;
}

/* `existing` is NULL for a new file. One that is replaced must be writable itself. */
static int open_beside(struct outfile *out, const struct outfile_place *place, const char *path,
		       const struct stat *existing, struct err *err)
{
	if (existing && faccessat(place->directory, path, W_OK, 0) != 0)
		return cannot(err, "write", place, path, errno);
	int error = create_temporary(out, place, path, existing ? existing->st_mode & place->mode : place->mode);
	if (error < 0)
		return cannot(err, "create", place, path, -error);
	if (existing)
		(void)!fchmod(out->fd, existing->st_mode & place->mode);
	return 0;
}

int outfile_open_part(struct outfile *out, const struct outfile_place *place, const char *name, struct err *err)
{
	struct buf part = {0};
	buf_printf(&part, "%s.part", name);
	unlinkat(place->directory, part.data, 0); /* a link there would lead elsewhere */
	int fd = openat(place->directory, part.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, place->mode);
	if (fd < 0) {
		int error = errno;
		buf_release(&part);
		return cannot(err, "create", place, name, error);
	}
	begin(out, place, fd, name);
	out->temporary = part.data;
	out->keeps = true;
	return 0;
}

void outfile_open_stderr(struct outfile *out)
{
	*out = (struct outfile){.fd = STDERR_FILENO, .shown = mem_strdup("standard error")};
}

static int is_directory(struct err *err, const struct outfile_place *place, const char *name)
{
	return err_set(err, ERR_OPEN, "cannot write %s%s: it is a directory; use the name of a file in it",
		       place->prefix, name);
}

/* Whoever can put a link there must not decide which file is replaced. */
static int open_replacing(struct outfile *out, const struct outfile_place *place, const char *name, struct err *err)
{
	struct stat status;
	bool there = fstatat(place->directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
	if (there && S_ISDIR(status.st_mode))
		return is_directory(err, place, name);
	return open_beside(out, place, name, there && S_ISREG(status.st_mode) ? &status : NULL, err);
}

int outfile_open_at(struct outfile *out, const struct outfile_place *place, const char *name, struct err *err)
{
	struct stat link, status;
	if (!*name)
		return err_set(err, ERR_OPEN, "the output file name is empty");
	bool is_link = fstatat(place->directory, name, &link, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(link.st_mode);
	if (place->replace || (is_link && link.st_uid != 0 && link.st_uid != geteuid()))
		return open_replacing(out, place, name, err);
	if (fstatat(place->directory, name, &status, 0) != 0) {
		if (errno != ENOENT)
			return cannot(err, "create", place, name, errno);
		return open_beside(out, place, name, NULL, err);
	}
	if (S_ISDIR(status.st_mode))
		return is_directory(err, place, name);
	if (!S_ISREG(status.st_mode))
		return open_in_place(out, place, name, err);
	/* A symbolic link stays one: its target is replaced. */
	CLEANUP_FREE char *target = is_link && place->directory == AT_FDCWD ? realpath(name, NULL) : NULL;
	return open_beside(out, place, target ? target : name, &status, err);
}

int outfile_open(struct outfile *out, const char *path, struct err *err)
{
	struct outfile_place place = outfile_usual_place();
	if (path && strcmp(path, "-") != 0)
		return outfile_open_at(out, &place, path, err);
	*out = (struct outfile){.fd = STDOUT_FILENO, .shown = mem_strdup("standard output")};
	return 0;
}

static void release(struct outfile *out)
{
	if (out->listed)
		temporaries_drop(out->listed);
	free(out->temporary);
	free(out->path);
	free(out->shown);
	buf_release(&out->pending);
	*out = (struct outfile){.fd = -1};
}

int outfile_commit(struct outfile *out, struct err *err)
{
	flush(out);
	if (out->temporary && out->place.owner != OUTFILE_OWN)
		(void)!fchown(out->fd, out->place.owner, out->place.group);
	/* Some file systems report only here that the bytes were not written. */
	if (out->path && close(out->fd) != 0)
		failed_write(out, errno);
	int directory = out->place.directory;
	if (out->temporary && !out->failed.code && renameat(directory, out->temporary, directory, out->path) != 0)
		failed_write(out, errno);
	if (out->temporary && out->failed.code && !out->keeps)
		unlinkat(directory, out->temporary, 0);
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
		unlinkat(out->place.directory, out->temporary, 0);
	release(out);
}
