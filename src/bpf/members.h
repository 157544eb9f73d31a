/*
 * Whose samples count, where an event is opened on CPUs and not on threads. An event that threads inherit starts a new
 * period in each of them, so that threads and processes which live shorter than a period are never sampled. An event of
 * a CPU is due whoever runs, and the program looks whether that is a member.
 *
 * Members are processes, or threads where single threads are recorded. A child of a member is one before it runs for
 * the first time.
 */
#ifndef WICK_BPF_MEMBERS_H
#define WICK_BPF_MEMBERS_H

#include "bpf/kernel.h"
#include "bpf/maps.h"

const volatile __u32 cpu_sources = 0; /* by bit: events that are opened on CPUs */
const volatile __u8 members_are_threads = 0;

/* Written by wick: a process that becomes a member when it executes a program, once; 0: none. */
volatile __u32 awaited = 0;
/* Written by wick: 1 while it adds up the times of members, so that those that end meanwhile stay with theirs. */
volatile __u32 members_held = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct layout_member);
} members SEC(".maps");

static __always_inline int is_member(__u32 id)
{
	return bpf_map_lookup_elem(&members, &id) != 0;
}

static __always_inline int member_runs(void)
{
	__u64 ids = bpf_get_current_pid_tgid();
	return is_member(members_are_threads ? (__u32)ids : (__u32)(ids >> 32));
}

static __always_inline void add_member(__u32 id, __u64 task)
{
	struct layout_member member = {.task = task};
	if (bpf_map_update_elem(&members, &id, &member, BPF_ANY))
		count_one(LAYOUT_UNFOLLOWED);
}

SEC("raw_tp/sched_process_fork")
int member_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0], *child = (void *)ctx->args[1];
	__u32 from = members_are_threads ? BPF_CORE_READ(parent, pid) : BPF_CORE_READ(parent, tgid);
	__u32 to = members_are_threads ? BPF_CORE_READ(child, pid) : BPF_CORE_READ(child, tgid);
	if (from != to && is_member(from))
		add_member(to, (__u64)child);
	return 0;
}

/*
 * The task is gone for good: nothing runs in its name any more, and its CPU time is final. What it did at its very end
 * is in it, which counters of perf events miss.
 */
SEC("raw_tp/sched_process_free")
int member_free(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 id = BPF_CORE_READ(task, pid);
	if (!members_are_threads && id != (__u32)BPF_CORE_READ(task, tgid))
		return 0;
	struct layout_member *known = bpf_map_lookup_elem(&members, &id);
	if (!known || (known->task && known->task != (__u64)task))
		return 0;
	__u64 time = members_are_threads ? BPF_CORE_READ(task, se.sum_exec_runtime) :
					   BPF_CORE_READ(task, signal, sum_sched_runtime);
	if (members_held) {
		known->ended = time ? time : 1;
		return 0;
	}
	count_many(LAYOUT_CPU_TIME, time);
	bpf_map_delete_elem(&members, &id);
	return 0;
}

/* The times of members that have not been released yet. */
SEC("iter/task")
int list_times(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	if (!task)
		return 0;
	struct layout_time found = {.id = members_are_threads ? (__u32)task->pid : (__u32)task->tgid};
	if (!is_member(found.id))
		return 0;
	found.nanoseconds = task->se.sum_exec_runtime;
	if (!members_are_threads && task->pid == task->tgid)
		found.nanoseconds += BPF_CORE_READ(task, signal, sum_sched_runtime);
	bpf_seq_write(ctx->meta->seq, &found, sizeof found);
	return 0;
}

/*
 * A thread that executes a program gets the number of its process. That is another task then, whose end is the
 * member's.
 */
static __always_inline void members_of_exec(__u32 pid, __u32 old_tid)
{
	int moved = old_tid != pid;
	if (pid == awaited || (moved && (is_member(pid) || (members_are_threads && is_member(old_tid)))))
		add_member(pid, (__u64)bpf_get_current_task());
	if (pid == awaited)
		awaited = 0; /* the number may be another's later */
	if (moved && members_are_threads)
		bpf_map_delete_elem(&members, &old_tid);
}

#endif
