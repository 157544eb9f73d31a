/*
 * What the programs in the kernel and wick share: the layouts of maps and of the records that cross by the ring
 * buffer. Compiled for BPF and for the machine; only fixed-size integers, no padding that is not named.
 */
#ifndef WICK_BPF_LAYOUT_H
#define WICK_BPF_LAYOUT_H

#include "trace/word.h"

#include <linux/types.h>

#define LAYOUT_FRAMES_MAX 1024u /* of user space, in one stack */
#define LAYOUT_KERNEL_MAX 127u /* of the kernel */
#define LAYOUT_PYTHON_MAX 1024u /* of a Python interpreter; each takes two words */
#define LAYOUT_SLAB_WORDS (1u << 20) /* 4 MiB: the largest array element of older kernels */
#define LAYOUT_SLABS_MAX 256u
#define LAYOUT_PARTS_MAX 4096u
#define LAYOUT_LIST_MAX 16384u /* mappings of one process */
#define LAYOUT_COPY_MAX 65536u /* bytes of a stack that is unwound in user space */
#define LAYOUT_REGISTERS 17u /* in the order of enum perf_event_x86_regs, without flags and segments */

/*
 * How many programs may use the scratch of a CPU at once: one that interrupts another needs a slot of its own. The
 * kernel does not run programs of perf events inside each other, so that one is enough for them.
 */
enum layout_slot { LAYOUT_SLOT_SAMPLE, LAYOUT_SLOTS };

/*
 * Tables. A slab is an array of words; a part is the table of one file, or of a piece of a file whose table is larger
 * than a slab: its index, its rows and its rules as unwind/table.h has them.
 */
struct layout_part {
	__u64 base; /* virtual address where page 0 begins */
	__u32 slab, shift, pages;
	__u32 first, rows, rules; /* where they begin in the slab, in words */
	__u32 row_count;
	__u32 used; /* written by the kernel: when it was last needed, in seconds */
	__u32 narrow, zero; /* 1: of a 32-bit file */
};

/* The kinds of rules that programs follow, as unwind/table.h has them. */
enum layout_cfa {
	LAYOUT_CFA_INVALID,
	LAYOUT_CFA_STOP,
	LAYOUT_CFA_SP,
	LAYOUT_CFA_FP,
	LAYOUT_CFA_PLT,
	LAYOUT_CFA_AT_SP,
	LAYOUT_CFA_AT_FP,
	LAYOUT_CFA_SIGNAL,
	LAYOUT_CFA_GO = 9,
	LAYOUT_CFA_REGISTER = 32,
	LAYOUT_CFA_INTERRUPTED = 0x80,
};
enum { LAYOUT_DWARF_FP = 6 };
enum layout_fp { LAYOUT_FP_SAME, LAYOUT_FP_AT_CFA, LAYOUT_FP_AT_FP };
/* Offsets of saved registers in the frame of a signal, from its stack pointer. */
enum { LAYOUT_SIGNAL_FP = 120, LAYOUT_SIGNAL_SP = 160, LAYOUT_SIGNAL_IP = 168 };

/* Mappings of processes: lists, each sorted and without overlap. */
#define LAYOUT_PART_NONE 0xffffffffu /* code without a table: frame pointers */
#define LAYOUT_PART_WANTED 0xfffffffeu /* its table is not loaded yet: the stack is unwound in user space */
#define LAYOUT_PART_SILENT 0xfffffffdu /* a file with a table, outside the addresses that it describes */
#define LAYOUT_PART_JIT 0xfffffffcu /* JIT code with unwind information, which only wick can follow; the lowest */
struct layout_mapping {
	__u64 start, end;
	__u64 bias; /* run-time address − virtual address of the file */
	__u32 part;
	__u32 module; /* which module to ask for */
};

struct layout_process {
	__u32 first, count; /* its list of mappings */
	__u32 generation; /* differs after an exec */
	__u32 used; /* written by the kernel: when it last ran into a sample, in seconds */
	__u32 python, zero; /* 1: it has an interpreter, see struct layout_python */
};

#define LAYOUT_EVAL_MAX 4u
#define LAYOUT_NO_OFFSET 0xffffu

/* The code of an evaluation loop. */
struct layout_range {
	__u64 start, size;
};

