/*
 * The outer part of stacks that are larger than their copies. A copy also ends at the first page that is not resident,
 * such as one that a large frame has not used yet. As soon as such a sample is seen, the memory above its copy is read
 * from the process, which runs on meanwhile: outer frames stay for long. What was read is used only if it begins with
 * the same bytes as the copy ends with, since then nobody has returned from there. The frames of interpreters are read
 * first, because they change sooner (capture/pythons.h).
 */
#ifndef WICK_CAPTURE_TAILS_H
#define WICK_CAPTURE_TAILS_H

#include "collect/stack_needs.h"
#include "event/event.h"

struct members;
struct pythons;

struct tail {
	uint64_t time; /* of its sample, with tid */
	int32_t tid;
	uint8_t *bytes;
	size_t size;
	uint64_t *words; /* of event_sample.interpreted */
	size_t word_count;
};

/* Where the stack of a thread ends: a copy up to there lacks nothing. */
struct stack_limit {
	int32_t tid;
	uint64_t end;
};
#define STACK_LIMITS_LOG2 8

struct tails {
	struct stack_needs *needs;
	struct members *members; /* only their stacks are of interest; NULL: all */
	struct tail *items; /* by time of reading: items[head…count) wait for their samples */
	size_t head, count, capacity;
	size_t held; /* bytes */
	uint8_t *room;
	struct stack_limit limits[1 << STACK_LIMITS_LOG2]; /* by a hash of the thread: the last ones that were found */
	uint64_t last; /* when one was read, by CLOCK_MONOTONIC, or reading began */
	uint64_t changed; /* stacks that had changed when they were read */
	struct pythons *pythons; /* set by the owner: read the frames of interpreters; NULL: nobody does */
	bool denied; /* the kernel lets this user not read the memory of the target */
};

void tails_init(struct tails *tails, struct stack_needs *needs, struct members *members);
void tails_release(struct tails *tails);
/* A sink for new records, samples too, before it is their turn. */
struct event_sink tails_early(struct tails *tails);
/* Stacks are being read: their samples should be seen soon. */
bool tails_hurry(const struct tails *tails, uint64_t now);
/* In the order of time: completes a sample. What it points to is valid until the next call. */
struct event_sample tails_complete(struct tails *tails, const struct event_sample *sample);

#endif
