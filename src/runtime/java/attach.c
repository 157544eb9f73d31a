/* Attaches to a JVM: see attach.h. */
#include "runtime/java/attach.h"

#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_MS 2000 /* until there is a socket */
#define REPLY_MS 3000 /* until a step of the exchange is done */
#define RETRY_MS 20
#define TEXT_MAX 65536
#define STATUS_MAX 8192
#define REPLY_MAX 4096
#define THREADS_MAX 256 /* that are searched for the one that handles signals: it is one of the first */

/* --- the protocol --- */

void attach_write_request(struct buf *out, const char *command)
{
	static const char version[] = "1", name[] = "jcmd", none[] = "";
	buf_add(out, version, sizeof version);
	buf_add(out, name, sizeof name);
	buf_add(out, command, strlen(command) + 1);
	buf_add(out, none, sizeof none);
	buf_add(out, none, sizeof none);
}

bool attach_read_reply(const char *reply, size_t size, enum attach_result *ret_result)
{
	const char *end = memchr(reply, '\n', size);
	if (!end)
		return false;
	*ret_result = end == reply + 1 && *reply == '0' ? ATTACH_DONE : ATTACH_REFUSED;
	return true;
}

static bool wait_for(int fd, short what, uint64_t until)
{
	for (;;) {
		uint64_t now = clock_now();
		struct pollfd waiting = {.fd = fd, .events = what};
		int count = now >= until ? 0 : poll(&waiting, 1, (int)((until - now) / 1000000) + 1);
		if (count > 0)
			return true;
		if (count == 0 || errno != EINTR)
			return false;
	}
}

static enum attach_result send_request(int fd, const struct buf *request, uint64_t until)
{
	for (size_t sent = 0; sent < request->size;) {
		ssize_t count = send(fd, request->data + sent, request->size - sent, MSG_NOSIGNAL);
		if (count > 0)
			sent += (size_t)count;
		else if (errno != EAGAIN && errno != EINTR)
			return ATTACH_GONE;
		else if (!wait_for(fd, POLLOUT, until))
			return ATTACH_TIMED_OUT;
	}
	return ATTACH_DONE;
}

/* The JVM writes the code when the command has been run, and closes the socket after the text. */
static enum attach_result take_reply(int fd, uint64_t until)
{
	char reply[REPLY_MAX];
	enum attach_result result = ATTACH_GONE;
	for (size_t size = 0; size < sizeof reply;) {
		ssize_t count = recv(fd, reply + size, sizeof reply - size, 0);
		if (count > 0)
			size += (size_t)count;
		if (count > 0 && attach_read_reply(reply, size, &result))
			return result;
		if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
			return ATTACH_GONE;
		if (count < 0 && !wait_for(fd, POLLIN, until))
			return ATTACH_TIMED_OUT;
	}
	return ATTACH_REFUSED;
}

enum attach_result attach_exchange(int fd, const struct buf *request, int timeout_ms)
{
	uint64_t until = clock_now() + (uint64_t)timeout_ms * 1000000;
	enum attach_result result = send_request(fd, request, until);
	return result ? result : take_reply(fd, until);
}

/* --- what is known about the process --- */

/* What follows a name at the start of a line; NULL: there is no such line. */
static const char *status_line(const char *text, const char *name)
{
	size_t length = strlen(name);
	for (; text; text = strchr(text, '\n'), text = text ? text + 1 : NULL)
		if (!strncmp(text, name, length))
			return text + length;
	return NULL;
}

bool attach_parse_status(const char *text, struct attach_target *ret_target)
{
	const char *user = status_line(text, "Uid:"), *group = status_line(text, "Gid:");
	const char *pids = status_line(text, "NSpid:"), *caught = status_line(text, "SigCgt:");
	unsigned long long signals;
	if (!user || !group || !pids || !caught || sscanf(user, "%*u %u", &ret_target->user) != 1 ||
	    sscanf(group, "%*u %u", &ret_target->group) != 1 || sscanf(caught, "%llx", &signals) != 1)
		return false;
	ret_target->takes_signal = signals & 1ull << (SIGQUIT - 1);
	/* The last one is that of the innermost namespace. */
	ret_target->inner_pid = 0;
	for (char *end; *pids && *pids != '\n'; pids = end) {
		long number = strtol(pids, &end, 10);
		if (end == pids || number <= 0 || number > INT32_MAX)
			break;
		ret_target->inner_pid = (int32_t)number;
		while (*end == ' ' || *end == '\t')
			end++;
	}
	return ret_target->inner_pid > 0;
}

