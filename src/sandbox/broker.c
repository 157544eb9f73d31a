/*
 * Gets the system calls of the process in the sandbox that change the file system, and makes those that stay within the
 * directories of the options. Arguments are copied from the memory of the other process once; it cannot change them
 * after they were checked.
 */
#include "sandbox/broker.h"

#include "sandbox/capabilities.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

/* To change files of any owner. It also needs all that the other process keeps, without which it cannot look into it. */
#define CAPABILITIES_TO_WRITE (CAPABILITY(CAP_DAC_OVERRIDE) | CAPABILITY(CAP_CHOWN) | CAPABILITY(CAP_FOWNER))

struct identity {
	dev_t device;
	ino_t inode;
};

struct broker {
	pid_t process; /* that is in the sandbox */
	int process_fd, listener;
	struct identity directories[SANDBOX_DIRECTORIES_MAX];
	size_t directory_count;
	uid_t owner;
	gid_t group;
};

/* A file by the directory that it is in. */
struct place {
	int directory;
	char name[NAME_MAX + 1];
};

/* --- what the other process has --- */

/* A copy of a descriptor of the other process, or -errno. */
static int take_fd(const struct broker *broker, int number)
{
	if (number == AT_FDCWD)
		return open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = (int)syscall(SYS_pidfd_getfd, broker->process_fd, number, 0);
	return fd < 0 ? -errno : fd;
}

