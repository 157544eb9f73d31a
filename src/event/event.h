/*
 * Decoded records: what a live ring buffer and a perf.data file have in common, and the sink that takes them. Pointers
 * in a record are valid during the call only; `stack_lasts` is the exception. Unknown values are 0 (pid and tid: -1).
 */
#ifndef WICK_EVENT_EVENT_H
#define WICK_EVENT_EVENT_H

#include "object/build_id.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* One event that was recorded: its attributes and what people call it. */
struct event_source {
	struct perf_event_attr attr;
	const char *name; /* "cycles:u" */
	const uint64_t *ids;
	size_t id_count;
};

/* Processor mode of a record, from misc. */
enum event_mode { MODE_UNKNOWN, MODE_KERNEL, MODE_USER, MODE_HYPERVISOR, MODE_GUEST_KERNEL, MODE_GUEST_USER };

struct event_registers {
	uint64_t abi; /* PERF_SAMPLE_REGS_ABI_*; 0: none */
	uint64_t mask; /* which registers, by bit of enum perf_event_x86_regs or its like */
	const uint64_t *values; /* in the order of the bits of the mask */
};

/* Why a stack is not whole. The numbers stand in perf.data files: new ones come last. */
enum stack_end {
	STACK_WHOLE,
	STACK_CUT, /* the copy of the stack was too small */
	STACK_DEEP, /* deeper than the limit of the kernel's call chains */
	STACK_BROKEN, /* no way to continue: no unwind information, no frame pointer, damaged memory */
	STACK_ABSENT, /* memory of the stack was not resident when the sample was taken */
	STACK_FOREIGN, /* registers of a machine that is not unwound here */
	STACK_UNSEEN, /* there is none: the thread left its CPU before the recording began */
	STACK_OTHER, /* it continues in another stack, of which there is no copy: signal handlers, coroutines */
	STACK_NARROW, /* of a 32-bit program, without a frame pointer to follow */
	STACK_INTERPRETER, /* the frames of its interpreter could not be followed to the first one */
	STACK_ENDS,
};

/* What a thread of Python had of the global interpreter lock. The numbers stand in perf.data files. */
enum event_gil {
	GIL_UNKNOWN, /* it executed nothing of Python */
	GIL_HELD,
	GIL_RELEASED,
	GIL_NONE, /* a free-threaded interpreter */
	GIL_STATES,
};

struct event_sample {
	uint32_t source; /* index of its event_source */
	enum event_mode mode;
	int32_t pid, tid;
	uint32_t cpu; /* UINT32_MAX: not known */
	enum event_gil gil;
	uint64_t time, ip, address, id, stream_id, period, cgroup;
	uint64_t weight, data_source, transaction, physical_address, code_page_size, data_page_size;
	uint16_t instruction_latency, retire_latency; /* of PERF_SAMPLE_WEIGHT_STRUCT, whose first part is `weight` */
	bool exact_ip;
	const uint64_t *chain; /* with PERF_CONTEXT_* markers, innermost first */
	size_t chain_count;
	/* The chain was unwound to its `end`; its user part has the frames as trace/word.h has them. */
	bool unwound;
	enum stack_end end;
	/*
	 * Frames of an interpreter, innermost first, which replace those of its evaluation loop. Two words each, as
	 * trace/word.h has them: the number of a function (runtime/interpreted.h), exact where native code called it,
	 * and its line.
	 */
	const uint64_t *interpreted;
	size_t interpreted_count; /* words */
	bool interpreted_late; /* they were read after the sample was taken: TRACE_WORD_SHOWN, TRACE_WORD_DOUBTFUL */
	/* Samples that were added up before they came here, between `since` and `time`; 0 is one. */
	uint64_t count, since;
	bool sum; /* their weights mean something together only: files hold one record */
	const struct perf_branch_entry *branches;
	const uint64_t *branch_counters; /* NULL, or one per branch */
	size_t branch_count;
	struct event_registers user, interrupt;
	const uint8_t *stack; /* copy of user stack memory, upwards */
	uint64_t stack_skipped; /* bytes between the stack pointer and where the copy begins */
	size_t stack_size; /* bytes that are really there */
	size_t stack_asked; /* bytes that were requested: stack_size == stack_asked hints at a stack cut off */
	bool stack_lasts; /* `stack` is valid until its file is closed */
	const uint8_t *stack_tail; /* memory behind the copy, which was read from the process after the sample */
	size_t stack_tail_size; /* 0: none */
	const uint8_t *raw;
	size_t raw_size;
	const struct event_sample *waker; /* of a derived wait: the sample of who ended it; NULL: not known */
};

struct event_mmap {
	int32_t pid, tid;
	bool kernel;
	uint64_t time, start, length, offset;
	uint32_t protection, flags, major, minor;
	uint64_t inode, inode_generation;
	struct build_id build_id; /* size 0: not in the record */
	const char *path;
};

