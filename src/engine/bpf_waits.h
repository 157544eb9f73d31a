/*
 * Threads whose times are added up in the kernel (bpf/waits.h): those that are there when the recording begins, those
 * that end, and what all of them do when it ends.
 */
#ifndef WICK_ENGINE_BPF_WAITS_H
#define WICK_ENGINE_BPF_WAITS_H

#include "engine/bpf_counts.h"

/* A thread that is there before the recording begins. */
void bpf_waits_add(const struct bpf_maps *maps, int32_t pid, int32_t tid);
/* Whether the wait continues that the thread left its CPU for when the record was made. */
bool bpf_waits_lasts(const struct bpf_maps *maps, const struct layout_record *record);
/* It ended: emits the time it ran since its last sample, and forgets it. */
int bpf_waits_exit(struct bpf_counts *counts, const struct engine_options *options, const struct event_task *task,
		   const struct event_sink *sink);
/* Between these two the programs count. The times are those of CLOCK_MONOTONIC. */
struct bpf_waits_span {
	uint64_t began, ended;
};
/* Emits what all threads do up to the end. Returns as the sink; `ret_skipped` adds waits that are not wanted. */
int bpf_waits_finish(struct bpf_counts *counts, const struct engine_options *options, struct bpf_waits_span span,
		     const struct event_sink *sink, uint64_t *ret_skipped);

#endif
