/*
 * The profile: what every source makes and every renderer reads.
 *
 * Strings, functions, frames, stacks, threads and value types are arrays addressed by 32-bit ids. A stack is a node of
 * a prefix tree, {parent, frame}, and names the path from the outermost frame down to it; parents have smaller ids than
 * their children. A sample is (thread, stack, value type, labels) → weight.
 *
 * Weights are integers in units of 10^-decimals of their value type, so that sums are exact and do not depend on the
 * order of addition. A sum that would not fit is held at the limit and counted in the quality.
 */
#ifndef WICK_PROFILE_PROFILE_H
#define WICK_PROFILE_PROFILE_H

#include "base/strpool.h"
#include "profile/extent.h"
#include "profile/label_set.h"
#include "profile/quality.h"
#include "profile/time_columns.h"

#include <stdbool.h>
#include <stdint.h>

#define PROFILE_NONE UINT32_MAX

typedef uint32_t function_id;
typedef uint32_t frame_id;
typedef uint32_t stack_id; /* STACK_ROOT is the empty stack */
typedef uint32_t thread_id;
typedef uint32_t value_id;

#define STACK_ROOT 0
#define THREAD_UNKNOWN 0 /* the thread of samples whose source names none */

enum frame_kind {
	FRAME_NATIVE,
	FRAME_KERNEL,
	FRAME_INLINED,
	FRAME_JIT,
	FRAME_PYTHON,
	FRAME_UNKNOWN, /* no symbol: the name is made of the module or address */
	FRAME_KINDS,
};
const char *frame_kind_name(enum frame_kind kind);

struct function {
	str_id name;
	str_id module; /* file name or [kernel.kallsyms] as the source wrote it; 0: not known */
	str_id file; /* source file; 0: not known */
};

struct frame {
	uint64_t address; /* 0: not kept */
	function_id function;
	uint32_t line; /* 0: not known */
	uint32_t kind; /* enum frame_kind */
	uint32_t reserved; /* zero: frames are compared as bytes */
};

struct stack {
	stack_id parent;
	frame_id frame;
	stack_id first_child; /* STACK_ROOT: none. Most stacks have one child at most and need no hash table. */
	uint32_t last_sample; /* index + 1 of a sample that was added to it; 0: there never was one. A hint. */
};

struct thread {
	int32_t pid, tid; /* -1: not known */
	str_id comm;
};

struct value_type {
	str_id name; /* the event ("cycles:u"), or "samples" */
	str_id unit; /* "samples", "ns", "bytes", …; 0: not known */
	unsigned decimals;
	uint64_t first_seen; /* position in the input of its first sample: the first event is the default one */
	uint64_t samples, truncated, unresolved, derived, late; /* its part of the quality counters of the same names */
};

/* Its labels, and its time if that is kept, are in columns beside the samples: most profiles have none. */
struct sample {
	int64_t weight;
	thread_id thread;
	stack_id stack;
	value_id value;
	uint32_t count; /* how many were added up, held at the limit */
};

struct profile {
	struct strpool strings;
	struct function *functions;
	size_t function_count, function_capacity;
	struct frame *frames;
	size_t frame_count, frame_capacity;
	struct stack *stacks;
	size_t stack_count, stack_capacity;
	struct thread *threads;
	size_t thread_count, thread_capacity;
	struct value_type *values;
	size_t value_count, value_capacity;
	struct label_sets label_sets;
	struct sample *samples;
	size_t sample_count, sample_capacity;
	struct label_column labels; /* of the samples */
	struct time_columns times; /* of the samples, with keep_times */
	bool keep_times; /* by profile_keep_times() */
	bool ordered; /* samples are kept in the order they came, unmerged (flame charts) */
	bool differential; /* value 0 is "before", value 1 is "after" */
	struct quality quality;
	struct extent extent;

	/*
	 * Those of functions, frames, stacks and samples may know only the first of them: what was added as new is
	 * indexed when something is looked up.
	 */
	struct index_map function_map, frame_map, stack_map, path_map, thread_map, sample_map;
	size_t stacks_indexed; /* the others' maps count what they hold */
};

void profile_init(struct profile *profile);
void profile_release(struct profile *profile);

