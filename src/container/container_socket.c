/* Speaks HTTP over a local socket, just enough to list containers. */
#include "container/container_socket.h"

#include "base/clock.h"
#include "base/json_read.h"
#include "container/container_files.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LIMIT_NS 2000000000ull
#define ANSWER_MAX (16u << 20)

/* A socket that another user made may be anybody's. */
static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat status;
	if (strlen(path) >= sizeof address.sun_path || lstat(path, &status) || !S_ISSOCK(status.st_mode) ||
	    (status.st_uid != 0 && status.st_uid != geteuid()))
		return -1;
	memcpy(address.sun_path, path, strlen(path) + 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Waits until the socket can be read; false when the time is over. */
static bool is_readable(int fd, uint64_t end)
{
	uint64_t now = clock_now();
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	return now < end && poll(&poll_fd, 1, (int)((end - now) / 1000000) + 1) > 0;
}

/* With HTTP/1.0 the answer ends with the connection, and is in one piece. */
static bool ask(int fd, struct buf *answer)
{
	static const char request[] = "GET /containers/json HTTP/1.0\r\nHost: localhost\r\n\r\n";
	uint64_t end = clock_now() + LIMIT_NS;
	if (send(fd, request, sizeof request - 1, MSG_NOSIGNAL) != sizeof request - 1)
		return false;
	while (answer->size < ANSWER_MAX && is_readable(fd, end)) {
		ssize_t got = read(fd, buf_reserve(answer, 65536), 65536);
		if (got == 0)
			return true;
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		answer->size += got > 0 ? (size_t)got : 0;
	}
	return false;
}

bool container_socket_body(const char *answer, size_t size, const char **ret_body, size_t *ret_size)
{
	const char *end = size ? memmem(answer, size, "\r\n\r\n", 4) : NULL;
	if (!end || size < 12 || memcmp(answer, "HTTP/1.", 7) != 0 || memcmp(answer + 8, " 200", 4) != 0)
		return false;
	*ret_body = end + 4;
	*ret_size = size - (size_t)(end + 4 - answer);
	return true;
}

static void describe(struct container *container, const struct json_document *list, struct arena *texts)
{
	for (json_id at = json_first(list, JSON_ROOT); at; at = json_next(list, at))
		if (!strcmp(json_member_text(list, at, "Id"), container->id))
			container_take_listed(container, list, at, texts);
}

static void take_from(struct containers *containers, const char *path)
{
	struct buf answer CLEANUP_BUF = {0};
	struct json_document list CLEANUP_JSON = {0};
	const char *body;
	size_t size;
	int fd = connect_to(path);
	if (fd >= 0 && ask(fd, &answer) && container_socket_body(answer.data, answer.size, &body, &size) &&
	    json_parse(&list, body, size))
		for (size_t i = 0; i < containers->count; i++)
			describe(&containers->items[i], &list, &containers->texts);
	if (fd >= 0)
		close(fd);
}

void container_socket_describe(struct containers *containers, const char *root)
{
	static const char *const places[] = {"/run/docker.sock", "/run/podman/podman.sock", "/run/user/%u/docker.sock",
					     "/run/user/%u/podman/podman.sock"};
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		struct buf path CLEANUP_BUF = {0};
		bool unnamed = false;
		for (size_t k = 0; k < containers->count; k++)
			unnamed = unnamed || !*containers->items[k].name;
		if (!unnamed)
			return;
		const char *user = strstr(places[i], "%u");
		buf_printf(&path, "%s%.*s", root, user ? (int)(user - places[i]) : (int)strlen(places[i]), places[i]);
		if (user)
			buf_printf(&path, "%u%s", (unsigned)geteuid(), user + 2);
		take_from(containers, path.data);
	}
}
