/*
 * The process that gets those system calls of the process in the sandbox that the filter cannot judge, and makes the
 * ones that the rules allow: changes of files (files.c), and events on CPUs.
 */
#include "sandbox/broker.h"

#include "sandbox/capabilities.h"
#include "sandbox/files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* To change files of any owner. It also needs all that the other process keeps, or it could not look into it. */
#define CAPABILITIES_TO_WRITE (CAPABILITY(CAP_DAC_OVERRIDE) | CAPABILITY(CAP_CHOWN) | CAPABILITY(CAP_FOWNER))

struct broker {
	struct files files;
	int listener;
};

/* --- calls --- */

/* For CPUs that come back while they are recorded: events of a CPU, or of a cgroup on it, that change nothing. */
static int open_event(const struct broker *broker, const struct seccomp_data *call)
{
	struct perf_event_attr attr = {0};
	uint32_t size = 0;
	const struct peer *peer = &broker->files.peer;
	if (!peer_read(peer, call->args[0] + offsetof(struct perf_event_attr, size), &size, sizeof size) ||
	    size > sizeof attr || size < PERF_ATTR_SIZE_VER0 || !peer_read(peer, call->args[0], &attr, size))
		return -EINVAL;
	attr.size = size;
	bool counts = attr.type == PERF_TYPE_HARDWARE || attr.type == PERF_TYPE_SOFTWARE ||
		      attr.type == PERF_TYPE_TRACEPOINT || attr.type == PERF_TYPE_HW_CACHE ||
		      attr.type == PERF_TYPE_RAW;
	bool of_cgroup = call->args[4] & PERF_FLAG_PID_CGROUP;
	if (!counts || attr.sigtrap || (!of_cgroup && (int)call->args[1] != -1) || (int)call->args[3] != -1 ||
	    call->args[4] & ~(uint64_t)(PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP))
		return -EPERM;
	int cgroup = of_cgroup ? peer_take_fd(peer, (int)call->args[1]) : -1;
	if (of_cgroup && cgroup < 0)
		return cgroup;
	unsigned long flags = PERF_FLAG_FD_CLOEXEC | (of_cgroup ? PERF_FLAG_PID_CGROUP : 0);
	int fd = (int)syscall(SYS_perf_event_open, &attr, cgroup, (int)call->args[2], -1, flags);
	int result = fd < 0 ? -errno : fd;
	if (of_cgroup)
		close(cgroup);
	return result;
}

static bool gives_fd(int number)
{
#ifdef SYS_open
	if (number == SYS_open)
		return true;
#endif
	return number == SYS_openat || number == SYS_openat2 || number == SYS_perf_event_open;
}