static bool read_memory(const struct broker *broker, uint64_t address, void *bytes, size_t size)
{
	struct iovec here = {bytes, size}, there = {(void *)(uintptr_t)address, size};
	return process_vm_readv(broker->process, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* Page by page, since the next one may not be there. */
static int read_path(const struct broker *broker, uint64_t address, char path[PATH_MAX])
{
	enum { PIECE = 256 };
	for (size_t done = 0; done < PATH_MAX;) {
		size_t size = PIECE - (address + done) % PIECE;
		if (size > PATH_MAX - done)
			size = PATH_MAX - done;
		if (!read_memory(broker, address + done, path + done, size))
			return -EFAULT;
		if (memchr(path + done, '\0', size))
			return 0;
		done += size;
	}
	return -ENAMETOOLONG;
}

/* --- where it may write --- */

static bool is_listed(const struct broker *broker, int fd)
{
	struct stat status;
	if (fstat(fd, &status) || !S_ISDIR(status.st_mode))
		return false;
	for (size_t i = 0; i < broker->directory_count; i++)
		if (broker->directories[i].device == status.st_dev && broker->directories[i].inode == status.st_ino)
			return true;
	return false;
}

/* Opens the directory of a path, whichever it is. */
static int find_place(const struct broker *broker, int directory, const char *path, struct place *place)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	if (!*name || !strcmp(name, ".") || !strcmp(name, "..") || strlen(name) > NAME_MAX)
		return -EPERM;
	memcpy(place->name, name, strlen(name) + 1);
	snprintf(parent, sizeof parent, "%.*s", slash == path ? 1 : (int)(name - path), path);
	place->directory = take_fd(broker, directory);
	if (!slash || place->directory < 0)
		return place->directory < 0 ? place->directory : 0;
	int base = place->directory;
	place->directory = openat(base, parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int result = place->directory < 0 ? -errno : 0;
	close(base);
	return result;
}

/* Fails unless the directory is one of the options'. */
static int find_listed(const struct broker *broker, int directory, uint64_t address, struct place *place)
{
	char path[PATH_MAX];
	int result = read_path(broker, address, path);
	if (!result)
		result = find_place(broker, directory, path, place);
	if (!result && !is_listed(broker, place->directory)) {
		close(place->directory);
		result = -EPERM;
	}
	return result;
}

/* --- opening --- */

/* What can be written in place, besides files: pipes, terminals, and devices that lead nowhere. */
static bool may_write_into(const struct stat *status)
{
	enum { MEMORY_DEVICES = 1, TERMINAL_DEVICES = 5, PTY_FIRST = 136, PTY_LAST = 143 };
	unsigned major = major(status->st_rdev);
	if (S_ISREG(status->st_mode) || S_ISFIFO(status->st_mode))
		return true;
	return S_ISCHR(status->st_mode) && ((major == MEMORY_DEVICES && minor(status->st_rdev) >= 3) ||
					    major == TERMINAL_DEVICES || (major >= PTY_FIRST && major <= PTY_LAST));
}

/* /dev/fd/3 and its like: a descriptor of the other process, which must be open for writing. */
static int open_own(const struct broker *broker, const char *path)
{
	static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/"};
	int number = !strcmp(path, "/dev/stdout") ? 1 : !strcmp(path, "/dev/stderr") ? 2 : -1;
	for (size_t i = 0; i < 2; i++) {
		size_t length = strlen(prefixes[i]);
		if (!strncmp(path, prefixes[i], length) && path[length] >= '0' && path[length] <= '9')
			number = atoi(path + length);
	}
	if (number < 0)
		return -EPERM;
	int fd = take_fd(broker, number);
	if (fd < 0)
		return fd;
	int flags = fcntl(fd, F_GETFL);
	if (flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY)
		return fd;
	close(fd);
	return -EPERM;
}

static int open_listed(const struct broker *broker, const struct place *place, int flags, mode_t mode)
{
	struct stat status;
	bool there = fstatat(place->directory, place->name, &status, AT_SYMLINK_NOFOLLOW) == 0;
	if (!is_listed(broker, place->directory) || (there && !may_write_into(&status)))
		return -EPERM;
	int fd = openat(place->directory, place->name, flags | O_NOFOLLOW | O_CLOEXEC, mode & 0777);
	return fd < 0 ? -errno : fd;
}

static int open_to_write(const struct broker *broker, int directory, uint64_t address, int flags, mode_t mode)
{
	char path[PATH_MAX];
	struct place place;
	int result = read_path(broker, address, path);
	if (result)
		return result;
	if ((flags & O_TMPFILE) == O_TMPFILE || !strcmp(path, "/dev/tty") || !strcmp(path, "/dev/null")) {
		int fd = open(path, (flags & ~O_CREAT) | O_CLOEXEC, mode & 0700);
		return fd < 0 ? -errno : fd;
	}
	int fd = open_own(broker, path);
	if (fd != -EPERM)
		return fd;
	result = find_place(broker, directory, path, &place);
	if (result)
		return result;
	result = open_listed(broker, &place, flags, mode);
	close(place.directory);
	return result;
}

/* The kernel does not pass on a descriptor of O_PATH: one for reading takes its place, of a file or a directory. */
static int make_readable(int path_fd)
{
	char name[32];
	struct stat status;
	int fd = -EPERM;
	if (!fstat(path_fd, &status) && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) {
		snprintf(name, sizeof name, "/proc/self/fd/%d", path_fd);
		fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	close(path_fd);
	return fd;
}

/* Only for reading: this call has its flags in memory, where the filter cannot check them. */
static int open_to_read(const struct broker *broker, const struct seccomp_data *call)
{
	enum { READS = O_PATH | O_CLOEXEC | O_NOFOLLOW | O_DIRECTORY | O_NONBLOCK | O_NOCTTY | O_LARGEFILE };
	struct open_how how = {0};
	char path[PATH_MAX];
	if (call->args[3] != sizeof how || !read_memory(broker, call->args[2], &how, sizeof how))
		return -EINVAL;
	if (how.flags & ~(uint64_t)READS)
		return -EPERM;
	int result = read_path(broker, call->args[1], path);
	int directory = result ? result : take_fd(broker, (int)call->args[0]);
	if (directory < 0)
		return directory;
	how.flags |= O_CLOEXEC;
	int fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
	result = fd < 0 ? -errno : fd;
	close(directory);
	return result >= 0 && how.flags & O_PATH ? make_readable(result) : result;
}

/* --- other changes --- */

/* A directory of the options may be removed too, which fails unless it is empty. */
static bool is_listed_directory(const struct broker *broker, const struct place *place)
{
	int fd = openat(place->directory, place->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool listed = fd >= 0 && is_listed(broker, fd);
	if (fd >= 0)
		close(fd);
	return listed;
}

static int remove_directory(const struct broker *broker, uint64_t address)
{
	char path[PATH_MAX];
	struct place place;
	int result = read_path(broker, address, path);
	if (!result)
		result = find_place(broker, AT_FDCWD, path, &place);
	if (result)
		return result;
	result = -EPERM;
	if (is_listed_directory(broker, &place))
		result = unlinkat(place.directory, place.name, AT_REMOVEDIR) ? -errno : 0;
	close(place.directory);
	return result;
}

static int remove_file(const struct broker *broker, int directory, uint64_t address, int flags)
{
	struct place place;
	int result = flags ? -EPERM : find_listed(broker, directory, address, &place);
	if (result)
		return result;
	result = unlinkat(place.directory, place.name, 0) ? -errno : 0;
	close(place.directory);
	return result;
}

static int rename_file(const struct broker *broker, int from, uint64_t old, int to, uint64_t new, unsigned flags)
{
	struct place source, target;
	int result = flags ? -EPERM : find_listed(broker, from, old, &source);
	if (result)
		return result;
	result = find_listed(broker, to, new, &target);
	if (!result) {
		result = renameat(source.directory, source.name, target.directory, target.name) ? -errno : 0;
		close(target.directory);
	}
	close(source.directory);
	return result;
}

/* A file that the process can write to anyway, or a directory of the options. */
static int take_own_file(const struct broker *broker, int number)
{
	struct stat status;
	int fd = take_fd(broker, number);
	if (fd < 0 || is_listed(broker, fd))
		return fd;
	int flags = fcntl(fd, F_GETFL);
	if (flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY && !fstat(fd, &status) &&
	    S_ISREG(status.st_mode))
		return fd;
	close(fd);
	return -EPERM;
}

static int change_mode(const struct broker *broker, int number, mode_t mode)
{
	int fd = mode & ~0777u ? -EPERM : take_own_file(broker, number);
	if (fd < 0)
		return fd;
	int result = fchmod(fd, mode) ? -errno : 0;
	close(fd);
	return result;
}

static int change_owner(const struct broker *broker, int number, uid_t owner, gid_t group)
{
	bool allowed = broker->owner != (uid_t)-1 && owner == broker->owner && group == broker->group;
	int fd = allowed ? take_own_file(broker, number) : -EPERM;
	if (fd < 0)
		return fd;
	int result = fchown(fd, owner, group) ? -errno : 0;
	close(fd);
	return result;
}

/* --- calls --- */

/* Makes the call. Returns a descriptor for the other process if `ret_is_fd` is set, else its result; or -errno. */
static int make_call(const struct broker *broker, const struct seccomp_data *call, bool *ret_is_fd)
{
	const __u64 *arguments = call->args;
	*ret_is_fd = call->nr == SYS_openat || call->nr == SYS_openat2;
	switch (call->nr) {
	case SYS_openat:
		return open_to_write(broker, (int)arguments[0], arguments[1], (int)arguments[2], (mode_t)arguments[3]);
	case SYS_openat2:
		return open_to_read(broker, call);
	case SYS_unlinkat:
		return remove_file(broker, (int)arguments[0], arguments[1], (int)arguments[2]);
	case SYS_renameat:
	case SYS_renameat2:
		return rename_file(broker, (int)arguments[0], arguments[1], (int)arguments[2], arguments[3],
				   call->nr == SYS_renameat2 ? (unsigned)arguments[4] : 0);
	case SYS_fchmod:
		return change_mode(broker, (int)arguments[0], (mode_t)arguments[1]);
	case SYS_fchown:
		return change_owner(broker, (int)arguments[0], (uid_t)arguments[1], (gid_t)arguments[2]);
#ifdef __x86_64__
	case SYS_open:
		*ret_is_fd = true;
		return open_to_write(broker, AT_FDCWD, arguments[0], (int)arguments[1], (mode_t)arguments[2]);
	case SYS_unlink:
		return remove_file(broker, AT_FDCWD, arguments[0], 0);
	case SYS_rename:
		return rename_file(broker, AT_FDCWD, arguments[0], AT_FDCWD, arguments[1], 0);
	case SYS_rmdir:
		return remove_directory(broker, arguments[0]);
#endif
	default:
		return -EPERM;
	}
}

static void send_result(const struct broker *broker, uint64_t id, int result)
{
	struct seccomp_notif_resp response = {
		.id = id, .val = result < 0 ? 0 : result, .error = result < 0 ? result : 0};
	ioctl(broker->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void send_fd(const struct broker *broker, uint64_t id, int fd)
{
	struct seccomp_notif_addfd given = {
		.id = id,
		.flags = SECCOMP_ADDFD_FLAG_SEND,
		.srcfd = (uint32_t)fd,
		.newfd_flags = O_CLOEXEC,
	};
	if (ioctl(broker->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &given) < 0)
		send_result(broker, id, -errno);
	close(fd);
}

static void serve(const struct broker *broker, const struct seccomp_notif *request)
{
	bool is_fd;
	int result = make_call(broker, &request->data, &is_fd);
	/* The thread may be gone, and its memory another's. */
	if (ioctl(broker->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &request->id) < 0) {
		if (is_fd && result >= 0)
			close(result);
	} else if (is_fd && result >= 0) {
		send_fd(broker, request->id, result);
	} else {
		send_result(broker, request->id, result);
	}
}

static void wake_up(int number)
{
	(void)number;
}

/* To open a pipe takes until somebody reads it, or until Ctrl-C. */
static void allow_interrupts(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = wake_up};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		sigaction(numbers[i], &action, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* In a process of its own if it may take long: others must not wait. */
static void serve_apart(const struct broker *broker, const struct seccomp_notif *request)
{
	bool opens = request->data.nr == SYS_openat;
#ifdef __x86_64__
	opens = opens || request->data.nr == SYS_open;
#endif
	pid_t child = opens ? fork() : -1;
	if (child > 0)
		return;
	if (child == 0)
		allow_interrupts();
	serve(broker, request);
	if (child == 0)
		_exit(0);
}

static _Noreturn void serve_all(const struct broker *broker, int socket)
{
	struct pollfd waiting[] = {{.fd = broker->listener, .events = POLLIN}, {.fd = socket, .events = POLLIN}};
	for (;;) {
		if (poll(waiting, 2, -1) < 0 && errno != EINTR)
			_exit(1);
		if (waiting[0].revents & (POLLHUP | POLLERR) || waiting[1].revents)
			_exit(0); /* nobody is left in the sandbox, or nothing is left to do */
		/* The kernel wants it cleared, and may write more than this version has. */
		union {
			struct seccomp_notif request;
			char room[512];
		} got = {.room = {0}};
		if (waiting[0].revents & POLLIN && !ioctl(broker->listener, SECCOMP_IOCTL_NOTIF_RECV, &got.request))
			serve_apart(broker, &got.request);
	}
}

/* --- its beginning --- */

static void set_up(struct broker *broker, const struct sandbox_options *options)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE, SIGCHLD};
	struct stat status;
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	for (size_t i = 0; i < options->directory_count; i++)
		if (!fstat(options->directories[i], &status))
			broker->directories[broker->directory_count++] =
				(struct identity){status.st_dev, status.st_ino};
	prctl(PR_SET_NAME, "wick-broker");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* Closes all that it has inherited, so that nothing stays open that the process in the sandbox closes. */
static void close_all_but(int kept)
{
	if (kept > 0)
		syscall(SYS_close_range, 0, kept - 1, 0);
	syscall(SYS_close_range, kept + 1, ~0u, 0);
}

static uint64_t broker_capabilities(const struct sandbox_options *options)
{
	return CAPABILITIES_TO_WRITE | CAPABILITIES_TO_OBSERVE |
	       (options->kernel_stacks ? CAPABILITY(CAP_SYS_ADMIN) : 0);
}

_Noreturn void broker_run(const struct sandbox_options *options, int socket)
{
	struct broker broker = {.process = getppid(), .listener = -1, .owner = options->owner, .group = options->group};
	set_up(&broker, options);
	close_all_but(socket);
	broker.process_fd = (int)syscall(SYS_pidfd_open, broker.process, 0);
	int probe = broker.process_fd < 0 ? -1 : take_fd(&broker, 0), number;
	char byte;
	/* A closed descriptor is no obstacle, but not to be allowed to ask is. */
	if (probe < 0 && probe != -EBADF)
		_exit(1);
	if (probe >= 0)
		close(probe);
	if (!read_memory(&broker, (uintptr_t)&broker, &byte, 1) || write(socket, "", 1) != 1 ||
	    read(socket, &number, sizeof number) != sizeof number)
		_exit(1);
	/* While the other process still has all its capabilities, so must this one. */
	broker.listener = take_fd(&broker, number);
	if (broker.listener < 0 || !capabilities_keep(broker_capabilities(options)) || write(socket, "", 1) != 1)
		_exit(1);
	serve_all(&broker, socket);
}
