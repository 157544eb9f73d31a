/* Continues a stack on another stack, of which there is no copy, by the call chain of the kernel. */
#include "unwind/expression.h"
#include "unwind/table.h"

/* Bytes of a function; and of one that only jumps to another one, as wrappers of Go do. */
enum { CALLEE_MAX = 1 << 16, WRAPPER_MAX = 32, JUMP = 0xe9, JUMP_BYTES = 5 };

/*
 * Follows the frame pointers through the copy. The kernel followed the same ones, so that each of them is one address
 * of the chain. *ret_next is the first one that it read elsewhere. False if that is not the word at `missing`.
 */
static bool leave_copy(const struct unwind_space *space, uint64_t fp, uint64_t missing, const uint64_t *chain,
		       size_t count, size_t *ret_next)
{
	uint64_t caller_fp, ra;
	size_t at = 1; /* behind the ip */
	for (; at < count && unwind_read(space, fp, &caller_fp) && unwind_read(space, fp + 8, &ra); at++) {
		if (ra != chain[at])
			return false;
		fp = caller_fp;
	}
	*ret_next = at;
	return at < count && fp + 8 == missing;
}

/* Whether the code at a return address has its own frame pointer, next to the return address. */
static bool keeps_frame_pointer(const struct unwind_rule *rule)
{
	return rule->fp == UNWIND_FP_AT_CFA && rule->fp_offset == -16 && !(rule->cfa & UNWIND_CFA_INTERRUPTED);
}

/* Whether code that begins at `entry` may be the function with `address`, or jump to it. */
static bool leads_to(const struct unwind_space *space, uint64_t entry, uint64_t address)
{
	uint8_t code[WRAPPER_MAX];
	if (address - entry < CALLEE_MAX)
		return true;
	if (!space->read_code(space->context, entry, code, sizeof code))
		return false;
	for (size_t i = 0; i + JUMP_BYTES <= sizeof code; i++) {
		int32_t distance;
		memcpy(&distance, code + i + 1, sizeof distance);
		if (code[i] == JUMP && address - (entry + i + JUMP_BYTES + (uint64_t)(int64_t)distance) < CALLEE_MAX)
			return true;
	}
	return false;
}

/* Whether the call before `caller` may have led to the function with `callee`, both return addresses. */
static bool may_call(const struct unwind_space *space, const struct arch *arch, uint64_t caller, uint64_t callee)
{
	uint8_t bytes[ARCH_CALL_BYTES];
	int64_t distance = 0;
	if (!space->read_code || !space->read_code(space->context, caller - sizeof bytes, bytes, sizeof bytes))
		return false;
	enum arch_call call = arch->call_before(bytes, &distance);
	return call == ARCH_CALL_INDIRECT ||
	       (call == ARCH_CALL_DIRECT && leads_to(space, caller + (uint64_t)distance, callee - 1));
}

size_t unwind_continue(const struct unwind_space *space, const struct unwind_registers *registers, uint64_t missing,
		       const uint64_t *chain, size_t count, size_t *ret_first)
{
	size_t first;
	if (registers->kind != ARCH_X86_64 || !leave_copy(space, registers->fp, missing, chain, count, &first))
		return 0;
	*ret_first = first;
	for (size_t i = first; i < count; i++) {
		struct unwind_place place = space->find(space->context, chain[i] - 1);
		if (!place.table || place.table->arch->kind != registers->kind)
			return 0;
		uint32_t number = unwind_rows_find(&place.table->rows, chain[i] - 1 - place.bias);
		const struct unwind_rule *rule = &place.table->rules[number];
		if ((rule->cfa & UNWIND_CFA_KIND) == UNWIND_CFA_STOP)
			return i + 1 - first;
		if (!keeps_frame_pointer(rule) ||
		    (i > first && !may_call(space, place.table->arch, chain[i], chain[i - 1])))
			return 0;
	}
	return 0;
}
