/*
 * The seccomp filter: a list of system calls that are allowed, some of them only with certain arguments. All others
 * fail with EPERM. Arguments that are pointers cannot be checked here: such calls go to the broker.
 */
#include "sandbox/seccomp.h"

#include "arch/native.h"

#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The sanitizers look for leaks at the end from a process of their own, which stops the threads. */
#if !defined(__has_feature)
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Frequent ones first: on kernels before 5.11 each call runs through the list. */
static const uint32_t allowed[] = {SYS_read,
				   SYS_futex,
				   SYS_clock_gettime,
				   SYS_epoll_pwait,
				   SYS_write,
				   SYS_pwrite64,
				   SYS_pread64,
				   SYS_close,
				   SYS_fstat,
				   SYS_newfstatat,
				   SYS_munmap,
				   SYS_madvise,
				   SYS_mremap,
				   SYS_brk,
				   SYS_lseek,
				   SYS_rt_sigprocmask,
				   SYS_rt_sigaction,
				   SYS_rt_sigreturn,
				   SYS_rt_sigtimedwait,
				   SYS_rt_sigpending,
				   SYS_sigaltstack,
				   SYS_readv,
				   SYS_writev,
				   SYS_preadv,
				   SYS_pwritev,
				   SYS_statx,
				   SYS_statfs,
				   SYS_fstatfs,
				   SYS_readlinkat,
				   SYS_faccessat,
				   SYS_getdents64,
				   SYS_getcwd,
				   SYS_flock,
				   SYS_fsync,
				   SYS_fdatasync,
				   SYS_ftruncate,
				   SYS_fallocate,
				   SYS_fadvise64,
				   SYS_copy_file_range,
				   SYS_sendfile,
				   SYS_splice,
				   SYS_sync_file_range,
				   SYS_readahead,
				   SYS_dup,
				   SYS_dup3,
				   SYS_pipe2,
				   SYS_eventfd2,
				   SYS_signalfd4,
				   SYS_timerfd_create,
				   SYS_timerfd_settime,
				   SYS_timerfd_gettime,
				   SYS_epoll_create1,
				   SYS_epoll_ctl,
				   SYS_ppoll,
				   SYS_pselect6,
				   SYS_nanosleep,
				   SYS_clock_nanosleep,
				   SYS_clock_getres,
				   SYS_gettimeofday,
				   SYS_times,
				   SYS_getrusage,
				   SYS_sysinfo,
				   SYS_uname,
				   SYS_getrandom,
				   SYS_getpid,
				   SYS_gettid,
				   SYS_getppid,
				   SYS_getuid,
				   SYS_geteuid,
				   SYS_getgid,
				   SYS_getegid,
				   SYS_getpgid,
				   SYS_getsid,
				   SYS_getpriority,
				   SYS_sched_yield,
				   SYS_sched_getaffinity,
				   SYS_sched_getparam,
				   SYS_sched_getscheduler,
				   SYS_getcpu,
				   SYS_set_robust_list,
				   SYS_set_tid_address,
				   SYS_membarrier,
				   SYS_mincore,
				   SYS_msync,
				   SYS_mlock,
				   SYS_munlock,
				   SYS_memfd_create,
				   SYS_restart_syscall,
				   SYS_exit,
				   SYS_exit_group,
				   SYS_wait4,
				   SYS_waitid,
				   SYS_capget,
				   SYS_capset,
				   SYS_umask,
#ifdef SYS_rseq
				   SYS_rseq,
#endif
#ifdef SYS_faccessat2
				   SYS_faccessat2,
#endif
#ifdef SYS_epoll_pwait2
				   SYS_epoll_pwait2,
#endif
#ifdef SYS_futex_wait
				   SYS_futex_wait,
				   SYS_futex_wake,
#endif
				   ARCH_OLD_CALLS};

static const uint32_t brokered[] = {SYS_openat2, SYS_unlinkat, SYS_renameat,     SYS_renameat2,
				    SYS_fchmod,  SYS_fchown,   ARCH_OLD_BROKERED};

/* Only for a recording. Of events, the broker sees what they are. */
static const uint32_t allowed_to_record[] = {SYS_pidfd_open, SYS_process_vm_readv};

/* Not the ones by which the kernel sends signals, nor locks and leases of files that are only read. */
static const uint32_t descriptor_commands[] = {
	F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETPIPE_SZ, F_SETPIPE_SZ, F_ADD_SEALS,
};

static const uint32_t terminal_requests[] = {TCGETS,   TCSETS,   TCSETSW,    TCSETSF,   TCGETS2, TCSETS2,
					     TCSETSW2, TCSETSF2, TIOCGWINSZ, TIOCGPGRP, FIONREAD};

