/* Counts samples by their stack in a trace. One per thread. */
#ifndef WICK_COLLECT_TALLY_H
#define WICK_COLLECT_TALLY_H

#include "collect/stack.h"
#include "symbolize/prepare.h"
#include "trace/trace.h"

/* Which threads are counted apart: all, those of other names or processes, those of other names. */
enum tally_threads { TALLY_BY_THREAD, TALLY_BY_PROCESS, TALLY_BY_NAME };

struct tally {
	struct trace trace;
	struct preparer *preparer; /* gets addresses that are new; NULL: nobody */
	bool unmapped_apart; /* addresses outside all modules are distinguished; else they are one frame */
	enum tally_threads threads_apart;
	bool label_cpu; /* samples of different CPUs are counted separately */
	bool label_gil; /* and those with and without the GIL */
	uint64_t ends[STACK_ENDS]; /* samples, by how their stack ends; others may read them at any time */
	uint64_t *broken; /* samples whose stack ends as STACK_BROKEN, by module id + 1 of the outermost frame */
	size_t broken_capacity;
	/* The sample before: the next one often shares its thread and most of its stack. */
	trace_frame_id *path; /* outermost first */
	stack_id *stacks; /* that these frames make */
	size_t depth, path_capacity, stack_capacity;
	const char *comm, *event; /* as the sample names them */
	uint32_t source;
	thread_id thread;
	value_id value;
	uint32_t cpu; /* of its labels */
	enum event_gil gil;
	const struct batch_cgroup *cgroup;
	label_set_id labels;
};

/* The value of the label. */
static inline const char *gil_label(enum event_gil gil)
{
	static const char *const values[GIL_STATES] = {
		[GIL_UNKNOWN] = "",
		[GIL_HELD] = "held",
		[GIL_RELEASED] = "released",
		[GIL_NONE] = "free-threaded",
	};
	return values[gil];
}

/* With `ordered` samples stay apart, in the order they came. */
void tally_init(struct tally *tally, bool ordered);
void tally_release(struct tally *tally);

/* The frame in the trace: for stack_maker.identify. */
uint32_t tally_frame(void *tally, const struct trace_frame *frame);
/* The same for a stack that is inverted. */
uint32_t tally_waker_frame(struct tally *tally, const struct trace_frame *frame);
/* Adds a sample whose frames have been given their numbers by tally_frame(). */
void tally_add(struct tally *tally, const struct batch_sample *sample, const struct stack_frame *frames, size_t count,
	       enum stack_end end);

#endif
