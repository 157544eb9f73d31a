/*
 * Names of one profile for those of another that mean the same functions: text of other tools, or of --names short, has
 * no parameters where others have them.
 */
#ifndef WICK_PROFILE_RECONCILE_H
#define WICK_PROFILE_RECONCILE_H

#include "profile/profile.h"

/*
 * Renames functions of `run` that `known` does not have: where exactly one function of one is what a name of the other
 * becomes without parameters, or without template arguments too, it is that function.
 */
void reconcile_names(const struct profile *known, struct profile *run);

/* Takes PIDs out of the names of JIT code, as other tools write them: [perf-12.map]. */
void reconcile_jit(struct profile *run);

#endif
