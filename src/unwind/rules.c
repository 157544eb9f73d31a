/* Numbers the distinct rules of a table. */
#include "unwind/rules.h"

#include "base/hash.h"
#include "unwind/expression.h"

/* Longer expressions are not written by anyone; they could only swell the table. */
enum { EXPRESSION_MAX = 1024 };

void rules_init(struct rules *rules, const struct arch *arch)
{
	*rules = (struct rules){.arch = arch};
	rules_number(rules, (struct unwind_rule){.cfa = UNWIND_CFA_INVALID});
	rules_number(rules, (struct unwind_rule){.cfa = UNWIND_CFA_STOP});
	rules_of_saves(rules, NULL); /* number 0: where nothing is known */
}

void rules_release(struct rules *rules)
{
	free(rules->rules);
	free(rules->long_rules);
	free(rules->saves);
	free(rules->known_expressions);
	buf_release(&rules->expressions);
	index_map_release(&rules->map);
	index_map_release(&rules->long_map);
	index_map_release(&rules->save_map);
	index_map_release(&rules->expression_map);
}

static uint64_t rule_bits(struct unwind_rule rule)
{
	uint64_t bits;
	memcpy(&bits, &rule, sizeof bits);
	return bits;
}

uint32_t rules_number(struct rules *rules, struct unwind_rule rule)
{
	uint64_t bits = rule_bits(rule), hash = hash_u64(bits);
	unsigned slot = hash % RULES_RECENT;
	if (rules->recent[slot].bits == bits && rules->count)
		return rules->recent[slot].number;
	struct index_probe probe;
	uint32_t number;
	for (number = index_map_first(&rules->map, hash, &probe); number != INDEX_NONE;
	     number = index_map_next(&rules->map, &probe))
		if (rule_bits(rules->rules[number]) == bits)
			break;
	if (number == INDEX_NONE) {
		if (rules->count == UNWIND_RULES_MAX)
			return UNWIND_RULE_INVALID;
		number = (uint32_t)rules->count;
		MEM_ROOM(rules->rules, rules->count, rules->capacity);
		rules->rules[rules->count++] = rule;
		index_map_insert(&rules->map, hash, number);
	}
	rules->recent[slot].bits = bits;
	rules->recent[slot].number = number;
	return number;
}

/* --- long rules --- */

static const uint8_t *expression_bytes(const struct cfi_cie *cie, const struct cfi_rule *rule)
{
	return cie->section->data + rule->value;
}

/* Copies the expression, once for all rules that have it. */
static bool keep_expression(struct rules *rules, const uint8_t *bytes, uint32_t size, struct unwind_part *part)
{
	if (size == 0 || size > EXPRESSION_MAX || rules->expressions.size > INT32_MAX - EXPRESSION_MAX)
		return false;
	uint64_t hash = hash_bytes((const char *)bytes, size);
	struct index_probe probe;
	uint32_t i;
	for (i = index_map_first(&rules->expression_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&rules->expression_map, &probe)) {
		const struct unwind_part *known = &rules->known_expressions[i];
		if (known->length == size && memcmp(rules->expressions.data + known->value, bytes, size) == 0)
			break;
	}
	if (i == INDEX_NONE) {
		i = (uint32_t)rules->known_count;
		MEM_ROOM(rules->known_expressions, rules->known_count, rules->known_capacity);
		rules->known_expressions[rules->known_count++] =
			(struct unwind_part){.length = (uint16_t)size, .value = (int32_t)rules->expressions.size};
		buf_add(&rules->expressions, bytes, size);
		index_map_insert(&rules->expression_map, hash, i);
		rules->uses |= expression_registers(bytes, size);
	}
	part->length = rules->known_expressions[i].length;
	part->value = rules->known_expressions[i].value;
	return true;
}

static bool make_part(struct rules *rules, const struct cfi_cie *cie, const struct cfi_rule *rule,
		      struct unwind_part *part)
{
	*part = (struct unwind_part){.how = rule->how};
	if (rule->how == UNWIND_HOW_AT_EXPRESSION || rule->how == UNWIND_HOW_EXPRESSION)
		return keep_expression(rules, expression_bytes(cie, rule), rule->size, part);
	part->dwarf_register = rule->dwarf_register;
	part->value = (int32_t)rule->value;
	if (rule->how == UNWIND_HOW_REGISTER && rule->dwarf_register < 32)
		rules->uses |= 1u << rule->dwarf_register;
	return rule->value == part->value;
}

