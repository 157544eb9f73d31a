/*
 * The BPF engine: programs in the kernel unwind samples by table and count them there; only stacks that are new cross,
 * by a ring buffer, and the counts on request. What the kernel cannot unwind (a process whose mappings it
 * does not have yet, a table that is not loaded yet, a rule that is too difficult) crosses as registers and stack
 * bytes, as in a perf ring, and is unwound in user space: so stacks are whole from the first sample on.
 *
 * Life of an engine:
 *
 *	engine_open()       loads the programs
 *	engine_attach()     for each perf event
 *	engine_start()      the thread that builds tables begins
 *	a round:
 *	engine_look()       takes what is new in the ring buffer,
 *	engine_announce()   gives copied stacks to a sink that reads the rest of them,
 *	engine_early()      gets mappings and tasks as soon as the kernel reports them,
 *	engine_supply()     gives the kernel what it lacks: after both, for a list that is older than the record that
 *	                    requested it would be wrong
 *	engine_deliver()    gives one of the records to a sink, when it is its turn in the order of time
 *	engine_retire()     before an exec or the end of a process is passed to that sink
 *	engine_counts()     now and then and at the end: what was counted since
 *	engine_stop()
 *	engine_close()
 *
 * Everything is called by one thread. In a build without the engine engine_open() fails and says what is missing.
 */
#ifndef WICK_ENGINE_ENGINE_H
#define WICK_ENGINE_ENGINE_H

#include "arch/native.h"
#include "base/err.h"
#include "capture/options.h"
#include "event/event.h"
#include "module/module_code.h"

struct engine;

/* How the times of threads are added up in the kernel: as samples of `source`, whose `raw` is enum thread_state. */
struct engine_waits {
	bool counted; /* else each switch is reported separately */
	bool running; /* the time that threads run too, by the samples of `clocks` */
	bool from_exec; /* a command: it is recorded from the program on that it executes */
	bool unseen; /* a wait that began before the recording counts from there on */
	bool children; /* new threads of those that are recorded are recorded too */
	uint16_t source;
	uint32_t clocks, kept; /* by bit: sources; `kept` are also samples of their own */
};

/*
 * Events that are opened on CPUs, so that threads count however short they live: the programs take the samples of
 * members only.
 */
struct engine_members {
	uint32_t sources; /* by bit; 0: all events are opened on threads, or on everybody */
	bool threads; /* members are threads, not processes */
	bool children; /* of members are members */
};

/* What is recorded, and what follows from it and from the machine for the programs: see engine_options_of(). */
struct engine_options {
	/* Stays as long as the engine. Of its events programs take ENGINE_SOURCES_MAX; their number is the source. */
	const struct capture_options *capture;
	bool many_processes; /* larger maps */
	uint32_t pid_namespace; /* inode of the one that wick lives in; 0: the initial one */
	uint32_t kernel_memory; /* MiB, about: all that grows with what is recorded is sized by it */
	uint32_t unaggregated; /* by bit: sources whose samples are never added up */
	uint32_t faults; /* by bit: page faults, whose samples have the size of the page where the kernel knows it */
	uint32_t switches; /* by bit: sources that happen when a thread leaves its CPU; `raw` is its state then */
	struct engine_waits waits;
	struct engine_members members;
};

#define ENGINE_SOURCES_MAX 4
#define ENGINE_MEMORY_USUAL 160

/* ERR_UNSUPPORTED: not in this build. ERR_SYSTEM: the kernel refused, and why. */
int engine_open(struct engine **ret_engine, const struct engine_options *options, struct err *err);
void engine_close(struct engine *engine);

/* Lets the program of a source run at each overflow of a perf event. The event stays the caller's. */
int engine_attach(struct engine *engine, size_t source, int event_fd, struct err *err);

/* A process, or a thread, whose samples count from now on. */
void engine_add_member(struct engine *engine, int32_t id);

/*
 * The CPU time of all members, in nanoseconds: what the scheduler accounted to them, up to their very end. The
 * difference of the two functions is what they used between them. False: there are no members.
 */
