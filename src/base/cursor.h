/*
 * Reads little-endian bytes that may end anywhere. A read past the end returns 0 or NULL, moves to the end and sets
 * `bad`, so that a caller can check once after several reads.
 */
#ifndef WICK_BASE_CURSOR_H
#define WICK_BASE_CURSOR_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
	const uint8_t *data;
	size_t size;
};

struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static inline struct cursor cursor_over(const void *data, size_t size)
{
	return (struct cursor){.at = data, .end = (const uint8_t *)data + size};
}

/* From `offset` of the span to its end; bad if there is nothing at the offset. */
static inline struct cursor cursor_at(struct span span, uint64_t offset)
{
	static const uint8_t nothing[1];
	if (offset >= span.size)
		return (struct cursor){.at = nothing, .end = nothing, .bad = true};
	return (struct cursor){.at = span.data + offset, .end = span.data + span.size};
}

static inline size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

static inline void cursor_fail(struct cursor *cursor)
{
	cursor->at = cursor->end;
	cursor->bad = true;
}

static inline void cursor_skip(struct cursor *cursor, uint64_t count)
{
	if (cursor_left(cursor) < count)
		cursor_fail(cursor);
	else
		cursor->at += count;
}

/* The next `size` bytes, or NULL if there are fewer. */
static inline const uint8_t *cursor_bytes(struct cursor *cursor, uint64_t size)
{
	const uint8_t *bytes = cursor->at;
	if (cursor_left(cursor) < size) {
		cursor_fail(cursor);
		return NULL;
	}
	cursor->at += size;
	return bytes;
}

/* Copies the next `size` bytes to `to`. False, and nothing is copied, if there are fewer. */
static inline bool cursor_copy(struct cursor *cursor, void *to, size_t size)
{
	const uint8_t *bytes = cursor_bytes(cursor, size);
	if (bytes)
		memcpy(to, bytes, size);
	return bytes;
}

/* A number of `size` bytes, at most 8. Sizes 1, 4 and 8 are the fast ones. */
static inline uint64_t cursor_number(struct cursor *cursor, unsigned size)
{
	uint64_t value = 0;
	if (cursor_left(cursor) < size) {
		cursor_fail(cursor);
		return 0;
	}
	switch (size) {
	case 1:
		value = *cursor->at;
		break;
	case 4: {
		uint32_t word;
		memcpy(&word, cursor->at, sizeof word);
		value = le32toh(word);
		break;
	}
	case 8:
		memcpy(&value, cursor->at, sizeof value);
		value = le64toh(value);
		break;
	default:
		for (unsigned i = 0; i < size; i++)
			value |= (uint64_t)cursor->at[i] << 8 * i;
	}
	cursor->at += size;
	return value;
}

/* A signed number of 1 to 8 bytes. */
static inline int64_t cursor_int(struct cursor *cursor, unsigned size)
{
	unsigned unused = 64 - 8 * size;
	return (int64_t)(cursor_number(cursor, size) << unused) >> unused;
}

static inline uint8_t cursor_u8(struct cursor *cursor)
{
	return (uint8_t)cursor_number(cursor, 1);
}

static inline uint16_t cursor_u16(struct cursor *cursor)
{
	return (uint16_t)cursor_number(cursor, 2);
}

static inline uint32_t cursor_u32(struct cursor *cursor)
{
	return (uint32_t)cursor_number(cursor, 4);
}

static inline uint64_t cursor_u64(struct cursor *cursor)
{
	return cursor_number(cursor, 8);
}

/* Bits above 64 are dropped: compilers pad with them, and no number that matters has them. */
static inline uint64_t cursor_uleb(struct cursor *cursor)
{
	uint64_t value = 0;
	for (unsigned shift = 0; cursor->at < cursor->end; shift += 7) {
		uint8_t byte = *cursor->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	cursor->bad = true;
	return 0;
}

static inline int64_t cursor_sleb(struct cursor *cursor)
{
	uint64_t value = 0;
	for (unsigned shift = 0; cursor->at < cursor->end;) {
		uint8_t byte = *cursor->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte < 0x80) {
			if (byte & 0x40 && shift < 64)
				value |= ~0ull << shift;
			return (int64_t)value;
		}
	}
	cursor->bad = true;
	return 0;
}

static inline void cursor_skip_leb(struct cursor *cursor)
{
	while (cursor->at < cursor->end)
		if (*cursor->at++ < 0x80)
			return;
	cursor->bad = true;
}

/* A NUL-terminated string, NULL when it has no end. */
static inline const char *cursor_string(struct cursor *cursor)
{
	const uint8_t *start = cursor->at;
	const uint8_t *nul = start < cursor->end ? memchr(start, 0, cursor_left(cursor)) : NULL;
	if (!nul) {
		cursor_fail(cursor);
		return NULL;
	}
	cursor->at = nul + 1;
	return (const char *)start;
}

#endif
