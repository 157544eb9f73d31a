/*
 * Labels of samples: sets of key=value pairs (cpu=3, cgroup=/system.slice), any key. Each distinct set is stored once
 * and has an id. The labels of a set are sorted by the bytes of their keys, and keys are unique, so that equal sets
 * have equal ids. Keys and values are strings of a pool that the caller owns. A label without a value is no label.
 */
#ifndef WICK_PROFILE_LABEL_SET_H
#define WICK_PROFILE_LABEL_SET_H

#include "base/strpool.h"

typedef uint32_t label_set_id;

#define LABEL_SET_EMPTY 0

/* Keys that wick itself sets. */
#define LABEL_CPU "cpu" /* number, in decimal */
#define LABEL_CGROUP "cgroup" /* path, from the root of the hierarchy */
#define LABEL_CONTAINER "container" /* name, with its pod, or the beginning of its id */
#define LABEL_POD "pod" /* name, with its namespace, or its id */
#define LABEL_UNIT "unit" /* of systemd */
#define LABEL_GIL "gil" /* of threads that executed Python: see gil_label() in collect/tally.h */

struct label {
	str_id key, value;
};

struct label_range {
	uint32_t first, count; /* in `labels` */
};

/* Zero-initialized has only the empty set, and no memory. */
struct label_sets {
	struct label *labels; /* of all sets, one set after the other */
	size_t label_count, label_capacity;
	struct label_range *ranges; /* by id − 1 */
	size_t range_count, range_capacity;
	struct index_map map;
};

void label_sets_release(struct label_sets *sets);
/* Finds or adds a set. Labels come in any order; of equal keys, the last one counts. */
label_set_id label_sets_add(struct label_sets *sets, const struct strpool *strings, const struct label *labels,
			    size_t count);
/* The set `id` with one more label, or with another value of it. */
label_set_id label_sets_with(struct label_sets *sets, const struct strpool *strings, label_set_id id,
			     struct label label);
/* Finds or adds the set `id` of another store. */
label_set_id label_sets_copy(struct label_sets *into, struct strpool *strings, const struct label_sets *from,
			     const struct strpool *from_strings, label_set_id id);
/* The labels of a set; valid until a set is added. */
const struct label *label_sets_get(const struct label_sets *sets, label_set_id id, size_t *ret_count);
/* The value of one label, 0 if the set does not have it. */
str_id label_sets_value(const struct label_sets *sets, label_set_id id, str_id key);

/* The distinct keys of all sets, sorted by their bytes. The caller frees. */
size_t label_sets_keys(const struct label_sets *sets, const struct strpool *strings, str_id **ret_keys);

/*
 * The sets of samples, by their index, apart from them: a profile without labels has no such array. Zero-initialized is
 * empty: all samples have the empty set.
 */
struct label_column {
	label_set_id *ids;
	size_t count, capacity; /* samples from `count` on have the empty set */
};

void label_column_release(struct label_column *column);
void label_column_set(struct label_column *column, size_t index, label_set_id id);

static inline label_set_id label_column_get(const struct label_column *column, size_t index)
{
	return index < column->count ? column->ids[index] : LABEL_SET_EMPTY;
}

/* How many ids there are, with that of the empty set. */
static inline size_t label_sets_count(const struct label_sets *sets)
{
	return sets->range_count + 1;
}

#endif
