/*
 * What the kernel dropped of mappings and tasks is read again from /proc: the processes that are recorded and run now,
 * their names and mappings, as far as the records said otherwise. It is given to the sinks as records of the time of
 * the loss, so that samples from then on have names. What came and went meanwhile stays unknown.
 *
 * A stage before the sink of a recording: it passes everything on and remembers who lives. Its work is bounded: a small
 * share of the time, and little at once.
 */
#ifndef WICK_CAPTURE_RECOVER_H
#define WICK_CAPTURE_RECOVER_H

#include "base/id_map.h"
#include "capture/events.h"
#include "capture/find.h"
#include "event/tee.h"

struct recover_options {
	bool everybody; /* all processes are recorded; else those of the records */
	bool children; /* of whom is recorded are recorded too */
	const struct capture_events *events; /* that take the samples */
};

/* A thread as the records report it. */
struct recover_thread {
	int32_t pid, tid;
	uint64_t comm; /* hash of its name */
	uint64_t maps; /* of the first thread of a process: sum of the hashes of its mappings */
	uint64_t tried; /* when it was last looked for, though no record has it */
	bool gone;
};

struct recover {
	struct recover_options options;
	struct event_sink next;
	struct event_tee round_tee, sample_tee;
	struct event_sink in_round, in_sample; /* get what was read */
	struct recover_thread *threads;
	size_t count, capacity, gone;
	struct id_map index; /* of the threads */
	uint64_t latest; /* time of the records so far */
	bool lossy; /* something was dropped */
	bool ended; /* what is reported from now on is too late to be read again */
	bool pending; /* and not all was read since */
	uint64_t round; /* the last one */
	bool repeat; /* all is read once more in this round: */
	uint64_t repeat_round;
	bool repeats; /* this is what is done next */
	struct pid_list list; /* of processes that are being read; [at…count) are left */
	size_t at;
	uint64_t cost, not_before; /* nanoseconds; when the next look at all processes may begin */
	uint64_t unknown_until; /* so long at most `unknown_left` processes are read because a sample is of them */
	unsigned unknown_left;
};

/* The sink to give records to instead of `next`. The struct must stay where it is. */
struct event_sink recover_init(struct recover *recover, const struct recover_options *options,
			       const struct event_sink *next);
void recover_release(struct recover *recover);
/*
 * Where what was read goes: `early` listens of it at once (may be empty), `front` is the first stage that records pass,
 * and ends at the sink of recover_init(). Without this call that sink gets it.
 */
void recover_connect(struct recover *recover, const struct event_sink *early, const struct event_sink *front);

/*
 * After each round of the rings, with its number, if something was dropped. At the end of a recording, when
 * all records have been delivered, `last` does it without delay.
 */
int recover_round(struct recover *recover, uint64_t round, bool last);

#endif
