/* Applies instructions to what is known about registers and stack. */
#include "unwind/derive_state.h"

#include <string.h>

/* Larger frames are not believed. */
#define OFFSET_MAX ((int64_t)1 << 30)

static const struct derive_value unknown = {.kind = VALUE_UNKNOWN};

static bool is_same(struct derive_value left, struct derive_value right)
{
	return left.kind == right.kind && left.base == right.base && left.offset == right.offset;
}

static bool is_stack(struct derive_value value)
{
	return value.kind == VALUE_STACK;
}

/* An address of the stack whose distance from the CFA is known. */
static bool is_of_cfa(struct derive_value value)
{
	return value.kind == VALUE_STACK && value.base == 0;
}

static struct derive_value moved(struct derive_value value, int64_t by)
{
	if (value.kind != VALUE_STACK || by > OFFSET_MAX || by < -OFFSET_MAX)
		return unknown;
	value.offset += by;
	return value.offset > OFFSET_MAX || value.offset < -OFFSET_MAX ? unknown : value;
}

void derive_state_enter(struct derive_state *state, const struct arch *arch)
{
	memset(state, 0, sizeof *state);
	state->compared = REGISTER_NONE;
	state->registers[arch->dwarf_sp] = (struct derive_value){.kind = VALUE_STACK, .offset = arch->ra_slot};
	state->registers[arch->dwarf_fp] = (struct derive_value){.kind = VALUE_CALLER};
}

/* --- slots --- */

static void forget_slot(struct derive_state *state, size_t index)
{
	state->slots[index] = state->slots[--state->slot_count];
}

static const struct derive_slot *find_slot(const struct derive_state *state, struct derive_value at)
{
	for (size_t i = 0; is_stack(at) && i < state->slot_count; i++)
		if (state->slots[i].base == at.base && state->slots[i].offset == at.offset)
			return &state->slots[i];
	return NULL;
}

/* Whether so many bytes there are part of the word at `offset`. */
static bool overlaps(struct derive_value at, uint8_t bytes, int64_t offset)
{
	return at.offset + bytes > offset && at.offset < offset + 8;
}

static void store(struct derive_state *state, const struct arch *arch, struct derive_value at, uint8_t bytes,
		  struct derive_value value)
{
	if (!is_stack(at))
		return;
	if (at.base == 0 && overlaps(at, bytes, arch->ra_slot))
		state->moved_return = true;
	for (size_t i = state->slot_count; i-- > 0;)
		if (state->slots[i].base == at.base && overlaps(at, bytes, state->slots[i].offset))
			forget_slot(state, i);
	if ((value.kind == VALUE_CALLER || is_of_cfa(value)) && state->slot_count < DERIVE_SLOTS_MAX)
		state->slots[state->slot_count++] = (struct derive_slot){at.base, at.offset, value};
}

static struct derive_value load(const struct derive_state *state, struct derive_value at)
{
	const struct derive_slot *slot = find_slot(state, at);
	return slot ? slot->value : unknown;
}

/* The stack pointer moves: what lies below it is no longer kept by anyone. */
static void set_sp(struct derive_state *state, const struct arch *arch, struct derive_value value)
{
	struct derive_value old = state->registers[arch->dwarf_sp];
	state->registers[arch->dwarf_sp] = value;
	if (!is_stack(value) || !is_stack(old) || (old.base == value.base && value.offset <= old.offset))
		return;
	for (size_t i = state->slot_count; i-- > 0;)
		if (state->slots[i].base == value.base && state->slots[i].offset < value.offset)
			forget_slot(state, i);
}

static void set_register(struct derive_state *state, const struct arch *arch, uint8_t number, struct derive_value value)
{
	if (number == arch->dwarf_sp)
		set_sp(state, arch, value);
	else if (number < REGISTERS)
		state->registers[number] = value;
}

static struct derive_value get_register(const struct derive_state *state, uint8_t number)
{
	return number < REGISTERS ? state->registers[number] : unknown;
}

/* --- instructions --- */

static void push(struct derive_state *state, const struct arch *arch, struct derive_value value)
{
	struct derive_value sp = moved(state->registers[arch->dwarf_sp], -8);
	state->registers[arch->dwarf_sp] = sp;
	store(state, arch, sp, 8, value);
}

static struct derive_value pop(struct derive_state *state, const struct arch *arch)
{
	struct derive_value sp = state->registers[arch->dwarf_sp], value = load(state, sp);
	set_sp(state, arch, moved(sp, 8));
	return value;
}

