/* The inside of a symbolizer, for those who give names: symbolize.c and symbolize_parts.c. */
#ifndef WICK_SYMBOLIZE_SYMBOLIZER_H
#define WICK_SYMBOLIZE_SYMBOLIZER_H

#include "symbolize/symbolize.h"

/* What a frame of the trace is called. */
struct symbolizer_name {
	size_t first; /* in `chain` */
	uint32_t count;
	bool unresolved;
	bool derived; /* the rule for unwinding there */
	bool late; /* a function of an interpreter that could not be read any more */
};

struct known_name {
	const char *text; /* where a symbol has it: each is looked up once */
	str_id name;
};

struct symbolizer {
	struct profile *profile;
	struct module_store *codes;
	struct symbolize_options options;
	struct symbolizer_name *named; /* by frame of the trace */
	size_t frame_count, frame_capacity;
	frame_id *chain; /* frames of each of them, outermost first */
	size_t chain_count, chain_capacity;
	struct symbolizer_stack *stacks; /* by stack of the trace */
	size_t stack_count, stack_capacity;
	thread_id *threads; /* by thread of the trace */
	size_t thread_count, thread_capacity;
	str_id *module_path; /* by module id; 0: not made yet */
	size_t path_count, path_capacity;
	struct buf scratch;
	struct known_name *names; /* that have been looked up */
	size_t name_count, name_capacity;
	struct index_map name_map;
};

/* No stack yet: what it begins with shows whether it is whole. */
#define SYMBOLIZER_OUTSIDE ((struct symbolizer_stack){.stack = STACK_ROOT, .outside = true})

/* Looks up the frames that are new, and gives them names. */
void symbolizer_name_frames(struct symbolizer *n, const struct trace *trace);
/* Appends to the chain of the frame that is being named. */
void symbolizer_add_frame(struct symbolizer *n, struct function function, uint32_t line, enum frame_kind kind);
/* What the quality says of `frame`, which has the id `id` in the trace, called from `caller`. */
struct symbolizer_stack symbolizer_quality(const struct symbolizer *n, struct symbolizer_stack caller,
					   const struct trace_frame *frame, trace_frame_id id);
/* The same, and the stack in n->profile that it is. */
struct symbolizer_stack symbolizer_push(const struct symbolizer *n, struct symbolizer_stack caller,
					const struct trace_frame *frame, trace_frame_id id);
thread_id symbolizer_name_thread(struct symbolizer *n, const struct trace *trace, struct thread thread);
/* Where the module lies, among the strings of n->profile. */
str_id symbolizer_module_path(struct symbolizer *n, module_id module);

#endif
