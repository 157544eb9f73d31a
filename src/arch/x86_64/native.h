/* See arch/native.h. Only macros: BPF programs include it too. */
#ifndef WICK_ARCH_X86_64_NATIVE_H
#define WICK_ARCH_X86_64_NATIVE_H

#define ARCH_NATIVE arch_x86_64
#define ARCH_RECORDS 1
#define ARCH_AUDIT AUDIT_ARCH_X86_64
#define ARCH_PERF_REGISTERS (0x1ffull | 0xff0000ull) /* enum perf_event_x86_regs: ax … ip, r8 … r15 */
#define ARCH_PERF_REGISTER_COUNT 17u
#define ARCH_AT_FP 6u
#define ARCH_AT_SP 7u
#define ARCH_AT_IP 8u

#define ARCH_OLD_CALLS                                                                                           \
	SYS_epoll_wait, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_poll, SYS_select, SYS_dup2, SYS_pipe, \
		SYS_arch_prctl, SYS_time, SYS_getpgrp,
#define ARCH_OLD_BROKERED SYS_unlink, SYS_rename, SYS_rmdir,

#endif
