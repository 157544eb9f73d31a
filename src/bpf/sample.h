/*
 * A sample, from its registers to the counts. A program fills in what it knows:
 *
 *	struct scratch *s = sample_begin(slot, source, weight);
 *	if (!s)
 *		return 0;
 *	sample_registers_of_task(slot);           // those of user space
 *	sample_kernel_stack(s, slot, ctx);        // where it is wanted
 *	sample_emit(s, slot, sample_walk(s, slot));
 */
#ifndef WICK_BPF_SAMPLE_H
#define WICK_BPF_SAMPLE_H

#include "arch/bpf.h"
#include "bpf/kernel.h"
#include "bpf/python.h"
#include "bpf/walk.h"

/*
 * wick looks by itself some times a second. It is woken when so much waits, and where few processes are recorded
 * also when a stack had to be copied because something was not supplied yet: copies of deep stacks are cut.
 */
#define WAKE_BYTES (256u << 10)

#define ABOVE_FIRST_FRAME 64 /* bytes */
#define STACK_MAX (64u << 20) /* bytes of a first thread's; other threads are farther from its end */

const volatile __u32 copy_bytes = 16384; /* of the stack, where wick unwinds */
const volatile __u8 wakes_for_copies = 0; /* whatever they lack is supplied at once */
const volatile __u8 timeline = 0; /* every sample is reported, with its time */
const volatile __u32 unaggregated = 0; /* and every one of these sources, by bit */
const volatile __u32 cpu_count = 1;

/* Whose numbers wick knows; 0: the initial one, whose numbers the kernel uses. */
const volatile __u32 pid_namespace = 0;

#define NAMESPACES_MAX 8 /* that are looked at; the kernel allows 32 in each other */

/* A process or thread by the number that it has in wick's namespace; 0: it has none. */
static __always_inline __u32 number_of_pid(struct pid *pid)
{
	__u32 level = BPF_CORE_READ(pid, level);
	const struct upid *numbers = __builtin_preserve_access_index(&pid->numbers[0]);
	for (__u32 i = 0; i < NAMESPACES_MAX && i <= level; i++) {
		struct upid number = {0};
		if (!bpf_probe_read_kernel(&number, sizeof number, numbers + i) &&
		    BPF_CORE_READ(number.ns, ns.inum) == pid_namespace)
			return (__u32)number.nr;
	}
	return 0;
}

/* The process, << 32, and the thread that run, as wick numbers them. */
__noinline __u64 current_ids(void)
{
	if (!pid_namespace)
		return bpf_get_current_pid_tgid();
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 thread = number_of_pid(BPF_CORE_READ(task, thread_pid));
	return (__u64)number_of_pid(BPF_CORE_READ(task, group_leader, thread_pid)) << 32 | thread;
}

/* NULL when the sample is not wanted. */
static __always_inline struct scratch *sample_begin(__u32 slot, __u16 source, __u64 weight)
{
	struct scratch *s = scratch_of(slot);
	if (!s)
		return 0;
	__u64 ids = current_ids();
	struct layout_record *record = &s->record;
	record->key = (struct layout_key){
		.pid = ids >> 32,
		.tid = (__u32)ids,
		.source = source,
		.cgroup = bpf_get_current_cgroup_id(),
		.cpu = bpf_get_smp_processor_id(),
	};
	record->time = bpf_ktime_get_ns();
	record->weight = weight;
	record->runnable = 0;
	record->ip = 0;
	record->kernel_count = record->user_count = record->bytes = record->module = record->narrow = 0;
	record->python_count = record->python_late = 0;
	s->python = s->evaluates = 0;
	s->python_task = 0;
	s->caching = 0;
	s->ip = s->sp = s->fp = 0;
	return s;
}

/* The first frame of user space is where its registers are. */
static __always_inline void begin_at_registers(struct scratch *s)
{
	s->fp = s->registers[ARCH_AT_FP];
	s->sp = s->registers[ARCH_AT_SP];
	s->ip = s->registers[ARCH_AT_IP];
}

/* The registers with which the task came into the kernel. Threads of the kernel have none: ip stays 0. */
__noinline int sample_registers_of_task(__u32 slot)
{
	struct scratch *s = scratch_of(slot);
	struct task_struct *task = bpf_get_current_task_btf();
	if (!s || task->flags & TASK_KTHREAD || !task->mm)
		return 0;
	const struct arch_kernel_registers *registers = (const void *)bpf_task_pt_regs(task);
	arch_copy_registers(s->registers, registers);
	s->record.narrow = arch_is_narrow(registers);
	begin_at_registers(s);
	return 0;
}