/* No programs are loaded: only what is done with maps, and the iterator that lists registers. */
static const uint32_t bpf_commands[] = {
	BPF_MAP_CREATE,
	BPF_MAP_LOOKUP_ELEM,
	BPF_MAP_UPDATE_ELEM,
	BPF_MAP_DELETE_ELEM,
	BPF_MAP_GET_NEXT_KEY,
	BPF_OBJ_GET_INFO_BY_FD,
	BPF_MAP_LOOKUP_AND_DELETE_ELEM,
	BPF_MAP_FREEZE,
	BPF_MAP_LOOKUP_BATCH,
	BPF_MAP_LOOKUP_AND_DELETE_BATCH,
	BPF_MAP_UPDATE_BATCH,
	BPF_MAP_DELETE_BATCH,
	BPF_LINK_CREATE,
	BPF_ITER_CREATE,
};

#define FLAG_WAIT_KILLABLE_RECV (1u << 5) /* missing in older headers */
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY))
#define PERF_IOCTL_TYPE 0x2400 /* '$' */

enum { INSTRUCTIONS_MAX = 1024 };

struct program {
	struct sock_filter code[INSTRUCTIONS_MAX];
	unsigned short count;
};

static void emit(struct program *program, struct sock_filter instruction)
{
	if (program->count < INSTRUCTIONS_MAX)
		program->code[program->count++] = instruction;
}

#define STATEMENT(code, value) emit(program, (struct sock_filter)BPF_STMT(code, (uint32_t)(value)))
#define JUMP(code, value, yes, no) emit(program, (struct sock_filter)BPF_JUMP(code, (uint32_t)(value), yes, no))

static void load(struct program *program, size_t offset)
{
	STATEMENT(BPF_LD | BPF_W | BPF_ABS, offset);
}

static void load_number(struct program *program)
{
	load(program, offsetof(struct seccomp_data, nr));
}

/* The lower half, as the kernel takes it of an int. */
static void load_argument(struct program *program, unsigned index)
{
	load(program, offsetof(struct seccomp_data, args) + 8u * index);
}

static void answer(struct program *program, uint32_t action)
{
	STATEMENT(BPF_RET | BPF_K, action);
}

static void if_equal(struct program *program, uint32_t value, uint32_t action)
{
	JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	answer(program, action);
}

static void if_any_bit(struct program *program, uint32_t bits, uint32_t action)
{
	JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
	answer(program, action);
}

/* Begins the instructions for one call; end_call() closes them. */
static unsigned short begin_call(struct program *program, uint32_t number)
{
	JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 1, 0);
	STATEMENT(BPF_JMP | BPF_JA, 0); /* over the rest: end_call() fills it in */
	return (unsigned short)(program->count - 1);
}

static void end_call(struct program *program, unsigned short begun, uint32_t otherwise)
{
	answer(program, otherwise);
	program->code[begun].k = (uint32_t)(program->count - begun - 1);
}

#define DENY (SECCOMP_RET_ERRNO | EPERM)

/* Allowed if an argument has one of the values. */
static void if_argument(struct program *program, uint32_t number, unsigned index, const uint32_t *values, size_t count)
{
	unsigned short begun = begin_call(program, number);
	load_argument(program, index);
	for (size_t i = 0; i < count; i++)
		if_equal(program, values[i], SECCOMP_RET_ALLOW);
	end_call(program, begun, DENY);
}

static void if_argument_is(struct program *program, uint32_t number, unsigned index, uint32_t value)
{
	if_argument(program, number, index, &value, 1);
}

/* `otherwise` if one of the bits is set in an argument, else allowed. */
static void unless_bits(struct program *program, uint32_t number, unsigned index, uint32_t bits, uint32_t otherwise)
{
	unsigned short begun = begin_call(program, number);
	load_argument(program, index);
	if_any_bit(program, bits, otherwise);
	end_call(program, begun, SECCOMP_RET_ALLOW);
}

static void check_files(struct program *program)
{
	unless_bits(program, SYS_openat, 2, WRITES, SECCOMP_RET_USER_NOTIF);
#ifdef SYS_open
	unless_bits(program, SYS_open, 1, WRITES, SECCOMP_RET_USER_NOTIF);
#endif
	/* Times of an open file, set to now. */
	unsigned short begun = begin_call(program, SYS_utimensat);
	for (unsigned index = 1; index <= 2; index++) {
		load_argument(program, index);
		JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
		answer(program, DENY);
		load(program, offsetof(struct seccomp_data, args) + 8u * index + 4);
		JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
		answer(program, DENY);
	}
	end_call(program, begun, SECCOMP_RET_ALLOW);
}

