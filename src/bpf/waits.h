/*
 * Time that threads wait, added up in the kernel. The scheduler's tracepoints report when a thread leaves its CPU, is
 * woken up and runs again; they are called for every thread of the system and look only at those in `threads`. Who is
 * recorded is decided outside: by the perf event of switches, which is called for these only and brings the stack, and
 * by wick, which knows who was there before.
 */
#ifndef WICK_BPF_WAITS_H
#define WICK_BPF_WAITS_H

#include "bpf/sample.h"
#include "bpf/stack_cache.h"

/* Bits of the state of a task, which have been the same since Linux 4.14. */
#define STATE_UNINTERRUPTIBLE 0x2
#define STATE_DEAD 0x80
#define STATE_NOLOAD 0x400

const volatile __u8 counts_waits = 0; /* else every switch is reported separately */
const volatile __u8 counts_running = 0; /* time that threads run is reported too, by the samples of clocks */
const volatile __u16 waits_source = 0; /* that times are reported as */
const volatile __u8 from_exec = 0; /* a thread in doubt is not recorded before it executes a program */
const volatile __u8 reports_unseen = 0; /* a thread in doubt waits since the recording began */
const volatile __u8 follows_children = 0;
const volatile __u8 follows_all = 0;
const volatile __u32 except_pid = 0;
const volatile __u64 min_block = 0, max_block = 0; /* nanoseconds; max 0: no limit */

/* Written by wick: when the recording began and when it ended; 0: not yet. */
volatile __u64 began = 0, ended = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct layout_thread);
} threads SEC(".maps");

static __always_inline __u64 state_of(struct task_struct *task, int preempted)
{
	__u32 state = task->__state;
	if (state & STATE_DEAD)
		return LAYOUT_STATE_GONE;
	if (preempted || !state)
		return LAYOUT_STATE_RUNNABLE;
	/* Threads of the kernel that wait for work; it does not count them as load. */
	return state & STATE_UNINTERRUPTIBLE && !(state & STATE_NOLOAD) ? LAYOUT_STATE_DISK : LAYOUT_STATE_SLEEPING;
}

/* The time that it ran and that was not reported yet. */
static __always_inline void count_run(struct layout_thread *thread, __u64 now)
{
	__u64 since = thread->since;
	if (thread->doing == LAYOUT_DOING_UNKNOWN)
		since = began;
	if (thread->doing != LAYOUT_DOING_WAIT && now > since)
		thread->owed += now - since;
	thread->since = now;
}

/* Its stack is not known; or not yet. */
static __always_inline void begin_wait(struct layout_thread *thread, __u64 state, __u64 now)
{
	thread->since = now;
	thread->woken = 0;
	thread->doing = LAYOUT_DOING_WAIT;
	thread->left = LAYOUT_LEFT_NOTHING;
	thread->key.user = thread->key.kernel = 0;
	thread->key.generation = 0;
	thread->key.end = LAYOUT_WHOLE;
	thread->key.mode = LAYOUT_MODE_KERNEL;
	thread->key.extra = state;
	thread->key.cpu = bpf_get_smp_processor_id();
}

/* wick adds it up itself: it has the stack, or the map of counts is full. 0 or a failure. */
static __always_inline int send_wait(const struct layout_thread *thread, __u64 now, __u64 blocked, __u64 runnable)
{
	struct layout_record record = {
		.key = thread->key,
		.time = now,
		.weight = blocked,
		.runnable = runnable,
		.kind = LAYOUT_WAIT,
		.module = thread->left,
	};
	return send(&record, sizeof record, 0);
}

static __always_inline void count_wait(const struct layout_thread *thread, __u64 now, __u64 blocked, __u64 runnable)
{
	struct layout_count *known = bpf_map_lookup_elem(&counts, &thread->key);
	if (known) {
		__sync_fetch_and_add(&known->count, 1);
		__sync_fetch_and_add(&known->weight, blocked);
		__sync_fetch_and_add(&known->runnable, runnable);
		return;
	}
	struct layout_count first = {1, blocked, runnable};
	if (bpf_map_update_elem(&counts, &thread->key, &first, BPF_NOEXIST)) {
		count_one(LAYOUT_UNCOUNTED);
		send_wait(thread, now, blocked, runnable);
	}
}

/* It runs again. */
static __always_inline void end_wait(struct layout_thread *thread, __u64 now)
{
	__u64 since = thread->since;
	if (thread->doing == LAYOUT_DOING_UNKNOWN) {
		if (from_exec)
			return;
		since = reports_unseen ? began : now;
	}
	if (thread->doing == LAYOUT_DOING_RUN) /* that it left was not reported */
		return;
	__u64 duration = now > since ? now - since : 0;
	thread->since = now;
	thread->doing = LAYOUT_DOING_RUN;
	if (!duration)
		return;
	if (duration < min_block || (max_block && duration > max_block)) {
		count_one(LAYOUT_SKIPPED_WAITS);
		return;
	}
	__u64 woken = thread->woken > since && thread->woken < now ? thread->woken : now;
	count_one(LAYOUT_TAKEN);
	/* Where there is no room for the record, the time is counted without the stack. */
	if (thread->left != LAYOUT_LEFT_COPY || send_wait(thread, now, woken - since, now - woken))
		count_wait(thread, now, woken - since, now - woken);
}