/* Where the interpreter of a process keeps its frames, as runtime/python/layout.h has it. */
struct layout_python {
	__u64 runtime; /* address of _PyRuntime */
	/* The running task of asyncio: the dictionary that has it as value, or 0; else where the thread has it. */
	__u64 current_tasks;
	struct layout_range eval[LAYOUT_EVAL_MAX]; /* run-time addresses; unused ones have size 0 */
	__u32 runtime_interpreters, interpreter_next, interpreter_threads, interpreter_gil;
	__u16 thread_next, thread_id, thread_frame, cframe_frame, cframe_previous;
	__u16 runtime_holder, thread_status, thread_interpreter;
	__u16 frame_code, frame_back, frame_position, frame_owner, frame_bytecode;
	__u16 frame_bytes; /* that hold these five */
	__u16 code_first_line, code_instructions, code_bytecodes;
	__u8 entry; /* enum layout_python_entry */
	__u8 position; /* enum layout_python_position */
	__u8 free_threaded, zero[7];
	__u16 tasks_first; /* from the keys of the dictionary to the first value */
	__u16 thread_task; /* LAYOUT_NO_OFFSET: no */
};

/* The Python frame that comes last may be a task: in place of a code object, with this line. */
#define LAYOUT_TASK_LINE 0xffffffffu
/* Words that are left behind records for the tasks that await it. */
#define LAYOUT_TASK_WORDS 64u

/* The numbers of enum python_entry and enum python_position. */
enum layout_python_entry { LAYOUT_ENTRY_EACH, LAYOUT_ENTRY_FLAG, LAYOUT_ENTRY_SHIM };
enum layout_python_position { LAYOUT_POSITION_BYTES, LAYOUT_POSITION_UNITS, LAYOUT_POSITION_POINTER };

/* Why a stack ends where it does. */
enum layout_end {
	LAYOUT_WHOLE,
	LAYOUT_ABSENT, /* memory that is not resident, or not there */
	LAYOUT_NO_TABLE, /* code without table, and the frame pointer leads nowhere */
	LAYOUT_BROKEN, /* a return address outside all code, a stack pointer that does not move */
	LAYOUT_DEEP, /* more frames than requested */
	LAYOUT_UNSEEN, /* no frames: the thread waits since before the recording began */
	LAYOUT_NARROW, /* a 32-bit program, whose frame pointer leads nowhere */
	LAYOUT_INTERPRETER, /* the frames of its interpreter lead nowhere */
	/* From here on the kernel leaves the unwinding to wick, to which it sends registers and stack. */
	LAYOUT_UNKNOWN_PROCESS, /* no list of mappings yet */
	LAYOUT_UNKNOWN_CODE, /* an address in no mapping of the list, which may be behind the times */
	LAYOUT_WANTED, /* a table that is not loaded yet */
	LAYOUT_DIFFICULT, /* a rule that only wick can follow */
	LAYOUT_ENDS,
};

enum layout_mode { LAYOUT_MODE_USER, LAYOUT_MODE_KERNEL };

/* `extra` of a switch: what became of the thread, in the bits that sched:sched_switch shows. */
enum layout_switch_state {
	LAYOUT_SWITCH_RUNNABLE = 0,
	LAYOUT_SWITCH_SLEEPING = 0x01,
	LAYOUT_SWITCH_UNINTERRUPTIBLE = 0x02,
	LAYOUT_SWITCH_DEAD = 0x20,
	LAYOUT_SWITCH_IDLE = 0x82,
};

/* A stack as it is counted: samples with the same key are added up. */
struct layout_key {
	__u64 user, kernel; /* hashes of the two parts of the stack */
	__u32 pid, tid;
	__u32 generation;
	__u16 source; /* which event; index of the recording's sources */
	__u8 end; /* enum layout_end */
	__u8 mode; /* enum layout_mode */
	__u64 extra; /* whatever else distinguishes samples of a source; 0: nothing */
	__u64 cgroup; /* of version 2 */
	__u32 cpu; /* where it was taken, or the thread left */
	__u32 gil; /* enum layout_gil */
};

/* What a thread of Python has of the global interpreter lock. The numbers of enum event_gil in event/event.h. */
enum layout_gil { LAYOUT_GIL_UNKNOWN, LAYOUT_GIL_HELD, LAYOUT_GIL_RELEASED, LAYOUT_GIL_NONE };

#define LAYOUT_CPU_UNKNOWN 0xffffffffu

struct layout_count {
	__u64 count, weight; /* samples, and the sum of their weights; without the one that the record reported */
	__u64 runnable; /* of waits, which weigh nanoseconds until the wake-up: those from there on */
};

