/*
 * A profile of addresses → a profile of functions. In the first, a frame's function stands for its module: its name is
 * empty or SYMBOLIZE_REVERSED, its module string the module's number. Other names stand for themselves. A frame's
 * address is the module's own, already minus one for callers, and its line stands for module_code_version() and for
 * whether it is a call.
 */
#ifndef WICK_SYMBOLIZE_SYMBOLIZE_H
#define WICK_SYMBOLIZE_SYMBOLIZE_H

#include "module/module_code.h"
#include "profile/profile.h"

/* Stands for what lies outside the part of a stack that could be unwound. */
#define MODULE_TRUNCATED (MODULE_NONE - 1)
/* No module: the name of the function is the text of the frame. */
#define MODULE_TEXT (MODULE_NONE - 2)
/* The name of functions whose frames stand upside down, inlined calls before their callers. */
#define SYMBOLIZE_REVERSED "\1"

struct symbolize_options {
	unsigned threads;
	bool keep_lines; /* frames keep their source line; else equal functions are one frame */
	bool keep_names; /* in the cache, for when the files are not here any more */
	bool spaces; /* threads are called by something else, which keeps its spaces */
	bool addresses; /* frames without a symbol are called by their address too */
	struct profile_filter filter; /* its modules and functions: which stacks are added */
};

/* The line of a frame in a profile of addresses. */
static inline uint32_t symbolize_line(uint32_t version, bool exact)
{
	return version << 1 | exact;
}

/* The function that stands for a module in a profile of addresses; MODULE_NONE for addresses outside all modules. */
function_id symbolize_module_function(struct profile *addresses, module_id module);

/*
 * Names addresses while they are still being collected: each distinct one is looked up once, on all threads, and what
 * is named stays named. The profile that gets the names is initialised by the caller, and gets no samples.
 */
struct symbolizer;

struct symbolizer_stack {
	stack_id stack; /* with names */
	bool truncated, unresolved, derived; /* what the quality counts */
	bool outside; /* nothing of it is there yet */
};

struct symbolizer *symbolizer_new(struct profile *profile, struct module_store *codes,
				  const struct symbolize_options *options);
void symbolizer_free(struct symbolizer *symbolizer);
/* Names what `addresses`, always the same profile, has got since the last call. */
void symbolizer_extend(struct symbolizer *symbolizer, const struct profile *addresses);
struct symbolizer_stack symbolizer_stack(const struct symbolizer *symbolizer, stack_id stack);
thread_id symbolizer_thread(const struct symbolizer *symbolizer, thread_id thread);
value_id symbolizer_value(const struct symbolizer *symbolizer, const struct profile *addresses, value_id value);
/* Counts samples of a stack in the quality of the profile with names. */
void symbolizer_count(struct profile *profile, value_id value, uint32_t count, const struct symbolizer_stack *stack);

/*
 * Adds `count` profiles of addresses, with names, to an initialised profile, and counts samples, truncated stacks and
 * unresolved frames in its quality. Each distinct address is looked up once, on all threads. The first of `addresses`
 * gets the frames of the others.
 */
void symbolize_profiles(struct profile *profile, struct profile *const *addresses, size_t count,
			struct module_store *codes, const struct symbolize_options *options);

#endif
