/* Loads of unaligned words, and comparison of short byte strings without a call. */
#ifndef WICK_BASE_BYTES_H
#define WICK_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t bytes_load64(const void *bytes)
{
	uint64_t value;
	memcpy(&value, bytes, sizeof value);
	return value;
}

static inline uint32_t bytes_load32(const void *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof value);
	return value;
}

static inline uint16_t bytes_load16(const void *bytes)
{
	uint16_t value;
	memcpy(&value, bytes, sizeof value);
	return value;
}

/* Whether a[0…count) equals b[0…count). The tail is compared overlapping, so that no byte loop is needed. */
static inline bool bytes_equal(const char *a, const char *b, size_t count)
{
	if (count >= 8) {
		size_t last = count - 8;
		for (size_t i = 0; i < last; i += 8)
			if (bytes_load64(a + i) != bytes_load64(b + i))
				return false;
		return bytes_load64(a + last) == bytes_load64(b + last);
	}
	if (count >= 4)
		return bytes_load32(a) == bytes_load32(b) && bytes_load32(a + count - 4) == bytes_load32(b + count - 4);
	for (size_t i = 0; i < count; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

#endif
