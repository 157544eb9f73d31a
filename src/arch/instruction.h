/*
 * One machine instruction, as far as rules for unwinding can be derived from it: its length, what it does to the stack
 * pointer and the frame pointer, and where it leads. A decoder per machine fills it (arch.h).
 */
#ifndef WICK_ARCH_INSTRUCTION_H
#define WICK_ARCH_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum instruction_kind {
	INSTRUCTION_OTHER, /* nothing of the below; `writes` says which registers it changes */
	INSTRUCTION_ADD, /* reg = base + offset */
	INSTRUCTION_ADDRESS, /* reg = target */
	INSTRUCTION_ALIGN, /* reg = reg rounded down to a power of two */
	INSTRUCTION_CLEAR, /* reg = 0 */
	INSTRUCTION_LOAD, /* reg = what is stored at base + offset */
	INSTRUCTION_STORE, /* reg (REGISTER_NONE: something else) is stored at base + offset */
	INSTRUCTION_COMPARE, /* reg with base */
	INSTRUCTION_PUSH, /* reg (REGISTER_NONE: something else) */
	INSTRUCTION_POP, /* into reg (REGISTER_NONE: elsewhere) */
	INSTRUCTION_ENTER, /* a frame of `offset` bytes: push fp; fp = sp; sp -= offset */
	INSTRUCTION_LEAVE, /* sp = fp; pop fp */
	INSTRUCTION_RETURN,
	INSTRUCTION_CALL, /* `target` is 0 when it is not known */
	INSTRUCTION_BRANCH, /* to `target`, or on */
	INSTRUCTION_JUMP, /* to `target` */
	INSTRUCTION_JUMP_ANYWHERE, /* by a table at `target`, when that is not 0 */
	INSTRUCTION_TRAP, /* does not continue */
};

enum { REGISTER_NONE = 0xff, REGISTERS = 16, INSTRUCTION_BYTES_MAX = 15 };

struct instruction {
	uint8_t kind; /* enum instruction_kind */
	uint8_t length;
	uint8_t reg, base; /* DWARF numbers, or REGISTER_NONE */
	uint8_t bytes; /* that are stored */
	bool padding; /* does nothing; linkers and assemblers fill gaps with it */
	bool equal; /* a branch that continues when what was compared is equal */
	uint32_t writes; /* bit n: the register with DWARF number n gets a value that is not known */
	int64_t offset;
	uint64_t target; /* address */
};

/* Whether the next instruction may run after it; calls may not return. */
static inline bool instruction_goes_on(const struct instruction *instruction)
{
	return instruction->kind != INSTRUCTION_RETURN && instruction->kind != INSTRUCTION_JUMP &&
	       instruction->kind != INSTRUCTION_JUMP_ANYWHERE && instruction->kind != INSTRUCTION_TRAP;
}

#endif
