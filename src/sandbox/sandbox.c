/* Enters the sandbox: starts the broker, drops capabilities, installs the filter. */
#include "sandbox/sandbox.h"

#include "base/mem.h"
#include "sandbox/broker.h"
#include "sandbox/capabilities.h"
#include "sandbox/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

void sandbox_add_directory(struct sandbox_options *options, int directory)
{
	if (directory >= 0 && options->directory_count < SANDBOX_DIRECTORIES_MAX)
		options->directories[options->directory_count++] = directory;
}

void sandbox_add_parent(struct sandbox_options *options, const char *path)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int length = slash == path ? 1 : slash ? (int)(slash - path) : 0;
	snprintf(parent, sizeof parent, "%.*s", length, path);
	sandbox_add_directory(options, open(length ? parent : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

bool sandbox_is_needed(void)
{
	return capabilities_read() != 0;
}

struct sandbox {
	pid_t broker;
	int socket; /* that the broker sees the end of */
};

/* False with errno when the broker does not get ready. */
static bool start_broker(struct sandbox *sandbox, const struct sandbox_options *options)
{
	int ends[2];
	char byte;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return false;
	sandbox->socket = ends[0];
	sandbox->broker = fork();
	if (sandbox->broker == 0) {
		close(ends[0]);
		broker_run(options, ends[1]);
	}
	int error = sandbox->broker < 0 ? errno : EPERM;
	close(ends[1]);
	if (sandbox->broker > 0 && read(sandbox->socket, &byte, 1) == 1)
		return true;
	errno = error;
	return false;
}

static bool install_filter(const struct sandbox *sandbox, const struct sandbox_options *options)
{
	char byte;
	int listener = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : filter_install(options->command);
	if (listener < 0) {
		errno = -listener;
		return false;
	}
	bool given = write(sandbox->socket, &listener, sizeof listener) == sizeof listener &&
		     read(sandbox->socket, &byte, 1) == 1;
	close(listener);
	if (!given)
		errno = EPIPE;
	return given;
}

int sandbox_enter(struct sandbox **ret_sandbox, const struct sandbox_options *options, struct err *err)
{
	struct sandbox *sandbox = mem_zalloc(1, sizeof *sandbox);
	uint64_t kept = CAPABILITIES_TO_OBSERVE | (options->kernel_stacks ? CAPABILITY(CAP_SYS_ADMIN) : 0);
	sandbox->socket = -1;
	int result = 0;
	if (!start_broker(sandbox, options))
		result = err_set(err, ERR_SYSTEM, "cannot start the broker: %s", strerror(errno));
	else if (!install_filter(sandbox, options))
		result = err_set(err, ERR_SYSTEM, "cannot install the seccomp filter: %s", strerror(errno));
	else if (!capabilities_keep(kept))
		result = err_set(err, ERR_SYSTEM, "cannot drop capabilities: %s", strerror(errno));
	if (!result)
		*ret_sandbox = sandbox;
	else
		sandbox_leave(sandbox);
	return result;
}

void sandbox_leave(struct sandbox *sandbox)
{
	if (!sandbox)
		return;
	if (sandbox->socket >= 0)
		close(sandbox->socket);
	while (sandbox->broker > 0 && waitpid(sandbox->broker, NULL, 0) < 0 && errno == EINTR)
		;
	free(sandbox);
}
