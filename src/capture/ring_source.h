/*
 * The perf rings as a source: mappings and tasks of every recording, and the samples of the events that the BPF engine
 * does not take. Where the rings have all samples, these are chosen (capture/members.h) and completed
 * (capture/tails.h) on their way.
 */
#ifndef WICK_CAPTURE_RING_SOURCE_H
#define WICK_CAPTURE_RING_SOURCE_H

#include "capture/members.h"
#include "capture/pythons.h"
#include "capture/rings.h"
#include "capture/tails.h"
#include "event/source.h"

struct ring_source_options {
	struct rings_options rings;
	bool all_samples; /* there is no engine */
	bool by_members; /* events are opened on CPUs, and members decide whose samples count */
	bool children; /* of members are members */
	bool complete; /* stacks that are larger than their copies */
	bool python; /* with it: frames of interpreters are read */
};

struct ring_source {
	struct ring_source_options options;
	struct rings *rings;
	struct members members;
	struct tails tails;
	struct pythons pythons;
};

/* Opens all events, disabled. The struct must stay where it is. ERR_SYSTEM and a message when the kernel refuses. */
int ring_source_open(struct ring_source *ring, const struct ring_source_options *options, struct err *err);
struct source ring_source(struct ring_source *ring);
/* If stacks are being read from memory: milliseconds until the next round should be; 0: there is no hurry. */
unsigned ring_source_hurry(const struct ring_source *ring, uint64_t time);
/* The functions of an interpreter that a thread waits in, as words of event_sample.interpreted. */
size_t ring_source_interpreted(struct ring_source *ring, int32_t pid, int32_t tid, uint64_t *words, size_t max);

#endif
