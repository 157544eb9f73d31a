/* See arch/bpf.h. */
#ifndef WICK_ARCH_AARCH64_BPF_H
#define WICK_ARCH_AARCH64_BPF_H

#include "arch/aarch64/native.h"

#define ARCH_NUMBERED 31 /* x0 … x30 */
#define ARCH_PSTATE_MODE 0xful /* exception level and stack pointer; 0 is user space */
#define ARCH_PSTATE_NARROW 0x10ul

/* struct pt_regs begins with them. */
struct user_pt_regs___kernel {
	__u64 regs[ARCH_NUMBERED], sp, pc, pstate;
};
#define arch_kernel_registers user_pt_regs___kernel

static __always_inline void arch_copy_registers(__u64 *to, const struct arch_kernel_registers *r)
{
	for (int i = 0; i < ARCH_NUMBERED; i++)
		to[i] = r->regs[i];
	to[ARCH_AT_SP] = r->sp;
	to[ARCH_AT_IP] = r->pc;
}

struct user_tls___arm64 {
	unsigned long tp_value;
} __attribute__((preserve_access_index));

struct thread_struct___arm64 {
	struct user_tls___arm64 uw;
} __attribute__((preserve_access_index));

struct task_struct___arm64 {
	struct thread_struct___arm64 thread;
} __attribute__((preserve_access_index));

static __always_inline __u64 arch_thread_pointer(const void *task)
{
	return BPF_CORE_READ((const struct task_struct___arm64 *)task, thread.uw.tp_value);
}

static __always_inline int arch_is_narrow(const struct arch_kernel_registers *registers)
{
	return !!(registers->pstate & ARCH_PSTATE_NARROW);
}

static __always_inline void arch_copy_event_registers(__u64 *to, const struct bpf_perf_event_data *ctx)
{
	for (int i = 0; i < ARCH_NUMBERED; i++)
		to[i] = ctx->regs.regs[i];
	to[ARCH_AT_SP] = ctx->regs.sp;
	to[ARCH_AT_IP] = ctx->regs.pc;
}

static __always_inline __u64 arch_event_ip(const struct bpf_perf_event_data *ctx)
{
	return ctx->regs.pc;
}

static __always_inline int arch_event_is_user(const struct bpf_perf_event_data *ctx)
{
	return !(ctx->regs.pstate & ARCH_PSTATE_MODE);
}

static __always_inline int arch_event_is_narrow(const struct bpf_perf_event_data *ctx)
{
	return !!(ctx->regs.pstate & ARCH_PSTATE_NARROW);
}

#endif
