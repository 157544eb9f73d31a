/* Reads a function's name from left to right and follows its brackets, as demanglers write them. */
#ifndef WICK_PROFILE_BRACKETS_H
#define WICK_PROFILE_BRACKETS_H

#include <stdbool.h>
#include <stddef.h>

#define BRACKETS_MAX 128

struct brackets {
	char open[BRACKETS_MAX]; /* what is open, outermost first */
	size_t at[BRACKETS_MAX]; /* and where */
	unsigned depth;
	bool too_deep; /* more was open at once than fits: nothing is known from there on */
};

/*
 * Takes what stands at `at` (< length): a bracket, another character, or "operator" with its symbol, which is no
 * bracket. Returns where to continue.
 */
size_t brackets_step(struct brackets *brackets, const char *name, size_t length, size_t at);

#endif
