/*
 * What wick loads into the kernel: one object, whose programs share maps and unwinder. They take samples, and follow
 * tasks and waits.
 *
 * SPDX-License-Identifier: MIT OR GPL-2.0-only
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "bpf/members.h"
#include "bpf/waits.h"

char programs_license[] SEC("license") = "Dual MIT/GPL";

const volatile __u32 switch_sources = 0; /* by bit: events that happen when a thread leaves its CPU */
const volatile __u32 clock_sources = 0; /* that report how long threads run */
const volatile __u32 kept_sources = ~0u; /* that are also reported themselves */

const volatile __u32 fault_sources = 0; /* and page faults, whose `extra` is the size of the page */

/* Since Linux 6.2, which also looks at the page before it calls the program. */
extern void *bpf_cast_to_kern_ctx(void *ctx) __ksym __weak;

/* Bytes of the page that was not there; 0: not known. */
static __always_inline __u64 page_size_of(struct bpf_perf_event_data *ctx)
{
	if (!bpf_cast_to_kern_ctx)
		return 0;
	struct bpf_perf_event_data_kern *kernel = bpf_cast_to_kern_ctx(ctx);
	return BPF_CORE_READ(kernel, data, data_page_size);
}

/* What the thread will do meanwhile, as sched:sched_switch reports it (enum layout_switch_state). */
static __always_inline __u64 state_of_task(void)
{
	__u32 state = bpf_get_current_task_btf()->__state;
	if (state & STATE_DEAD)
		return LAYOUT_SWITCH_DEAD;
	if (state & STATE_UNINTERRUPTIBLE)
		return state & STATE_NOLOAD ? LAYOUT_SWITCH_IDLE : LAYOUT_SWITCH_UNINTERRUPTIBLE;
	return state ? LAYOUT_SWITCH_SLEEPING : LAYOUT_SWITCH_RUNNABLE;
}

static __always_inline int has_source(__u32 sources, __u16 source)
{
	return sources >> (source & 31) & 1;
}

/* The stack of a thread that leaves its CPU: what it weighs is known later. */
static __always_inline int leave(struct bpf_perf_event_data *ctx, __u16 source)
{
	struct scratch *s = sample_begin(LAYOUT_SLOT_SAMPLE, source, 0);
	if (!s || !began || ended)
		return 0;
	struct layout_thread *thread = thread_that_leaves(s->record.key.pid, s->record.key.tid, s->record.time);
	if (!thread)
		return 0;
	s->record.key.extra = thread->key.extra;
	s->record.key.mode = LAYOUT_MODE_KERNEL;
	s->record.ip = arch_event_ip(ctx);
	sample_kernel_stack(s, LAYOUT_SLOT_SAMPLE, ctx);
	sample_registers_of_task(LAYOUT_SLOT_SAMPLE);
	if (stack_cache_find(LAYOUT_SLOT_SAMPLE) && leave_with_known(s, thread))
		return 0;
	s->record.key.user = 0;
	stack_cache_begin(s);
	int followed = sample_walk(s, LAYOUT_SLOT_SAMPLE);
	if (followed && s->record.key.end == LAYOUT_WHOLE)
		stack_cache_keep(s);
	if (followed)
		leave_with_stack(s, thread);
	else if (!send_copy(LAYOUT_SLOT_SAMPLE, LAYOUT_COPY_LEFT))
		thread->left = LAYOUT_LEFT_COPY;
	else
		thread->key.end = LAYOUT_BROKEN;
	return 0;
}

/* The time that the thread ran, with the stack of the sample. */
static __always_inline void report_running(struct scratch *s, int followed)
{
	s->record.weight = time_run(s);
	s->record.key.source = waits_source;
	s->record.key.extra = LAYOUT_STATE_RUNNING;
	if (s->record.weight && sample_emit(s, LAYOUT_SLOT_SAMPLE, followed))
		owe_again(s);
}

/* A sample of a perf event: a clock, a hardware counter, page faults. */
static __always_inline int take(struct bpf_perf_event_data *ctx, __u16 source)
{
	if (has_source(cpu_sources, source) && !member_runs())
		return 0;
	int switches = has_source(switch_sources, source);
	if (switches && counts_waits)
		return leave(ctx, source);
	struct scratch *s = sample_begin(LAYOUT_SLOT_SAMPLE, source, ctx->sample_period);
	if (!s)
		return 0;
	if (switches)
		s->record.key.extra = state_of_task();
	else if (has_source(fault_sources, source))
		s->record.key.extra = page_size_of(ctx);
	s->record.ip = arch_event_ip(ctx);
	if (arch_event_is_user(ctx)) {
		s->record.key.mode = LAYOUT_MODE_USER;
		arch_copy_event_registers(s->registers, ctx);
		begin_at_registers(s);
		s->record.narrow = arch_event_is_narrow(ctx);
	} else {
		s->record.key.mode = LAYOUT_MODE_KERNEL;
		sample_kernel_stack(s, LAYOUT_SLOT_SAMPLE, ctx);
		sample_registers_of_task(LAYOUT_SLOT_SAMPLE);
	}
	int followed = sample_walk(s, LAYOUT_SLOT_SAMPLE), clock = has_source(clock_sources, source) && counts_running;
	if (!clock || has_source(kept_sources, source))
		sample_emit(s, LAYOUT_SLOT_SAMPLE, followed);
	if (clock)
		report_running(s, followed);
	return 0;
}

/* One for each event of a recording: what is attached to an inherited event cannot be distinguished otherwise. */
#define SOURCE(number)                                     \
	SEC("perf_event")                                  \
	int take_##number(struct bpf_perf_event_data *ctx) \
	{                                                  \
		return take(ctx, number);                  \
	}
SOURCE(0)
SOURCE(1)
SOURCE(2)
SOURCE(3)

/* From here on the list of the process is wrong; wick does not know yet. */
SEC("raw_tp/sched_process_exec")
int forget_process(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 pid = current_ids() >> 32;
	if (counts_waits && began && !ended)
		waits_of_exec(pid, (__u32)ctx->args[1]);
	if (cpu_sources)
		members_of_exec(pid, (__u32)ctx->args[1]);
	bpf_map_delete_elem(&processes, &pid);
	return 0;
}

/* The registers of all threads: /proc shows only two of a thread that waits. */
SEC("iter/task")
int list_registers(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	if (!task || task->flags & TASK_KTHREAD || !task->mm)
		return 0;
	struct layout_registers found = {
		.tid = pid_namespace ? number_of_pid(BPF_CORE_READ(task, thread_pid)) : (__u32)task->pid,
	};
	arch_copy_registers(found.values, (const void *)bpf_task_pt_regs(task));
	bpf_seq_write(ctx->meta->seq, &found, sizeof found);
	return 0;
}
