/*
 * Which functions lead while a recording goes on: one row per function (name and module), to which samples are added
 * as they come. A stack in which a function stands several times counts once for its total.
 */
#ifndef WICK_PROFILE_HOT_FUNCTIONS_H
#define WICK_PROFILE_HOT_FUNCTIONS_H

#include "base/buf.h"
#include "profile/functions.h"

struct standing {
	str_id name, module; /* strings of the profile */
	const char *wait; /* the kind, of a function of the program's own code that waits; NULL: any function */
	bool kernel;
	int64_t self, total;
	int64_t user_self; /* `self`, and what the kernel did for it */
	uint64_t last_sample; /* that was counted in `total` */
	uint32_t process; /* that has the most of `total` */
	uint32_t process_count; /* that have some of it */
	int64_t most; /* what that one has */
};

struct standing_process {
	int32_t pid; /* -1: not known */
	thread_id thread; /* that it is called by: its first one, if it was seen */
};

/* What one process has of the total of a row. */
struct standing_share {
	uint32_t row, process;
	int64_t total;
};

struct standings {
	struct standing *rows;
	size_t count, capacity;
	uint32_t *row_of; /* by function of the profile; INDEX_NONE: not met yet */
	size_t function_capacity;
	struct index_map map; /* (name, module) → row */
	struct standing_process *processes;
	size_t process_count, process_capacity;
	struct index_map process_map;
	uint32_t *process_of; /* by thread of the profile; INDEX_NONE: not met yet */
	size_t thread_capacity;
	struct standing_share *shares;
	size_t share_count, share_capacity;
	struct index_map share_map; /* (row, process) → share */
	int64_t total; /* weight of all samples */
	int64_t user_total; /* of those that have a frame outside the kernel */
	uint64_t samples; /* that were added */
};

/* Zero-initialised is empty. */
void standings_release(struct standings *standings);
/* Rows stay, with nothing in them. */
void standings_clear(struct standings *standings);
/* Adds the samples of one value type. The profile is always the same one, and may have grown. */
void standings_add(struct standings *standings, const struct profile *profile, value_id value,
		   const struct sample *samples, size_t count);

/* What a row shows as its own: with `kernel` false the kernel's functions are their callers' own. */
static inline int64_t standing_self(const struct standing *row, bool kernel)
{
	return kernel ? row->self : row->user_self;
}

/* "postgres 1234", of the process with the most of a row, and " +2" when two others have some of it too. */
void standing_process_text(struct buf *out, const struct standings *standings, const struct profile *profile,
			   const struct standing *row);

struct standings_view {
	enum function_order order; /* by self or by total */
	bool kernel;
	const char *search; /* part of a name or module, in any case of letters; NULL or "": all */
};
/* Indexes of the rows that have weight and are wanted, heaviest first. The caller frees. */
uint32_t *standings_order(const struct standings *standings, const struct profile *profile,
			  const struct standings_view *view, size_t *ret_count);

/* A frame of the kernel, also one that was inlined there. */
bool frame_is_kernel(const struct profile *profile, frame_id frame);

#endif
