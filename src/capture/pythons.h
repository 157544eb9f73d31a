/*
 * Python frames of the samples in the rings. The interpreters of processes are found by their mappings. As soon as a
 * sample of one is seen, the frames of its thread are read from the memory of the process, which runs on meanwhile.
 */
#ifndef WICK_CAPTURE_PYTHONS_H
#define WICK_CAPTURE_PYTHONS_H

#include "capture/target.h"
#include "event/event.h"
#include "module/module_code.h"
#include "runtime/python/live.h"

#define PYTHONS_WORDS_MAX 2048u

struct pythons {
	struct module_store *codes; /* NULL: interpreters are not looked for */
	struct python_live live;
	uint32_t generation;
	uint64_t last; /* when frames were read, by CLOCK_MONOTONIC; 0: never */
	int32_t allowed; /* the last process whose memory may be read; 0: none */
	int32_t denied; /* a process whose memory this user may not read; 0: none */
};

/* `codes` must stay; NULL: nothing is looked for. */
void pythons_init(struct pythons *pythons, struct module_store *codes);
void pythons_release(struct pythons *pythons);
/* Follows processes by their records. */
void pythons_take(struct pythons *pythons, const struct event *event);
/* Of a sample that has just come: fills words of event_sample.interpreted, and returns how many. */
size_t pythons_match(struct pythons *pythons, const struct event_sample *sample, uint64_t words[PYTHONS_WORDS_MAX]);
/* Of a thread that waits: see python_live_read(). */
size_t pythons_read(struct pythons *pythons, int32_t pid, int32_t tid, uint64_t *words, size_t max);

/* Whether a process of the target has files of Python mapped now. */
bool pythons_has_any(const struct target *target);

#endif