/* `text` gets the bytes and a NUL. */
static bool read_proc(int directory, const char *name, char *text, size_t room)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	for (ssize_t count = 1; fd >= 0 && count > 0 && size<room - 1; size += count> 0 ? (size_t)count : 0)
		count = read(fd, text + size, room - 1 - size);
	if (fd >= 0)
		close(fd);
	text[size] = '\0';
	return size;
}

static bool read_status(int process, int32_t pid, struct attach_target *ret_target)
{
	char text[STATUS_MAX];
	ret_target->pid = pid;
	return read_proc(process, "status", text, sizeof text) && attach_parse_status(text, ret_target);
}

static int open_proc(int32_t pid)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool attach_read_status(int32_t pid, struct attach_target *ret_target)
{
	int process = open_proc(pid);
	bool known = process >= 0 && read_status(process, pid, ret_target);
	if (process >= 0)
		close(process);
	return known;
}

/* The thread that handles SIGQUIT: a process that only maps the library of the JVM, or has just begun, has none. */
static bool has_dispatcher(int process)
{
	int fd = openat(process, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *threads = fd < 0 ? NULL : fdopendir(fd);
	bool found = false;
	if (fd >= 0 && !threads)
		close(fd);
	const struct dirent *entry;
	for (int i = 0; threads && !found && i < THREADS_MAX && (entry = readdir(threads)); i++) {
		char path[sizeof entry->d_name + 8], name[32];
		snprintf(path, sizeof path, "%s/comm", entry->d_name);
		found = read_proc(dirfd(threads), path, name, sizeof name) && !strcmp(name, "Signal Dispatch\n");
	}
	if (threads)
		closedir(threads);
	return found;
}

/* A JVM that is started so prints all its stacks on SIGQUIT. */
static bool disallows(int process)
{
	static const char option[] = "-XX:+DisableAttachMechanism";
	static const char *const files[] = {"cmdline", "environ"};
	bool found = false;
	char *text = malloc(TEXT_MAX);
	for (size_t i = 0; text && i < 2; i++) {
		int fd = openat(process, files[i], O_RDONLY | O_CLOEXEC);
		ssize_t size = fd < 0 ? 0 : read(fd, text, TEXT_MAX);
		found = found || (size > 0 && memmem(text, (size_t)size, option, sizeof option - 1));
		if (fd >= 0)
			close(fd);
	}
	free(text);
	return found;
}

/* Descriptors of the process that stay its own, whatever becomes of its number. */
struct attach_process {
	struct attach_target target;
	int pid_fd, proc, root, directory;
};

static enum attach_result open_process(struct attach_process *process, int32_t pid)
{
	process->pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	process->proc = open_proc(pid);
	if (process->pid_fd < 0 || process->proc < 0 || !read_status(process->proc, pid, &process->target))
		return ATTACH_GONE;
	if (!process->target.takes_signal || !has_dispatcher(process->proc))
		return ATTACH_NOT_READY;
	process->root = openat(process->proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	process->directory = openat(process->proc, "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (process->root < 0 || disallows(process->proc))
		return ATTACH_DENIED;
	return ATTACH_DONE;
}

/*
 * Links in its directories must not lead out of its root, and its files are not touched with more rights than it has.
 * Without privileges nothing can be gained by such a link.
 */
static enum attach_result become_user(const struct attach_process *process)
{
	const struct attach_target *target = &process->target;
	bool privileged = !geteuid();
	if (fchdir(process->root) || (privileged && chroot(".")))
		return ATTACH_DENIED;
	if (!privileged)
		return geteuid() == target->user ? ATTACH_DONE : ATTACH_DENIED;
	if (setgroups(0, NULL) || setresgid(target->group, target->group, target->group) ||
	    setresuid(target->user, target->user, target->user))
		return ATTACH_DENIED;
	/* It is a copy of wick, which that user must not read. The kernel sees to it, unless fs.suid_dumpable is 1. */
	return prctl(PR_SET_DUMPABLE, 0) ? ATTACH_DENIED : ATTACH_DONE;
}

/* --- the socket --- */

/* In the root directory. Returns a socket, or -1 with errno. */
static int connect_to(const struct attach_target *target)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ucred peer;
	socklen_t size = sizeof peer;
	snprintf(address.sun_path, sizeof address.sun_path, "tmp/.java_pid%d", (int)target->inner_pid);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)&address, sizeof address)) {
		int error = errno;
		close(fd);
		errno = error;
		return -1;
	}
	/* Anybody may open a socket of that name in /tmp. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.pid != target->pid) {
		close(fd);
		errno = EACCES;
		return -1;
	}
	return fd;
}

/* The file by which a JVM knows what SIGQUIT means. It looks into its own directory first. */
static int create_trigger(const struct attach_process *process, char name[64], int *ret_directory)
{
	static const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	snprintf(name, 64, ".attach_pid%d", (int)process->target.inner_pid);
	*ret_directory = process->directory;
	int fd = process->directory < 0 ? -1 : openat(process->directory, name, flags, 0600);
	if (fd < 0) {
		snprintf(name, 64, "tmp/.attach_pid%d", (int)process->target.inner_pid);
		*ret_directory = AT_FDCWD;
		fd = openat(AT_FDCWD, name, flags, 0600);
	}
	return fd;
}