/* What threads do; `extra` of times that are added up. The numbers of enum thread_state in event/offcpu.h. */
enum layout_state {
	LAYOUT_STATE_RUNNING,
	LAYOUT_STATE_RUNNABLE,
	LAYOUT_STATE_SLEEPING,
	LAYOUT_STATE_DISK,
	LAYOUT_STATE_GONE,
};

enum layout_doing {
	LAYOUT_DOING_UNKNOWN, /* it was there before the recording began */
	LAYOUT_DOING_RUN,
	LAYOUT_DOING_WAIT,
	LAYOUT_DOING_GONE,
};

enum layout_left_with { LAYOUT_LEFT_NOTHING, LAYOUT_LEFT_STACK, LAYOUT_LEFT_COPY };

/* A thread whose times are added up. */
struct layout_thread {
	__u64 since; /* when it began to wait, or to run without a report */
	__u64 woken; /* 0: not yet */
	__u64 owed; /* nanoseconds that it ran and that were not reported */
	__u32 doing; /* enum layout_doing */
	__u32 left; /* enum layout_left_with: what is known of the stack with which it left its CPU */
	struct layout_key key; /* that of the wait */
};

/* A thread with the registers with which it came into the kernel. */
struct layout_registers {
	__u32 tid, zero;
	__u64 values[LAYOUT_REGISTERS];
};

/* A process, or thread, whose samples count where events are opened on CPUs. */
struct layout_member {
	__u64 task; /* where it is known: the number may be another's soon; else 0 */
	__u64 ended; /* nanoseconds that it ran, where it ended while times are added up (members_held) */
};

/* The CPU time of a task of a member, with that of threads which have ended if it is the first thread of a process. */
struct layout_time {
	__u32 id, zero; /* of the member */
	__u64 nanoseconds;
};

/* Records of the ring buffer. */
enum layout_kind {
	/* A stack that is new: its kernel frames, its user frames, its Python frames, innermost first: trace/word.h */
	LAYOUT_STACK,
	LAYOUT_COPY, /* a sample that wick must unwind: struct layout_copy, with as many bytes as it says */
	LAYOUT_TICK, /* one more sample of a stack that was reported; without anything behind */
	/* Where waits are added up: */
	LAYOUT_NEW_STACK, /* as LAYOUT_STACK, but nothing is counted for it yet */
	LAYOUT_COPY_LEFT, /* as LAYOUT_COPY; LAYOUT_WAIT will bring its weight */
	LAYOUT_WAIT, /* one wait of a stack, or copy, that was reported; without anything behind */
};

struct layout_record {
	struct layout_key key;
	__u64 time, weight, ip;
	__u64 runnable; /* as layout_count has it */
	__u32 kind; /* enum layout_kind */
	__u32 bytes; /* of a copied stack */
	__u32 kernel_count, user_count; /* words */
	__u32 narrow; /* 1: of a 32-bit program */
	__u32 module; /* LAYOUT_WANTED: the module whose table is missing; LAYOUT_WAIT: enum layout_left_with */
	/*
	 * Words: two for each frame. The first is the code object, exact where native code called it; the second is the
	 * offset in the bytecode, with the first line of the code object above 32 bits.
	 */
	__u32 python_count;
	__u32 python_late; /* 1: wick read them, after the sample was taken */
};

struct layout_copy {
	struct layout_record record;
	__u64 registers[LAYOUT_REGISTERS];
	__u64 skipped; /* bytes above the stack pointer that were not resident */
	__u64 kernel[LAYOUT_KERNEL_MAX]; /* addresses */
	/* Of the stack, from there up. Behind them, at a multiple of 8, come the words of Python frames. */
	__u8 bytes[LAYOUT_COPY_MAX + LAYOUT_PYTHON_MAX * 16];
};

/* Counters of each CPU. */
enum layout_statistic {
	LAYOUT_TAKEN, /* samples that came */
	LAYOUT_LOST, /* of these: the ring buffer had no room */
	LAYOUT_COPIED, /* of these: unwound in user space */
	LAYOUT_SKIPPED_WAITS, /* waits that were shorter or longer than requested; not among those that came */
	LAYOUT_UNCOUNTED, /* stacks for which the map of counts had no room; they crossed one by one */
	LAYOUT_UNFOLLOWED, /* processes that there was no room for among the recorded ones */
	LAYOUT_CPU_TIME, /* nanoseconds that members ran which have ended */
	LAYOUT_STATISTICS,
};

#endif
