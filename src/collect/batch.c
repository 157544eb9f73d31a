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

static size_t register_count(const struct event_sample *event)
{
	return event->user.abi ? (size_t)__builtin_popcountll(event->user.mask) : 0;
}

/* Leaves in the copy of an event what a batch holds of it. */
static void trim(struct event_sample *kept)
{
	kept->since = kept->count ? kept->since : kept->time;
	kept->count = kept->count ? kept->count : 1;
	kept->branches = NULL;
	kept->branch_counters = NULL;
	kept->branch_count = 0;
	kept->raw = NULL;
	kept->raw_size = 0;
	kept->interrupt = (struct event_registers){0};
	kept->waker = NULL;
	/* Without registers nothing is unwound. */
	kept->stack_size = register_count(kept) && kept->stack ? kept->stack_size : 0;
	kept->stack_tail_size = kept->stack_size ? kept->stack_tail_size : 0;
}

/* The arrays of a sample in the buffer, one after the other. */
struct arrays {
	size_t chain, interpreted, registers, tail, stack; /* bytes */
};

static struct arrays arrays_of(const struct event_sample *kept)
{
	return (struct arrays){
		.chain = kept->chain_count * sizeof *kept->chain,
		.interpreted = kept->interpreted_count * sizeof *kept->interpreted,
		.registers = register_count(kept) * sizeof *kept->user.values,
		.tail = padded(kept->stack_tail_size),
		.stack = kept->stack_lasts ? 0 : padded(kept->stack_size),
	};
}

static size_t bytes_of(const struct arrays *arrays)
{
	return arrays->chain + arrays->interpreted + arrays->registers + arrays->tail + arrays->stack;
}

static void copy_arrays(char *to, const struct event_sample *kept, const struct arrays *arrays)
{
	if (arrays->chain)
		memcpy(to, kept->chain, arrays->chain);
	to += arrays->chain;
	if (arrays->interpreted)
		memcpy(to, kept->interpreted, arrays->interpreted);
	to += arrays->interpreted;
	if (arrays->registers)
		memcpy(to, kept->user.values, arrays->registers);
	to += arrays->registers;
	if (arrays->tail)
		memcpy(to, kept->stack_tail, kept->stack_tail_size);
	to += arrays->tail;
	if (arrays->stack)
		memcpy(to, kept->stack, kept->stack_size);
}

struct batch_sample *batch_add(struct batch *batch, const struct event_sample *event, struct map_set *maps,
			       struct map_set *kernel_maps)
{
	/* trim() does not make them larger. */
	struct arrays max = arrays_of(event);
	char *to = buf_reserve(&batch->bytes, sizeof(struct batch_sample) + bytes_of(&max));
	struct batch_sample *sample = (struct batch_sample *)to;
	*sample = (struct batch_sample){.event = *event, .maps = maps, .kernel_maps = kernel_maps};
	trim(&sample->event);
	struct arrays arrays = arrays_of(&sample->event);
	sample->size = sizeof *sample + bytes_of(&arrays);
	copy_arrays(to + sizeof *sample, &sample->event, &arrays);
	keep_maps(batch, maps, &batch->last_maps);
	keep_maps(batch, kernel_maps, &batch->last_kernel_maps);
	batch->borrowed += event->stack_lasts && event->stack ? event->stack_asked : 0;
	batch->bytes.size += sample->size;
	return sample;
}

/* The buffer may have moved since the sample was added. */
const struct batch_sample *batch_at(struct batch *batch, size_t at)
{
	if (at >= batch->bytes.size)
		return NULL;
	struct batch_sample *sample = (struct batch_sample *)(batch->bytes.data + at);
	struct event_sample *event = &sample->event;
	struct arrays arrays = arrays_of(event);
	const char *array = (const char *)(sample + 1);
	event->chain = (const uint64_t *)array;
	event->interpreted = (const uint64_t *)(array += arrays.chain);
	event->user.values = (const uint64_t *)(array += arrays.interpreted);
	event->stack_tail = (const uint8_t *)(array += arrays.registers);
	if (!event->stack_lasts)
		event->stack = (const uint8_t *)(array + arrays.tail);
	return sample;
}

/* Releases what the samples hold and empties the batch. */
static void clear(struct batch *batch)
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
	size_t max, empty_count, full_count;
	uint64_t next_number;
	bool closed;
};

struct batch_queue *batch_queue_new(size_t max)
{
	struct batch_queue *queue = mem_zalloc(1, sizeof *queue);
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->changed, NULL);
	queue->max = max;
	queue->all = mem_zalloc(max, sizeof *queue->all);
	queue->empty = mem_alloc(max * sizeof *queue->empty);
	queue->full = mem_alloc(max * sizeof *queue->full);
	for (size_t i = 0; i < max; i++)
		queue->empty[queue->empty_count++] = &queue->all[i];
	return queue;
}

void batch_queue_free(struct batch_queue *queue)
{
	for (size_t i = 0; i < queue->max; i++) {
		clear(&queue->all[i]);
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
	clear(batch);
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
