/* The process that attaches to JVMs, and how it is asked to. The other side reads and writes (sandbox/seccomp). */
#include "runtime/java/attacher.h"

#include "base/mem.h"
#include "runtime/noted_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define REQUEST_SECONDS 6

enum message_kind { MESSAGE_REQUEST, MESSAGE_NOTE, MESSAGE_REMOVE };

struct message {
	enum message_kind kind;
	int32_t pid;
};

struct attacher {
	pid_t process;
	int socket;
};

/* --- in its process --- */

static _Noreturn void serve(int socket, int32_t pid)
{
	/* What hangs in spite of all time limits (a file system in user space) ends here. */
	signal(SIGALRM, SIG_DFL);
	alarm(REQUEST_SECONDS);
	struct attacher_reply reply = {pid, attach_request_map(pid)};
	(void)!write(socket, &reply, sizeof reply);
	_exit(0);
}

static void set_up(int socket)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE, SIGCHLD};
	sigset_t none;
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, "wick-attach");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* What was inherited would stay open when the other process closes it. */
	if (socket > 0)
		syscall(SYS_close_range, 0, socket - 1, 0);
	syscall(SYS_close_range, socket + 1, ~0u, 0);
}

static _Noreturn void serve_all(int socket)
{
	struct noted_maps maps;
	struct message message;
	set_up(socket);
	noted_maps_init(&maps);
	for (;;) {
		ssize_t size = read(socket, &message, sizeof message);
		if (size < 0 && errno == EINTR)
			continue;
		if (size != sizeof message)
			_exit(0);
		if (message.kind == MESSAGE_REMOVE)
			noted_maps_remove_files(&maps);
		else if (message.pid > 0)
			noted_maps_add(&maps, message.pid);
		if (message.kind == MESSAGE_REQUEST && message.pid > 0 && fork() == 0)
			serve(socket, message.pid);
	}
}

/* --- in the one that asks --- */

struct attacher *attacher_start(void)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return NULL;
	pid_t process = fork();
	if (process == 0)
		serve_all(ends[1]);
	close(ends[1]);
	if (process < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) {
		close(ends[0]);
		return NULL;
	}
	struct attacher *attacher = mem_zalloc(1, sizeof *attacher);
	*attacher = (struct attacher){process, ends[0]};
	return attacher;
}

static bool send_message(struct attacher *attacher, enum message_kind kind, int32_t pid)
{
	struct message message = {kind, pid};
	return write(attacher->socket, &message, sizeof message) == sizeof message;
}

void attacher_stop(struct attacher *attacher, bool remove)
{
	if (!attacher)
		return;
	if (remove)
		send_message(attacher, MESSAGE_REMOVE, 0);
	close(attacher->socket);
	while (waitpid(attacher->process, NULL, 0) < 0 && errno == EINTR)
		;
	free(attacher);
}

bool attacher_request(struct attacher *attacher, int32_t pid)
{
	return send_message(attacher, MESSAGE_REQUEST, pid);
}

void attacher_note(struct attacher *attacher, int32_t pid)
{
	send_message(attacher, MESSAGE_NOTE, pid);
}

bool attacher_take(struct attacher *attacher, int timeout_ms, struct attacher_reply *ret_reply)
{
	struct pollfd waiting = {.fd = attacher->socket, .events = POLLIN};
	if (poll(&waiting, 1, timeout_ms) <= 0)
		return false;
	return read(attacher->socket, ret_reply, sizeof *ret_reply) == sizeof *ret_reply;
}
