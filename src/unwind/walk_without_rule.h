/*
 * From frame to frame where there are no rules. Part of walk.c, which alone includes it: where all that sees a struct
 * walk is in one file, the compiler keeps more of it in registers (7 % of the time per frame).
 */
#ifndef WICK_UNWIND_WALK_WITHOUT_RULE_H
#define WICK_UNWIND_WALK_WITHOUT_RULE_H

#include "arch/x86_64/ahead.h"
#include "unwind/expression.h"
#include "unwind/table.h"
#include "unwind/walk.h"

/* What the number of arguments of a program is below. */
enum { ARGUMENTS_MAX = 1 << 16 };

/* Words of the stack that are searched for a return address, and how large the function is that returns. */
enum { SEARCHED_WORDS = 3, CALLEE_MAX = 1 << 16 };

/*
 * What the kernel leaves at the top of a new stack: the number of arguments, pointers to them further up, and 0. The
 * first instructions of the dynamic linker find it there, and have no unwind information.
 */
static bool at_process_start(const struct walk *walk)
{
	uint64_t sp = walk->registers.sp, count, argument, last;
	return unwind_read(walk->space, sp, &count) && count > 0 && count < ARGUMENTS_MAX &&
	       unwind_read(walk->space, sp + 8, &argument) && argument > sp &&
	       unwind_read(walk->space, sp + 8 * (count + 1), &last) && last == 0;
}

/* The frame pointers of a 32-bit program: caller's frame pointer and return address are in one word of ours. */
static bool step_narrow(struct walk *walk)
{
	struct unwind_registers *registers = &walk->registers;
	uint64_t fp = registers->fp, words;
	if (fp == 0 && walk->frame_pointer_steps > 1)
		return walk_stop(walk, UNWIND_COMPLETE);
	if (fp < registers->sp || fp - registers->sp > FRAME_MAX || fp % 4 != 0)
		return walk_stop(walk, UNWIND_NO_TABLE);
	if (!unwind_read(walk->space, fp, &words))
		return walk_stop(walk, UNWIND_NO_MEMORY);
	registers->known = 0;
	registers->sp = fp + 8;
	registers->fp = (uint32_t)words;
	registers->ip = words >> 32;
	walk->exact = false;
	walk->frame_pointer_steps++;
	return true;
}

/*
 * Code that says nothing about itself, most of it compiled at run time: by the chain of frame pointers. Its outermost
 * frame has none. Where the chain did not lead here the register may hold anything, 0 too, and so it may in a file with
 * a table (assembler without annotations).
 */
static bool step_by_frame_pointer(struct walk *walk)
{
	struct unwind_registers *registers = &walk->registers;
	uint64_t fp = registers->fp, caller_fp, ra;
	if (fp == 0 && ((!walk->place.table && walk->frame_pointer_steps) || at_process_start(walk)))
		return walk_stop(walk, UNWIND_COMPLETE);
	if (fp < registers->sp || fp - registers->sp > FRAME_MAX || fp % 8 != 0)
		return walk_stop(walk, UNWIND_NO_TABLE);
	if (!unwind_read(walk->space, fp, &caller_fp) || !unwind_read(walk->space, fp + 8, &ra))
		return walk_stop(walk, UNWIND_NO_MEMORY);
	registers->known = 0;
	registers->sp = fp + 16;
	registers->fp = caller_fp;
	registers->ip = registers->kind == ARCH_AARCH64 ? ra & arch_aarch64.address_mask : ra;
	walk->exact = false;
	walk->frame_pointer_steps++;
	return true;
}

static bool follows_call(const struct walk *walk, uint64_t address)
{
	uint8_t bytes[8];
	return walk->space->read_code(walk->space->context, address - sizeof bytes, bytes, sizeof bytes) &&
	       ahead_is_call(ahead_word(bytes));
}

/* By the instructions; false when they do not show it. What they seem to show must be behind a call. */
static bool step_ahead(struct walk *walk)
{
	struct unwind_registers *registers = &walk->registers;
	struct ahead ahead;
	uint8_t bytes[AHEAD_BYTES] = {0};
	if (!walk->space->read_code || !walk->space->read_code(walk->space->context, registers->ip - AHEAD_BEFORE,
							       bytes, AHEAD_BEFORE + AHEAD_CODE))
		return false;
	int result = ahead_begin(&ahead, bytes, walk->exact);
	for (int i = 0; i < AHEAD_INSTRUCTIONS && result == AHEAD_MORE; i++)
		result = ahead_step(&ahead, bytes);
	if (result != AHEAD_FOUND)
		return false;
	uint64_t base = ahead.base == AHEAD_SP ? registers->sp : registers->fp;
	uint64_t cfa = base + (uint64_t)(int64_t)ahead.cfa, fp = registers->fp, ra;
	if (cfa <= registers->sp || cfa - registers->sp > FRAME_MAX || !unwind_read(walk->space, cfa - 8, &ra) ||
	    !follows_call(walk, ra))
		return false;
	if (ahead.fp != AHEAD_FP_SAME && !unwind_read(walk->space, base + (uint64_t)(int64_t)ahead.fp, &fp))
		return false;
	registers->known = 0;
	registers->sp = cfa;
	registers->fp = fp;
	registers->ip = ra;
	walk->exact = false;
	walk->frame_pointer_steps = 0;
	return true;
}

