/* Copies samples into batches, and the queue between reader and workers. */
#include "collect/batch.h"

#include <pthread.h>

static size_t padded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

/* One reference serves all samples in a row: threads that count them for each sample get into each other's way. */
static void keep_maps(struct batch *batch, struct map_set *maps, struct map_set **last)
{
	if (maps == *last) {
		map_set_release(maps);
		return;
	}
	*last = maps;
	MEM_ROOM(batch->held, batch->held_count, batch->held_capacity);
	batch->held[batch->held_count++] = maps;
}

void batch_add(struct batch *batch, struct batch_sample sample, const struct event_sample *event)
{
	sample.chain_count = (uint32_t)event->chain_count;
	sample.register_abi = event->user.abi;
	sample.register_mask = event->user.mask;
	sample.register_count = event->user.abi ? (uint32_t)__builtin_popcountll(event->user.mask) : 0;
	sample.stack_size = sample.register_count ? event->stack_size : 0;
	sample.stack_skipped = event->stack_skipped;
	sample.stack_full = event->stack_size >= event->stack_asked;
	sample.tail_size = sample.stack_size ? event->stack_tail_size : 0;
	keep_maps(batch, sample.maps, &batch->last_maps);
	keep_maps(batch, sample.kernel_maps, &batch->last_kernel_maps);
	size_t chain = event->chain_count * sizeof(uint64_t), registers = sample.register_count * sizeof(uint64_t);
	sample.stack = event->stack_lasts ? event->stack : NULL;
	size_t stack = sample.stack ? 0 : sample.stack_size, tail = padded(sample.tail_size);
	sample.size = sizeof sample + chain + registers + tail + padded(stack);
	batch->borrowed += sample.stack ? event->stack_asked : 0;
	char *to = buf_reserve(&batch->bytes, sample.size);
	memcpy(to, &sample, sizeof sample);
	to += sizeof sample;
	if (chain)
		memcpy(to, event->chain, chain);
	if (registers)
		memcpy(to + chain, event->user.values, registers);
	if (tail)
		memcpy(to + chain + registers, event->stack_tail, sample.tail_size);
	if (stack)
		memcpy(to + chain + registers + tail, event->stack, stack);
	batch->bytes.size += sample.size;
}

void batch_clear(struct batch *batch)
{
	for (size_t i = 0; i < batch->held_count; i++)
		map_set_release(batch->held[i]);
	batch->held_count = 0;
	batch->last_maps = batch->last_kernel_maps = NULL;
	buf_clear(&batch->bytes);
	batch->borrowed = 0;
}

struct batch_queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct batch *all;
	struct batch **empty, **full; /* `full` is in order from the oldest */
	size_t most, empty_count, full_count;
	uint64_t next_number;
	bool closed;
};

struct batch_queue *batch_queue_new(size_t most)
{
	struct batch_queue *queue = mem_zalloc(1, sizeof *queue);
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->changed, NULL);
	queue->most = most;
	queue->all = mem_zalloc(most, sizeof *queue->all);
	queue->empty = mem_alloc(most * sizeof *queue->empty);
	queue->full = mem_alloc(most * sizeof *queue->full);
	for (size_t i = 0; i < most; i++)
		queue->empty[queue->empty_count++] = &queue->all[i];
	return queue;
}

void batch_queue_free(struct batch_queue *queue)
{
	for (size_t i = 0; i < queue->most; i++) {
		batch_clear(&queue->all[i]);
		buf_release(&queue->all[i].bytes);
		free(queue->all[i].held);
	}
	free(queue->all);
	free(queue->empty);
	free(queue->full);
	pthread_mutex_destroy(&queue->lock);
	pthread_cond_destroy(&queue->changed);
	free(queue);
}

struct batch *batch_queue_take_empty(struct batch_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	while (!queue->empty_count)
		pthread_cond_wait(&queue->changed, &queue->lock);
	struct batch *batch = queue->empty[--queue->empty_count];
	batch->number = queue->next_number++;
	pthread_mutex_unlock(&queue->lock);
	return batch;
}

void batch_queue_put(struct batch_queue *queue, struct batch *batch)
{
	pthread_mutex_lock(&queue->lock);
	queue->full[queue->full_count++] = batch;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

struct batch *batch_queue_take(struct batch_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	while (!queue->full_count && !queue->closed)
		pthread_cond_wait(&queue->changed, &queue->lock);
	struct batch *batch = NULL;
	if (queue->full_count) {
		batch = queue->full[0];
		memmove(queue->full, queue->full + 1, --queue->full_count * sizeof *queue->full);
	}
	pthread_mutex_unlock(&queue->lock);
	return batch;
}

void batch_queue_give_back(struct batch_queue *queue, struct batch *batch)
{
	batch_clear(batch);
	pthread_mutex_lock(&queue->lock);
	queue->empty[queue->empty_count++] = batch;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

void batch_queue_close(struct batch_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->closed = true;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}
