/*
 * Registers and stack memory → return addresses, by compact tables made of .eh_frame and .debug_frame.
 *
 * A table belongs to one ELF file and speaks its virtual addresses; where the file is mapped is the caller's business.
 * It is built once, is immutable and may be used by many threads. Machine specifics stay behind arch/arch.h.
 */
#ifndef WICK_UNWIND_UNWIND_H
#define WICK_UNWIND_UNWIND_H

#include "arch/arch.h"
#include "object/elf.h"

struct unwind_table;

/* ERR_EMPTY when the file has no unwind information at all. `debug` (may be NULL) is a separate debug file. */
int unwind_table_build(struct unwind_table **ret_table, struct elf_file *elf, struct elf_file *debug, struct err *err);

/* Code that was generated at run time, with its call frame information. Addresses are those of the process. */
struct unwind_code {
	uint64_t start, end;
	const uint8_t *eh_frame;
	size_t eh_frame_size;
	uint64_t eh_frame_address; /* which pointers in it are relative to */
};
/* The same for code of this machine that is in no file. The bytes need not stay. */
int unwind_table_build_code(struct unwind_table **ret_table, const struct unwind_code *code, struct err *err);
void unwind_table_free(struct unwind_table *table);
size_t unwind_table_bytes(const struct unwind_table *table); /* memory it takes */
size_t unwind_table_rows(const struct unwind_table *table);
size_t unwind_table_derived_rows(const struct unwind_table *table); /* of these: derived from the code (derive.h) */
/* Whether the rule at a virtual address of the file is one of these. */
bool unwind_table_is_derived(const struct unwind_table *table, uint64_t address);

/* The registers an unwinder needs; indexes by DWARF number where a rule names another register. */
struct unwind_registers {
	uint64_t ip, sp, fp;
	uint64_t other[ARCH_REGISTERS_MAX]; /* by DWARF register number, for the rare rules based on another register */
	uint32_t known; /* bit n: other[n] holds a value */
	uint8_t kind; /* enum arch_kind: of whose programs, with its DWARF numbers */
};

/*
 * From a perf sample (abi, mask and values as in perf_event) of a machine; NULL: of this one. False when they do
 * not suffice.
 */
bool unwind_registers_from_perf(struct unwind_registers *ret_registers, const struct arch *machine, uint64_t abi,
				uint64_t mask, const uint64_t *values);

/* Where an address lies. */
struct unwind_place {
	const struct unwind_table *table; /* NULL: none; frame pointers are tried */
	uint64_t bias; /* run-time address − virtual address of the file */
	bool mapped; /* false: no code is mapped there */
	/* Run-time addresses for which this answer holds as well, so that it need not be asked again; 0, 0: none. */
	uint64_t start, end;
};

struct unwind_space {
	void *context;
	/* A copy of the thread's stack, asked first. `stack` may be NULL when the size is 0. */
	const uint8_t *stack;
	uint64_t stack_start;
	size_t stack_size;
	/* Reads 8 bytes of the thread's memory; false when they are not there. NULL: there is nothing but the copy. */
	bool (*read)(void *context, uint64_t address, uint64_t *ret_value);
	/*
	 * May be NULL. Set to whether what is read belongs to another stack than the copy, or to none: for a reader
	 * whose memory is of a later moment, and known to be unchanged only where it continues the copy.
	 */
	bool *ret_elsewhere;
	/*
	 * Reads code at a run-time address; false when it cannot be read. NULL: no code can. It shows the way where
	 * there is no unwind information (see arch/x86_64/ahead.h).
	 */
	bool (*read_code)(void *context, uint64_t address, uint8_t *bytes, size_t size);
	/* Finds the code at a run-time address; for return addresses it is asked with one byte less. */
	struct unwind_place (*find)(void *context, uint64_t ip);
};

enum unwind_end {
	UNWIND_COMPLETE, /* the outermost frame: _start, clone, or the end of a chain of frame pointers */
	UNWIND_NO_MEMORY, /* the stack copy ends too early (or lacks what code keeps below its stack pointer) */
	UNWIND_NO_TABLE, /* code without table whose frame pointer leads nowhere */
	UNWIND_NO_CODE, /* a return address outside all code */
	UNWIND_BAD_RULE, /* a rule that cannot be followed */
	UNWIND_TOO_DEEP, /* `max` addresses were not enough */
	UNWIND_LOOP, /* the stack pointer did not move up */
	UNWIND_OTHER_STACK, /* the frames before are on another stack, of which there is no copy */
};

/*
 * Fills addresses[0…most) innermost first, beginning with the ip itself, and returns their number. Return addresses
 * are given as they stand on the stack (not minus one); callers look them up at address − 1 except for the first one
 * and for those above a signal frame, which `exact` (may be NULL, one bool per address) says.
 */
size_t unwind_stack(const struct unwind_space *space, const struct unwind_registers *registers, uint64_t *addresses,
		    bool *exact, size_t max, enum unwind_end *ret_end);

/*
 * One frame up: `registers` become those of the caller, and `exact` (in: whether ip is an instruction's own address,
 * not one behind a call) that of the caller's ip. False when there is no caller or it cannot be found, which *ret_end
 * says.
 */
bool unwind_step(const struct unwind_space *space, struct unwind_registers *registers, bool *exact,
		 enum unwind_end *ret_end);

/*
 * Continues a stack that unwind_stack() could not follow for lack of memory. `missing` is the address that it could not
 * read at last, and `chain` what the kernel found by frame pointers when the sample was taken, innermost first, from
 * the ip on. Returns how many of its addresses continue the stack, from *ret_first on: they are its callers up to the
 * outermost one, none of them skipped. 0 without evidence of that.
 */
size_t unwind_continue(const struct unwind_space *space, const struct unwind_registers *registers, uint64_t missing,
		       const uint64_t *chain, size_t count, size_t *ret_first);

/* Saving and loading tables, for the cache on disk. The bytes are private to this version of wick. */
struct buf;
void unwind_table_save(const struct unwind_table *table, struct buf *out);
int unwind_table_load(struct unwind_table **ret_table, const void *bytes, size_t size, struct err *err);

#endif
