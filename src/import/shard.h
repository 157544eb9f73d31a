/*
 * One worker's share of an import: a profile of its own, which is merged with the others' at the end, and what it saw
 * of bad lines. A parser is a function that adds one block to a shard.
 */
#ifndef WICK_IMPORT_SHARD_H
#define WICK_IMPORT_SHARD_H

#include "import/blocks.h"
#include "import/import.h"
#include "profile/profile.h"

/* A line that was not understood, by its place. */
struct bad_line {
	uint64_t block; /* UINT64_MAX: none */
	uint64_t line; /* within the block, from 0 */
	const char *reason;
};

struct shard {
	const struct import_options *options;
	struct profile profile;
	struct bad_line first_bad, first_cut;
	uint64_t lines; /* of the block being parsed, so far */
	uint64_t block; /* its number */
	bool last_block;
	bool damaged; /* reading failed behind this block: its end is not the input's */
	void *parser; /* the parser's own state */
};

/* Parsers, one pair of functions each. `data` ends with a newline that the caller put at data[size] if need be. */
struct import_format {
	const char *name;
	enum block_boundary boundary;
	bool in_order; /* needs all blocks, one after the other: one thread */
	/* Worth more than one thread unless asked otherwise: parsing costs more than adding the shards up. */
	bool parallel;
	void *(*start)(struct shard *shard);
	void (*parse)(struct shard *shard, const char *data, size_t size);
	void (*finish)(struct shard *shard); /* frees the parser's state; counts what it had put off */
};
extern const struct import_format format_perf_script, format_perf_perl, format_folded, format_folded_pair;

/* Counts the line being parsed as bad. */
static inline void shard_bad_line(struct shard *shard, const char *reason)
{
	shard->profile.quality.bad_lines++;
	if (shard->first_bad.block == UINT64_MAX)
		shard->first_bad = (struct bad_line){.block = shard->block, .line = shard->lines, .reason = reason};
}

static inline bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

#endif
