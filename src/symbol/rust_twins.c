/* Sorts the stems of Rust names, and keeps those that occur twice. */
#include "symbol/rust_twins.h"

#include "base/hash.h"
#include "base/mem.h"
#include "name/demangle.h"

#include <stdlib.h>

struct rust_twins {
	uint64_t *stems; /* hashes of stems that two functions or more have, sorted */
	size_t count, capacity;
};

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return a < b ? -1 : a > b;
}

/* Leaves one of each that is there more than once. */
static size_t keep_repeated(uint64_t *stems, size_t count)
{
	size_t kept = 0;
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from + 1; to < count && stems[to] == stems[from]; to++)
			;
		if (to - from > 1)
			stems[kept++] = stems[from];
	}
	return kept;
}

struct rust_twins *rust_twins_new(const struct symtab *table)
{
	struct rust_twins *twins = mem_zalloc(1, sizeof *twins);
	for (size_t i = 0; i < symtab_count(table); i++) {
		const char *name = symtab_at(table, i)->name;
		size_t stem = demangle_rust_stem(name);
		if (!stem)
			continue;
		MEM_ROOM(twins->stems, twins->count, twins->capacity);
		twins->stems[twins->count++] = hash_bytes(name, stem);
	}
	if (twins->count)
		qsort(twins->stems, twins->count, sizeof *twins->stems, compare);
	twins->count = keep_repeated(twins->stems, twins->count);
	return twins;
}

void rust_twins_free(struct rust_twins *twins)
{
	if (!twins)
		return;
	free(twins->stems);
	free(twins);
}

bool rust_twins_has(const struct rust_twins *twins, const char *name, size_t stem)
{
	uint64_t key = hash_bytes(name, stem);
	return twins->count && bsearch(&key, twins->stems, twins->count, sizeof key, compare);
}
