/*
 * Frames of a thread that were read a moment after its sample, and what the sample has of the thread: registers, and a
 * copy of the stack. There an evaluation keeps the address of its next instruction, and that of its frame. They show
 * which function was executed, and which of the frames belong to the sample.
 */
#ifndef WICK_RUNTIME_PYTHON_MOMENT_H
#define WICK_RUNTIME_PYTHON_MOMENT_H

#include "runtime/python/stack.h"

struct python_moment {
	const uint64_t *registers;
	size_t register_count;
	const uint8_t *stack; /* upwards, from the stack pointer on */
	size_t stack_size;
};

/* The interpreter, as far as it is known. */
struct python_known {
	const struct target_memory *memory;
	const struct python_layout *layout;
	void *context;
	/* Fills code, offset and first line of the instruction before `next`; false: it is none that is known. */
	bool (*find)(void *context, uint64_t next, struct python_frame *ret_frame);
};

/*
 * Changes `frames`, innermost first, to those of the sample; `max` is the room there. Returns how many there are; 0:
 * the sample shows nothing. Where callers are not known, a frame without a code object stands for them.
 *
 * The function of the first one is `shown` by the sample. Those inside of the first one that is active are `doubtful`:
 * they are of the sample only if there are as many evaluations on the native stack as there are entries.
 */
size_t python_moment_match(const struct python_moment *moment, const struct python_known *known,
			   struct python_frame *frames, size_t count, size_t max);

#endif
