/*
 * Tables over a profile: one row per function, module, thread or process, with the weight spent in it (self) and in it
 * and everything it called (total). A stack in which a function stands several times counts once for its total.
 */
#ifndef WICK_PROFILE_FUNCTIONS_H
#define WICK_PROFILE_FUNCTIONS_H

#include "profile/calltree.h"

struct function_row {
	const char *name; /* NUL-terminated, any bytes; lives as long as the tree and the table */
	size_t length;
	frame_id frame; /* a frame behind the name; PROFILE_NONE for threads, processes and modules */
	uint32_t label; /* in the tree, or the group */
	int64_t self[2], total[2]; /* [1] as the tree has it, else zero; of threads and processes the samples */
};

struct function_table {
	struct function_row *rows;
	size_t count, capacity;
	struct arena arena; /* names that are not the tree's */
};

enum function_order {
	FUNCTIONS_BY_SELF, /* heaviest first, then by total, then by name */
	FUNCTIONS_BY_TOTAL,
	FUNCTIONS_BY_NAME,
};

/* One row per label that stands in the tree, the root's "all" excepted. */
void function_table_build(struct function_table *table, const struct calltree *tree);
/* One row per module. The tree should be built with show_module, so that equal names of two modules stay apart. */
void function_table_modules(struct function_table *table, const struct calltree *tree, const struct profile *profile);
/* One row per child of the root: the outermost frames, or the thread names where the tree has them. */
void function_table_outermost(struct function_table *table, const struct calltree *tree);
/* One row per thread (comm-pid/tid as far as known) or, with `by_process`, per process. Weights of one value type. */
void function_table_threads(struct function_table *table, const struct profile *profile, value_id value,
			    bool by_process);
/* True when at least one sample of the value type says which thread it is of. */
bool profile_names_threads(const struct profile *profile, value_id value);

void function_table_sort(struct function_table *table, enum function_order order);
void function_table_release(struct function_table *table);

/* What a table or tree shows as the module of a frame: the last part of its path; "" when it is not known. */
const char *frame_module(const struct profile *profile, frame_id frame);
/* The length of the "module`" that show_module put before a label. */
size_t label_module_prefix(const struct profile *profile, const char *label, frame_id frame);
/* Takes it off the names of all rows: equal names of two modules stay two rows, and the module has its own column. */
void function_table_drop_modules(struct function_table *table, const struct profile *profile);

#endif