struct event_comm {
	int32_t pid, tid;
	uint64_t time;
	bool exec;
	const char *comm;
};

struct event_task { /* fork and exit */
	int32_t pid, tid, parent_pid, parent_tid;
	uint64_t time;
};

/* What the kernel dropped. */
enum event_lost_kind {
	LOST_ANY, /* of a ring with all kinds of records, by a kernel without counts (before 6.0), or by perf */
	LOST_SAMPLES,
	LOST_OTHERS, /* no samples: mappings, names, forks and exits */
};

struct event_lost {
	enum event_lost_kind kind;
	uint64_t time, count;
	uint32_t source; /* UINT32_MAX: not known */
};

/* What a counter of a thread (and its children) counted; 0 at the start of a recording. */
struct event_count {
	int32_t pid, tid;
	uint64_t time, value;
	uint32_t source; /* UINT32_MAX: not known */
};

struct event_ksymbol {
	uint64_t time, address;
	uint32_t length;
	uint16_t type, flags;
	bool unregister;
	const char *name;
};

/*
 * The path of a cgroup, or in another record what else is known about it. Other tools ignore that one, since they know
 * the id already. One of the two is NULL.
 */
struct event_cgroup {
	uint64_t time, id;
	const char *path; /* begins with "/" */
	const char *names; /* as in container/cgroup_names.h and cgroup_cpu.h */
};

struct event_switch {
	int32_t pid, tid, other_pid, other_tid;
	uint64_t time;
	uint32_t cpu;
	bool out, preempted;
};

enum event_type {
	EVENT_SAMPLE,
	EVENT_MMAP,
	EVENT_COMM,
	EVENT_FORK,
	EVENT_EXIT,
	EVENT_LOST, /* records or samples the kernel dropped */
	EVENT_COUNT,
	EVENT_KSYMBOL,
	EVENT_CGROUP,
	EVENT_SWITCH,
	EVENT_ASLEEP, /* a thread that waits when the recording begins, with its stack: a sample of no event */
};

/* One record. It points to what was decoded, which is never copied on its way through the stages. */
struct event {
	enum event_type type;
	union {
		const struct event_sample *sample; /* and of EVENT_ASLEEP */
		const struct event_mmap *mmap;
		const struct event_comm *comm;
		const struct event_task *task; /* of EVENT_FORK and EVENT_EXIT */
		const struct event_lost *lost;
		const struct event_count *count;
		const struct event_ksymbol *ksymbol;
		const struct event_cgroup *cgroup;
		const struct event_switch *change;
	};
};

/*
 * Takes records. What a sink does not need it ignores; a stage between two sinks passes it on. A negative return value
 * stops who reads, who returns it. Without `take` nothing is wanted.
 */
struct event_sink {
	void *context;
	int (*take)(void *context, const struct event *event);
};

static inline int sink_take(const struct event_sink *sink, const struct event *event)
{
	return sink->take ? sink->take(sink->context, event) : 0;
}

static inline int sink_sample(const struct event_sink *sink, const struct event_sample *sample)
{
	return sink_take(sink, &(struct event){EVENT_SAMPLE, .sample = sample});
}

static inline int sink_mmap(const struct event_sink *sink, const struct event_mmap *mmap)
{
	return sink_take(sink, &(struct event){EVENT_MMAP, .mmap = mmap});
}

static inline int sink_comm(const struct event_sink *sink, const struct event_comm *comm)
{
	return sink_take(sink, &(struct event){EVENT_COMM, .comm = comm});
}

static inline int sink_fork(const struct event_sink *sink, const struct event_task *task)
{
	return sink_take(sink, &(struct event){EVENT_FORK, .task = task});
}

static inline int sink_exit(const struct event_sink *sink, const struct event_task *task)
{
	return sink_take(sink, &(struct event){EVENT_EXIT, .task = task});
}

static inline int sink_lost(const struct event_sink *sink, const struct event_lost *lost)
{
	return sink_take(sink, &(struct event){EVENT_LOST, .lost = lost});
}

static inline int sink_count(const struct event_sink *sink, const struct event_count *count)
{
	return sink_take(sink, &(struct event){EVENT_COUNT, .count = count});
}

static inline int sink_ksymbol(const struct event_sink *sink, const struct event_ksymbol *ksymbol)
{
	return sink_take(sink, &(struct event){EVENT_KSYMBOL, .ksymbol = ksymbol});
}

static inline int sink_cgroup(const struct event_sink *sink, const struct event_cgroup *cgroup)
{
	return sink_take(sink, &(struct event){EVENT_CGROUP, .cgroup = cgroup});
}

static inline int sink_switch(const struct event_sink *sink, const struct event_switch *change)
{
	return sink_take(sink, &(struct event){EVENT_SWITCH, .change = change});
}

static inline int sink_asleep(const struct event_sink *sink, const struct event_sample *sample)
{
	return sink_take(sink, &(struct event){EVENT_ASLEEP, .sample = sample});
}

#endif
