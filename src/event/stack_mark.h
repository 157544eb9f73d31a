/* The mark of a call chain that is not whole. */
#ifndef WICK_EVENT_STACK_MARK_H
#define WICK_EVENT_STACK_MARK_H

#include "event/event.h"

#include <stdint.h>

/*
 * In a call chain of which a part is missing the word behind the outermost address is a mark: the reason, a number of
 * enum stack_end, above a base. The kernel lets nobody map anything so low, so that readers who do not know this see an
 * address outside all code, as everywhere where stacks end early. The numbers themselves would not do: where frame
 * pointers lead out of the stack, small numbers such as the count of arguments stand in the place of addresses.
 */
#define STACK_MARKS 0xe4d0u

static inline uint64_t stack_end_mark(enum stack_end end)
{
	return STACK_MARKS + end;
}

/* STACK_WHOLE when it is no mark. */
static inline enum stack_end stack_marked_end(uint64_t word)
{
	return word > STACK_MARKS && word < STACK_MARKS + STACK_ENDS ? (enum stack_end)(word - STACK_MARKS) :
								       STACK_WHOLE;
}

#endif
