/* The zstd stream of `perf record -z`: one stream over all its COMPRESSED records, whose bytes are records again. */
#ifndef WICK_PERFDATA_UNPACK_H
#define WICK_PERFDATA_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unpack {
	void *zstd; /* NULL until the first bytes come */
	uint64_t taken, given; /* bytes in and out, to see a stream that grows without bounds */
};

struct unpack_input {
	const uint8_t *bytes;
	size_t size, at;
};

void unpack_release(struct unpack *unpack);

/*
 * Fills `out` from the input, which it moves on. Stores how many bytes came out; less than `room` means that the input
 * is used up. False when the stream is damaged.
 */
bool unpack_some(struct unpack *unpack, struct unpack_input *input, uint8_t *out, size_t room, size_t *ret_count);

#endif
