/* From frame to frame. */
#include "unwind/ahead.h"
#include "unwind/expression.h"
#include "unwind/go.h"
#include "unwind/table.h"

/* Code with several stacks jumps between them a few times; a loop does it for ever. */
enum { JUMPS_MAX = 16 };

/* clone() says so soon behind its system call that the new thread has no caller. */
enum { THREAD_START_MAX = 32 };

/* How far from the stack pointer a frame pointer may be and still be believed. */
enum { FRAME_MAX = 1 << 20, ARGUMENTS_MAX = 1 << 16 };

/* Words of the stack that are searched for a return address, and how large the function is that returns. */
enum { SEARCHED_WORDS = 3, CALLEE_MAX = 1 << 16 };

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

static bool stop(struct walk *walk, enum unwind_end end)
{
	walk->end = end == UNWIND_NO_MEMORY && walk->elsewhere ? UNWIND_OTHER_STACK : end;
	return false;
}

/* Frames that change stacks: whether it is one that the copy has, or would have if it were larger. */
static void note_stack(struct walk *walk, uint64_t sp)
{
	const struct unwind_space *space = walk->space;
	walk->elsewhere = space->stack_size && sp - space->stack_start > space->stack_size + FRAME_MAX;
}

static uint64_t lookup_address(const struct walk *walk)
{
	return walk->registers.ip - !walk->exact;
}

/* A word of the program. */
static bool read_word(const struct walk *walk, uint64_t address, uint64_t *ret_value)
{
	if (!unwind_read(walk->space, address, ret_value))
		return false;
	if (walk->registers.narrow)
		*ret_value = (uint32_t)*ret_value;
	return true;
}

/* Finds the code of the current frame. */
static bool find_place(struct walk *walk)
{
	uint64_t address = lookup_address(walk);
	if (address - walk->place.start >= walk->place.end - walk->place.start)
		walk->place = walk->space->find(walk->space->context, address);
	/* The vDSO is another one in 32-bit programs, and called the same. */
	if (walk->place.table && (walk->place.table->arch->word == 4) != walk->registers.narrow)
		walk->place.table = NULL;
	return walk->place.mapped;
}

/* Where the stack pointer goes. Down, or nowhere, is for frames that change stacks or have not used theirs. */
static bool may_move(struct walk *walk, uint64_t cfa, bool may_jump)
{
	if (may_jump)
		note_stack(walk, cfa);
	if (cfa > walk->registers.sp)
		return true;
	if (!may_jump || ++walk->jumps > JUMPS_MAX)
		return stop(walk, UNWIND_LOOP);
	return true;
}

/* --- other registers --- */

/*
 * Callee-saved registers are read where the frame saved them. Those that callees may change keep their value: only
 * assembly has CFA rules based on them above the first frame, and what it calls leaves them alone (OpenSSL's AES).
 */
static void follow_saves(struct walk *walk, uint64_t cfa)
{
	const struct unwind_table *table = walk->place.table;
	struct unwind_registers *registers = &walk->registers;
	if (!(registers->known & table->arch->saved_mask))
		return;
	if (!table->saves.count) {
		registers->known &= ~table->arch->saved_mask;
		return;
	}
	uint32_t number = unwind_rows_find(&table->saves, lookup_address(walk) - walk->place.bias);
	const struct unwind_save *save = &table->save_rules[number];
	for (size_t i = 0; i < SAVED_MAX; i++) {
		unsigned dwarf_register = table->arch->saved[i];
		uint64_t slot = cfa + (uint64_t)(int64_t)save->slot[i];
		if (save->slot[i] == UNWIND_SAVE_SAME || slot < registers->sp)
			continue; /* below the stack pointer: it was restored already */
		if (save->slot[i] == UNWIND_SAVE_LOST || !read_word(walk, slot, &registers->other[dwarf_register]))
			registers->known &= ~(1u << dwarf_register);
	}
}

/* --- rules --- */

static bool step_to(struct walk *walk, uint64_t cfa, uint64_t fp, uint64_t ra)
{
	if (walk->registers.known)
		follow_saves(walk, cfa);
	walk->registers.sp = cfa;
	walk->registers.fp = fp;
	walk->registers.ip = ra;
	walk->exact = false;
	walk->frame_pointer_steps = 0;
	return true;
}

