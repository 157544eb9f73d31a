/* The attach protocol of the JVM, against servers that answer well, badly, late and never. */
#include "runtime/java/attacher.h"
#include "runtime/noted_maps.h"
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_request(void **state)
{
	(void)state;
	static const char expected[] = "1\0jcmd\0Compiler.perfmap\0\0"; /* and the NUL of the literal */
	CLEANUP_BUF struct buf request = {0};
	attach_write_request(&request, "Compiler.perfmap");
	assert_int_equal(request.size, sizeof expected);
	assert_memory_equal(request.data, expected, sizeof expected);
}

static void test_reply(void **state)
{
	(void)state;
	enum attach_result result = ATTACH_GONE;
	assert_false(attach_read_reply("", 0, &result));
	assert_false(attach_read_reply("0", 1, &result));
	assert_true(attach_read_reply("0\n", 2, &result));
	assert_int_equal(result, ATTACH_DONE);
	assert_true(attach_read_reply("1\nUnknown diagnostic command\n", 29, &result));
	assert_int_equal(result, ATTACH_REFUSED);
	assert_true(attach_read_reply("00\n", 3, &result));
	assert_int_equal(result, ATTACH_REFUSED);
	assert_true(attach_read_reply("\n", 1, &result));
	assert_int_equal(result, ATTACH_REFUSED);
}

static const char status_text[] = "Name:\tjava\nUid:\t1\t1000\t1000\t1000\nGid:\t2\t1001\t1001\t1001\n"
				  "NSpid:\t4321\t17\t5\nSigIgn:\t0000000000000004\nSigCgt:\t0000000181005ccf\n";

static void test_status(void **state)
{
	(void)state;
	struct attach_target target = {0};
	assert_true(attach_parse_status(status_text, &target));
	assert_int_equal(target.user, 1000);
	assert_int_equal(target.group, 1001);
	assert_int_equal(target.inner_pid, 5);
	assert_true(target.takes_signal);
	assert_true(attach_parse_status("Uid: 0 0\nGid: 0 0\nNSpid: 7\nSigCgt: 1800014c8\n", &target));
	assert_int_equal(target.inner_pid, 7);
	assert_false(target.takes_signal);
	assert_false(attach_parse_status("Uid: 0 0\nGid: 0 0\nNSpid: x\nSigCgt: 4\n", &target));
	assert_false(attach_parse_status("Uid: 0 0\nGid: 0 0\nNSpid: 99999999999\nSigCgt: 4\n", &target));
	assert_false(attach_parse_status("Uid: 0 0\nGid: 0 0\nNSpid: 7\n", &target));
	assert_false(attach_parse_status("Uid: 0\nGid: 0 0\nNSpid: 7\nSigCgt: 4\n", &target));
	assert_false(attach_parse_status("", &target));
}

struct server {
	int fd;
	const char *parts[3]; /* of the reply; NULL: the end */
	bool silent;
};

static void *run_server(void *context)
{
	const struct server *server = context;
	char bytes[64];
	size_t size = 0;
	while (size < sizeof "1\0jcmd\0Compiler.perfmap\0\0") {
		ssize_t count = read(server->fd, bytes + size, sizeof bytes - size);
		if (count <= 0)
			break;
		size += (size_t)count;
	}
	for (size_t i = 0; i < 3 && server->parts[i]; i++) {
		(void)!send(server->fd, server->parts[i], strlen(server->parts[i]), MSG_NOSIGNAL);
		usleep(2000);
	}
	if (server->silent)
		(void)!read(server->fd, bytes, 1); /* until the other side has enough */
	close(server->fd);
	return NULL;
}

static enum attach_result exchange_with(struct server *server, int timeout_ms)
{
	int ends[2];
	pthread_t thread;
	CLEANUP_BUF struct buf request = {0};
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	server->fd = ends[1];
	pthread_create(&thread, NULL, run_server, server);
	attach_write_request(&request, "Compiler.perfmap");
	enum attach_result result = attach_exchange(ends[0], &request, timeout_ms);
	close(ends[0]);
	pthread_join(thread, NULL);
	return result;
}

