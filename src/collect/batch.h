/* Samples on their way from the reader to the workers: copied once, in the order they came. */
#ifndef WICK_COLLECT_BATCH_H
#define WICK_COLLECT_BATCH_H

#include "base/buf.h"
#include "event/event.h"
#include "process/process.h"

/* One sample; chain, register values, stack_tail and, when they would not last, stack bytes follow it in the buffer. */
struct batch_sample {
	size_t size; /* of all of it, a multiple of 8 */
	struct map_set *maps, *kernel_maps; /* held by the batch; NULL: none known */
	const char *comm, *event; /* names of thread and event; stay as long as the collector */
	const char *unit; /* of the weight; "": not known; a constant */
	int32_t pid, tid;
	uint32_t source; /* index of the event */
	uint32_t event_columns; /* length of the longest name of the events known so far */
	uint32_t chain_most; /* addresses a chain may have; 0: the event records none */
	enum event_mode mode;
	bool unwound; /* the chain is the stack, to its end: */
	enum stack_end end;
	bool has_waker; /* the next sample in the batch is of who ended the wait that this one tells of */
	int64_t weight; /* of all `count` */
	uint64_t count; /* samples that are this one */
	bool sum; /* as event_sample has it */
	uint64_t ip, time, since, period; /* `period` is of all `count`, which came between `since` and `time` */
	uint64_t monotonic; /* the time by CLOCK_MONOTONIC; UINT64_MAX: not known */
	uint32_t cpu; /* UINT32_MAX: not known */
	uint64_t cgroup; /* 0: not known */
	const char *cgroup_label; /* its path, stays as long as the collector; NULL: the sample gets no such label */
	uint32_t chain_count;
	uint32_t register_count;
	uint64_t register_abi, register_mask;
	uint64_t stack_skipped;
	size_t stack_size;
	const uint8_t *stack; /* NULL: in the buffer */
	bool stack_full; /* the copy has all bytes that were asked for: there may be more */
	size_t tail_size; /* bytes of memory behind the copy */
};

struct batch {
	struct buf bytes;
	size_t borrowed; /* room that stacks which are not in the buffer take where they are */
	struct map_set **held; /* what its samples need, as often as it changes from one to the next */
	size_t held_count, held_capacity;
	struct map_set *last_maps, *last_kernel_maps;
	uint64_t number;
};

/* The batch takes over the references to the mappings of `sample`. */
void batch_add(struct batch *batch, struct batch_sample sample, const struct event_sample *event);
#define BATCH_BYTES (1u << 20)
#define BATCH_BORROWED (2u << 20)

static inline bool batch_is_full(const struct batch *batch)
{
	return batch->bytes.size >= BATCH_BYTES || batch->borrowed >= BATCH_BORROWED;
}
/* Releases what the samples hold and empties the batch. */
void batch_clear(struct batch *batch);

static inline const uint64_t *batch_chain(const struct batch_sample *sample)
{
	return (const uint64_t *)(sample + 1);
}
static inline const uint64_t *batch_registers(const struct batch_sample *sample)
{
	return batch_chain(sample) + sample->chain_count;
}
static inline const uint8_t *batch_tail(const struct batch_sample *sample)
{
	return (const uint8_t *)(batch_registers(sample) + sample->register_count);
}
static inline const uint8_t *batch_stack(const struct batch_sample *sample)
{
	return sample->stack ? sample->stack : batch_tail(sample) + ((sample->tail_size + 7) & ~(size_t)7);
}

/* A bounded queue between one reader and many workers. */
struct batch_queue;
struct batch_queue *batch_queue_new(size_t most);
void batch_queue_free(struct batch_queue *queue);
/* An empty batch to fill; waits when too many are under way, so that memory stays bounded. */
struct batch *batch_queue_take_empty(struct batch_queue *queue);
void batch_queue_put(struct batch_queue *queue, struct batch *batch);
/* The next full batch, or NULL when the reader has closed the queue and all are taken. */
struct batch *batch_queue_take(struct batch_queue *queue);
void batch_queue_give_back(struct batch_queue *queue, struct batch *batch);
void batch_queue_close(struct batch_queue *queue);

#endif