__noinline int hash_kernel(__u32 slot)
{
	struct scratch *s = scratch_of(slot);
	if (!s)
		return 0;
	__u64 hash = 0;
	for (__u32 i = 0; i < LAYOUT_KERNEL_MAX && i < s->record.kernel_count; i++)
		hash = hash_word(hash, s->addresses[i]);
	s->record.key.kernel = hash;
	return 0;
}

/* A macro: `ctx` has another type in every kind of program. */
#define sample_kernel_stack(s, slot, ctx)                                                  \
	do {                                                                               \
		long bytes = bpf_get_stack(ctx, (s)->addresses, LAYOUT_KERNEL_MAX * 8, 0); \
		(s)->record.kernel_count = bytes > 0 ? (__u32)bytes / 8 : 0;               \
		hash_kernel(slot);                                                         \
	} while (0)

static __always_inline int send(void *data, __u64 size, int urgent)
{
	int wakes = urgent || bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) > WAKE_BYTES;
	if (!bpf_ringbuf_output(&records, data, size, wakes ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP))
		return 0;
	count_one(LAYOUT_LOST);
	return -1;
}

/*
 * Bytes of the stack from `from` on that can hold frames: of a program's first thread they end where the kernel put its
 * arguments, and most stacks are much shorter than what a copy has room for.
 */
static __always_inline __u64 stack_bytes(__u64 from)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 top = BPF_CORE_READ(task, mm, start_stack);
	return top > from ? top - from + ABOVE_FIRST_FRAME : LAYOUT_COPY_MAX;
}

/*
 * As much of the stack as is there, page by page. A function that has just made room for itself may not have touched
 * its page yet, or is about to: what its callers left lies above.
 */
__noinline int copy_stack(__u32 number, __u64 from)
{
	__u64 end = from + stack_bytes(from);
	struct layout_copy *copy = bpf_map_lookup_elem(&copies, &number);
	if (!copy)
		return 0;
	__u64 done = 0, skipped = 0;
	for (__u32 i = 0; i < LAYOUT_COPY_MAX / PAGE_BYTES + 1; i++) {
		__u32 size = PAGE_BYTES - (from & (PAGE_BYTES - 1));
		if (done >= copy_bytes)
			break;
		OPAQUE(done);
		if (done > LAYOUT_COPY_MAX - PAGE_BYTES)
			break;
		int failed = bpf_probe_read_user(copy->bytes + done, size, (const void *)from);
		from += size;
		if (failed && done)
			break;
		if (failed) {
			skipped += size;
			continue;
		}
		done += size;
		if (from >= end) {
			done -= from - end;
			break;
		}
	}
	copy->skipped = skipped;
	return (int)done;
}

/* Puts the Python frames behind the bytes of a copied stack. Returns how many bytes there are then. */
__noinline int copy_python(__u32 slot, __u32 number, __u32 bytes)
{
	struct scratch *s = scratch_of(slot);
	struct layout_copy *copy = bpf_map_lookup_elem(&copies, &number);
	if (!s || !copy)
		return (int)bytes;
	__u64 at = (bytes + 7ull) & ~7ull, size = s->record.python_count * 8ull;
	__u64 from = (__u64)s->record.kernel_count + s->record.user_count;
	OPAQUE(at);
	OPAQUE(size);
	OPAQUE(from);
	if (at > LAYOUT_COPY_MAX || size > LAYOUT_PYTHON_MAX * 16 || from > LAYOUT_KERNEL_MAX + LAYOUT_FRAMES_MAX ||
	    bpf_probe_read_kernel(copy->bytes + at, (__u32)size, &s->addresses[from])) {
		copy->record.python_count = 0;
		return (int)bytes;
	}
	return (int)(at + size);
}