static uint32_t number_of_long(struct rules *rules, const struct cfi_cie *cie, const struct cfi_state *state)
{
	struct unwind_long_rule rule;
	if (!make_part(rules, cie, &state->cfa, &rule.cfa) ||
	    !make_part(rules, cie, &state->columns[COLUMN_FP], &rule.fp) ||
	    !make_part(rules, cie, &state->columns[COLUMN_RA], &rule.ra))
		return UNWIND_RULE_INVALID;
	uint64_t hash = hash_bytes((const char *)&rule, sizeof rule);
	struct index_probe probe;
	uint32_t i;
	for (i = index_map_first(&rules->long_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&rules->long_map, &probe))
		if (memcmp(&rules->long_rules[i], &rule, sizeof rule) == 0)
			break;
	if (i == INDEX_NONE) {
		if (rules->long_count == UNWIND_RULES_MAX)
			return UNWIND_RULE_INVALID;
		i = (uint32_t)rules->long_count;
		MEM_ROOM(rules->long_rules, rules->long_count, rules->long_capacity);
		rules->long_rules[rules->long_count++] = rule;
		index_map_insert(&rules->long_map, hash, i);
	}
	uint8_t interrupted = cie->interrupted ? UNWIND_CFA_INTERRUPTED : 0;
	return rules_number(rules,
			    (struct unwind_rule){.cfa = UNWIND_CFA_LONG | interrupted, .cfa_offset = (int32_t)i});
}

/* --- short rules --- */

static bool set_cfa_register(struct rules *rules, uint8_t dwarf_register, int64_t offset, struct unwind_rule *rule)
{
	rule->cfa_offset = (int32_t)offset;
	if (dwarf_register == rules->arch->dwarf_sp)
		rule->cfa = UNWIND_CFA_SP;
	else if (dwarf_register == rules->arch->dwarf_fp)
		rule->cfa = UNWIND_CFA_FP;
	else if (dwarf_register < rules->arch->registers)
		rule->cfa = UNWIND_CFA_REGISTER + dwarf_register;
	else
		return false;
	if (rule->cfa >= UNWIND_CFA_REGISTER)
		rules->uses |= 1u << dwarf_register;
	return rule->cfa_offset == offset;
}

static bool set_cfa_expression(struct rules *rules, const uint8_t *bytes, size_t size, struct unwind_rule *rule)
{
	struct expression_simple simple;
	uint8_t push;
	if (rules->arch->is_plt_expression(bytes, size, &push)) {
		rule->cfa = UNWIND_CFA_PLT;
		rule->cfa_offset = push;
		return true;
	}
	if (!expression_is_simple(bytes, size, &simple))
		return false;
	if (!simple.dereferenced)
		return set_cfa_register(rules, simple.dwarf_register, simple.offset, rule);
	if (simple.dwarf_register == rules->arch->dwarf_sp)
		rule->cfa = UNWIND_CFA_AT_SP;
	else if (simple.dwarf_register == rules->arch->dwarf_fp)
		rule->cfa = UNWIND_CFA_AT_FP;
	else
		return false;
	rule->cfa_offset = (int32_t)((uint32_t)(uint16_t)simple.offset | (uint32_t)simple.addend << 16);
	return simple.offset == (int16_t)simple.offset && simple.addend == (int16_t)simple.addend;
}

static bool set_cfa(struct rules *rules, const struct cfi_cie *cie, const struct cfi_rule *cfa,
		    struct unwind_rule *rule)
{
	if (cfa->how == UNWIND_HOW_REGISTER)
		return set_cfa_register(rules, cfa->dwarf_register, cfa->value, rule);
	return set_cfa_expression(rules, expression_bytes(cie, cfa), cfa->size, rule);
}

static bool set_fp(const struct rules *rules, const struct cfi_cie *cie, const struct cfi_rule *fp,
		   struct unwind_rule *rule)
{
	struct expression_simple simple;
	int64_t offset = 0;
	switch (fp->how) {
	case UNWIND_HOW_SAME:
	case UNWIND_HOW_UNDEFINED: /* nothing better is known */
		rule->fp = UNWIND_FP_SAME;
		break;
	case UNWIND_HOW_AT_CFA:
		rule->fp = UNWIND_FP_AT_CFA;
		offset = fp->value;
		break;
	case UNWIND_HOW_AT_EXPRESSION:
		if (!expression_is_simple(expression_bytes(cie, fp), fp->size, &simple) || simple.dereferenced ||
		    simple.dwarf_register != rules->arch->dwarf_fp)
			return false;
		rule->fp = UNWIND_FP_AT_FP;
		offset = simple.offset;
		break;
	default:
		return false;
	}
	rule->fp_offset = (int16_t)offset;
	return rule->fp_offset == offset;
}

/* True when the expression is sp + offset. */
static bool is_at_sp(const struct rules *rules, const struct cfi_cie *cie, const struct cfi_rule *rule, int64_t offset,
		     bool dereferenced)
{
	struct expression_simple simple;
	return expression_is_simple(expression_bytes(cie, rule), rule->size, &simple) &&
	       simple.dwarf_register == rules->arch->dwarf_sp && simple.offset == offset &&
	       simple.dereferenced == dereferenced && simple.addend == 0;
}

