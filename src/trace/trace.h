/*
 * A trace: stacks of frames that have no names yet, and how often samples had them. A recording is counted in traces,
 * one per thread that counts, and symbolize/ makes a profile of them.
 *
 * Frames, stacks, threads, events and samples are arrays indexed by 32-bit ids. Stacks, threads, samples and labels
 * have the types that a profile has; their ids are those of the trace. Parents of stacks have smaller ids than their
 * children.
 */
#ifndef WICK_TRACE_TRACE_H
#define WICK_TRACE_TRACE_H

#include "profile/profile.h"
#include "trace/frame.h"

typedef uint32_t trace_frame_id;

/* An event. */
struct trace_value {
	str_id name, unit;
	uint64_t first_seen; /* the lowest position of those that were added: the first event is the default one */
};

struct trace {
	struct strpool strings;
	struct trace_frame *frames;
	size_t frame_count, frame_capacity;
	struct stack *stacks; /* their `frame` is a trace_frame_id */
	size_t stack_count, stack_capacity;
	struct thread *threads;
	size_t thread_count, thread_capacity;
	struct trace_value *values;
	size_t value_count, value_capacity;
	struct label_sets label_sets;
	struct sample *samples;
	size_t sample_count, sample_capacity;
	struct label_column labels; /* of the samples */
	struct time_columns times; /* of the samples, with keep_times */
	bool keep_times; /* set before samples are added: each has a time, so they are not merged */
	bool ordered; /* samples are kept in the order they came, unmerged */
	uint64_t overflows; /* sums that were held at the limits of int64_t */

	struct index_map frame_map, thread_map;
	struct index_map stack_map; /* of those that are not the first child of their parent */
	struct index_map sample_map; /* may hold only the first ones: the others are indexed when one is looked up */
};

void trace_init(struct trace *trace);
void trace_release(struct trace *trace);

str_id trace_string(struct trace *trace, const char *text);
trace_frame_id trace_frame(struct trace *trace, struct trace_frame frame);
/* The frame with this name. */
trace_frame_id trace_text_frame(struct trace *trace, const char *text);
/* The stack that is `frame` called from `parent`. */
stack_id trace_stack(struct trace *trace, stack_id parent, trace_frame_id frame);
/* `thread.comm` is a string of the trace. */
thread_id trace_thread(struct trace *trace, struct thread thread);
/* Finds or adds by name. */
value_id trace_value(struct trace *trace, const char *name, const char *unit, uint64_t seen);
/* Finds or adds a set of labels, whose keys and values are strings of the trace. */
label_set_id trace_label_set(struct trace *trace, const struct label *labels, size_t count);
/* Adds to the sample of the same thread, stack, event and labels, or as a new one where the trace is ordered. */
void trace_add(struct trace *trace, struct sample sample, label_set_id labels);
/* The same with a time, which is kept with keep_times only. Samples that are added without one have an unknown time. */
void trace_add_timed(struct trace *trace, struct sample sample, label_set_id labels, struct sample_time time);
/* The time of the sample `index`; unknown without keep_times. */
struct sample_time trace_sample_time(const struct trace *trace, size_t index);

static inline const char *trace_text(const struct trace *trace, str_id id)
{
	return strpool_text(&trace->strings, id);
}

#endif