static void test_exchange(void **state)
{
	(void)state;
	assert_int_equal(exchange_with(&(struct server){.parts = {"0\n"}}, 10000), ATTACH_DONE);
	assert_int_equal(exchange_with(&(struct server){.parts = {"0", "\n", "text"}}, 10000), ATTACH_DONE);
	assert_int_equal(exchange_with(&(struct server){.parts = {"101\nno\n"}}, 10000), ATTACH_REFUSED);
	assert_int_equal(exchange_with(&(struct server){.parts = {"0"}}, 10000), ATTACH_GONE);
	assert_int_equal(exchange_with(&(struct server){0}, 10000), ATTACH_GONE);
	assert_int_equal(exchange_with(&(struct server){.parts = {"0"}, .silent = true}, 50), ATTACH_TIMED_OUT);
}

/* More than any code: not read for ever. */
static void test_endless_reply(void **state)
{
	(void)state;
	char many[6000];
	memset(many, '0', sizeof many - 1);
	many[sizeof many - 1] = '\0';
	assert_int_equal(exchange_with(&(struct server){.parts = {many}}, 10000), ATTACH_REFUSED);
}

/* This process is no JVM, and must not get a signal. */
static void test_attacher(void **state)
{
	(void)state;
	struct attacher_reply reply = {0};
	struct attacher *attacher = attacher_start();
	assert_non_null(attacher);
	assert_false(attacher_take(attacher, 0, &reply));
	assert_true(attacher_request(attacher, getpid()));
	assert_true(attacher_take(attacher, 10000, &reply));
	assert_int_equal(reply.pid, getpid());
	assert_int_equal(reply.result, ATTACH_NOT_READY);
	pid_t gone = fork();
	if (gone == 0)
		_exit(0);
	waitpid(gone, NULL, 0);
	assert_true(attacher_request(attacher, gone));
	assert_true(attacher_take(attacher, 10000, &reply));
	assert_int_equal(reply.result, ATTACH_GONE);
	attacher_stop(attacher, false);
	attacher_stop(NULL, true);
}

/* --- removal of maps --- */

static void own_map(char path[64])
{
	snprintf(path, 64, "/tmp/perf-%d.map", (int)getpid());
	unlink(path);
}

static void create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static bool exists(const char *path)
{
	struct stat status;
	return !lstat(path, &status);
}

static void test_removes_new_maps(void **state)
{
	(void)state;
	char path[64];
	struct noted_maps maps;
	own_map(path);
	noted_maps_init(&maps);
	noted_maps_add(&maps, getpid());
	noted_maps_add(&maps, getpid());
	assert_int_equal(maps.count, 1);
	create(path);
	noted_maps_remove_files(&maps);
	assert_false(exists(path));
	/* Written before its process was noted. */
	noted_maps_init(&maps);
	create(path);
	noted_maps_add(&maps, getpid());
	noted_maps_remove_files(&maps);
	assert_false(exists(path));
	noted_maps_remove_files(&maps);
}

static void test_keeps_other_maps(void **state)
{
	(void)state;
	static const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	char path[64];
	struct noted_maps maps;
	own_map(path);
	create(path);
	utimensat(AT_FDCWD, path, old, 0);
	noted_maps_init(&maps);
	noted_maps_add(&maps, getpid());
	utimensat(AT_FDCWD, path, NULL, 0); /* a JVM writes it again */
	noted_maps_remove_files(&maps);
	assert_true(exists(path));
	unlink(path);
	noted_maps_init(&maps);
	noted_maps_add(&maps, getpid());
	assert_int_equal(symlink("/nowhere", path), 0);
	noted_maps_remove_files(&maps);
	assert_true(exists(path));
	unlink(path);
	if (geteuid())
		return;
	noted_maps_init(&maps);
	noted_maps_add(&maps, getpid());
	create(path);
	assert_int_equal(chown(path, 65534, 65534), 0);
	noted_maps_remove_files(&maps);
	assert_true(exists(path));
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request),          cmocka_unit_test(test_reply),
		cmocka_unit_test(test_status),           cmocka_unit_test(test_exchange),
		cmocka_unit_test(test_endless_reply),    cmocka_unit_test(test_attacher),
		cmocka_unit_test(test_removes_new_maps), cmocka_unit_test(test_keeps_other_maps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
