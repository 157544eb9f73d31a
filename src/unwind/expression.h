/*
 * DWARF expressions (DWARF 5 §2.5), as far as call frame information uses them: a stack of 64-bit words, registers of
 * one frame, memory through the reader of the space. Bytes are foreign: any may be wrong, and the work is bounded.
 */
#ifndef WICK_UNWIND_EXPRESSION_H
#define WICK_UNWIND_EXPRESSION_H

#include "unwind/unwind.h"

#include <string.h>

enum expression_result { EXPRESSION_OK, EXPRESSION_BAD, EXPRESSION_NO_REGISTER, EXPRESSION_NO_MEMORY };

struct expression_frame {
	const struct arch *arch;
	const struct unwind_space *space;
	const struct unwind_registers *registers;
	uint64_t bias; /* for DW_OP_addr */
};

/* `initial` (may be NULL) lies on the stack when it begins: the CFA, for the rules of registers. */
enum expression_result expression_evaluate(const struct expression_frame *frame, const uint8_t *bytes, size_t size,
					   const uint64_t *initial, uint64_t *ret_value);

/* True when the expression is "register + offset", with at most one dereference behind it, plus a constant. */
struct expression_simple {
	uint8_t dwarf_register;
	bool dereferenced;
	int64_t offset, addend;
};
bool expression_is_simple(const uint8_t *bytes, size_t size, struct expression_simple *ret_simple);

/* Bit n: the expression reads the register of DWARF number n (below 32). */
uint32_t expression_registers(const uint8_t *bytes, size_t size);

/* A register's value in a frame; false when it is not known. */
static inline bool expression_register(const struct arch *arch, const struct unwind_registers *registers,
				       uint64_t dwarf_register, uint64_t *ret_value)
{
	if (dwarf_register == arch->dwarf_sp)
		*ret_value = registers->sp;
	else if (dwarf_register == arch->dwarf_fp)
		*ret_value = registers->fp;
	else if (dwarf_register == arch->dwarf_ip)
		*ret_value = registers->ip;
	else if (dwarf_register < arch->registers && (registers->known >> dwarf_register & 1))
		*ret_value = registers->other[dwarf_register];
	else
		return false;
	return true;
}

/* 8 bytes of the thread's memory, from the copy where it reaches. */
static inline bool unwind_read(const struct unwind_space *space, uint64_t address, uint64_t *ret_value)
{
	uint64_t offset = address - space->stack_start;
	if (offset < space->stack_size && space->stack_size - offset >= 8) {
		memcpy(ret_value, space->stack + offset, 8);
		return true;
	}
	return space->read && space->read(space->context, address, ret_value);
}

#endif
