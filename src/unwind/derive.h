/*
 * Rules for code without unwind information, derived from its instructions.
 *
 * A function begins with the CFA behind the return address that the stack pointer points to. From there the paths
 * through it are followed, and what its instructions do to the stack pointer and the frame pointer gives the rule at
 * each of them. Where paths disagree, and where the stack pointer gets a value that cannot be known, there is no rule.
 * Each "ret" that is reached must find the stack pointer where the call left it; otherwise the whole function has no
 * rules.
 *
 * Symbols and calls show where functions begin. What is left is tried: code behind the end of other code is
 * taken for a function if all of it agrees with that.
 */
#ifndef WICK_UNWIND_DERIVE_H
#define WICK_UNWIND_DERIVE_H

#include "base/index_map.h"
#include "unwind/derive_state.h"
#include "unwind/rules.h"

/* Bytes of code per file from which rules are derived; each costs some bytes of memory meanwhile. */
enum { DERIVE_BYTES_MAX = 16 << 20 };

enum derive_entry_kind {
	DERIVE_LABEL, /* perhaps a function: a symbol without type, an address that is taken */
	DERIVE_FUNCTION, /* a function */
	DERIVE_CALLED, /* a function that is called by its address */
	DERIVE_PERHAPS_CALLED, /* bytes that look like a call lead here */
	DERIVE_START, /* where the program begins: it has no caller */
};

/* A stretch of code without unwind information. */
struct derive_range {
	uint64_t address;
	const uint8_t *code;
	uint32_t size;
	uint32_t first; /* index of its first byte among those of all ranges */
};

struct derive_entry {
	uint32_t index;
	uint8_t kind;
	uint64_t size; /* of the function, 0 when it is not known */
};

struct derive {
	const struct arch *arch;
	struct rules *rules;
	/* The file's bytes at an address: where jump tables are looked for. May be NULL. */
	const uint8_t *(*bytes_at)(void *context, uint64_t address, size_t *ret_size);
	void *context;
	struct derive_range *ranges;
	size_t range_count, range_capacity;
	uint32_t size; /* of all ranges */
	struct derive_entry *entries;
	size_t entry_count, entry_capacity;
	uint64_t *addresses; /* of data that the code refers to */
	size_t address_count, address_capacity;
	uint16_t *marks; /* per byte */
	uint16_t *numbers; /* per byte: of the rule, where an instruction with a rule begins */
	size_t function_count; /* functions with rules */
	uint64_t steps_left; /* instructions that may still be looked at */
};

void derive_init(struct derive *derive, const struct arch *arch, struct rules *rules);
void derive_release(struct derive *derive);
/* Ranges are added in ascending order, without overlap. The code must stay. False when there is no room for more. */
bool derive_add_range(struct derive *derive, uint64_t address, const uint8_t *code, size_t size);
/* Whether an address lies in a range. */
bool derive_has(const struct derive *derive, uint64_t address);
/* After all ranges. What lies in none of them is omitted. */
void derive_add_entry(struct derive *derive, uint64_t address, uint64_t size, enum derive_entry_kind kind);
void derive_run(struct derive *derive);

/* The rules of a range, in ascending order of addresses. */
typedef void (*derive_sink)(void *context, uint64_t address, uint32_t rule);
void derive_rows(const struct derive *derive, size_t range, derive_sink sink, void *context);

#endif
