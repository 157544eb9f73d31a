/* A stack that is being unwound. Private to walk.c and walk_without_rule.h. */
#ifndef WICK_UNWIND_WALK_H
#define WICK_UNWIND_WALK_H

#include "unwind/unwind.h"

/* How far from the stack pointer a frame pointer may be and still be believed. */
enum { FRAME_MAX = 1 << 20 };

struct walk {
	const struct unwind_space *space;
	struct unwind_registers registers;
	struct unwind_place place; /* of the current frame */
	bool exact; /* the ip is that of an instruction, not behind a call */
	unsigned frame_pointer_steps; /* how many steps in a row led to the current frame by frame pointers */
	unsigned jumps;
	uint64_t go; /* GO_REGISTER of the first frame; 0: not known, or another one in this frame */
	bool elsewhere; /* on another stack than the copy */
	enum unwind_end end;
};

/* Notes why there is no caller; returns false. */
static inline bool walk_stop(struct walk *walk, enum unwind_end end)
{
	walk->end = end == UNWIND_NO_MEMORY && walk->elsewhere ? UNWIND_OTHER_STACK : end;
	return false;
}

/* The return address in its register: only in code that was interrupted. */
static inline bool walk_link(const struct walk *walk, const struct arch *arch, uint64_t *ret_link)
{
	*ret_link = walk->registers.other[arch->dwarf_ra];
	return walk->exact && walk->registers.known >> arch->dwarf_ra & 1;
}

#endif
