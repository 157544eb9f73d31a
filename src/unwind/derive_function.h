/* One function of the code in a struct derive: its paths are followed, and its instructions get their rules. */
#ifndef WICK_UNWIND_DERIVE_FUNCTION_H
#define WICK_UNWIND_DERIVE_FUNCTION_H

#include "unwind/derive.h"

/* Marks of bytes. */
enum {
	MARK_BEGIN = 1, /* an instruction begins here, if code is read from the start of the range on */
	MARK_ENTRY = 2, /* a function begins here */
	MARK_CALLED = 4, /* … and is called */
	MARK_LABEL = 8, /* perhaps a function begins here */
	MARK_TARGET = 16, /* a jump leads here */
	MARK_DONE = 32, /* belongs to a function with rules */
	MARK_CURRENT = 64, /* belongs to the function that is being followed */
	MARK_FIRST = 128, /* what is before does not lead here: perhaps a function begins */
	MARK_NEAR = 256, /* a jump from code close by leads here */
	MARK_TRIED = 512, /* a function from here on was followed */
};

/* The range of a byte, given its index. */
const struct derive_range *derive_range_of(const struct derive *derive, uint32_t index);
/* The index of a byte, given its address; false when it lies in no range. */
bool derive_index_of(const struct derive *derive, uint64_t address, uint32_t *ret_index);
bool derive_decode(const struct derive *derive, const struct derive_range *range, uint32_t index,
		   struct instruction *ret_instruction);

/* Room for following functions, one after the other. */
struct derive_function *derive_function_new(struct derive *derive);
void derive_function_free(struct derive_function *function);
/*
 * Follows a function that is known to begin at `entry` and, if `end` is not 0, to end there; `start`: the program
 * begins with it. It keeps its rules if nothing contradicts them.
 */
void derive_function_known(struct derive_function *function, uint32_t entry, uint32_t end, bool start);
/* Follows code that may be a function. It keeps its rules if, besides, there is evidence that it is one: then true. */
bool derive_function_perhaps(struct derive_function *function, uint32_t entry);

#endif