static bool step_signal(struct walk *walk)
{
	const struct unwind_arch *arch = walk->place.table->arch;
	uint64_t from = walk->registers.sp, sp, fp, ip;
	if (!unwind_read(walk->space, from + (uint64_t)arch->signal_ip, &ip) ||
	    !unwind_read(walk->space, from + (uint64_t)arch->signal_sp, &sp) ||
	    !unwind_read(walk->space, from + (uint64_t)arch->signal_fp, &fp))
		return stop(walk, UNWIND_NO_MEMORY);
	if (!may_move(walk, sp, true)) /* from a stack of its own, which may lie anywhere */
		return false;
	walk->registers.known = 0;
	walk->go = 0;
	step_to(walk, sp, fp, ip);
	walk->exact = true;
	return true;
}

/*
 * From morestack() to the goroutine that grows its stack. Where the register is not that of Go, or the thread has left
 * the goroutine, a stack begins here.
 */
static bool step_go(struct walk *walk, struct go_offsets offsets)
{
	const struct unwind_space *space = walk->space;
	uint64_t m, first, goroutine, sp, ip, fp;
	if (!walk->go)
		return stop(walk, UNWIND_COMPLETE);
	if (!unwind_read(space, walk->go + offsets.m, &m) || !unwind_read(space, m, &first))
		return stop(walk, UNWIND_OTHER_STACK);
	if (first != walk->go)
		return stop(walk, UNWIND_COMPLETE);
	if (!unwind_read(space, m + offsets.current, &goroutine))
		return stop(walk, UNWIND_OTHER_STACK);
	if (!goroutine)
		return stop(walk, UNWIND_COMPLETE);
	if (!unwind_read(space, goroutine + offsets.sp, &sp) || !unwind_read(space, goroutine + offsets.sp + 8, &ip) ||
	    !unwind_read(space, goroutine + offsets.fp, &fp))
		return stop(walk, UNWIND_OTHER_STACK);
	if (!may_move(walk, sp, true))
		return false;
	walk->registers.known = 0;
	return step_to(walk, sp, fp, ip);
}

static bool stop_by(struct walk *walk, enum expression_result result)
{
	return stop(walk, result == EXPRESSION_NO_MEMORY ? UNWIND_NO_MEMORY : UNWIND_BAD_RULE);
}

/* One part of a long rule. `cfa` is NULL while the CFA itself is sought. */
static bool evaluate(struct walk *walk, const struct unwind_part *part, uint64_t same, const uint64_t *cfa,
		     uint64_t *ret_value)
{
	const struct unwind_table *table = walk->place.table;
	struct expression_frame frame = {table->arch, walk->space, &walk->registers, walk->place.bias};
	enum expression_result result;
	switch (part->how) {
	case UNWIND_HOW_SAME:
	case UNWIND_HOW_UNDEFINED:
		*ret_value = same;
		return true;
	case UNWIND_HOW_CFA:
	case UNWIND_HOW_AT_CFA:
		if (!cfa)
			return stop(walk, UNWIND_BAD_RULE);
		*ret_value = *cfa + (uint64_t)(int64_t)part->value;
		break;
	case UNWIND_HOW_REGISTER:
		if (!expression_register(table->arch, &walk->registers, part->dwarf_register, ret_value))
			return stop(walk, UNWIND_BAD_RULE);
		*ret_value += (uint64_t)(int64_t)part->value;
		break;
	default:
		result = expression_evaluate(&frame, table->expressions + part->value, part->length, cfa, ret_value);
		if (result != EXPRESSION_OK)
			return stop_by(walk, result);
	}
	bool stored = part->how == UNWIND_HOW_AT_CFA || part->how == UNWIND_HOW_AT_EXPRESSION;
	if (stored && !read_word(walk, *ret_value, ret_value))
		return stop(walk, UNWIND_NO_MEMORY);
	return true;
}

static bool step_long(struct walk *walk, const struct unwind_long_rule *rule)
{
	uint64_t cfa = 0, fp = 0, ra = 0;
	if (!evaluate(walk, &rule->cfa, 0, NULL, &cfa) || !may_move(walk, cfa, true))
		return false;
	if (!evaluate(walk, &rule->ra, 0, &cfa, &ra))
		return false;
	/* As for short rules: a slot below the stack pointer was given back already. */
	bool restored = rule->fp.how == UNWIND_HOW_AT_CFA &&
			cfa + (uint64_t)(int64_t)rule->fp.value < walk->registers.sp;
	fp = walk->registers.fp;
	if (!restored && !evaluate(walk, &rule->fp, fp, &cfa, &fp))
		return false;
	return step_to(walk, cfa, fp, ra);
}

/*
 * The CFA where it is not simply a register and an offset. sbcl's call into Lisp describes its frame pointer as that of
 * the frame which it has prepared for its callee ("what is stored at fp, + 16"). A step by frame pointers from that
 * callee has read what is stored there already.
 */
