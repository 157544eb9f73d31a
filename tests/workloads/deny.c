/*
 * usage: deny bpf|attach|perf|fsopen|mount ERRNO COMMAND [ARGUMENT…]: runs the command where a seccomp filter, as
 * container runtimes install it, answers bpf(), the ioctl() that attaches a program to a perf event, perf_event_open(),
 * fsopen() or mount() with this error.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int install(struct sock_filter *instructions, unsigned short count)
{
	struct sock_fprog program = {count, instructions};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static unsigned number_of(const char *name)
{
	static const struct {
		const char *name;
		unsigned number;
	} calls[] = {{"bpf", SYS_bpf},
		     {"attach", SYS_ioctl},
		     {"perf", SYS_perf_event_open},
		     {"fsopen", SYS_fsopen},
		     {"mount", SYS_mount}};
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].number;
	fprintf(stderr, "deny: no call '%s'\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	unsigned error = (unsigned)atoi(argv[2]);
	unsigned number = number_of(argv[1]);
	unsigned request = number == SYS_ioctl ? (unsigned)PERF_EVENT_IOC_SET_BPF : 0;
	struct sock_filter plain[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & 0xffff)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_filter by_request[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, request, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & 0xffff)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	if (request ? install(by_request, sizeof by_request / sizeof *by_request) :
		      install(plain, sizeof plain / sizeof *plain)) {
		perror("deny");
		return 2;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
