/* From frame to frame. */
#include "unwind/expression.h"
#include "unwind/go.h"
#include "unwind/table.h"
#include "unwind/walk.h"
#include "unwind/walk_without_rule.h"

/* Code with several stacks jumps between them a few times; a loop does it for ever. */
enum { JUMPS_MAX = 16 };

/* How much larger than its callee's a stack pointer is at most if both are on the same stack, where it often is not. */
enum { SAME_STACK_MAX = 1 << 14 };

/* clone() says so soon behind its system call that the new thread has no caller. */
enum { THREAD_START_MAX = 32 };

static void set_elsewhere(struct walk *walk, bool elsewhere)
{
	walk->elsewhere = elsewhere;
	if (walk->space->ret_elsewhere)
		*walk->space->ret_elsewhere = elsewhere;
}

/* Frames that change stacks: whether it is one that the copy has, or would have if it were larger. */
static void note_stack(struct walk *walk, uint64_t sp, uint64_t same_stack_max)
{
	const struct unwind_space *space = walk->space;
	set_elsewhere(walk, space->stack_size && sp - space->stack_start > space->stack_size &&
				    sp - walk->registers.sp > same_stack_max);
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
	if (walk->registers.kind == ARCH_I386)
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
	if (walk->place.table && walk->place.table->arch->kind != walk->registers.kind)
		walk->place.table = NULL;
	return walk->place.mapped;
}

/* Where the stack pointer goes. Down, or nowhere, is for frames that change stacks or have not used theirs. */
static bool may_move(struct walk *walk, uint64_t cfa, bool may_jump)
{
	if (may_jump)
		note_stack(walk, cfa, FRAME_MAX);
	if (cfa > walk->registers.sp)
		return true;
	if (!may_jump || ++walk->jumps > JUMPS_MAX)
		return walk_stop(walk, UNWIND_LOOP);
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

/* To a frame whose registers were saved at these addresses. Its stack is another one, which may lie anywhere. */
static bool step_saved(struct walk *walk, uint64_t ip_at, uint64_t sp_at, uint64_t fp_at, enum unwind_end unreadable)
{
	uint64_t sp, fp, ip;
	if (!unwind_read(walk->space, ip_at, &ip) || !unwind_read(walk->space, sp_at, &sp) ||
	    !unwind_read(walk->space, fp_at, &fp))
		return walk_stop(walk, unreadable);
	if (!may_move(walk, sp, true))
		return false;
	note_stack(walk, sp, SAME_STACK_MAX);
	walk->registers.known = 0;
	return step_to(walk, sp, fp, ip);
}

static bool step_signal(struct walk *walk)
{
	const struct arch *arch = walk->place.table->arch;
	uint64_t from = walk->registers.sp;
	if (!step_saved(walk, from + (uint64_t)arch->signal_ip, from + (uint64_t)arch->signal_sp,
			from + (uint64_t)arch->signal_fp, UNWIND_NO_MEMORY))
		return false;
	if (arch->links &&
	    unwind_read(walk->space, from + (uint64_t)arch->signal_link, &walk->registers.other[arch->dwarf_ra]))
		walk->registers.known = 1u << arch->dwarf_ra;
	walk->go = 0;
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
	uint64_t m, first, goroutine;
	if (!walk->go)
		return walk_stop(walk, UNWIND_COMPLETE);
	set_elsewhere(walk, space->stack_size);
	if (!unwind_read(space, walk->go + offsets.m, &m) || !unwind_read(space, m, &first))
		return walk_stop(walk, UNWIND_OTHER_STACK);
	if (first != walk->go)
		return walk_stop(walk, UNWIND_COMPLETE);
	if (!unwind_read(space, m + offsets.current, &goroutine))
		return walk_stop(walk, UNWIND_OTHER_STACK);
	if (!goroutine)
		return walk_stop(walk, UNWIND_COMPLETE);
	return step_saved(walk, goroutine + offsets.sp + 8, goroutine + offsets.sp, goroutine + offsets.fp,
			  UNWIND_OTHER_STACK);
}

static bool stop_by(struct walk *walk, enum expression_result result)
{
	return walk_stop(walk, result == EXPRESSION_NO_MEMORY ? UNWIND_NO_MEMORY : UNWIND_BAD_RULE);
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
			return walk_stop(walk, UNWIND_BAD_RULE);
		*ret_value = *cfa + (uint64_t)(int64_t)part->value;
		break;
	case UNWIND_HOW_REGISTER:
		if (!expression_register(table->arch, &walk->registers, part->dwarf_register, ret_value))
			return walk_stop(walk, UNWIND_BAD_RULE);
		*ret_value += (uint64_t)(int64_t)part->value;
		break;
	default:
		result = expression_evaluate(&frame, table->expressions + part->value, part->length, cfa, ret_value);
		if (result != EXPRESSION_OK)
			return stop_by(walk, result);
	}
	bool stored = part->how == UNWIND_HOW_AT_CFA || part->how == UNWIND_HOW_AT_EXPRESSION;
	if (stored && !read_word(walk, *ret_value, ret_value))
		return walk_stop(walk, UNWIND_NO_MEMORY);
	return true;
}

