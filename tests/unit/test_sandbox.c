/* What a process can do in the sandbox. Each test enters it in a child. */
#include "sandbox/capabilities.h"
#include "sandbox/sandbox.h"
#include "shell.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The first check that fails ends the child with its line, which the test shows. */
#define MUST(condition)                                                                                 \
	do {                                                                                            \
		if (!(condition)) {                                                                     \
			fprintf(stderr, "# line %d: %s (%s)\n", __LINE__, #condition, strerror(errno)); \
			_exit(1);                                                                       \
		}                                                                                       \
	} while (0)
#define DENIED(call) MUST((errno = 0, (call)) < 0 && errno == EPERM)

static struct sandbox *enter(const char *directory, pid_t command, uid_t owner)
{
	struct sandbox_options options = {.command = command, .owner = owner, .group = owner};
	struct sandbox *sandbox = NULL;
	struct err err = {0};
	sandbox_add_directory(&options, open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC));
	MUST(sandbox_enter(&sandbox, &options, &err) == 0);
	return sandbox;
}

static void in_child(void (*check)(void))
{
	int status;
	if (geteuid() || !sandbox_is_needed())
		skip();
	shell("rm -rf in out; mkdir in out; printf old >in/file; printf old >out/file; ln -s ../out/file in/link; "
	      "ln -s ../out in/away");
	pid_t child = fork();
	if (!child) {
		alarm(30);
		check();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void write_files(void)
{
	struct sandbox *sandbox = enter("in", 0, (uid_t)-1);
	int directory = open("in", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = openat(directory, "part", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	MUST(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
	MUST(write(fd, "new", 3) == 3);
	MUST(fchmod(fd, 0640) == 0);
	MUST(renameat(directory, "part", directory, "file") == 0);
	MUST(rename("in/file", "in/other") == 0);
	MUST(open("in/other", O_WRONLY | O_CREAT | O_EXCL, 0600) < 0 && errno == EEXIST);
	MUST(unlink("in/other") == 0 && access("in/other", F_OK) < 0);
	MUST(unlink("in/link") == 0 && access("out/file", F_OK) == 0);
	MUST(open("missing/file", O_WRONLY | O_CREAT, 0600) < 0 && errno == ENOENT);
	MUST((fd = open("/tmp", O_TMPFILE | O_RDWR, 0600)) >= 0 && write(fd, "x", 1) == 1);
	sandbox_leave(sandbox);
	MUST(open("in/late", O_WRONLY | O_CREAT, 0600) < 0);
}

static void write_elsewhere(void)
{
	enter("in", 0, (uid_t)-1);
	DENIED(open("out/file", O_WRONLY));
	DENIED(open("out/file", O_RDWR));
	DENIED(open("out/file", O_RDONLY | O_TRUNC));
	DENIED(open("out/new", O_WRONLY | O_CREAT, 0600));
	DENIED(open("in/../out/new", O_WRONLY | O_CREAT, 0600));
	DENIED(open("in/away/new", O_WRONLY | O_CREAT, 0600));
	DENIED(open("in/link", O_WRONLY));
	DENIED(open("/proc/self/mem", O_RDWR));
	DENIED(unlink("out/file"));
	DENIED(rename("in/file", "out/file"));
	DENIED(rename("out/file", "in/file"));
	DENIED(rmdir("out"));
	DENIED(mkdir("in/directory", 0700));
	DENIED(symlink("/", "in/root"));
	DENIED(link("out/file", "in/hard"));
	DENIED(chmod("out/file", 0777));
	DENIED(truncate("out/file", 0));
	int fd = open("out/file", O_RDONLY | O_CLOEXEC);
	MUST(fd >= 0);
	DENIED(fchmod(fd, 0777));
	DENIED(fchown(fd, 1, 1));
	DENIED(open("/proc/self/fd/0", O_WRONLY));
	struct stat status;
	MUST(fstat(fd, &status) == 0 && status.st_size == 3 && status.st_uid == 0);
}

/* No device is opened that is not harmless, though its directory is allowed. */
static void write_devices(void)
{
	MUST(mknod("in/disk", S_IFBLK | 0600, 7 << 8) == 0 && mknod("in/memory", S_IFCHR | 0600, 1 << 8 | 1) == 0);
	MUST(mknod("in/null", S_IFCHR | 0600, 1 << 8 | 3) == 0);
	enter("in", 0, (uid_t)-1);
	DENIED(open("in/disk", O_WRONLY));
	DENIED(open("in/memory", O_RDWR));
	MUST(open("in/null", O_WRONLY) >= 0);
}

static void give_files_away(void)
{
	struct stat status;
	enter("in", 0, 65534);
	int fd = open("in/new", O_WRONLY | O_CREAT, 0600), directory = open("in", O_RDONLY | O_DIRECTORY);
	DENIED(fchown(fd, 1, 1));
	DENIED(fchmod(fd, 04755));
	MUST(fchown(fd, 65534, 65534) == 0 && fstat(fd, &status) == 0 && status.st_uid == 65534);
	MUST(fchown(directory, 65534, 65534) == 0);
}

/* What has its flags in memory: only to read. */
static void open_by_structure(void)
{
	struct open_how reads = {.flags = O_RDONLY | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT},
			writes = {.flags = O_WRONLY};
	int directory = open("in", O_PATH | O_DIRECTORY);
	MUST(mkfifo("in/pipe", 0600) == 0);
	enter("in", 0, (uid_t)-1);
	int fd = (int)syscall(SYS_openat2, directory, "/file", &reads, sizeof reads);
	char bytes[3];
	MUST(fd >= 0 && read(fd, bytes, 3) == 3 && !memcmp(bytes, "old", 3));
	reads.flags |= O_PATH;
	fd = (int)syscall(SYS_openat2, directory, "/file", &reads, sizeof reads);
	MUST(fd >= 0 && read(fd, bytes, 3) == 3);
	DENIED((int)syscall(SYS_openat2, directory, "/pipe", &reads, sizeof reads));
	DENIED((int)syscall(SYS_openat2, AT_FDCWD, "in/file", &writes, sizeof writes));
	MUST(syscall(SYS_openat2, AT_FDCWD, "in/file", NULL, sizeof reads) < 0);
	MUST(syscall(SYS_openat2, AT_FDCWD, NULL, &reads, sizeof reads) < 0 && errno == EFAULT);
}

static void other_calls(void)
{
	pid_t command = fork();
	if (!command) {
		alarm(30);
		pause();
		_exit(0);
	}
	enter("in", command, (uid_t)-1);
	union bpf_attr program = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER};
	char *arguments[] = {"true", NULL};
	DENIED(socket(AF_INET, SOCK_STREAM, 0));
	DENIED(socket(AF_UNIX, SOCK_STREAM, 0));
	DENIED(execv("/bin/true", arguments));
	DENIED(kill(getppid(), 0));
	DENIED(kill(1, 0));
	DENIED((int)syscall(SYS_bpf, BPF_PROG_LOAD, &program, sizeof program));
	DENIED((int)syscall(SYS_mount, "none", "in", "tmpfs", 0, NULL));
	DENIED((int)syscall(SYS_setuid, 1));
#ifndef __SANITIZE_ADDRESS__ /* which needs these */
	DENIED(fork());
	DENIED((int)syscall(SYS_ptrace, 0, 0, 0, 0));
	MUST(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
#endif
	MUST(kill(command, SIGKILL) == 0 && waitpid(command, NULL, 0) == command);
	MUST(!(capabilities_read() & (CAPABILITY(CAP_SYS_ADMIN) | CAPABILITY(CAP_DAC_OVERRIDE) | CAPABILITY(CAP_KILL) |
				      CAPABILITY(CAP_CHOWN) | CAPABILITY(CAP_NET_ADMIN) | CAPABILITY(CAP_SETUID))));
}

static void *open_many(void *context)
{
	(void)context;
	for (int i = 0; i < 50; i++) {
		char name[32];
		snprintf(name, sizeof name, "in/%d-%d", (int)gettid(), i);
		int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
		if (fd < 0 || close(fd) || unlink(name))
			return "failed";
	}
	return NULL;
}

/* Threads that begin later are confined too, and share the broker. */
static void many_threads(void)
{
	pthread_t threads[4];
	void *result;
	enter("in", 0, (uid_t)-1);
	for (int i = 0; i < 4; i++)
		MUST(pthread_create(&threads[i], NULL, open_many, NULL) == 0);
	for (int i = 0; i < 4; i++)
		MUST(pthread_join(threads[i], &result) == 0 && !result);
}

/* A pipe that nobody reads yet keeps only the one waiting who opens it. */
static void open_pipe(void)
{
	MUST(mkfifo("in/pipe", 0600) == 0);
	pid_t reader = fork();
	if (!reader) {
		usleep(200000);
		_exit(open("in/pipe", O_RDONLY) < 0);
	}
	enter("in", 0, (uid_t)-1);
	MUST(open("in/pipe", O_WRONLY) >= 0);
	MUST(waitpid(reader, NULL, 0) == reader);
}

#define IN_CHILD(name, check)          \
	static void name(void **state) \
	{                              \
		(void)state;           \
		in_child(check);       \
	}

IN_CHILD(files_are_written_in_listed_directories, write_files)
IN_CHILD(nothing_is_written_elsewhere, write_elsewhere)
IN_CHILD(devices_are_not_opened, write_devices)
IN_CHILD(files_are_given_to_one_user_only, give_files_away)
IN_CHILD(openat2_only_reads, open_by_structure)
IN_CHILD(other_calls_are_denied, other_calls)
IN_CHILD(threads_share_the_broker, many_threads)
IN_CHILD(a_pipe_may_keep_waiting, open_pipe)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_written_in_listed_directories),
		cmocka_unit_test(nothing_is_written_elsewhere),
		cmocka_unit_test(devices_are_not_opened),
		cmocka_unit_test(files_are_given_to_one_user_only),
		cmocka_unit_test(openat2_only_reads),
		cmocka_unit_test(other_calls_are_denied),
		cmocka_unit_test(threads_share_the_broker),
		cmocka_unit_test(a_pipe_may_keep_waiting),
	};
	return cmocka_run_group_tests(tests, shell_enter, shell_leave);
}
