/*
 * Which functions lead while a recording continues: one row per function (name and module), to which samples are added
 * as they come. A stack in which a function stands several times counts once for its total.
 */
#ifndef WICK_PROFILE_HOT_FUNCTIONS_H
#define WICK_PROFILE_HOT_FUNCTIONS_H

#include "base/buf.h"
#include "profile/functions.h"

struct hot_function {
	str_id name, module; /* strings of the profile */
	const char *wait; /* the kind, of a function of the program's own code that waits; NULL: any function */
	bool kernel;
	int64_t self, total;
	int64_t user_self; /* `self`, and what the kernel did for it */
	uint64_t last_sample; /* that was counted in `total` */
	uint32_t process; /* that has the most of `total` */
	uint32_t process_count; /* that have some of it */
	int64_t max; /* what that one has */
};

struct hot_function_process {
	int32_t pid; /* -1: not known */
	thread_id thread; /* that it is called by: its first one, if it was seen */
};

/* What one process has of the total of a row. */
struct hot_function_share {
	uint32_t row, process;
	int64_t total;
};

struct hot_functions {
	struct hot_function *rows;
	size_t count, capacity;
	uint32_t *row_of; /* by function of the profile; INDEX_NONE: not met yet */
	size_t function_capacity;
	struct index_map map; /* (name, module) → row */
	struct hot_function_process *processes;
	size_t process_count, process_capacity;
	struct index_map process_map;
	uint32_t *process_of; /* by thread of the profile; INDEX_NONE: not met yet */
	size_t thread_capacity;
	struct hot_function_share *shares;
	size_t share_count, share_capacity;
	struct index_map share_map; /* (row, process) → share */
	int64_t total; /* weight of all samples */
	int64_t user_total; /* of those that have a frame outside the kernel */
	uint64_t samples; /* that were added */
};

/* Zero-initialised is empty. */
void hot_functions_release(struct hot_functions *hot_functions);
/* Rows stay, with nothing in them. */
void hot_functions_clear(struct hot_functions *hot_functions);
/* Adds the samples of one value type. The profile is always the same one, and may have grown. */
void hot_functions_add(struct hot_functions *hot_functions, const struct profile *profile, value_id value,
		       const struct sample *samples, size_t count);

/* What a row shows as its own: with `kernel` false the kernel's functions are their callers' own. */
static inline int64_t hot_function_self(const struct hot_function *row, bool kernel)
{
	return kernel ? row->self : row->user_self;
}

/* "postgres 1234", of the process with the most of a row, and " +2" when two others have some of it too. */
void hot_function_process_text(struct buf *out, const struct hot_functions *hot_functions,
			       const struct profile *profile, const struct hot_function *row);

struct hot_functions_view {
	enum function_order order; /* by self or by total */
	bool kernel;
	const char *search; /* part of a name or module, in any case of letters; NULL or "": all */
};
/* Indexes of the rows that have weight and are wanted, heaviest first. The caller frees. */
uint32_t *hot_functions_order(const struct hot_functions *hot_functions, const struct profile *profile,
			      const struct hot_functions_view *view, size_t *ret_count);

/* A frame of the kernel, also one that was inlined there. */
bool frame_is_kernel(const struct profile *profile, frame_id frame);

#endif
