/*
 * What the unwinder must know of a machine. A new machine is one file with one of these and one line in arch.c.
 */
#ifndef WICK_UNWIND_ARCH_H
#define WICK_UNWIND_ARCH_H

#include "unwind/instruction.h"
#include "unwind/unwind.h"

/* Registers whose rules are followed: the frame pointer, the return address, and what callees save besides. */
enum { COLUMN_FP, COLUMN_RA, COLUMN_SAVED, SAVED_MAX = 5, COLUMN_COUNT = COLUMN_SAVED + SAVED_MAX, COLUMN_NONE = 0xff };

/* So many bytes before a return address show whether a call is there. */
enum { ARCH_CALL_BYTES = 8 };
enum arch_call { ARCH_CALL_NONE, ARCH_CALL_DIRECT, ARCH_CALL_INDIRECT };

/* A stretch of linkage code whose unwind rule follows from its instructions. */
struct arch_plt {
	bool lazy; /* entry 0 pushes the link map, the others push their index; else the entries push nothing */
	uint8_t first_push; /* offset in entry 0 behind its push */
	uint8_t entry_push; /* offset in the other entries behind theirs */
	uint8_t entry_size;
};

struct unwind_arch {
	uint16_t machine; /* EM_* */
	uint8_t word; /* bytes of an address */
	uint8_t dwarf_sp, dwarf_fp, dwarf_ra; /* DWARF numbers */
	uint8_t result; /* DWARF number of the register with the result of a system call */
	uint8_t registers; /* how many of struct unwind_registers.other have a meaning */
	uint8_t saved[SAVED_MAX]; /* DWARF numbers of COLUMN_SAVED … */
	uint32_t saved_mask; /* the same as bits of `known` */
	int8_t ra_slot; /* where a call leaves the return address, from the CFA */
	int16_t signal_fp, signal_sp, signal_ip; /* in the frame of a signal, from its stack pointer */

	/* The rule column of a DWARF register number, COLUMN_NONE when it is not followed. */
	uint8_t (*column)(uint64_t dwarf_register);
	/* Recognises the CFA expression that linkers write for a lazy PLT; the entry has pushed from this offset on. */
	bool (*is_plt_expression)(const uint8_t *bytes, size_t size, uint8_t *ret_push);
	/* Recognises the code of a PLT section. */
	bool (*is_plt)(const uint8_t *code, size_t size, struct arch_plt *ret_plt);
	/* Recognises the code with which a program begins: there is no caller. */
	bool (*is_entry)(const uint8_t *code, size_t size);
	/* What call the code is that ends behind these bytes; where a direct one leads, from there. */
	enum arch_call (*call_before)(const uint8_t bytes[ARCH_CALL_BYTES], int64_t *ret_distance);
	/* Recognises an instruction that computes an address; that is so far from the first byte. */
	bool (*is_address)(const uint8_t *code, size_t size, int64_t *ret_distance);
	/* Finds the code to which signal handlers return, in bytes of text; returns `size` when it is not there. */
	size_t (*find_restorer)(const uint8_t *code, size_t size, size_t *ret_length);
	/* The same for the code to which the first function of a fiber returns, and which only ends the process. */
	size_t (*find_fiber_end)(const uint8_t *code, size_t size, size_t *ret_length);
	/*
	 * Decodes the instruction at an address, of which `size` bytes are there. False when there is none. NULL: rules
	 * are not derived from code.
	 */
	bool (*decode)(const uint8_t *code, size_t size, uint64_t address, struct instruction *ret_instruction);
	uint8_t call_opcode; /* first byte of a call by address */
};

/* NULL for a machine that wick does not unwind. */
const struct unwind_arch *unwind_arch_of(uint16_t machine);

/* The machine whose registers unwind_registers_from_perf() reads. */
extern const struct unwind_arch unwind_arch_x86_64;
/* Its 32-bit programs. */
extern const struct unwind_arch unwind_arch_i386;

#endif
