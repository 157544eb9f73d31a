/* The dictionaries of a table that is being built: states of call frame information become numbers of rules. */
#ifndef WICK_UNWIND_RULES_H
#define WICK_UNWIND_RULES_H

#include "base/buf.h"
#include "unwind/cfi.h"

enum { RULES_RECENT = 64 };

struct rules {
	const struct arch *arch;
	struct unwind_rule *rules;
	size_t count, capacity;
	struct index_map map;
	struct unwind_long_rule *long_rules;
	size_t long_count, long_capacity;
	struct index_map long_map;
	struct unwind_save *saves;
	size_t save_count, save_capacity;
	struct index_map save_map;
	struct buf expressions;
	struct index_map expression_map; /* index: into the starts of expressions */
	struct unwind_part *known_expressions;
	size_t known_count, known_capacity;
	uint32_t uses; /* bit n: some rule needs DWARF register n */
	struct {
		uint64_t bits;
		uint32_t number;
	} recent[RULES_RECENT]; /* by hash: most rules were just used */
};

void rules_init(struct rules *rules, const struct arch *arch);
void rules_release(struct rules *rules);
/* The number of a rule; UNWIND_RULE_INVALID when there is no room for more. */
uint32_t rules_number(struct rules *rules, struct unwind_rule rule);
/* The number of the rule that says the same as a state (NULL: a damaged one). */
uint32_t rules_of_state(struct rules *rules, const struct cfi_cie *cie, const struct cfi_state *state);
/* The number of the rule that says where a state keeps the callee-saved registers. */
uint32_t rules_of_saves(struct rules *rules, const struct cfi_state *state);

#endif
