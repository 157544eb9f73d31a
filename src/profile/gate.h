/*
 * Thresholds on a comparison, for `wick diff --fail-if`:
 *
 *	total>3%	the total weight grew by more than 3 % of what it was
 *	func:NAME>2%	the weight of NAME with its callees grew by more than 2 % of the total before
 *	self:NAME>2%	the weight of NAME itself did
 *	func:*>2%	that of any function did; the one that grew most is named
 *
 * NAME may hold any character: the last '>' ends it.
 */
#ifndef WICK_PROFILE_GATE_H
#define WICK_PROFILE_GATE_H

#include "profile/diff.h"

enum gate_kind { GATE_TOTAL, GATE_FUNCTION, GATE_SELF };

struct gate {
	const char *text; /* as it was typed; not owned */
	enum gate_kind kind;
	const char *name; /* into text; not NUL-terminated; NULL for GATE_TOTAL */
	size_t name_length;
	double limit; /* percent */

	/* Filled by gate_check(). */
	bool found; /* the name stands in one of the profiles */
	const struct diff_row *row; /* NULL for GATE_TOTAL and when it was not found */
	struct diff_change change;
	double growth; /* percent; 0 when the name was not found */
	bool exceeded;
	bool sure; /* the change is more than chance */
	bool failed;
};

/* Fails with ERR_USAGE, saying what is wrong. `text` must outlive the gate. */
int gate_parse(struct gate *gate, const char *text, struct err *err);
/* `noise_fails`: exceeding the limit is enough, also by chance. */
void gate_check(struct gate *gate, const struct diff *diff, bool noise_fails);
/* A label that contains the name, for "did you mean", or NULL. */
const char *gate_suggest(const struct gate *gate, const struct diff *diff);

#endif
