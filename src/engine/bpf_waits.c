/* Adds threads to the map of waits, and reads their times at the end. */
#include "engine/bpf_waits.h"

#include "base/mem.h"

#include <bpf/bpf.h>

void bpf_waits_add(const struct bpf_maps *maps, int32_t pid, int32_t tid)
{
	struct layout_thread thread = {
		.doing = LAYOUT_DOING_UNKNOWN,
		.key =
			{
				.pid = (uint32_t)pid,
				.tid = (uint32_t)tid,
				.source = maps->waits_source,
				.end = LAYOUT_UNSEEN,
				.mode = LAYOUT_MODE_KERNEL,
				.extra = LAYOUT_STATE_SLEEPING,
				.cpu = LAYOUT_CPU_UNKNOWN,
			},
	};
	uint32_t key = (uint32_t)tid;
	if (tid > 0)
		bpf_map_update_elem(maps->threads, &key, &thread, BPF_NOEXIST);
}

bool bpf_waits_lasts(const struct bpf_maps *maps, const struct layout_record *record)
{
	struct layout_thread thread;
	uint32_t tid = record->key.tid;
	return !bpf_map_lookup_elem(maps->threads, &tid, &thread) && thread.doing == LAYOUT_DOING_WAIT &&
	       !thread.woken && thread.since <= record->time;
}

static uint64_t passed(uint64_t since, uint64_t time)
{
	return time > since ? time - since : 0;
}

/* Time that ran and that no sample of a clock came for: it is reported with where the thread left its CPU last. */
static int emit_run(struct bpf_counts *counts, const struct layout_thread *thread, uint64_t ran, uint64_t time,
		    const struct event_sink *sink)
{
	struct layout_count count = {.weight = ran};
	return ran ? bpf_counts_time(counts, &thread->key, thread->left, LAYOUT_STATE_RUNNING, &count, time, sink) : 0;
}

int bpf_waits_exit(struct bpf_counts *counts, const struct engine_options *options, const struct event_task *task,
		   const struct event_sink *sink)
{
	struct layout_thread thread;
	uint32_t tid = (uint32_t)task->tid;
	if (bpf_map_lookup_and_delete_elem(counts->maps.threads, &tid, &thread))
		return 0;
	uint64_t ran = thread.owed + (thread.doing == LAYOUT_DOING_RUN ? passed(thread.since, task->time) : 0);
	int result = options->waits.running ? emit_run(counts, &thread, ran, task->time, sink) : 0;
	bpf_held_drop(&counts->held, tid);
	return result;
}

static bool is_wanted(const struct engine_options *options, uint64_t duration)
{
	const struct capture_options *capture = options->capture;
	return duration >= capture->min_block && (!capture->max_block || duration <= capture->max_block);
}

static int finish_wait(struct bpf_counts *counts, const struct engine_options *options,
		       const struct layout_thread *thread, uint64_t since, uint64_t time, const struct event_sink *sink,
		       uint64_t *ret_skipped)
{
	uint64_t duration = passed(since, time);
	if (!duration)
		return 0;
	if (!is_wanted(options, duration)) {
		++*ret_skipped;
		return 0;
	}
	uint64_t woken = thread->woken > since && thread->woken < time ? thread->woken : time;
	struct layout_count count = {.weight = woken - since, .runnable = time - woken};
	return bpf_counts_time(counts, &thread->key, thread->left, thread->key.extra, &count, time, sink);
}

static int finish_thread(struct bpf_counts *counts, const struct engine_options *options, struct bpf_waits_span span,
			 const struct layout_thread *thread, const struct event_sink *sink, uint64_t *ret_skipped)
{
	int result = 0;
	uint64_t ran = thread->owed;
	if (thread->doing == LAYOUT_DOING_WAIT)
		result = finish_wait(counts, options, thread, thread->since, span.ended, sink, ret_skipped);
	else if (thread->doing == LAYOUT_DOING_UNKNOWN && options->waits.unseen && !options->waits.from_exec)
		result = finish_wait(counts, options, thread, span.began, span.ended, sink, ret_skipped);
	else if (thread->doing == LAYOUT_DOING_RUN)
		ran += passed(thread->since, span.ended);
	return result < 0 || !options->waits.running ? result : emit_run(counts, thread, ran, span.ended, sink);
}

int bpf_waits_finish(struct bpf_counts *counts, const struct engine_options *options, struct bpf_waits_span span,
		     const struct event_sink *sink, uint64_t *ret_skipped)
{
	int map = counts->maps.threads, result = 0;
	uint32_t tid, next;
	struct layout_thread thread;
	for (bool more = !bpf_map_get_next_key(map, NULL, &tid); more && result >= 0; tid = next) {
		if (!bpf_map_lookup_elem(map, &tid, &thread))
			result = finish_thread(counts, options, span, &thread, sink, ret_skipped);
		more = !bpf_map_get_next_key(map, &tid, &next);
	}
	return result;
}