/* The kernel's frame, as C libraries describe it for the code that handlers return to. */
static bool is_signal_frame(const struct rules *rules, const struct cfi_cie *cie, const struct cfi_state *state)
{
	const struct cfi_rule *fp = &state->columns[COLUMN_FP], *ra = &state->columns[COLUMN_RA];
	return cie->interrupted && state->cfa.how == UNWIND_HOW_EXPRESSION && fp->how == UNWIND_HOW_AT_EXPRESSION &&
	       ra->how == UNWIND_HOW_AT_EXPRESSION && is_at_sp(rules, cie, &state->cfa, rules->arch->signal_sp, true) &&
	       is_at_sp(rules, cie, fp, rules->arch->signal_fp, false) &&
	       is_at_sp(rules, cie, ra, rules->arch->signal_ip, false);
}

/* Where calls leave the return address in a register. */
static bool set_linked(const struct cfi_state *state, struct unwind_rule *rule)
{
	const struct cfi_rule *fp = &state->columns[COLUMN_FP], *ra = &state->columns[COLUMN_RA];
	bool same = fp->how == UNWIND_HOW_SAME || fp->how == UNWIND_HOW_UNDEFINED;
	int64_t offset = 0;
	if (same && ra->how == UNWIND_HOW_SAME) {
		rule->fp = UNWIND_FP_LINK;
	} else if (same && ra->how == UNWIND_HOW_AT_CFA) {
		rule->fp = UNWIND_FP_LINK_AT_CFA;
		offset = ra->value;
	} else if (fp->how == UNWIND_HOW_AT_CFA && ra->how == UNWIND_HOW_AT_CFA && ra->value == fp->value + 8) {
		rule->fp = UNWIND_FP_PAIR;
		offset = fp->value;
	} else {
		return false;
	}
	rule->fp_offset = (int16_t)offset;
	return rule->fp_offset == offset;
}

uint32_t rules_of_state(struct rules *rules, const struct cfi_cie *cie, const struct cfi_state *state)
{
	struct unwind_rule rule = {0};
	if (!state || state->cfa.how == UNWIND_HOW_UNDEFINED)
		return UNWIND_RULE_INVALID;
	const struct cfi_rule *ra = &state->columns[COLUMN_RA];
	if (ra->how == UNWIND_HOW_UNDEFINED)
		return UNWIND_RULE_STOP;
	if (is_signal_frame(rules, cie, state))
		return rules_number(rules, (struct unwind_rule){.cfa = UNWIND_CFA_SIGNAL});
	bool links = rules->arch->links;
	if (!(links ? set_linked(state, &rule) : ra->how == UNWIND_HOW_AT_CFA && ra->value == rules->arch->ra_slot) ||
	    !set_cfa(rules, cie, &state->cfa, &rule) ||
	    !(links || set_fp(rules, cie, &state->columns[COLUMN_FP], &rule)))
		return number_of_long(rules, cie, state);
	/* Saved below the stack pointer means popped. Said here, a function ends with the rule the next begins with. */
	if (rule.cfa == UNWIND_CFA_SP && rule.fp == UNWIND_FP_AT_CFA && (int64_t)rule.cfa_offset + rule.fp_offset < 0) {
		rule.fp = UNWIND_FP_SAME;
		rule.fp_offset = 0;
	}
	if (cie->interrupted)
		rule.cfa |= UNWIND_CFA_INTERRUPTED;
	return rules_number(rules, rule);
}

/* --- saved registers --- */

uint32_t rules_of_saves(struct rules *rules, const struct cfi_state *state)
{
	struct unwind_save save = {0};
	for (size_t i = 0; i < SAVED_MAX; i++) {
		const struct cfi_rule *rule = state ? &state->columns[COLUMN_SAVED + i] : NULL;
		if (rule && rule->how == UNWIND_HOW_SAME)
			save.slot[i] = UNWIND_SAVE_SAME;
		else if (rule && rule->how == UNWIND_HOW_AT_CFA && rule->value > INT16_MIN && rule->value < INT16_MAX)
			save.slot[i] = (int16_t)rule->value;
		else
			save.slot[i] = UNWIND_SAVE_LOST;
	}
	uint64_t hash = hash_bytes((const char *)&save, sizeof save);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&rules->save_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&rules->save_map, &probe))
		if (memcmp(&rules->saves[i], &save, sizeof save) == 0)
			return i;
	if (rules->save_count == UNWIND_RULES_MAX)
		return UNWIND_RULE_INVALID;
	MEM_ROOM(rules->saves, rules->save_count, rules->save_capacity);
	rules->saves[rules->save_count] = save;
	index_map_insert(&rules->save_map, hash, (uint32_t)rules->save_count);
	return (uint32_t)rules->save_count++;
}
