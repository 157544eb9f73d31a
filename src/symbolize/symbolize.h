/* Traces → a profile of functions: every distinct frame gets its name once, by the rule of its kind (rules.h). */
#ifndef WICK_SYMBOLIZE_SYMBOLIZE_H
#define WICK_SYMBOLIZE_SYMBOLIZE_H

#include "module/module_code.h"
#include "trace/trace.h"

struct symbolize_options {
	unsigned threads;
	bool keep_lines; /* frames keep their source line; else equal functions are one frame */
	bool keep_names; /* in the cache, for when the files are not here any more */
	bool addresses; /* frames without a symbol are called by their address too */
	struct profile_filter filter; /* its modules and functions: which stacks are added */
};

/*
 * Names addresses while they are still being collected: each distinct one is looked up once, on all threads, and what
 * is named stays named. The profile that gets the names is initialised by the caller, and gets no samples.
 */
struct symbolizer;

struct symbolizer_stack {
	stack_id stack; /* with names */
	bool truncated, unresolved, derived, late; /* what the quality counts */
	bool outside; /* nothing of it is there yet */
};

struct symbolizer *symbolizer_new(struct profile *profile, struct module_store *codes,
				  const struct symbolize_options *options);
void symbolizer_free(struct symbolizer *symbolizer);
/* Names what `trace`, always the same one, has got since the last call. */
void symbolizer_extend(struct symbolizer *symbolizer, const struct trace *trace);
struct symbolizer_stack symbolizer_stack(const struct symbolizer *symbolizer, stack_id stack);
thread_id symbolizer_thread(const struct symbolizer *symbolizer, thread_id thread);
value_id symbolizer_value(const struct symbolizer *symbolizer, const struct trace *trace, value_id value);
/* Counts samples of a stack in the quality of the profile with names. */
void symbolizer_count(struct profile *profile, value_id value, uint32_t count, const struct symbolizer_stack *stack);

/*
 * Adds `count` traces, with names, to an initialised profile, and counts samples, truncated stacks and unresolved
 * frames in its quality. Each distinct frame is looked up once, on all threads. The first trace gets the frames of the
 * others.
 */
void symbolize_traces(struct profile *profile, struct trace *const *traces, size_t count, struct module_store *codes,
		      const struct symbolize_options *options);

#endif
