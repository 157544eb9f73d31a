/* Samples on their way from the reader to the workers: copied once, in the order they came. */
#ifndef WICK_COLLECT_BATCH_H
#define WICK_COLLECT_BATCH_H

#include "base/buf.h"
#include "event/event.h"
#include "process/process.h"

/* One sample, with what the collector knows about it. Its arrays follow it in the buffer, but see `stack_lasts`. */
/* Labels of samples in a cgroup; "": none. */
struct batch_cgroup {
	const char *path, *container, *pod, *unit;
};

struct batch_sample {
	/*
	 * Without branches, raw bytes, interrupt registers and waker. `count` is not 0, `since` is set. Its pointers
	 * are those that batch_at() set.
	 */
	struct event_sample event;
	size_t size; /* of all of it, a multiple of 8 */
	struct map_set *maps, *kernel_maps; /* held by the batch; NULL: none known */
	const char *comm, *event_name; /* of the thread, and of the event; stay as long as the collector */
	const char *unit; /* of the weight; "": not known; a constant */
	uint32_t event_columns; /* length of the longest name of the events known so far */
	uint32_t chain_max; /* addresses a chain may have; 0: the event records none */
	int64_t weight; /* of all `event.count` */
	uint64_t monotonic; /* the time by CLOCK_MONOTONIC; UINT64_MAX: not known */
	const struct batch_cgroup *cgroup; /* stays as long as the collector; NULL: no such labels */
	bool has_waker; /* the next sample in the batch is of the thread that ended the wait of this one */
};

struct batch {
	struct buf bytes;
	size_t borrowed; /* room that stacks which are not in the buffer take where they are */
	struct map_set **held; /* what its samples need, as often as it changes from one to the next */
	size_t held_count, held_capacity;
	struct map_set *last_maps, *last_kernel_maps;
	uint64_t number;
};

/*
 * Adds a copy of `event` and takes over the references to the mappings. The caller sets the members behind them. The
 * pointer is valid until the next sample is added.
 */
struct batch_sample *batch_add(struct batch *batch, const struct event_sample *event, struct map_set *maps,
			       struct map_set *kernel_maps);
/* The sample at `at`: 0, or `at` + size of the one before. NULL: there are no more. For who reads the batch. */
const struct batch_sample *batch_at(struct batch *batch, size_t at);
#define BATCH_BYTES (1u << 20)
#define BATCH_BORROWED (2u << 20)

static inline bool batch_is_full(const struct batch *batch)
{
	return batch->bytes.size >= BATCH_BYTES || batch->borrowed >= BATCH_BORROWED;
}

/* A bounded queue between one reader and many workers. */
struct batch_queue;
struct batch_queue *batch_queue_new(size_t max);
void batch_queue_free(struct batch_queue *queue);
/* An empty batch to fill; waits when too many are under way, so that memory stays bounded. */
struct batch *batch_queue_take_empty(struct batch_queue *queue);
void batch_queue_put(struct batch_queue *queue, struct batch *batch);
/* The next full batch, or NULL when the reader has closed the queue and all are taken. */
struct batch *batch_queue_take(struct batch_queue *queue);
void batch_queue_give_back(struct batch_queue *queue, struct batch *batch);
void batch_queue_close(struct batch_queue *queue);

#endif
