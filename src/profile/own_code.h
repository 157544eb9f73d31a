/*
 * What a table shows of a wait: its kind, and the function of the program's own code that waits. Innermost frames of
 * waits are the same few functions of the kernel and the C library for all programs.
 */
#ifndef WICK_PROFILE_OWN_CODE_H
#define WICK_PROFILE_OWN_CODE_H

#include "profile/profile.h"

/* "sleeping", "lock", …: what a view wrote as the outermost frame; NULL: the stack is none of a time. */
const char *own_code_wait(const struct profile *profile, stack_id stack);

/*
 * The part of a stack up to the innermost function that is neither the kernel's nor of a system library; where there is
 * none, up to the outermost function of a library other than the C library, else up to what called the kernel. Of a
 * Python program these are functions in Python: its interpreter and the standard library are libraries. Time spent
 * running stays where it was spent.
 */
stack_id own_code_stack(const struct profile *profile, stack_id stack);

/* Cuts the stacks of all such samples there, and puts the kind of the wait before the name of the function. */
void own_code_apply(struct profile *profile, value_id value);
/* True when the value type is one of times whose stacks have kinds. */
bool own_code_applies(const struct profile *profile, value_id value);

#endif
