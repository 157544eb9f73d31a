/*
 * Threads that wait already when a recording begins. No switch reports where, so their stacks are read from /proc: the
 * kernel's part (which only root may see) and, where they wait in a system call, registers and memory of user space.
 * Nobody is stopped for it: what is reported of a thread that ran meanwhile would be wrong, so it is dropped.
 */
#ifndef WICK_RECORDER_SLEEPERS_H
#define WICK_RECORDER_SLEEPERS_H

#include "capture/cgroups.h"
#include "event/event.h"

#include <stddef.h>

struct sleepers;

/* Right before the recording begins: which threads these processes have, and how often each has run. NULL: all. */
struct sleepers *sleepers_note(const int32_t *pids, size_t count);
void sleepers_free(struct sleepers *sleepers);

/* Right after, where they are known: all registers of a thread, as engine_registers() gives them. */
void sleepers_registers(void *sleepers, int32_t tid, const uint64_t *values);

/*
 * And how to read the functions of an interpreter that a thread waits in, as engine_interpreted() does: words of
 * `interpreted` of struct event_sample.
 */
typedef size_t sleepers_read(void *context, int32_t pid, int32_t tid, uint64_t *words, size_t max);
void sleepers_set_interpreter(struct sleepers *sleepers, sleepers_read *read, void *context);

/*
 * And then: gives those that have not run since to `asleep` of the sink, with at most `stack_bytes` of their stack
 * and with `kernel` the kernel's part. Returns as the sink.
 */
int sleepers_emit(struct sleepers *sleepers, uint32_t stack_bytes, bool kernel, struct cgroups *cgroups,
		  const struct event_sink *sink);

#endif
