/*
 * Containers that are recorded by what they are called, also those that start later: the whole system is recorded, and
 * only samples in their cgroups are kept.
 */
#ifndef WICK_RECORDER_FOLLOWED_H
#define WICK_RECORDER_FOLLOWED_H

#include "capture/cgroups.h"

#include <stdbool.h>

struct followed;

/* `wish` and `root` as for containers_fits() and containers_list(); they must stay. */
struct followed *followed_new(const char *wish, const char *root);
/* NULL is allowed. */
void followed_free(struct followed *followed);
/*
 * Looks for containers, at most every fifth of a second. Samples are delivered later than they are taken, and a
 * container may have ended by then.
 */
void followed_look(struct followed *followed);
/* Whether samples with this cgroup are kept. */
bool followed_wants(struct followed *followed, struct cgroups *cgroups, uint64_t id);
/* Samples that were not kept, though they may be of such a container: their cgroup was removed too soon. */
uint64_t followed_unknown(const struct followed *followed);

#endif
