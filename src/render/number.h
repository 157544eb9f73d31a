/* Numbers in pictures: what printf("%.1f") would write, without its cost. */
#ifndef WICK_RENDER_NUMBER_H
#define WICK_RENDER_NUMBER_H

#include "base/buf.h"

#include <stdint.h>

/*
 * `value` times 10^digits (0 to 3) as an integer, rounded as printf rounds: to the nearest, and a value that lies
 * exactly in the middle to the even neighbour. What does not fit is held at the limit.
 */
int64_t number_scaled(double value, unsigned digits);

/*
 * These write to `to`, which has room for NUMBER_ROOM bytes, and return the end of what they wrote. No NUL follows.
 */
#define NUMBER_ROOM 32
/* scaled / 10^digits with all its digits: (125, 1) → "12.5", (120, 1) → "12.0". */
char *number_fixed(char *to, int64_t scaled, unsigned digits);
/* Up to three digits behind the point, none of them a zero at the end. */
char *number_short(char *to, double value);
/* 1234567 → "1,234,567" */
char *number_grouped(char *to, int64_t value);
char *number_integer(char *to, int64_t value);

/* The shortest of "%.15g": whole numbers have no point. For the few numbers outside of loops. */
void number_plain(struct buf *out, double value);

#endif
