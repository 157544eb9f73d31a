/*
 * An input in blocks that several threads can take: each block ends where a record ends, so that blocks can be parsed
 * independently. Memory is one block per thread, however long the input; only a single record larger than a block makes
 * its block grow.
 */
#ifndef WICK_IMPORT_BLOCKS_H
#define WICK_IMPORT_BLOCKS_H

#include "import/text_input.h"

#include <pthread.h>
#include <stdbool.h>

/* Where a record ends. */
enum block_boundary {
	AT_LINE, /* behind a newline */
	AT_BLANK_LINE, /* behind an empty line */
};

struct block {
	char *data; /* owned; kept from call to call. data[size] is writable. */
	size_t size, capacity;
	uint64_t number; /* 0, 1, 2, … */
	bool last; /* the input ends with this block */
	bool damaged; /* because reading failed */
};

struct blocks {
	struct text_input *input;
	enum block_boundary boundary;
	pthread_mutex_t lock;
	struct block ahead; /* bytes read but not handed out */
	uint64_t next_number;
	bool ended;
	struct err failed; /* why reading stopped early; code 0: it did not */

	pthread_t reader; /* fills `ahead` while the last block is parsed; all above is its own while `filling` */
	pthread_cond_t changed;
	bool has_reader, filling, stopping;
};

void blocks_init(struct blocks *blocks, struct text_input *input);
void blocks_release(struct blocks *blocks);
/* Looks at the first bytes without taking them. Call before the first blocks_next(). */
const char *blocks_peek(struct blocks *blocks, size_t *ret_size);
/*
 * Reads, and decompresses, in a thread of its own from now on: for a single taker, who else would do that before each
 * block.
 */
void blocks_read_ahead(struct blocks *blocks);
/* Fills `block` and returns true, or false at the end. Thread-safe. */
bool blocks_next(struct blocks *blocks, struct block *block);

#endif