static bool rare_cfa(struct walk *walk, const struct unwind_rule *rule, uint8_t kind, uint64_t *ret_cfa)
{
	const struct unwind_registers *registers = &walk->registers;
	uint64_t value, offset = (uint64_t)(int64_t)(int16_t)rule->cfa_offset;
	switch (kind) {
	case UNWIND_CFA_PLT:
		*ret_cfa = registers->sp +
			   walk->place.table->arch->word * ((registers->ip & 15) >= (uint32_t)rule->cfa_offset ? 2 : 1);
		return true;
	case UNWIND_CFA_AT_SP:
	case UNWIND_CFA_AT_FP:
		if (kind == UNWIND_CFA_AT_FP && walk->frame_pointer_steps && !offset) {
			*ret_cfa = registers->fp + (uint64_t)(int64_t)(rule->cfa_offset >> 16);
			return may_move(walk, *ret_cfa, true);
		}
		value = kind == UNWIND_CFA_AT_SP ? registers->sp : registers->fp;
		if (!read_word(walk, value + offset, &value))
			return stop(walk, UNWIND_NO_MEMORY);
		*ret_cfa = value + (uint64_t)(int64_t)(rule->cfa_offset >> 16);
		return may_move(walk, *ret_cfa, true);
	default:
		if (!expression_register(walk->place.table->arch, registers, kind - UNWIND_CFA_REGISTER, &value))
			return stop(walk, UNWIND_BAD_RULE);
		*ret_cfa = value + (uint64_t)(int64_t)rule->cfa_offset;
		return may_move(walk, *ret_cfa, true);
	}
}

/* The caller's frame pointer, given the CFA. */
static bool find_fp(struct walk *walk, const struct unwind_rule *rule, uint64_t cfa, uint64_t *ret_fp)
{
	uint64_t from = rule->fp == UNWIND_FP_AT_CFA ? cfa : walk->registers.fp;
	uint64_t slot = from + (uint64_t)(int64_t)rule->fp_offset;
	/* In an epilogue that has popped it the description may lag behind: below the stack pointer is nothing. */
	if (rule->fp == UNWIND_FP_SAME || slot < walk->registers.sp)
		*ret_fp = walk->registers.fp;
	else if (!read_word(walk, slot, ret_fp))
		return stop(walk, UNWIND_NO_MEMORY);
	return true;
}

static bool step_without_rule(struct walk *walk);

static bool step_by_rule(struct walk *walk, const struct unwind_rule *rule)
{
	const struct unwind_table *table = walk->place.table;
	uint8_t kind = rule->cfa & UNWIND_CFA_KIND;
	uint64_t cfa, fp, ra;
	switch (kind) {
	case UNWIND_CFA_SP:
	case UNWIND_CFA_FP:
		cfa = (kind == UNWIND_CFA_SP ? walk->registers.sp : walk->registers.fp) +
		      (uint64_t)(int64_t)rule->cfa_offset;
		if (!may_move(walk, cfa, false))
			return false;
		break;
	case UNWIND_CFA_INVALID:
		return step_without_rule(walk);
	case UNWIND_CFA_STOP:
		return stop(walk, UNWIND_COMPLETE);
	case UNWIND_CFA_SIGNAL:
		return step_signal(walk);
	case UNWIND_CFA_GO:
		return step_go(walk, go_offsets_of(rule->cfa_offset));
	case UNWIND_CFA_LONG:
		return step_long(walk, &table->long_rules[rule->cfa_offset]);
	default:
		if (!rare_cfa(walk, rule, kind, &cfa))
			return false;
	}
	if (!read_word(walk, cfa + (uint64_t)(int64_t)table->arch->ra_slot, &ra))
		return stop(walk, UNWIND_NO_MEMORY);
	if (!find_fp(walk, rule, cfa, &fp))
		return false;
	return step_to(walk, cfa, fp, ra);
}

/* --- without a table --- */

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
		return stop(walk, UNWIND_COMPLETE);
	if (fp < registers->sp || fp - registers->sp > FRAME_MAX || fp % 4 != 0)
		return stop(walk, UNWIND_NO_TABLE);
	if (!unwind_read(walk->space, fp, &words))
		return stop(walk, UNWIND_NO_MEMORY);
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
		return stop(walk, UNWIND_COMPLETE);
	if (fp < registers->sp || fp - registers->sp > FRAME_MAX || fp % 8 != 0)
		return stop(walk, UNWIND_NO_TABLE);
	if (!unwind_read(walk->space, fp, &caller_fp) || !unwind_read(walk->space, fp + 8, &ra))
		return stop(walk, UNWIND_NO_MEMORY);
	registers->known = 0;
	registers->sp = fp + 16;
	registers->fp = caller_fp;
	registers->ip = ra;
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

