/*
 * Which piece of generated code lay at an address at a time. Compilers reuse memory, so ranges overlap: the one that
 * was written last before the given time counts. A segment tree over all ends of ranges keeps questions at log²
 * of their number whatever the overlaps.
 */
#ifndef WICK_SYMBOL_CODE_RANGES_H
#define WICK_SYMBOL_CODE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_range {
	uint64_t start, end;
	uint64_t time;
	uint32_t value; /* the caller's */
};

/* Zero-initialised is empty. */
struct code_ranges {
	struct code_range *ranges; /* by time, after code_ranges_finish() */
	size_t count, capacity;
	uint64_t *bounds; /* all starts and ends, ascending */
	size_t leaves; /* pieces between bounds */
	uint32_t *first; /* by node: where its ranges begin in `members`; one more than nodes */
	uint32_t *members; /* indexes into ranges, ascending within a node */
};

/* Empty ranges and those beyond 2^23 are not taken (false). */
bool code_ranges_add(struct code_ranges *ranges, uint64_t start, uint64_t size, uint64_t time, uint32_t value);
/* Afterwards threads may share it. */
void code_ranges_finish(struct code_ranges *ranges);
void code_ranges_release(struct code_ranges *ranges);
/* The memory that it takes, in bytes; after code_ranges_finish(). */
size_t code_ranges_bytes(const struct code_ranges *ranges);

/*
 * The range around the address that was added last with a time ≤ `time`; when there is none, the first one after it,
 * since code can run a moment before its compiler reports it. NULL: no range there.
 */
const struct code_range *code_ranges_find(const struct code_ranges *ranges, uint64_t address, uint64_t time);

#endif
