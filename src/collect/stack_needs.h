/*
 * How much of its stack above the copy in a sample a thread needed lately. Written by the workers who unwind, read by
 * who records, without locks: by a hash of the thread, and a wrong answer costs a little time or one stack.
 */
#ifndef WICK_COLLECT_STACK_NEEDS_H
#define WICK_COLLECT_STACK_NEEDS_H

#include "base/hash.h"

#include <stdatomic.h>

#define STACK_NEEDS_SLOTS_LOG2 12
#define STACK_TAIL_USUAL (128u << 10) /* of one that needs some, at least */
#define STACK_TAIL_MIN 4096u /* less is as good as none */
#define STACK_TAIL_MAX (1u << 20)
#define STACK_TAIL_TRIED 2u /* from here on the number of stacks that needed none: */
#define STACK_TAIL_TRIES 32u
#define STACK_TAIL_LARGE 2u /* so many of them are read up to STACK_TAIL_MAX */

struct stack_needs {
	/* Bytes; 0: not known, 1: none, from STACK_TAIL_TRIED on: not known yet. */
	_Atomic uint32_t slots[1 << STACK_NEEDS_SLOTS_LOG2];
	_Atomic uint64_t completed; /* stacks that needed what was read later, and are whole */
};

static inline _Atomic uint32_t *stack_needs_slot(struct stack_needs *needs, int32_t tid)
{
	return &needs->slots[hash_u64((uint32_t)tid) >> (64 - STACK_NEEDS_SLOTS_LOG2)];
}

/*
 * How many bytes above a copy are worth reading now. Of a thread of which nothing is known, all, since rustc has a
 * frame of 540 KB, until several stacks needed none: the first are often those of its start. Where the stack of a
 * process ends its mapping does too; above those of other threads there may be something else, so that they are read so
 * only a few times.
 */
static inline size_t stack_needs_now(struct stack_needs *needs, int32_t pid, int32_t tid)
{
	_Atomic uint32_t *slot = stack_needs_slot(needs, tid);
	uint32_t bytes = atomic_load_explicit(slot, memory_order_relaxed);
	size_t wanted = 2 * (size_t)bytes;
	uint32_t tried = bytes < STACK_TAIL_TRIED ? 0 : bytes - STACK_TAIL_TRIED;
	if (bytes == 1)
		return 0;
	if (tried < STACK_TAIL_LARGE)
		atomic_store_explicit(slot, STACK_TAIL_TRIED + tried + (bytes != 0), memory_order_relaxed);
	if (tried < (pid == tid ? STACK_TAIL_TRIES : STACK_TAIL_LARGE))
		return STACK_TAIL_MAX;
	return wanted < STACK_TAIL_USUAL ? STACK_TAIL_USUAL : wanted < STACK_TAIL_MAX ? wanted : STACK_TAIL_MAX;
}

/* A copy was unwound: of the `size` bytes that were read above it the first `used` were needed. */
static inline void stack_needs_learn(struct stack_needs *needs, int32_t tid, size_t size, size_t used, bool cut,
				     bool whole)
{
	_Atomic uint32_t *slot = stack_needs_slot(needs, tid);
	uint32_t known = atomic_load_explicit(slot, memory_order_relaxed), bytes = known;
	bool trying = known >= STACK_TAIL_TRIED && known + 1 < STACK_TAIL_TRIED + STACK_TAIL_TRIES;
	uint32_t less = known > STACK_TAIL_MIN ? known - known / 32 : 1; /* a few stacks are not as deep */
	if (used && !cut)
		bytes = used > less ? (uint32_t)used : less > 1 ? less : STACK_TAIL_MIN;
	else if (cut && size)
		bytes = STACK_TAIL_MAX;
	else if (cut)
		bytes = known > 1 ? known : 0;
	else
		bytes = trying ? known + 1 : less;
	if (bytes != known)
		atomic_store_explicit(slot, bytes, memory_order_relaxed);
	if (used && whole)
		atomic_fetch_add_explicit(&needs->completed, 1, memory_order_relaxed);
}

#endif
