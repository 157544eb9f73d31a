/* Call chains from the processor's record of branches, when it kept calls that did not return yet (LBR call stacks). */
#ifndef WICK_EVENT_BRANCHES_H
#define WICK_EVENT_BRANCHES_H

#include "event/event.h"

/* How many entries branches_chain() may fill. */
size_t branches_chain_max(const struct event_sample *sample);
/*
 * The kernel's part of the sample's chain, then the user's part by its branches, with markers as in any chain. Entries
 * are as return addresses are: the one behind the first byte of the call. Returns their number.
 */
size_t branches_chain(const struct event_sample *sample, uint64_t *chain);

#endif
