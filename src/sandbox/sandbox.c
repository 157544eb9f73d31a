/* Enters the sandbox: starts the broker, drops capabilities, installs the filter. */
#include "sandbox/sandbox.h"

#include "base/mem.h"
#include "sandbox/broker.h"
#include "sandbox/capabilities.h"
#include "sandbox/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void sandbox_add_place(struct sandbox_options *options, int directory, const char *stem, const char *ending)
{
	if (directory < 0 || options->place_count == SANDBOX_PLACES_MAX || strlen(stem) > SANDBOX_NAME_MAX ||
	    strlen(ending) > SANDBOX_NAME_MAX)
		return;
	struct sandbox_place *place = &options->places[options->place_count++];
	place->directory = directory;
	memcpy(place->stem, stem, strlen(stem) + 1);
	memcpy(place->ending, ending, strlen(ending) + 1);
}

bool sandbox_add_output(struct sandbox_options *options, const char *path)
{
	char parent[PATH_MAX], stem[SANDBOX_NAME_MAX + 1];
	struct stat status;
	if (!stat(path, &status) && !S_ISREG(status.st_mode)) {
		if (options->file_count < SANDBOX_FILES_MAX && !S_ISDIR(status.st_mode))
			options->files[options->file_count++] = (struct sandbox_file){status.st_dev, status.st_ino};
		return false;
	}
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *ending = strrchr(name, '.');
	if (!ending || ending == name)
		ending = name + strlen(name);
	snprintf(parent, sizeof parent, "%.*s",
		 slash == path ? 1 :
		 slash         ? (int)(slash - path) :
				 1,
		 slash ? path : ".");
	snprintf(stem, sizeof stem, "%.*s", (int)(ending - name), name);
	int directory = *stem ? open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	size_t count = options->place_count;
	sandbox_add_place(options, directory, stem, ending);
	if (directory >= 0 && options->place_count == count)
		close(directory);
	return options->place_count > count;
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
	int listener = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno :
								seccomp_install(options->recording, options->command);
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
	uint64_t kept = capabilities_needed(options->recording, options->kernel_stacks);
	sandbox->socket = -1;
	int result = 0;
	if (!start_broker(sandbox, options))
		result = err_set(err, ERR_SYSTEM, "cannot start the broker: %s", strerror(errno));
	else if (!install_filter(sandbox, options))
		result = err_set(err, ERR_SYSTEM, "cannot install the seccomp filter: %s", strerror(errno));
	else if (!capabilities_keep(kept))
		result = err_set(err, ERR_SYSTEM, "cannot drop capabilities: %s", strerror(errno));
	if (!result) {
		*ret_sandbox = sandbox;
		return 0;
	}
	sandbox_leave(sandbox);
	/* Who is not root can write to the same files without capabilities. */
	if (geteuid())
		capabilities_keep(kept);
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