static bool step_long(struct walk *walk, const struct unwind_long_rule *rule)
{
	uint64_t cfa = 0, fp = 0, ra = 0;
	if (!evaluate(walk, &rule->cfa, 0, NULL, &cfa) || !may_move(walk, cfa, true))
		return false;
	const struct arch *arch = walk->place.table->arch;
	if (arch->links && !walk_link(walk, arch, &ra) && rule->ra.how == UNWIND_HOW_SAME)
		return walk_stop(walk, UNWIND_BAD_RULE);
	if (!evaluate(walk, &rule->ra, ra, &cfa, &ra))
		return false;
	/* As for short rules: a slot below the stack pointer was given back already. */
	bool restored = rule->fp.how == UNWIND_HOW_AT_CFA &&
			cfa + (uint64_t)(int64_t)rule->fp.value < walk->registers.sp;
	fp = walk->registers.fp;
	if (!restored && !evaluate(walk, &rule->fp, fp, &cfa, &fp))
		return false;
	if (arch->links)
		walk->registers.known = 0;
	return step_to(walk, cfa, fp, ra & arch->address_mask);
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
	case UNWIND_CFA_GO_LEFT:
		walk->go = 0;
		*ret_cfa = registers->sp + (uint64_t)(int64_t)rule->cfa_offset;
		return may_move(walk, *ret_cfa, false);
	case UNWIND_CFA_AT_SP:
	case UNWIND_CFA_AT_FP:
		if (kind == UNWIND_CFA_AT_FP && walk->frame_pointer_steps && !offset) {
			*ret_cfa = registers->fp + (uint64_t)(int64_t)(rule->cfa_offset >> 16);
			return may_move(walk, *ret_cfa, true);
		}
		value = kind == UNWIND_CFA_AT_SP ? registers->sp : registers->fp;
		if (!read_word(walk, value + offset, &value))
			return walk_stop(walk, UNWIND_NO_MEMORY);
		*ret_cfa = value + (uint64_t)(int64_t)(rule->cfa_offset >> 16);
		return may_move(walk, *ret_cfa, true);
	default:
		if (!expression_register(walk->place.table->arch, registers, kind - UNWIND_CFA_REGISTER, &value))
			return walk_stop(walk, UNWIND_BAD_RULE);
		*ret_cfa = value + (uint64_t)(int64_t)rule->cfa_offset;
		if (!may_move(walk, *ret_cfa, true))
			return false;
		note_stack(walk, *ret_cfa, SAME_STACK_MAX);
		return true;
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
		return walk_stop(walk, UNWIND_NO_MEMORY);
	return true;
}

/*
 * The CFA where calls leave the return address in a register. A step by frame pointers does not show the stack pointer
 * of functions that keep the pair of frame pointer and return address below their variables, but it leads to that pair.
 */
static bool linked_cfa(struct walk *walk, const struct unwind_rule *rule, uint64_t *ret_cfa)
{
	const struct unwind_registers *registers = &walk->registers;
	uint8_t kind = rule->cfa & UNWIND_CFA_KIND;
	if (kind != UNWIND_CFA_SP && kind != UNWIND_CFA_FP)
		return rare_cfa(walk, rule, kind, ret_cfa);
	if (kind == UNWIND_CFA_SP && rule->fp == UNWIND_FP_PAIR && walk->frame_pointer_steps)
		*ret_cfa = registers->fp - (uint64_t)(int64_t)rule->fp_offset;
	else
		*ret_cfa = (kind == UNWIND_CFA_SP ? registers->sp : registers->fp) +
			   (uint64_t)(int64_t)rule->cfa_offset;
	/* A function that has not used its stack yet does not move the stack pointer. */
	return may_move(walk, *ret_cfa, rule->fp == UNWIND_FP_LINK);
}

/* The rules of such machines. What callees save is not followed there. */
static __attribute__((noinline)) bool step_linked(struct walk *walk, const struct unwind_rule *rule)
{
	const struct arch *arch = walk->place.table->arch;
	uint64_t cfa, fp = walk->registers.fp, ra;
	if (!linked_cfa(walk, rule, &cfa))
		return false;
	uint64_t slot = cfa + (uint64_t)(int64_t)rule->fp_offset;
	if (rule->fp == UNWIND_FP_LINK) {
		if (!walk_link(walk, arch, &ra))
			return walk_stop(walk, UNWIND_BAD_RULE);
	} else if ((rule->fp == UNWIND_FP_PAIR && !unwind_read(walk->space, slot, &fp)) ||
		   !unwind_read(walk->space, rule->fp == UNWIND_FP_PAIR ? slot + 8 : slot, &ra)) {
		return walk_stop(walk, UNWIND_NO_MEMORY);
	}
	walk->registers.known = 0;
	return step_to(walk, cfa, fp, ra & arch->address_mask);
}

static bool step_by_rule(struct walk *walk, const struct unwind_rule *rule)
{
	const struct unwind_table *table = walk->place.table;
	uint8_t kind = rule->cfa & UNWIND_CFA_KIND;
	uint64_t cfa, fp, ra;
	if (rule->fp >= UNWIND_FP_LINK)
		return step_linked(walk, rule);
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
		return walk_stop(walk, UNWIND_COMPLETE);
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
		return walk_stop(walk, UNWIND_NO_MEMORY);
	if (!find_fp(walk, rule, cfa, &fp))
		return false;
	return step_to(walk, cfa, fp, ra);
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
		return walk_stop(walk, UNWIND_COMPLETE);
	if (walk->registers.ip == 0 || !find_place(walk))
		return walk_stop(walk, walk->frame_pointer_steps ? UNWIND_NO_TABLE : UNWIND_NO_CODE);
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
		    bool *exact, size_t max, enum unwind_end *ret_end)
{
	struct walk walk = {.space = space, .registers = *registers, .exact = true, .end = UNWIND_NO_CODE};
	if (registers->known >> GO_REGISTER & 1)
		walk.go = registers->other[GO_REGISTER];
	size_t count = 0;
	bool more = find_place(&walk);
	do {
		if (count == max) {
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
