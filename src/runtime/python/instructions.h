/* Which code object an instruction of Python belongs to, by address. Code objects are given by number. */
#ifndef WICK_RUNTIME_PYTHON_INSTRUCTIONS_H
#define WICK_RUNTIME_PYTHON_INSTRUCTIONS_H

#include <stddef.h>
#include <stdint.h>

struct python_instruction_range {
	uint64_t start, end;
	uint32_t code;
};

struct python_instructions {
	struct python_instruction_range *items; /* by address, apart from each other */
	size_t count, capacity;
};

#define PYTHON_NO_CODE UINT32_MAX

void python_instructions_release(struct python_instructions *instructions);
/* [start, end) belongs to a code object now. Those that had a part of it before do not exist any more. */
void python_instructions_set(struct python_instructions *instructions, uint64_t start, uint64_t end, uint32_t code);
/*
 * The code object to which the instruction before `next` belongs, where `next` is the one that follows. An evaluation
 * keeps the address of that, and often that of the first one, which is not looked for.
 */
uint32_t python_instructions_before(const struct python_instructions *instructions, uint64_t next);

#endif
