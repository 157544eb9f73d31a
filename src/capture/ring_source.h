/*
 * The perf rings as a source: mappings and tasks of every recording, and the samples of the events that the BPF engine
 * does not take. Where the rings have all samples, these are chosen (capture/members.h) and completed
 * (capture/tails.h) on their way.
 */
#ifndef WICK_CAPTURE_RING_SOURCE_H
#define WICK_CAPTURE_RING_SOURCE_H

#include "capture/members.h"
#include "capture/rings.h"
#include "capture/tails.h"
#include "event/source.h"

struct ring_source_options {
	struct rings_options rings;
	bool all_samples; /* there is no engine */
	bool by_members; /* events are opened on CPUs, and members decide whose samples count */
	bool children; /* of members are members */
	bool complete; /* stacks that are larger than their copies */
};

struct ring_source {
	struct ring_source_options options;
	struct rings *rings;
	struct members members;
	struct tails tails;
};

/* Opens all events, disabled. The struct must stay where it is. ERR_SYSTEM and a message when the kernel refuses. */
int ring_source_open(struct ring_source *ring, const struct ring_source_options *options, struct err *err);
struct source ring_source(struct ring_source *ring);
/* Stacks are being read from memory: the next round should be soon. */
bool ring_source_hurries(const struct ring_source *ring, uint64_t time);

#endif
