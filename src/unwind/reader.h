/* A cursor over foreign bytes: reading behind the end gives 0 and sets `bad`, so that callers check once per entry. */
#ifndef WICK_UNWIND_READER_H
#define WICK_UNWIND_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct reader {
	const uint8_t *at, *end;
	bool bad;
};

static inline size_t reader_left(const struct reader *reader)
{
	return (size_t)(reader->end - reader->at);
}

static inline void reader_fail(struct reader *reader)
{
	reader->bad = true;
	reader->at = reader->end;
}

static inline void reader_skip(struct reader *reader, uint64_t count)
{
	if (count > reader_left(reader))
		reader_fail(reader);
	else
		reader->at += count;
}

/* `size` ≤ 8 bytes, little-endian. */
static inline uint64_t reader_uint(struct reader *reader, unsigned size)
{
	uint64_t value = 0;
	if (size > reader_left(reader)) {
		reader_fail(reader);
		return 0;
	}
	memcpy(&value, reader->at, size);
	reader->at += size;
	return value;
}

static inline int64_t reader_int(struct reader *reader, unsigned size)
{
	unsigned unused = 64 - 8 * size;
	return (int64_t)(reader_uint(reader, size) << unused) >> unused;
}

static inline uint8_t reader_u8(struct reader *reader)
{
	if (reader->at == reader->end) {
		reader->bad = true;
		return 0;
	}
	return *reader->at++;
}

static inline uint64_t reader_uleb(struct reader *reader)
{
	uint64_t value = 0;
	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = reader_u8(reader);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

static inline int64_t reader_sleb(struct reader *reader)
{
	uint64_t value = 0;
	for (unsigned shift = 0;;) {
		uint8_t byte = reader_u8(reader);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (shift < 64 && (byte & 0x40))
			value |= UINT64_MAX << shift;
		return (int64_t)value;
	}
}

#endif