SEC("tp_btf/sched_switch")
int wait_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u32 out = prev->pid, in = next->pid;
	if (!began || ended)
		return 0;
	__u64 now = bpf_ktime_get_ns();
	struct layout_thread *thread = out ? bpf_map_lookup_elem(&threads, &out) : 0;
	if (thread && !(thread->doing == LAYOUT_DOING_UNKNOWN && from_exec)) {
		__u64 state = state_of(prev, (int)ctx[0]);
		/* Now and then the kernel does not report that a thread came (seen with 6.18). */
		if (thread->doing == LAYOUT_DOING_WAIT)
			end_wait(thread, now);
		count_run(thread, now);
		if (state == LAYOUT_STATE_GONE)
			thread->doing = LAYOUT_DOING_GONE;
		else
			begin_wait(thread, state, now);
	}
	thread = in ? bpf_map_lookup_elem(&threads, &in) : 0;
	if (thread)
		end_wait(thread, now);
	return 0;
}

/* From here on it only waits for a CPU. */
SEC("tp_btf/sched_waking")
int wait_waking(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u32 tid = task->pid;
	struct layout_thread *thread = bpf_map_lookup_elem(&threads, &tid);
	if (thread && thread->doing == LAYOUT_DOING_WAIT && thread->key.extra != LAYOUT_STATE_RUNNABLE &&
	    !thread->woken)
		thread->woken = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void add_thread(__u32 pid, __u32 tid, __u32 doing, __u64 state)
{
	struct layout_thread added = {
		.since = bpf_ktime_get_ns(),
		.doing = doing,
		.key = {.pid = pid, .tid = tid, .source = waits_source, .mode = LAYOUT_MODE_KERNEL, .extra = state},
	};
	added.key.cpu = LAYOUT_CPU_UNKNOWN;
	if (doing == LAYOUT_DOING_UNKNOWN)
		added.key.end = LAYOUT_UNSEEN;
	if (pid != except_pid)
		bpf_map_update_elem(&threads, &tid, &added, BPF_ANY);
}

SEC("tp_btf/sched_process_fork")
int wait_fork(__u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	__u32 tid = parent->pid;
	if (ended || (!follows_all && (!follows_children || !bpf_map_lookup_elem(&threads, &tid))))
		return 0;
	add_thread(child->tgid, child->pid, began ? LAYOUT_DOING_WAIT : LAYOUT_DOING_UNKNOWN,
		   began ? LAYOUT_STATE_RUNNABLE : LAYOUT_STATE_SLEEPING);
	return 0;
}

/* A thread that executes a program gets the number of its process. */
static __always_inline void waits_of_exec(__u32 pid, __u32 old_tid)
{
	struct layout_thread *thread = bpf_map_lookup_elem(&threads, &pid);
	if (old_tid != pid)
		bpf_map_delete_elem(&threads, &old_tid);
	if (!thread || thread->doing == LAYOUT_DOING_WAIT)
		return;
	if (thread->doing != LAYOUT_DOING_RUN)
		thread->since = bpf_ktime_get_ns();
	thread->doing = LAYOUT_DOING_RUN;
}

/* The thread leaves its CPU; wait_switch() was called a moment before. */
static __always_inline struct layout_thread *thread_that_leaves(__u32 pid, __u32 tid, __u64 now)
{
	struct layout_thread *thread = bpf_map_lookup_elem(&threads, &tid);
	if (thread && thread->doing == LAYOUT_DOING_WAIT)
		return thread;
	__u64 state = state_of(bpf_get_current_task_btf(), 0);
	if (state == LAYOUT_STATE_GONE)
		return 0;
	if (!thread) {
		add_thread(pid, tid, LAYOUT_DOING_RUN, state);
		thread = bpf_map_lookup_elem(&threads, &tid);
	}
	if (thread)
		begin_wait(thread, state, now);
	return thread;
}

/*
 * Notes the stack when wick has it already. The key is noted before it is looked for: wick takes stacks out of the map
 * of counts and looks afterwards who still needs them.
 */
static __always_inline int leave_with_known(struct scratch *s, struct layout_thread *thread)
{
	thread->key = s->record.key;
	if (!bpf_map_lookup_elem(&counts, &thread->key))
		return 0;
	thread->left = LAYOUT_LEFT_STACK;
	return 1;
}

/* The stack of a thread that leaves its CPU. */
static __always_inline void leave_with_stack(struct scratch *s, struct layout_thread *thread)
{
	struct layout_record *record = &s->record;
	if (leave_with_known(s, thread))
		return;
	struct layout_count none = {0};
	record->kind = LAYOUT_NEW_STACK;
	if (send_stack(s, LAYOUT_SLOT_SAMPLE)) {
		thread->key.user = thread->key.kernel = 0;
		thread->key.end = LAYOUT_BROKEN;
		return;
	}
	thread->left = LAYOUT_LEFT_STACK;
	bpf_map_update_elem(&counts, &record->key, &none, BPF_NOEXIST);
}

/* The sample of a clock reports all the time that its thread ran since the one before. */
static __always_inline __u64 time_run(struct scratch *s)
{
	struct layout_thread *thread = bpf_map_lookup_elem(&threads, &s->record.key.tid);
	if (!thread) {
		add_thread(s->record.key.pid, s->record.key.tid, LAYOUT_DOING_UNKNOWN, LAYOUT_STATE_SLEEPING);
		thread = bpf_map_lookup_elem(&threads, &s->record.key.tid);
	}
	if (!thread || thread->doing == LAYOUT_DOING_WAIT) /* it is about to leave */
		return 0;
	count_run(thread, s->record.time);
	thread->doing = LAYOUT_DOING_RUN;
	__u64 owed = thread->owed;
	thread->owed = 0;
	return owed;
}

/* It could not be reported: the next sample does it. */
static __always_inline void owe_again(struct scratch *s)
{
	struct layout_thread *thread = bpf_map_lookup_elem(&threads, &s->record.key.tid);
	if (thread)
		thread->owed += s->record.weight;
}

#endif