static void check_memory(struct program *program)
{
	unless_bits(program, SYS_mmap, 2, PROT_EXEC, SANITIZED ? SECCOMP_RET_ALLOW : DENY);
	unless_bits(program, SYS_mprotect, 2, PROT_EXEC, SANITIZED ? SECCOMP_RET_ALLOW : DENY);
}

static void check_tasks(struct program *program, pid_t command)
{
	unsigned short begun = begin_call(program, SYS_clone);
	load_argument(program, 0);
	if_any_bit(program, CLONE_THREAD, SECCOMP_RET_ALLOW);
	end_call(program, begun, SANITIZED ? SECCOMP_RET_ALLOW : DENY);
	/* Its flags are in memory. The C library uses clone() then. */
	if_equal(program, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
	if_argument_is(program, SYS_tgkill, 0, (uint32_t)getpid());
	if (command > 0)
		if_argument_is(program, SYS_kill, 0, (uint32_t)command);
	if_argument_is(program, SYS_prlimit64, 0, 0);
	if_argument_is(program, SYS_sched_setaffinity, 0, 0);
	unsigned short own = begin_call(program, SYS_setpriority);
	load_argument(program, 0);
	JUMP(BPF_JMP | BPF_JEQ | BPF_K, PRIO_PROCESS, 1, 0);
	answer(program, DENY);
	load_argument(program, 1);
	if_equal(program, 0, SECCOMP_RET_ALLOW);
	end_call(program, own, DENY);
	if_argument(program, SYS_prctl, 0, (const uint32_t[]){PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_SET_VMA},
		    4);
}

static void check_requests(struct program *program)
{
	unsigned short begun = begin_call(program, SYS_ioctl);
	load_argument(program, 1);
	for (size_t i = 0; i < COUNT(terminal_requests); i++)
		if_equal(program, terminal_requests[i], SECCOMP_RET_ALLOW);
	STATEMENT(BPF_ALU | BPF_AND | BPF_K, 0xff00);
	if_equal(program, PERF_IOCTL_TYPE, SECCOMP_RET_ALLOW);
	end_call(program, begun, DENY);
	if_argument(program, SYS_fcntl, 1, descriptor_commands, COUNT(descriptor_commands));
}

static void check_recording(struct program *program)
{
	for (size_t i = 0; i < COUNT(allowed_to_record); i++)
		if_equal(program, allowed_to_record[i], SECCOMP_RET_ALLOW);
	if_equal(program, SYS_perf_event_open, SECCOMP_RET_USER_NOTIF);
	if_argument(program, SYS_bpf, 0, bpf_commands, COUNT(bpf_commands));
}

static void allow_sanitizers(struct program *program)
{
	if_equal(program, SYS_ptrace, SECCOMP_RET_ALLOW);
	if_equal(program, SYS_tgkill, SECCOMP_RET_ALLOW);
	if_equal(program, SYS_prctl, SECCOMP_RET_ALLOW);
#ifdef SYS_getdents
	if_equal(program, SYS_getdents, SECCOMP_RET_ALLOW);
#endif
}

static void write_program(struct program *program, bool recording, pid_t command)
{
	load(program, offsetof(struct seccomp_data, arch));
	JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH_AUDIT, 1, 0);
	answer(program, DENY);
	load_number(program);
	if (SANITIZED)
		allow_sanitizers(program);
	for (size_t i = 0; i < COUNT(allowed); i++)
		if_equal(program, allowed[i], SECCOMP_RET_ALLOW);
	for (size_t i = 0; i < COUNT(brokered); i++)
		if_equal(program, brokered[i], SECCOMP_RET_USER_NOTIF);
	check_files(program);
	check_memory(program);
	check_tasks(program, command);
	check_requests(program);
	if (recording)
		check_recording(program);
	answer(program, DENY);
}

int seccomp_install(bool recording, pid_t command)
{
	struct program program = {.count = 0};
	write_program(&program, recording, command);
	if (program.count == INSTRUCTIONS_MAX)
		return -E2BIG;
	struct sock_fprog filter = {.len = program.count, .filter = program.code};
	/* A signal must not make the broker do something twice (Linux 5.19). */
	unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC |
			 SECCOMP_FILTER_FLAG_TSYNC_ESRCH | FLAG_WAIT_KILLABLE_RECV;
	int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
	return listener < 0 ? -errno : listener;
}
