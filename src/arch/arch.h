/*
 * What wick knows of the machines whose programs and recordings it reads: registers, unwinding, linkage code. These are
 * tables, one per machine, and all of them are in every build. What concerns the machine that wick itself runs on is in
 * arch/native.h.
 */
#ifndef WICK_ARCH_ARCH_H
#define WICK_ARCH_ARCH_H

#include "arch/instruction.h"

#include <elf.h>

enum arch_kind { ARCH_X86_64, ARCH_I386, ARCH_AARCH64 };

/* Registers whose rules are followed: the frame pointer, the return address, and what callees save besides. */
enum { COLUMN_FP, COLUMN_RA, COLUMN_SAVED, SAVED_MAX = 5, COLUMN_COUNT = COLUMN_SAVED + SAVED_MAX, COLUMN_NONE = 0xff };

/* DWARF numbers of registers are below this, on all machines. */
enum { ARCH_REGISTERS_MAX = 33 };

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

/* Relocations of slots through which linkage code jumps. */
struct arch_relocations {
	uint32_t jump_slot, glob_dat, irelative;
};

struct arch {
	const char *name; /* as of uname -m; NULL: only programs of another machine are of this kind */
	uint16_t machine; /* EM_* */
	uint8_t kind; /* enum arch_kind */
	const struct arch *narrow; /* that of its 32-bit programs; NULL: they are not known */
	uint8_t word; /* bytes of an address */
	/* DWARF numbers. `dwarf_ra` is the column of the return address in call frame information. */
	uint8_t dwarf_sp, dwarf_fp, dwarf_ra, dwarf_ip;
	bool links; /* calls leave the return address in the register `dwarf_ra`, not in memory */
	uint8_t result; /* DWARF number of the register with the result of a system call */
	uint8_t registers; /* DWARF numbers below this are those of registers that are known */
	uint8_t saved[SAVED_MAX]; /* DWARF numbers of COLUMN_SAVED … */
	uint32_t saved_mask; /* the same as bits of `known` */
	int8_t ra_slot; /* where a call leaves the return address, from the CFA */
	int16_t signal_fp, signal_sp, signal_ip; /* in the frame of a signal, from its stack pointer */
	int16_t signal_link; /* the same of the register `dwarf_ra`, where `links` */
	uint64_t address_mask; /* bits of a return address; others may be a signature (pointer authentication) */

	/* The rule column of a DWARF register number, COLUMN_NONE when it is not followed. */
	uint8_t (*column)(uint64_t dwarf_register);
	/* Recognises the CFA expression that linkers write for a lazy PLT; the entry has pushed from this offset on. */
	bool (*is_plt_expression)(const uint8_t *bytes, size_t size, uint8_t *ret_push);
	/* Recognises the code of a PLT section whose rule follows from its instructions. */
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

	/* By bit of the mask of a perf sample: the DWARF number of the register, or -1. */
	const int8_t *perf_registers;
	uint8_t perf_register_count;

	struct arch_relocations relocations;
	/* The slot through which an entry of linkage code jumps; false when it is none. NULL: it is not decoded. */
	bool (*plt_slot)(const uint8_t *entry, size_t size, uint64_t address, uint64_t *ret_slot);
	/* Bytes of an entry, of which `left` are there, where its section says `size`. */
	size_t (*plt_entry_bytes)(const uint8_t *entry, size_t left, size_t size);
	uint8_t plt_got_entry; /* bytes of an entry of .plt.got, where the section does not say */
};

/* NULL for a machine that is not known. */
const struct arch *arch_of_machine(uint16_t machine);
/* The one that uname -m calls so. */
const struct arch *arch_of_name(const char *name);

extern const struct arch arch_x86_64;
/* 32-bit programs on x86-64. */
extern const struct arch arch_i386;
extern const struct arch arch_aarch64;

#endif