static enum evidence evidence_of(struct walk *walk, uint64_t word)
{
	const struct unwind_space *space = walk->space;
	uint8_t bytes[ARCH_CALL_BYTES];
	int64_t distance = 0;
	if (!space->read_code || !space->read_code(space->context, word - sizeof bytes, bytes, sizeof bytes))
		return EVIDENCE_NONE;
	enum arch_call call = walk->place.table->arch->call_before(bytes, &distance);
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
	return evidence_of(walk, ra);
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
		enum evidence evidence = evidence_of(walk, word);
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

/*
 * Code without rules: by its instructions, in a file with some rules by its return address, if that is found, and else
 * by frame pointers. A chain of frame pointers is followed as long as it goes on.
 */
static bool step_without_rule(struct walk *walk)
{
	if (walk->registers.narrow)
		return step_narrow(walk);
	return step_ahead(walk) || (walk->place.table && !walk->frame_pointer_steps && find_return(walk)) ||
	       step_by_frame_pointer(walk);
}

/*
 * A return address of 0 ends a stack that was begun with zeros. It is taken for that only where the frame pointer is 0
 * too, or behind a chain of frame pointers: a rule or a register that is wrong leads to zeros often enough.
 */
static bool is_outermost(const struct walk *walk)
{
	return walk->frame_pointer_steps ? walk->frame_pointer_steps > 1 : walk->registers.fp == 0;
}

/* To the caller; false when there is none, or none that can be trusted. */
static bool step(struct walk *walk)
{
	const struct unwind_table *table = walk->place.table;
	if (table) {
		uint32_t number = unwind_rows_find(&table->rows, lookup_address(walk) - walk->place.bias);
		const struct unwind_rule *rule = &table->rules[number];
		if (!step_by_rule(walk, rule))
			return false;
		walk->exact = walk->exact || (rule->cfa & UNWIND_CFA_INTERRUPTED);
	} else if (!step_without_rule(walk)) {
		return false;
	}
	if (walk->registers.ip == 0 && is_outermost(walk))
		return stop(walk, UNWIND_COMPLETE);
	if (walk->registers.ip == 0 || !find_place(walk))
		return stop(walk, walk->frame_pointer_steps ? UNWIND_NO_TABLE : UNWIND_NO_CODE);
	return true;
}

/*
 * A thread that has not run yet is behind the system call of clone(), which gave it 0, on a new stack with nothing on
 * it: the caller that the table promises there is the one of the other thread.
 */
static bool is_new_thread(const struct unwind_space *space, const struct unwind_registers *registers)
{
	struct unwind_place place = space->find(space->context, registers->ip);
	if (!place.table || !(registers->known & 1u << place.table->arch->result) ||
	    registers->other[place.table->arch->result])
		return false;
	for (uint64_t ahead = 1; ahead <= THREAD_START_MAX; ahead++)
		if (unwind_rows_find(&place.table->rows, registers->ip + ahead - place.bias) == UNWIND_RULE_STOP)
			return true;
	return false;
}

size_t unwind_stack(const struct unwind_space *space, const struct unwind_registers *registers, uint64_t *addresses,
		    bool *exact, size_t most, enum unwind_end *ret_end)
{
	struct walk walk = {.space = space, .registers = *registers, .exact = true, .end = UNWIND_NO_CODE};
	if (registers->known >> GO_REGISTER & 1)
		walk.go = registers->other[GO_REGISTER];
	size_t count = 0;
	bool more = find_place(&walk);
	do {
		if (count == most) {
			walk.end = UNWIND_TOO_DEEP;
			break;
		}
		addresses[count] = walk.registers.ip;
		if (exact)
			exact[count] = walk.exact;
		count++;
	} while (more && step(&walk));
	if (count == 1 && walk.end != UNWIND_COMPLETE && is_new_thread(space, registers))
		walk.end = UNWIND_COMPLETE;
	*ret_end = walk.end;
	return count;
}

bool unwind_step(const struct unwind_space *space, struct unwind_registers *registers, bool *exact,
		 enum unwind_end *ret_end)
{
	struct walk walk = {.space = space, .registers = *registers, .exact = *exact, .end = UNWIND_NO_CODE};
	if (!find_place(&walk) || !step(&walk)) {
		*ret_end = walk.end;
		return false;
	}
	*registers = walk.registers;
	*exact = walk.exact;
	return true;
}
