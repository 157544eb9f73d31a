/*
 * A recording as it stands now, with names, while it continues. What was counted since the last look is taken from the
 * collector, and only addresses that are new are looked up.
 */
#ifndef WICK_COLLECT_LIVE_PROFILE_H
#define WICK_COLLECT_LIVE_PROFILE_H

#include "collect/collect.h"
#include "profile/view.h"
#include "symbolize/symbolize.h"

struct live;

/*
 * The collector must have been made with `followed` and outlive it. With a view the profile holds that, and no other
 * samples; NULL: all of them, as they are.
 */
struct live *live_new(struct collector *collector, const struct symbolize_options *options,
		      const struct profile_view *view);
void live_free(struct live *live);

/*
 * Takes what is new at `now`, nanoseconds of recording, and returns it: samples in ids of live_profile(), valid until
 * the next call. What is older than `keep` nanoseconds is forgotten by live_since().
 */
const struct sample_list *live_update(struct live *live, uint64_t now, uint64_t keep);
/* Everything since the beginning or the last live_reset(); its quality counts since the beginning. */
const struct profile *live_profile(const struct live *live);
/* Appends the samples that came after `time`, as far as they are remembered. */
void live_since(const struct live *live, uint64_t time, struct sample_list *samples);
/* Forgets all samples; names stay. */
void live_reset(struct live *live);

#endif
