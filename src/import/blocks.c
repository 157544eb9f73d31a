/* Reads an input ahead, and cuts it into blocks at the ends of records. */
#include "import/blocks.h"

#include "base/mem.h"

#include <string.h>

/* Large enough that cutting and locking cost nothing, small enough to stay in a core's second-level cache. */
#define BLOCK_SIZE (256u << 10)
/* A record without an end in this much is cut at a line, else the whole input could become one block. */
#define BLOCK_MAX (64u << 20)
/* A longer line is no stack. A few kilobytes of compressed zeros can be a line of gigabytes. */
#define LINE_LENGTH_MAX (16u << 20)
#define LINE_DROPPED "\1" /* what is left of it: a line that no parser knows */

void blocks_init(struct blocks *blocks, struct text_input *input)
{
	*blocks = (struct blocks){.input = input};
	pthread_mutex_init(&blocks->lock, NULL);
	pthread_cond_init(&blocks->changed, NULL);
}

static void stop_reader(struct blocks *blocks)
{
	pthread_mutex_lock(&blocks->lock);
	blocks->stopping = true;
	pthread_cond_broadcast(&blocks->changed);
	pthread_mutex_unlock(&blocks->lock);
	pthread_join(blocks->reader, NULL);
}

void blocks_release(struct blocks *blocks)
{
	if (blocks->has_reader)
		stop_reader(blocks);
	free(blocks->ahead.data);
	pthread_cond_destroy(&blocks->changed);
	pthread_mutex_destroy(&blocks->lock);
}

static void reserve(struct block *block, size_t capacity)
{
	if (capacity + 1 > block->capacity) {
		size_t want = capacity + 1;
		block->data = mem_realloc(block->data, want, 1);
		block->capacity = want;
	}
}

/* Reads until the block holds `size` bytes or the input ends. */
static void read_up_to(struct blocks *blocks, struct block *block, size_t size)
{
	reserve(block, size);
	while (block->size < size && !blocks->ended) {
		ssize_t got =
			text_input_read(blocks->input, block->data + block->size, size - block->size, &blocks->failed);
		if (got <= 0)
			blocks->ended = true;
		else
			block->size += (size_t)got;
	}
}

const char *blocks_peek(struct blocks *blocks, size_t *ret_size)
{
	read_up_to(blocks, &blocks->ahead, BLOCK_SIZE);
	*ret_size = blocks->ahead.size;
	return blocks->ahead.data;
}

/* The length of the part of data[0…size) that ends at a boundary; 0 when there is none at or behind `from`. */
static size_t find_cut(const char *data, size_t from, size_t size, enum block_boundary boundary)
{
	while (size > from) {
		const char *newline = memrchr(data + from, '\n', size - from);
		if (!newline)
			return 0;
		size_t at = (size_t)(newline - data);
		if (boundary == AT_LINE || (at && data[at - 1] == '\n') ||
		    (at > 1 && data[at - 1] == '\r' && data[at - 2] == '\n'))
			return at + 1;
		size = at;
	}
	return 0;
}

/* Puts LINE_DROPPED in the place of the line that fills the block, however long it is. */
static void drop_line(struct blocks *blocks, struct block *block)
{
	const char *newline = NULL;
	while (!newline && block->size) {
		block->size = 0;
		read_up_to(blocks, block, BLOCK_SIZE);
		newline = memchr(block->data, '\n', block->size);
	}
	size_t length = newline ? (size_t)(newline - block->data) : 0, left = block->size - length;
	size_t kept = strlen(LINE_DROPPED);
	reserve(block, kept + left);
	memmove(block->data + kept, block->data + length, left);
	memcpy(block->data, LINE_DROPPED, kept);
	block->size = kept + left;
}

static size_t cut_or_grow(struct blocks *blocks, struct block *block)
{
	size_t searched = 0;
	for (size_t size = BLOCK_SIZE;; size *= 2) {
		read_up_to(blocks, block, size);
		if (blocks->ended && block->size <= size)
			return block->size;
		size_t cut = find_cut(block->data, searched > 2 ? searched - 2 : 0, block->size, blocks->boundary);
		if (cut)
			return cut;
		if (size >= LINE_LENGTH_MAX && !memchr(block->data, '\n', block->size)) {
			drop_line(blocks, block);
			size = BLOCK_SIZE / 2;
			searched = 0;
			continue;
		}
		if (size >= BLOCK_MAX) {
			cut = find_cut(block->data, 0, block->size, AT_LINE);
			if (cut)
				return cut;
		}
		searched = block->size;
	}
}

static void *keep_reading(void *context)
{
	struct blocks *blocks = context;
	pthread_mutex_lock(&blocks->lock);
	for (;;) {
		while (!blocks->filling && !blocks->stopping)
			pthread_cond_wait(&blocks->changed, &blocks->lock);
		if (blocks->stopping)
			break;
		pthread_mutex_unlock(&blocks->lock);
		read_up_to(blocks, &blocks->ahead, BLOCK_SIZE);
		pthread_mutex_lock(&blocks->lock);
		blocks->filling = false;
		pthread_cond_broadcast(&blocks->changed);
	}
	pthread_mutex_unlock(&blocks->lock);
	return NULL;
}

void blocks_read_ahead(struct blocks *blocks)
{
	blocks->has_reader = !blocks->has_reader && pthread_create(&blocks->reader, NULL, keep_reading, blocks) == 0;
}

bool blocks_next(struct blocks *blocks, struct block *block)
{
	pthread_mutex_lock(&blocks->lock);
	while (blocks->filling)
		pthread_cond_wait(&blocks->changed, &blocks->lock);
	/* The bytes read ahead are the start of this block; its old buffer takes over their role. */
	struct block spare = *block;
	*block = blocks->ahead;
	blocks->ahead = spare;
	blocks->ahead.size = 0;
	size_t cut = cut_or_grow(blocks, block);
	size_t rest = block->size - cut;
	if (rest) {
		reserve(&blocks->ahead, rest > BLOCK_SIZE ? rest : BLOCK_SIZE);
		memcpy(blocks->ahead.data, block->data + cut, rest);
		blocks->ahead.size = rest;
	}
	block->size = cut;
	block->number = blocks->next_number++;
	block->last = blocks->ended && !rest;
	block->damaged = block->last && blocks->failed.code;
	if (blocks->has_reader && !blocks->ended) {
		blocks->filling = true;
		pthread_cond_broadcast(&blocks->changed);
	}
	pthread_mutex_unlock(&blocks->lock);
	return cut > 0;
}
