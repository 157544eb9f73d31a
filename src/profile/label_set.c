/* Interned sets of labels: a new set is built behind the others, and dropped again if there is an equal one. */
#include "profile/label_set.h"

#include "base/hash.h"

#include <string.h>

void label_sets_release(struct label_sets *sets)
{
	free(sets->labels);
	free(sets->ranges);
	index_map_release(&sets->map);
	*sets = (struct label_sets){0};
}

static int compare_keys(const struct strpool *strings, str_id a, str_id b)
{
	size_t a_length = strpool_length(strings, a), b_length = strpool_length(strings, b);
	int order =
		memcmp(strpool_text(strings, a), strpool_text(strings, b), a_length < b_length ? a_length : b_length);
	return order ? order : (a_length > b_length) - (a_length < b_length);
}

/* Puts a label into the set that begins at `first` and ends with the array. */
static void put(struct label_sets *sets, const struct strpool *strings, size_t first, struct label label)
{
	size_t at = first;
	while (at < sets->label_count && compare_keys(strings, sets->labels[at].key, label.key) < 0)
		at++;
	bool known = at < sets->label_count && sets->labels[at].key == label.key;
	if (known && label.value) {
		sets->labels[at].value = label.value;
	} else if (known) {
		sets->label_count--;
		memmove(&sets->labels[at], &sets->labels[at + 1], (sets->label_count - at) * sizeof label);
	} else if (label.value) {
		MEM_ROOM(sets->labels, sets->label_count, sets->label_capacity);
		memmove(&sets->labels[at + 1], &sets->labels[at], (sets->label_count - at) * sizeof label);
		sets->labels[at] = label;
		sets->label_count++;
	}
}

static uint64_t hash_labels(const struct label *labels, size_t count)
{
	uint64_t hash = count * HASH_K2;
	for (size_t i = 0; i < count; i++)
		hash = hash_mix(hash ^ HASH_K0, hash_pair(labels[i].key, labels[i].value));
	return hash;
}

/* The id of the set that begins at `first` and ends with the array. */
static label_set_id intern(struct label_sets *sets, size_t first)
{
	size_t count = sets->label_count - first;
	if (!count)
		return LABEL_SET_EMPTY;
	const struct label *labels = sets->labels + first;
	uint64_t hash = hash_labels(labels, count);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&sets->map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&sets->map, &probe)) {
		const struct label_range *range = &sets->ranges[i];
		if (range->count == count && memcmp(sets->labels + range->first, labels, count * sizeof *labels) == 0) {
			sets->label_count = first;
			return i + 1;
		}
	}
	MEM_ROOM(sets->ranges, sets->range_count, sets->range_capacity);
	sets->ranges[sets->range_count] = (struct label_range){.first = (uint32_t)first, .count = (uint32_t)count};
	index_map_insert(&sets->map, hash, (uint32_t)sets->range_count);
	return (label_set_id)++sets->range_count;
}

label_set_id label_sets_add(struct label_sets *sets, const struct strpool *strings, const struct label *labels,
			    size_t count)
{
	size_t first = sets->label_count;
	for (size_t i = 0; i < count; i++)
		put(sets, strings, first, labels[i]);
	return intern(sets, first);
}

label_set_id label_sets_with(struct label_sets *sets, const struct strpool *strings, label_set_id id,
			     struct label label)
{
	size_t first = sets->label_count, count;
	label_sets_get(sets, id, &count);
	for (size_t i = 0; i < count; i++) /* by index: the array moves when it grows */
		put(sets, strings, first, sets->labels[sets->ranges[id - 1].first + i]);
	put(sets, strings, first, label);
	return intern(sets, first);
}

static str_id copy_string(struct strpool *into, const struct strpool *from, str_id id)
{
	return strpool_add(into, strpool_text(from, id), strpool_length(from, id));
}

label_set_id label_sets_copy(struct label_sets *into, struct strpool *strings, const struct label_sets *from,
			     const struct strpool *from_strings, label_set_id id)
{
	size_t first = into->label_count, count;
	const struct label *labels = label_sets_get(from, id, &count);
	for (size_t i = 0; i < count; i++) {
		struct label label = {
			.key = copy_string(strings, from_strings, labels[i].key),
			.value = copy_string(strings, from_strings, labels[i].value),
		};
		put(into, strings, first, label);
	}
	return intern(into, first);
}

const struct label *label_sets_get(const struct label_sets *sets, label_set_id id, size_t *ret_count)
{
	*ret_count = id == LABEL_SET_EMPTY ? 0 : sets->ranges[id - 1].count;
	return id == LABEL_SET_EMPTY ? NULL : sets->labels + sets->ranges[id - 1].first;
}

str_id label_sets_value(const struct label_sets *sets, label_set_id id, str_id key)
{
	size_t count;
	const struct label *labels = label_sets_get(sets, id, &count);
	for (size_t i = 0; i < count; i++)
		if (labels[i].key == key)
			return labels[i].value;
	return 0;
}

size_t label_sets_keys(const struct label_sets *sets, const struct strpool *strings, str_id **ret_keys)
{
	struct label_sets all = {0}; /* one set with all keys, whatever their values */
	for (size_t i = 0; i < sets->label_count; i++)
		put(&all, strings, 0, sets->labels[i]);
	size_t count = all.label_count;
	*ret_keys = mem_alloc(count * sizeof **ret_keys);
	for (size_t i = 0; i < count; i++)
		(*ret_keys)[i] = all.labels[i].key;
	label_sets_release(&all);
	return count;
}

void label_column_release(struct label_column *column)
{
	free(column->ids);
	*column = (struct label_column){0};
}

void label_column_set(struct label_column *column, size_t index, label_set_id id)
{
	if (index >= column->count && id == LABEL_SET_EMPTY)
		return;
	column->ids = mem_grow(column->ids, &column->capacity, index + 1, sizeof *column->ids);
	while (column->count <= index)
		column->ids[column->count++] = LABEL_SET_EMPTY;
	column->ids[index] = id;
}
