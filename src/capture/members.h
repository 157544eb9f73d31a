/*
 * Whose samples count in a recording by rings, where an event is opened on CPUs and not on threads: what bpf/members.h
 * does in the kernel. Members are processes, or threads where single threads are recorded. They are followed by the
 * records of forks and exits, which come in the order of time: a child is a member before its first sample.
 */
#ifndef WICK_CAPTURE_MEMBERS_H
#define WICK_CAPTURE_MEMBERS_H

#include "base/id_map.h"
#include "capture/events.h"
#include "capture/tails.h"
#include "capture/target.h"

struct member {
	int32_t id;
	int32_t threads; /* that are alive, or more where some ended before their end was recorded */
	bool ended; /* the first thread of the process */
	bool coming; /* its beginning was seen, and is delivered soon */
};

struct members {
	bool threads; /* members are threads */
	bool children; /* those of a member become members */
	int32_t awaited; /* a process that becomes a member when it executes a program; 0: none */
	const struct capture_events *events;
	struct tails *tails; /* completes samples; NULL: they are as they are */
	struct event_sink next;
	struct member *items;
	size_t count, capacity;
	size_t gone; /* items that are no members any more, or not yet */
	struct id_map index; /* of the items */
};

/*
 * Begins with what is in the target now, but for its command. `events` must stay: the samples of those that are opened
 * on CPUs are taken from members only.
 */
void members_init(struct members *members, const struct target *target, const struct capture_events *events,
		  bool children);
void members_release(struct members *members);
void members_add(struct members *members, int32_t id);
bool members_has(const struct members *members, int32_t pid, int32_t tid);
/* A fork that was seen before its turn; and whether somebody is a member already, or will be when it is delivered. */
void members_expect(struct members *members, const struct event_task *task);
bool members_expects(const struct members *members, int32_t pid, int32_t tid);

/* A sink for records in the order of time, of which `next` gets all but the samples of others. Both must stay. */
struct event_sink members_sink(struct members *members, const struct event_sink *next);

#endif
