/*
 * What is known of the registers and the stack at a place in a function: which of them hold the caller's frame pointer,
 * or an address of the stack that differs from the CFA by a constant. Instructions change it, and a rule for unwinding
 * follows from it.
 */
#ifndef WICK_UNWIND_DERIVE_STATE_H
#define WICK_UNWIND_DERIVE_STATE_H

#include "arch/instruction.h"
#include "unwind/table.h"

enum derive_value_kind {
	VALUE_UNKNOWN,
	VALUE_CALLER, /* the frame pointer as the caller left it */
	VALUE_STACK, /* `offset` from the CFA (base 0), or from the stack pointer as it was rounded down there */
	VALUE_ADDRESS, /* of code or data: `offset` */
};

struct derive_value {
	uint8_t kind; /* enum derive_value_kind */
	uint8_t base;
	int64_t offset;
};

/* A word of the stack that holds a known value. */
struct derive_slot {
	uint8_t base;
	int64_t offset;
	struct derive_value value;
};

enum { DERIVE_SLOTS_MAX = 16, DERIVE_BASES_MAX = 255 };

struct derive_state {
	struct derive_value registers[REGISTERS]; /* by DWARF number */
	struct derive_slot slots[DERIVE_SLOTS_MAX];
	uint8_t slot_count;
	uint8_t compared; /* the register that the last instruction compared the stack pointer with, or REGISTER_NONE */
	bool moved_return; /* the word of the return address was written to: V8's code puts it elsewhere */
	bool outermost; /* the caller's frame pointer was given up by setting it to 0: there is no caller */
};

/* At the first instruction of a function. */
void derive_state_enter(struct derive_state *state, const struct arch *arch);

/*
 * What an instruction does; those that lead elsewhere too. `base` is a number for the stack pointer that an
 * INSTRUCTION_ALIGN leaves, the same each time for the same instruction, or 0 when there are no more.
 */
void derive_state_apply(struct derive_state *state, const struct arch *arch, const struct instruction *instruction,
			uint8_t base);

/* A call may change all registers that callees do not save. */
void derive_state_call(struct derive_state *state, const struct arch *arch);

/* Keeps what both know. True when that changed `state`. */
bool derive_state_merge(struct derive_state *state, const struct derive_state *other);

/* True when the stack pointer is known in both and differs. */
bool derive_state_contradicts(const struct derive_state *state, const struct derive_state *other,
			      const struct arch *arch);

/* Whether the stack pointer is where a call left it; *ret_known: whether it is known. */
bool derive_state_is_balanced(const struct derive_state *state, const struct arch *arch, bool *ret_known);

/* The rule that follows; its kind is UNWIND_CFA_INVALID when none does. */
struct unwind_rule derive_state_rule(const struct derive_state *state, const struct arch *arch);

#endif