static int connect_within(const struct attach_target *target, uint64_t until)
{
	int fd = -1;
	while ((fd = connect_to(target)) < 0 && errno != EACCES && clock_now() < until)
		usleep(RETRY_MS * 1000);
	return fd;
}

/* Makes the JVM open its socket. */
static int wake_up(const struct attach_process *process)
{
	char name[64];
	int directory;
	int trigger = create_trigger(process, name, &directory);
	if (trigger < 0)
		return -1;
	int fd = -1;
	if (!syscall(SYS_pidfd_send_signal, process->pid_fd, SIGQUIT, NULL, 0))
		fd = connect_within(&process->target, clock_now() + SOCKET_MS * 1000000ull);
	int error = errno;
	unlinkat(directory, name, 0);
	close(trigger);
	errno = error;
	return fd;
}

/* --- the map --- */

/*
 * The JVM would follow a link that somebody else has put in the place of its map. So the file is there before, and is
 * its user's: in a sticky directory nobody else can replace it then. `name` is set if it was created here.
 */
static bool claim_map(const struct attach_target *target, char name[64])
{
	static const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	struct stat status;
	snprintf(name, 64, "tmp/perf-%d.map", (int)target->inner_pid);
	int fd = openat(AT_FDCWD, name, flags, 0600);
	bool own = fd >= 0 || (!fstatat(AT_FDCWD, name, &status, AT_SYMLINK_NOFOLLOW) && S_ISREG(status.st_mode) &&
			       status.st_uid == target->user && status.st_nlink == 1);
	if (fd >= 0)
		close(fd);
	else
		name[0] = '\0';
	return own;
}

static enum attach_result request_map(const struct attach_target *target, int fd)
{
	CLEANUP_BUF struct buf request = {0};
	char created[64];
	if (!claim_map(target, created))
		return ATTACH_DENIED;
	attach_write_request(&request, "Compiler.perfmap");
	enum attach_result result = attach_exchange(fd, &request, REPLY_MS);
	if (result == ATTACH_REFUSED && *created)
		unlinkat(AT_FDCWD, created, 0);
	return result;
}

enum attach_result attach_request_map(int32_t pid)
{
	struct attach_process process = {.pid_fd = -1, .proc = -1, .root = -1, .directory = -1};
	enum attach_result result = open_process(&process, pid);
	if (!result)
		result = become_user(&process);
	if (result)
		return result;
	int fd = connect_to(&process.target);
	if (fd < 0 && errno != EACCES)
		fd = wake_up(&process);
	if (fd < 0)
		return errno == EACCES || errno == EPERM ? ATTACH_DENIED : ATTACH_TIMED_OUT;
	result = request_map(&process.target, fd);
	close(fd);
	return result;
}