/* What speaks for a word of the stack being the return address of the current function. */
enum evidence {
	EVIDENCE_NONE,
	EVIDENCE_CALL, /* it is behind a call */
	EVIDENCE_CALL_HERE, /* which leads here */
};

static enum evidence evidence_of(struct walk *walk, const struct arch *arch, uint64_t word)
{
	const struct unwind_space *space = walk->space;
	uint8_t bytes[ARCH_CALL_BYTES];
	int64_t distance = 0;
	if (!space->read_code || !space->read_code(space->context, word - sizeof bytes, bytes, sizeof bytes))
		return EVIDENCE_NONE;
	enum arch_call call = arch->call_before(bytes, &distance);
	if (call == ARCH_CALL_DIRECT && walk->registers.ip - (word + (uint64_t)distance) < CALLEE_MAX)
		return EVIDENCE_CALL_HERE;
	return call == ARCH_CALL_NONE ? EVIDENCE_NONE : EVIDENCE_CALL;
}

/* Of the return address that the frame pointer leads to. */
static enum evidence evidence_of_frame_pointer(struct walk *walk)
{
	const struct unwind_registers *registers = &walk->registers;
	uint64_t ra;
	if (registers->fp < registers->sp || registers->fp - registers->sp > FRAME_MAX || registers->fp % 8 ||
	    !unwind_read(walk->space, registers->fp + 8, &ra))
		return EVIDENCE_NONE;
	return evidence_of(walk, walk->place.table->arch, ra);
}

static bool is_described(struct walk *walk, uint64_t address)
{
	struct unwind_place place = walk->space->find(walk->space->context, address);
	return place.table && unwind_rows_find(&place.table->rows, address - place.bias) != UNWIND_RULE_INVALID;
}

/*
 * Looks for the return address of a function without rules in a file that has some: assembly, which pushes little. It
 * is behind a call that leads here, or that is in code with rules. A frame pointer that leads to a return address as
 * good is better: words of the stack may be left over from earlier calls.
 */
static bool find_return(struct walk *walk)
{
	struct unwind_registers *registers = &walk->registers;
	enum evidence by_fp = evidence_of_frame_pointer(walk);
	for (uint64_t i = 0; i < SEARCHED_WORDS && !(i && by_fp); i++) {
		uint64_t word;
		if (!unwind_read(walk->space, registers->sp + i * 8, &word))
			return false;
		enum evidence evidence = evidence_of(walk, walk->place.table->arch, word);
		if (evidence != EVIDENCE_CALL_HERE &&
		    (evidence == EVIDENCE_NONE || by_fp == EVIDENCE_CALL_HERE || !is_described(walk, word - 1)))
			continue;
		if (i)
			registers->known = 0; /* it has pushed some */
		registers->sp += i * 8 + 8;
		registers->ip = word;
		walk->exact = false;
		walk->frame_pointer_steps = 0;
		return true;
	}
	return false;
}

/* By the return address in its register, if it is behind a call that leads here. */
static bool step_by_link(struct walk *walk, const struct arch *arch)
{
	uint64_t link;
	if (!walk_link(walk, arch, &link))
		return false;
	link &= arch->address_mask;
	if (evidence_of(walk, arch, link) != EVIDENCE_CALL_HERE)
		return false;
	walk->registers.known = 0;
	walk->registers.ip = link;
	walk->exact = false;
	walk->frame_pointer_steps = 0;
	return true;
}

/*
 * To the caller: by the instructions, in a file with some rules by the return address, if that is found, and else by
 * frame pointers. A chain of frame pointers is followed as long as it continues.
 */
static bool step_without_rule(struct walk *walk)
{
	if (walk->registers.kind == ARCH_I386)
		return step_narrow(walk);
	if (walk->registers.kind == ARCH_AARCH64)
		return step_by_link(walk, &arch_aarch64) || step_by_frame_pointer(walk);
	return step_ahead(walk) || (walk->place.table && !walk->frame_pointer_steps && find_return(walk)) ||
	       step_by_frame_pointer(walk);
}

#endif
