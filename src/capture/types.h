/* What is requested from the kernel, so that the profile types of profile/types.h can be shown. */
#ifndef WICK_CAPTURE_TYPES_H
#define WICK_CAPTURE_TYPES_H

#include "capture/options.h"
#include "profile/types.h"
#include "system/limits.h"

/*
 * Completes the list of events: it holds those that were requested by name, which belong to a type that needs
 * TYPE_EACH_EVENT if there is one, and else replace the clock. Every event gets what is made of its samples.
 */
int capture_types_events(const struct capture_options *options, const struct capture_limits *limits, struct err *err);

/* Whether waits that began before the recording count. */
bool capture_types_count_unseen(const struct capture_options *options);

/* One line for each thing about waits that neither the events nor the engine can show. After the engine was chosen. */
void capture_types_note_missing(const struct capture_options *options);

#endif