bool engine_has_cpu_time(const struct engine *engine);
uint64_t engine_cpu_time_begin(struct engine *engine);
uint64_t engine_cpu_time_end(struct engine *engine);

/*
 * From when on and until when times of threads are added up, by CLOCK_MONOTONIC. `command` is a process that will
 * execute a program and becomes a member then; 0: none.
 */
void engine_begin(struct engine *engine, uint64_t time, int32_t command);
void engine_end(struct engine *engine, uint64_t time);

/* From now on, and until engine_stop(), tables are loaded; `codes` must stay as long. */
void engine_start(struct engine *engine, struct module_store *codes);
void engine_stop(struct engine *engine);

/*
 * Calls `add` for the threads of the system, with the registers of user space of each (ENGINE_REGISTERS, by bit of
 * ENGINE_REGISTER_MASK). Nobody is called where they are not of interest.
 */
#define ENGINE_REGISTERS ARCH_PERF_REGISTER_COUNT
#define ENGINE_REGISTER_MASK ARCH_PERF_REGISTERS
void engine_registers(struct engine *engine, void (*add)(void *context, int32_t tid, const uint64_t *values),
		      void *context);

/*
 * The functions of an interpreter that a thread waits in, as struct event_sample has them. They are read from memory,
 * and are wrong if it runs meanwhile. Returns how many words there are.
 */
size_t engine_interpreted(struct engine *engine, int32_t pid, int32_t tid, uint64_t *words, size_t max);

/* A sink for mmap, comm, fork and exit records, passed at once, and for threads that wait when it begins. */
struct event_sink engine_early(struct engine *engine);

/* Readable when the engine should be looked at before the next round. */
int engine_fd(const struct engine *engine);

/* Takes what is new; `add` gets the time and the number of each record. */
void engine_look(struct engine *engine, void (*add)(void *context, uint64_t time, uint64_t number), void *context);
/* Gives the sample of a new record to the sink before its turn, if its stack was copied. */
void engine_announce(struct engine *engine, uint64_t number, const struct event_sink *sink);
/* Tables and lists of mappings that the records need go to the kernel. */
void engine_supply(struct engine *engine);
/* Gives the sample of a record to the sink. Each number once. Returns as the sink. */
int engine_deliver(struct engine *engine, uint64_t number, const struct event_sink *sink);
/*
 * Gives what was counted for a process (or one of its threads; tid −1: all) and forgets its stacks: its name or what is
 * mapped in it changes.
 */
int engine_retire(struct engine *engine, int32_t pid, int32_t tid, const struct event_sink *sink);
/*
 * A thread ended: gives the time that it ran, as far as it was not reported. Its stacks are forgotten when the counts
 * are given next.
 */
int engine_exit(struct engine *engine, const struct event_task *task, const struct event_sink *sink);
/* True when the mapping took the place of another, which engine_early() noticed. */
bool engine_replaced(struct engine *engine, const struct event_mmap *mmap);
/* Gives what was counted since the last time. With `last` also what was lost on the way. */
int engine_counts(struct engine *engine, const struct event_sink *sink, bool last);

struct engine_statistics {
	uint64_t taken; /* samples that the programs saw */
	uint64_t copied; /* of these: unwound in user space */
	uint64_t lost; /* of these: no room in the ring buffer */
	uint64_t uncounted; /* of these: reported one by one, because the map of counts was full */
	uint64_t emitted; /* samples given to the sink */
	uint64_t unfollowed; /* processes that there was no room for among the members */
	uint64_t skipped; /* waits that were shorter or longer than requested */
	size_t modules, processes; /* in the kernel now */
	size_t evicted; /* modules that gave way to others */
	size_t refused; /* times that there was no room for a module's table: its stacks were unwound in user space */
	size_t kernel_bytes; /* memory of maps */
	uint64_t runs, nanoseconds; /* of the programs, where kernel.bpf_stats_enabled is 1; else 0 */
};
struct engine_statistics engine_statistics(const struct engine *engine);

#endif
