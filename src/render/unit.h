/* Amounts of time and memory as people read them: 300.10 ms, 1.25 MiB. */
#ifndef WICK_RENDER_UNIT_H
#define WICK_RENDER_UNIT_H

#include "base/buf.h"

#include <stdbool.h>

struct unit_scale {
	const char *name; /* NULL: numbers of that unit are written as they are */
	double divisor;
	unsigned digits; /* behind the point */
};

/* One scale for numbers up to `largest`, so that they can be compared: all of a table in ms. */
struct unit_scale unit_scale(const char *unit, double largest);

/* The amount in the unit that fits it best, with two digits. False, and nothing written, where `unit` has no other. */
bool unit_amount(struct buf *out, const char *unit, double value);

/* How `amount` of a unit reads: of one "samples" it is "sample". */
const char *unit_noun(const char *unit, double amount);

#endif
