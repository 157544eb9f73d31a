/*
 * The registers of user space in BPF programs, in the order of ARCH_PERF_REGISTERS (arch/native.h):
 *
 *	struct arch_kernel_registers		as the kernel has them, of a task
 *	arch_copy_registers(to, registers)	those of a task
 *	arch_is_narrow(registers)		whether these are of a 32-bit program
 *	arch_copy_event_registers(to, ctx)	those of a perf event
 *	arch_event_ip(ctx)			where it was
 *	arch_event_is_user(ctx)			whether that was in user space
 *	arch_event_is_narrow(ctx)		of a 32-bit program
 *	arch_thread_pointer(task)		what pthread_self() returns in the task
 */
#ifndef WICK_ARCH_BPF_H
#define WICK_ARCH_BPF_H

#if defined(__x86_64__)
#include "arch/x86_64/bpf.h"
#elif defined(__aarch64__)
#include "arch/aarch64/bpf.h"
#endif

#endif
