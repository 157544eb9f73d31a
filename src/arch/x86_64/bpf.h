/* See arch/bpf.h. */
#ifndef WICK_ARCH_X86_64_BPF_H
#define WICK_ARCH_X86_64_BPF_H

#include "arch/x86_64/native.h"

#define ARCH_USER_RPL 3 /* privilege in the code segment */
#define ARCH_USER32_CS 0x23 /* the code segment of 32-bit programs */

/* The kernel's own names for what <asm/ptrace.h> calls rip, rsp, … */
struct pt_regs___kernel {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, ip, cs, sp;
} __attribute__((preserve_access_index));
#define arch_kernel_registers pt_regs___kernel

static __always_inline void arch_copy_registers(__u64 *to, const struct arch_kernel_registers *r)
{
	to[0] = r->ax;
	to[1] = r->bx;
	to[2] = r->cx;
	to[3] = r->dx;
	to[4] = r->si;
	to[5] = r->di;
	to[6] = r->bp;
	to[7] = r->sp;
	to[8] = r->ip;
	to[9] = r->r8;
	to[10] = r->r9;
	to[11] = r->r10;
	to[12] = r->r11;
	to[13] = r->r12;
	to[14] = r->r13;
	to[15] = r->r14;
	to[16] = r->r15;
}

struct thread_struct___x86 {
	unsigned long fsbase;
} __attribute__((preserve_access_index));

struct task_struct___x86 {
	struct thread_struct___x86 thread;
} __attribute__((preserve_access_index));

/* What pthread_self() returns in the running thread. */
static __always_inline __u64 arch_thread_pointer(const void *task)
{
	return BPF_CORE_READ((const struct task_struct___x86 *)task, thread.fsbase);
}

static __always_inline int arch_is_narrow(const struct arch_kernel_registers *registers)
{
	return (__u16)registers->cs == ARCH_USER32_CS;
}

static __always_inline void arch_copy_event_registers(__u64 *to, const struct bpf_perf_event_data *ctx)
{
	to[0] = ctx->regs.rax;
	to[1] = ctx->regs.rbx;
	to[2] = ctx->regs.rcx;
	to[3] = ctx->regs.rdx;
	to[4] = ctx->regs.rsi;
	to[5] = ctx->regs.rdi;
	to[6] = ctx->regs.rbp;
	to[7] = ctx->regs.rsp;
	to[8] = ctx->regs.rip;
	to[9] = ctx->regs.r8;
	to[10] = ctx->regs.r9;
	to[11] = ctx->regs.r10;
	to[12] = ctx->regs.r11;
	to[13] = ctx->regs.r12;
	to[14] = ctx->regs.r13;
	to[15] = ctx->regs.r14;
	to[16] = ctx->regs.r15;
}

static __always_inline __u64 arch_event_ip(const struct bpf_perf_event_data *ctx)
{
	return ctx->regs.rip;
}

static __always_inline int arch_event_is_user(const struct bpf_perf_event_data *ctx)
{
	return (ctx->regs.cs & 3) == ARCH_USER_RPL;
}

static __always_inline int arch_event_is_narrow(const struct bpf_perf_event_data *ctx)
{
	return (__u16)ctx->regs.cs == ARCH_USER32_CS;
}

#endif