/* Sends registers and stack to wick. 0 or a failure. */
__noinline int send_copy(__u32 slot, __u32 kind)
{
	struct scratch *s = scratch_of(slot);
	if (!s)
		return -1;
	__u32 number = s->record.key.cpu * LAYOUT_SLOTS + slot;
	struct layout_copy *copy = bpf_map_lookup_elem(&copies, &number);
	if (!copy)
		return -1;
	count_one(LAYOUT_COPIED);
	s->record.kind = kind;
	__builtin_memcpy(copy->registers, s->registers, sizeof copy->registers);
	__builtin_memcpy(copy->kernel, s->addresses, sizeof copy->kernel);
	__u64 bytes = (__u32)copy_stack(number, s->registers[ARCH_AT_SP]);
	if (bytes > LAYOUT_COPY_MAX)
		bytes = LAYOUT_COPY_MAX;
	s->record.bytes = (__u32)bytes;
	copy->record = s->record;
	if (s->record.python_count)
		bytes = (__u32)copy_python(slot, number, (__u32)bytes);
	if (bytes > sizeof copy->bytes)
		bytes = sizeof copy->bytes;
	/* Of a stack that is not all there, wick reads the rest while the thread is still in the same functions. */
	__u64 whole = stack_bytes(s->registers[ARCH_AT_SP]);
	int is_cut = copy->skipped + s->record.bytes < whole && whole < STACK_MAX;
	return send(copy, __builtin_offsetof(struct layout_copy, bytes) + bytes,
		    (wakes_for_copies && (s->record.key.end != LAYOUT_DIFFICULT || is_cut)) ||
			    (s->record.python_count && python_is_urgent(slot)));
}

/* Sends the record and the addresses of the stack. 0 or a failure. */
static __always_inline int send_stack(struct scratch *s, __u32 slot)
{
	__u64 addresses = s->record.kernel_count + s->record.user_count + s->record.python_count;
	if (addresses > ADDRESSES_MAX)
		addresses = ADDRESSES_MAX;
	return send(&s->record, sizeof s->record + addresses * 8, s->record.python_count && python_is_urgent(slot));
}

/* A stack that wick does not know yet crosses once; it is counted from then on. 0 or a failure. */
static __always_inline int count_stack(struct scratch *s, __u32 slot)
{
	struct layout_record *record = &s->record;
	struct layout_count *known = bpf_map_lookup_elem(&counts, &record->key);
	if (known && !timeline && !(unaggregated >> (record->key.source & 31) & 1)) {
		__sync_fetch_and_add(&known->count, 1);
		__sync_fetch_and_add(&known->weight, record->weight);
		return 0;
	}
	if (known) {
		record->kind = LAYOUT_TICK;
		return send(record, sizeof *record, 0);
	}
	record->kind = LAYOUT_STACK;
	if (send_stack(s, slot))
		return -1;
	struct layout_count none = {0};
	if (bpf_map_update_elem(&counts, &record->key, &none, BPF_NOEXIST))
		count_one(LAYOUT_UNCOUNTED);
	return 0;
}

/* True when the stack was followed as far as anybody could. */
static __always_inline int walk_process(struct scratch *s, __u32 slot)
{
	struct layout_process *process = bpf_map_lookup_elem(&processes, &s->record.key.pid);
	s->record.key.end = LAYOUT_UNKNOWN_PROCESS;
	if (!process)
		return 0;
	__u32 now = second_of(s);
	if (process->used != now)
		process->used = now;
	s->list_first = process->first;
	s->list_count = process->count;
	s->record.key.generation = process->generation;
	if (process->python)
		python_begin(slot);
	walk(s, slot);
	int followed = s->record.key.end < LAYOUT_UNKNOWN_PROCESS;
	if (!followed)
		s->record.user_count = 0;
	/* Of a stack that is copied, only wick will know whether it evaluates anything. */
	if (followed ? s->evaluates : s->python)
		python_walk(s, slot);
	return followed;
}

/* In the middle of an exec the stack of the old program is gone and there is none of the new one. */
static __always_inline int has_lost_stack(struct scratch *s)
{
	__u64 word;
	if (!bpf_probe_read_user(&word, sizeof word, (const void *)s->registers[ARCH_AT_SP]))
		return 0;
	struct task_struct *task = bpf_get_current_task_btf();
	return BPF_CORE_READ_BITFIELD(task, in_execve);
}

/* Only the kernel's part is there. */
static __always_inline void drop_user(struct scratch *s)
{
	s->record.user_count = s->record.python_count = 0;
	s->record.key.user = 0;
	s->record.key.end = LAYOUT_WHOLE;
}

/* Follows the stack of user space. True when it is as long as it gets; else it must be copied. */
static __always_inline int sample_walk(struct scratch *s, __u32 slot)
{
	int followed = !s->ip || walk_process(s, slot);
	if (s->record.key.end != LAYOUT_WHOLE && has_lost_stack(s)) {
		drop_user(s);
		followed = 1;
	}
	return followed;
}

/* 0, or a failure when there was no room for it. */
static __always_inline int sample_emit(struct scratch *s, __u32 slot, int followed)
{
	count_one(LAYOUT_TAKEN);
	return followed ? count_stack(s, slot) : send_copy(slot, LAYOUT_COPY);
}

#endif
