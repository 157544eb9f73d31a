/* What a process can do in the sandbox. Each test enters it in a child. */
#include "sandbox/capabilities.h"
#include "sandbox/sandbox.h"
#include "shell.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/openat2.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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

static struct sandbox *enter_with(struct sandbox_options options)
{
	struct sandbox *sandbox = NULL;
	struct err err = {0};
	MUST(sandbox_enter(&sandbox, &options, &err) == 0);
	return sandbox;
}

static struct sandbox *enter(const char *directory, pid_t command, uid_t owner)
{
	struct sandbox_options options = {.command = command, .recording = true, .owner = owner, .group = owner};
	sandbox_add_place(&options, open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC), "", "");
	return enter_with(options);
}

static void in_child(void (*check)(void))
{
	int status;
	if (geteuid() || !sandbox_is_needed())
		skip();
	shell("rm -rf in out empty; mkdir in out empty; printf old >in/file; printf old >out/file; "
	      "ln -s ../out/file in/link; ln -s ../out in/away");
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

/* Neither devices nor files with other names are opened, though their directory is allowed. */
static void write_special(void)
{
	MUST(mknod("in/disk", S_IFBLK | 0600, 7 << 8) == 0 && mknod("in/memory", S_IFCHR | 0600, 1 << 8 | 1) == 0);
	MUST(link("out/file", "in/hard") == 0);
	enter("in", 0, (uid_t)-1);
	DENIED(open("in/disk", O_WRONLY));
	DENIED(open("in/disk", O_WRONLY | O_CREAT, 0600));
	DENIED(open("in/memory", O_RDWR));
	DENIED(open("in/hard", O_WRONLY));
	DENIED(open("in", O_TMPFILE | O_RDWR, 0600));
	MUST(open("/dev/null", O_WRONLY) >= 0);
}

/* Of the directory of an output, only its name is allowed, with what is added to it. */
static void write_one_output(void)
{
	struct sandbox_options options = {.owner = (uid_t)-1};
	MUST(sandbox_add_output(&options, "in/x.svg"));
	enter_with(options);
	static const char *const good[] = {"in/x.svg", "in/x.svg.part", "in/x.svg.old", "in/x-wall.svg",
					   "in/.x.svg.wick-12-0"};
	static const char *const bad[] = {
		"in/y.svg", "in/x.sh", "in/.x.svg", "in/x.svg.sh", "in/.y.svg.wick-1-0", "in/.x.svg.wick-1-0.sh",
		"out/x.svg"};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		MUST(open(good[i], O_WRONLY | O_CREAT, 0600) >= 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		DENIED(open(bad[i], O_WRONLY | O_CREAT, 0600));
	DENIED(open("in/file", O_WRONLY));
	DENIED(unlink("in/file"));
	DENIED(rename("in/x.svg", "in/file"));
	DENIED(rename("in/file", "in/x.svg"));
	DENIED(rmdir("in"));
	MUST(rename("in/.x.svg.wick-12-0", "in/x.svg") == 0);
	DENIED(fchmod(open("in", O_RDONLY | O_DIRECTORY), 0777));
}

/* A pipe that is an output is opened, others beside it are not. */
static void write_in_place(void)
{
	struct sandbox_options options = {.owner = (uid_t)-1};
	MUST(mkfifo("in/pipe", 0600) == 0 && mkfifo("in/other", 0600) == 0);
	int readers[] = {open("in/pipe", O_RDONLY | O_NONBLOCK), open("in/other", O_RDONLY | O_NONBLOCK)};
	MUST(readers[0] >= 0 && readers[1] >= 0);
	MUST(!sandbox_add_output(&options, "in/pipe"));
	enter_with(options);
	MUST(open("in/pipe", O_WRONLY) >= 0);
	DENIED(open("in/other", O_WRONLY));
	DENIED(unlink("in/pipe"));
}

/* The number of a directory that was removed is not taken for it. */
static void remove_directories(void)
{
	enter("empty", 0, (uid_t)-1);
	DENIED(rmdir("in"));
	MUST(rmdir("empty") == 0);
	DENIED(open("in/new", O_WRONLY | O_CREAT, 0600));
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
	reads.resolve = 0;
	DENIED((int)syscall(SYS_openat2, AT_FDCWD, "/proc/self/comm", &reads, sizeof reads));
	reads.resolve = RESOLVE_IN_ROOT;
	MUST(syscall(SYS_openat2, AT_FDCWD, "in/file", NULL, sizeof reads) < 0);
	MUST(syscall(SYS_openat2, AT_FDCWD, NULL, &reads, sizeof reads) < 0 && errno == EFAULT);
}

/* Counters of CPUs can be opened, and nothing that changes another process. */
static void open_events(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_DUMMY};
	MUST(syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC) >= 0);
	DENIED((int)syscall(SYS_perf_event_open, &attr, getppid(), -1, -1, 0));
	attr.sigtrap = attr.remove_on_exec = 1;
	DENIED((int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0));
	attr = (struct perf_event_attr){.type = 1000, .size = sizeof attr};
	DENIED((int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0));
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
	DENIED(fcntl(0, F_SETOWN, getppid()));
	DENIED(fcntl(0, F_SETSIG, SIGKILL));
	DENIED(setpriority(PRIO_USER, 0, 19));
	DENIED(setpriority(PRIO_PROCESS, getppid(), 19));
	open_events();
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

/* A command that reads a recording has no use for processes and events. */
static void only_read(void)
{
	struct sandbox_options options = {.owner = (uid_t)-1};
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_DUMMY};
	union bpf_attr map = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
	enter_with(options);
	DENIED((int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0));
	DENIED((int)syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map));
	DENIED((int)process_vm_readv(getppid(), NULL, 0, NULL, 0, 0));
	MUST(!(capabilities_read() & ~(CAPABILITY(CAP_DAC_READ_SEARCH) | CAPABILITY(CAP_SYSLOG))));
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
	struct sandbox_options options = {.owner = (uid_t)-1};
	sandbox_add_output(&options, "in/pipe");
	enter_with(options);
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
IN_CHILD(special_files_are_not_opened, write_special)
IN_CHILD(an_output_is_one_name, write_one_output)
IN_CHILD(an_output_may_be_a_pipe, write_in_place)
IN_CHILD(a_directory_can_be_removed, remove_directories)
IN_CHILD(reading_needs_less, only_read)
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
		cmocka_unit_test(special_files_are_not_opened),
		cmocka_unit_test(an_output_is_one_name),
		cmocka_unit_test(an_output_may_be_a_pipe),
		cmocka_unit_test(a_directory_can_be_removed),
		cmocka_unit_test(reading_needs_less),
		cmocka_unit_test(files_are_given_to_one_user_only),
		cmocka_unit_test(openat2_only_reads),
		cmocka_unit_test(other_calls_are_denied),
		cmocka_unit_test(threads_share_the_broker),
		cmocka_unit_test(a_pipe_may_keep_waiting),
	};
	return cmocka_run_group_tests(tests, shell_enter, shell_leave);
}