static void align(struct derive_state *state, const struct arch *arch, uint8_t number, uint8_t base)
{
	if (number != arch->dwarf_sp || !is_stack(state->registers[number]) || base == 0) {
		set_register(state, arch, number, unknown);
		return;
	}
	/* What an earlier round of a loop knew relative to it is void. */
	for (size_t i = 0; i < REGISTERS; i++)
		if (is_stack(state->registers[i]) && state->registers[i].base == base)
			state->registers[i] = unknown;
	for (size_t i = state->slot_count; i-- > 0;)
		if (state->slots[i].base == base)
			forget_slot(state, i);
	state->registers[number] = (struct derive_value){.kind = VALUE_STACK, .base = base};
}

static bool is_saved(const struct derive_state *state)
{
	for (size_t i = 0; i < state->slot_count; i++)
		if (state->slots[i].value.kind == VALUE_CALLER)
			return true;
	for (size_t i = 0; i < REGISTERS; i++)
		if (state->registers[i].kind == VALUE_CALLER)
			return true;
	return false;
}

static void clear(struct derive_state *state, const struct arch *arch, uint8_t number)
{
	bool had = number == arch->dwarf_fp && state->registers[number].kind == VALUE_CALLER;
	set_register(state, arch, number, unknown);
	if (had && !is_saved(state))
		state->outermost = true;
}

static void forget_registers(struct derive_state *state, uint32_t numbers)
{
	for (; numbers; numbers &= numbers - 1) {
		unsigned number = (unsigned)__builtin_ctz(numbers);
		if (number < REGISTERS)
			state->registers[number] = unknown;
	}
}

void derive_state_apply(struct derive_state *state, const struct arch *arch, const struct instruction *instruction,
			uint8_t base)
{
	struct derive_value from = get_register(state, instruction->base),
			    value = get_register(state, instruction->reg);
	struct derive_value at = moved(from, instruction->offset);
	state->compared = REGISTER_NONE;
	if (instruction->kind == INSTRUCTION_OTHER || instruction->kind >= INSTRUCTION_PUSH)
		forget_registers(state, instruction->writes);
	switch (instruction->kind) {
	case INSTRUCTION_ADD:
		set_register(state, arch, instruction->reg, instruction->offset == 0 ? from : at);
		break;
	case INSTRUCTION_ADDRESS:
		set_register(state, arch, instruction->reg,
			     (struct derive_value){.kind = VALUE_ADDRESS, .offset = (int64_t)instruction->target});
		break;
	case INSTRUCTION_ALIGN:
		align(state, arch, instruction->reg, base);
		break;
	case INSTRUCTION_CLEAR:
		clear(state, arch, instruction->reg);
		break;
	case INSTRUCTION_LOAD:
		set_register(state, arch, instruction->reg, load(state, at));
		break;
	case INSTRUCTION_STORE:
		store(state, arch, at, instruction->bytes, value);
		break;
	case INSTRUCTION_COMPARE:
		if (instruction->reg == arch->dwarf_sp || instruction->base == arch->dwarf_sp)
			state->compared = instruction->reg == arch->dwarf_sp ? instruction->base : instruction->reg;
		break;
	case INSTRUCTION_PUSH:
		push(state, arch, value);
		break;
	case INSTRUCTION_POP:
		value = pop(state, arch);
		set_register(state, arch, instruction->reg, value);
		break;
	case INSTRUCTION_ENTER:
		push(state, arch, state->registers[arch->dwarf_fp]);
		state->registers[arch->dwarf_fp] = state->registers[arch->dwarf_sp];
		set_sp(state, arch, moved(state->registers[arch->dwarf_sp], -instruction->offset));
		break;
	case INSTRUCTION_LEAVE:
		set_sp(state, arch, state->registers[arch->dwarf_fp]);
		value = pop(state, arch);
		set_register(state, arch, arch->dwarf_fp, value);
		break;
	default:
		break;
	}
}

void derive_state_call(struct derive_state *state, const struct arch *arch)
{
	uint32_t kept = arch->saved_mask | 1u << arch->dwarf_sp | 1u << arch->dwarf_fp;
	forget_registers(state, ~kept & ((1u << REGISTERS) - 1));
	state->compared = REGISTER_NONE;
}

/* --- where paths meet --- */