/* Returns a descriptor for the other process if gives_fd(), else the result of the call; or -errno. */
static int make_call(struct broker *broker, const struct seccomp_data *call)
{
	const __u64 *args = call->args;
	struct files *files = &broker->files;
	switch (call->nr) {
	case SYS_openat:
		return files_open_to_write(files, (int)args[0], args[1], (int)args[2], (mode_t)args[3]);
	case SYS_openat2:
		return files_open_below(files, (int)args[0], args[1], args[2], args[3]);
	case SYS_perf_event_open:
		return open_event(broker, call);
	case SYS_unlinkat:
		return args[2] & AT_REMOVEDIR ? files_remove_directory(files, (int)args[0], args[1]) :
						files_remove(files, (int)args[0], args[1]);
	case SYS_renameat2:
		if ((unsigned)args[4])
			return -EPERM;
		return files_rename(files, (int)args[0], args[1], (int)args[2], args[3]);
	case SYS_renameat:
		return files_rename(files, (int)args[0], args[1], (int)args[2], args[3]);
	case SYS_fchmod:
		return files_change_mode(files, (int)args[0], (mode_t)args[1]);
	case SYS_fchown:
		return files_change_owner(files, (int)args[0], (uid_t)args[1], (gid_t)args[2]);
#ifdef SYS_open
	case SYS_open:
		return files_open_to_write(files, AT_FDCWD, args[0], (int)args[1], (mode_t)args[2]);
	case SYS_unlink:
		return files_remove(files, AT_FDCWD, args[0]);
	case SYS_rename:
		return files_rename(files, AT_FDCWD, args[0], AT_FDCWD, args[1]);
	case SYS_rmdir:
		return files_remove_directory(files, AT_FDCWD, args[0]);
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

static void serve(struct broker *broker, const struct seccomp_notif *request)
{
	/* The thread may be gone, and its number another's. */
	if (ioctl(broker->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &request->id) < 0)
		return;
	int result = make_call(broker, &request->data);
	if (gives_fd(request->data.nr) && result >= 0)
		send_fd(broker, request->id, result);
	else
		send_result(broker, request->id, result);
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

/* A file that is created takes no longer than one that is removed, and the removal must come after it. */
static bool creates(const struct seccomp_data *call)
{
	return call->nr == SYS_openat && (call->args[2] & O_CREAT) && (call->args[2] & O_EXCL);
}

/* In a process of its own if it may take long: others must not wait. */
static void serve_apart(struct broker *broker, const struct seccomp_notif *request)
{
	bool apart = gives_fd(request->data.nr) && !creates(&request->data);
	pid_t broker_pid = getpid(), child = apart ? fork() : -1;
	if (child > 0)
		return;
	if (child == 0) {
		allow_interrupts();
		if (getppid() != broker_pid)
			_exit(0);
	}
	serve(broker, request);
	if (child == 0)
		_exit(0);
}

static _Noreturn void serve_all(struct broker *broker, int socket)
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

static void set_up(void)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE, SIGCHLD};
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_NAME, "wick-broker");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static int compare_numbers(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* All but the directories and the socket: what else was inherited would stay open when the other process closes it. */
static void close_others(const struct sandbox_options *options, int socket)
{
	int kept[SANDBOX_PLACES_MAX + 1] = {socket};
	size_t count = 1;
	unsigned from = 0;
	for (size_t i = 0; i < options->place_count; i++)
		kept[count++] = options->places[i].directory;
	qsort(kept, count, sizeof *kept, compare_numbers);
	for (size_t i = 0; i < count; i++) {
		if ((unsigned)kept[i] > from)
			syscall(SYS_close_range, from, kept[i] - 1, 0);
		if ((unsigned)kept[i] >= from)
			from = (unsigned)kept[i] + 1;
	}
	syscall(SYS_close_range, from, ~0u, 0);
}

/*
 * Kernels of distributions have values above 2, with which CAP_PERFMON is not enough: Debian wants CAP_SYS_ADMIN to
 * open any event. Those that are open already stay, so that only CPUs that come back would be missing.
 */
static uint64_t needed_for_events(void)
{
	char text[16] = "";
	int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof text - 1) < 0)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	return atoi(text) > 2 ? CAPABILITY(CAP_SYS_ADMIN) : 0;
}

_Noreturn void broker_run(const struct sandbox_options *options, int socket)
{
	struct broker broker = {.files = {.peer = {.pid = getppid()}, .options = *options}, .listener = -1};
	struct peer *peer = &broker.files.peer;
	char byte;
	int number;
	set_up();
	close_others(options, socket);
	peer->pid_fd = (int)syscall(SYS_pidfd_open, peer->pid, 0);
	int probe = peer->pid_fd < 0 ? -EPERM : peer_take_fd(peer, 0);
	/* A closed descriptor is no obstacle, but not to be allowed to ask is. */
	if (probe < 0 && probe != -EBADF)
		_exit(1);
	if (probe >= 0)
		close(probe);
	if (!peer_read(peer, (uintptr_t)&broker, &byte, 1) || write(socket, "", 1) != 1 ||
	    read(socket, &number, sizeof number) != sizeof number)
		_exit(1);
	/* While the other process still has all its capabilities, so must this one. */
	uint64_t kept = CAPABILITIES_TO_WRITE | capabilities_needed(options->recording, options->kernel_stacks) |
			CAPABILITY(CAP_SYS_PTRACE) | (options->recording ? needed_for_events() : 0);
	broker.listener = peer_take_fd(peer, number);
	if (broker.listener < 0 || !capabilities_keep(kept) || write(socket, "", 1) != 1)
		_exit(1);
	serve_all(&broker, socket);
}