str_id profile_string(struct profile *profile, const char *bytes, size_t length);
function_id profile_function(struct profile *profile, struct function function);
frame_id profile_frame(struct profile *profile, struct frame frame);
/* The stack that is `frame` called from `parent`. */
stack_id profile_stack(struct profile *profile, stack_id parent, frame_id frame);
/* For who knows some stacks ahead what will be looked up: fetches it from memory. */
#define STACKS_AHEAD 8
void profile_stack_prefetch(const struct profile *profile, stack_id parent, frame_id frame);
/* The stack of `count` frames, innermost first; one hash look-up when the path was seen before. */
stack_id profile_path(struct profile *profile, const frame_id *innermost_first, size_t count);
thread_id profile_thread(struct profile *profile, struct thread thread);
/* Finds or adds by name. */
value_id profile_value(struct profile *profile, const char *name, const char *unit);
/* Finds or adds a set of labels: see label_sets_add(). */
label_set_id profile_label_set(struct profile *profile, const struct label *labels, size_t count);
/* The value of a label of a set, by its key; 0: the set does not have it. */
str_id profile_label(const struct profile *profile, label_set_id labels, const char *key);
/* Adds one sample of `weight` (in units of the value type), without labels. */
void profile_add(struct profile *profile, thread_id thread, stack_id stack, value_id value, int64_t weight);
/* Adds what was added up elsewhere: its weight and its count count. The first has no labels. */
void profile_add_sum(struct profile *profile, struct sample sum);
void profile_add_labeled(struct profile *profile, struct sample sum, label_set_id labels);
/* From here on each sample has a time, so they are not added up. The time of those that are there is unknown. */
void profile_keep_times(struct profile *profile);
/* Adds with a time, if times are kept. Samples that are added without one have an unknown time. */
void profile_add_timed(struct profile *profile, struct sample sum, label_set_id labels, struct sample_time time);
/* The time of the sample `index`; unknown without keep_times. */
struct sample_time profile_sample_time(const struct profile *profile, size_t index);
/*
 * The same, by a caller who knows that the profile has no equal one yet. Nothing is looked up, which makes reading
 * sorted stacks a matter of appending.
 */
function_id profile_new_function(struct profile *profile, struct function function);
frame_id profile_new_frame(struct profile *profile, struct frame frame);
stack_id profile_new_stack(struct profile *profile, stack_id parent, frame_id frame);
void profile_new_sample(struct profile *profile, struct sample sample); /* without labels */
/* Makes a value type's unit 10^-decimals; weights already there are rescaled. Never lowers it. */
void profile_set_decimals(struct profile *profile, value_id value, unsigned decimals);

/*
 * Adds everything of `from` to `into`. Value types meet by name. Times are kept if `into` keeps them. `from` is
 * unchanged.
 */
void profile_merge(struct profile *into, const struct profile *from);

/*
 * Gives `value` the samples of the same event with other modifiers ("cycles:u" and "cycles"), and then the name without
 * them. Their value types stay, empty.
 */
void profile_join_event(struct profile *profile, value_id value);
/*
 * Leaves only the samples of one value type, and in the quality only what concerns it. Samples without an event (their
 * value type has no name) belong to every event, so they join it.
 */
void profile_keep_value(struct profile *profile, value_id value);

/* Patterns for the value of a label; that of a sample without the label is "". */
struct label_filter {
	const char *key;
	const char *const *values;
};
/* Which samples to keep; members that are NULL keep all. Lists of names end with NULL, lists of ids with −1. */
struct profile_filter {
	const char *const *comms; /* patterns as of fnmatch(3) for the thread's name */
	const int32_t *pids, *tids;
	const char *const *modules; /* patterns: some frame's module, its path or the last part of it */
	const char *const *functions; /* patterns: some frame's function */
	const struct label_filter *labels; /* ended by a NULL key; a sample must fit all */
};
/* Leaves only the samples that fit, and in the quality only what concerns them. For what was read from text. */
void profile_keep(struct profile *profile, const struct profile_filter *filter);
/* By stack: whether it fits `modules` and `functions` of the filter. The caller frees. */
bool *profile_stacks_that_fit(const struct profile *profile, const struct profile_filter *filter);

/* Sum of the weights of one value type, held at the limits of int64_t. */
int64_t profile_total(const struct profile *profile, value_id value);
/* False when some sum of its weights does not fit into int64_t: outputs that add them up may hold it at the limit. */
bool profile_sums_fit(const struct profile *profile, value_id value);
/* The value type whose first sample came first; PROFILE_NONE when there is none. */
value_id profile_first_value(const struct profile *profile);

/* a + b held at the limits. */
static inline int64_t weight_add(int64_t a, int64_t b)
{
	int64_t sum;
	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

static inline const char *profile_text(const struct profile *profile, str_id id)
{
	return strpool_text(&profile->strings, id);
}

#endif