bool derive_state_merge(struct derive_state *state, const struct derive_state *other)
{
	bool changed = false;
	for (size_t i = 0; i < REGISTERS; i++) {
		if (state->registers[i].kind == VALUE_UNKNOWN || is_same(state->registers[i], other->registers[i]))
			continue;
		state->registers[i] = unknown;
		changed = true;
	}
	for (size_t i = state->slot_count; i-- > 0;) {
		const struct derive_slot *slot = &state->slots[i];
		const struct derive_slot *same = find_slot(
			other, (struct derive_value){.kind = VALUE_STACK, .base = slot->base, .offset = slot->offset});
		if (same && is_same(slot->value, same->value))
			continue;
		forget_slot(state, i);
		changed = true;
	}
	if (state->compared != other->compared && state->compared != REGISTER_NONE) {
		state->compared = REGISTER_NONE;
		changed = true;
	}
	if (other->moved_return && !state->moved_return) {
		state->moved_return = true;
		changed = true;
	}
	if (state->outermost && !other->outermost) {
		state->outermost = false;
		changed = true;
	}
	return changed;
}

bool derive_state_contradicts(const struct derive_state *state, const struct derive_state *other,
			      const struct arch *arch)
{
	struct derive_value left = state->registers[arch->dwarf_sp], right = other->registers[arch->dwarf_sp];
	return is_stack(left) && is_stack(right) && !is_same(left, right);
}

bool derive_state_is_balanced(const struct derive_state *state, const struct arch *arch, bool *ret_known)
{
	struct derive_value sp = state->registers[arch->dwarf_sp];
	*ret_known = is_stack(sp);
	return is_of_cfa(sp) && sp.offset == arch->ra_slot && !state->outermost;
}

/* --- rules --- */

static void set_rule(struct unwind_rule *rule, uint8_t kind, int64_t offset)
{
	rule->cfa = kind;
	rule->cfa_offset = (int32_t)offset;
}

/* The CFA is stored in a word whose distance from the stack pointer or the frame pointer is known. */
static bool find_stored_cfa(const struct derive_state *state, struct derive_value from, uint8_t kind,
			    struct unwind_rule *rule)
{
	for (size_t i = 0; is_stack(from) && i < state->slot_count; i++) {
		const struct derive_slot *slot = &state->slots[i];
		int64_t offset = slot->offset - from.offset, add = -slot->value.offset;
		if (slot->base != from.base || !is_of_cfa(slot->value) || offset != (int16_t)offset ||
		    add != (int16_t)add)
			continue;
		set_rule(rule, kind, (int32_t)((uint32_t)(uint16_t)offset | (uint32_t)add << 16));
		return true;
	}
	return false;
}

static bool find_cfa(const struct derive_state *state, const struct arch *arch, struct unwind_rule *rule)
{
	struct derive_value sp = state->registers[arch->dwarf_sp], fp = state->registers[arch->dwarf_fp];
	/* The frame pointer first: it is right even behind calls that take their arguments off the stack. */
	if (is_of_cfa(fp) && (fp.offset == 2 * arch->ra_slot || !is_of_cfa(sp))) {
		set_rule(rule, UNWIND_CFA_FP, -fp.offset);
		return true;
	}
	if (is_of_cfa(sp)) {
		set_rule(rule, UNWIND_CFA_SP, -sp.offset);
		return sp.offset < 0;
	}
	if (find_stored_cfa(state, fp, UNWIND_CFA_AT_FP, rule) || find_stored_cfa(state, sp, UNWIND_CFA_AT_SP, rule))
		return true;
	for (uint8_t i = 0; i < REGISTERS; i++)
		if (is_of_cfa(state->registers[i])) {
			set_rule(rule, UNWIND_CFA_REGISTER + i, -state->registers[i].offset);
			return true;
		}
	return false;
}

static bool find_fp(const struct derive_state *state, const struct arch *arch, struct unwind_rule *rule)
{
	struct derive_value fp = state->registers[arch->dwarf_fp];
	/* Where it is saved, even if the register still holds it: then the rule need not change later. */
	for (size_t i = 0; i < state->slot_count; i++) {
		const struct derive_slot *slot = &state->slots[i];
		bool by_fp = slot->base != 0 && is_stack(fp) && fp.base == slot->base;
		int64_t offset = slot->offset - (by_fp ? fp.offset : 0);
		if (slot->value.kind != VALUE_CALLER || (slot->base != 0 && !by_fp) || offset != (int16_t)offset)
			continue;
		rule->fp = by_fp ? UNWIND_FP_AT_FP : UNWIND_FP_AT_CFA;
		rule->fp_offset = (int16_t)offset;
		return true;
	}
	return fp.kind == VALUE_CALLER;
}

struct unwind_rule derive_state_rule(const struct derive_state *state, const struct arch *arch)
{
	struct unwind_rule rule = {.cfa = UNWIND_CFA_STOP};
	if (state->outermost)
		return rule;
	if (!state->moved_return && find_cfa(state, arch, &rule) && find_fp(state, arch, &rule))
		return rule;
	return (struct unwind_rule){.cfa = UNWIND_CFA_INVALID};
}
