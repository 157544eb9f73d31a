/* Binary search, as an expression. */
#ifndef WICK_BASE_BISECT_H
#define WICK_BASE_BISECT_H

#include <stddef.h>

/*
 * How many of the first elements satisfy `condition`, which is an expression of the index `i`. Of `count` elements,
 * those that satisfy it must come before those that do not. So the result is also the index of the first that does not.
 */
#define BISECT(count, i, condition)                                    \
	({                                                             \
		size_t i##_low = 0, i##_high = (count);                \
		while (i##_low < i##_high) {                           \
			size_t i = i##_low + (i##_high - i##_low) / 2; \
			if (condition)                                 \
				i##_low = i + 1;                       \
			else                                           \
				i##_high = i;                          \
		}                                                      \
		i##_low;                                               \
	})

#endif
