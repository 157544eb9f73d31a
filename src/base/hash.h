/* Hashing of short byte strings and of ids: fast, not meant against an adversary who knows it. */
#ifndef WICK_BASE_HASH_H
#define WICK_BASE_HASH_H

#include "base/bytes.h"

/* Both halves of the 128-bit product folded: each input bit reaches each output bit. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#define HASH_K0 0x9e3779b97f4a7c15ull
#define HASH_K1 0xd6e8feb86659fd93ull
#define HASH_K2 0xa0761d6478bd642full

static inline uint64_t hash_u64(uint64_t value)
{
	return hash_mix(value ^ HASH_K0, HASH_K1);
}

static inline uint64_t hash_pair(uint32_t a, uint32_t b)
{
	return hash_u64((uint64_t)a << 32 | b);
}

/* 16 bytes a step; the tail is read overlapping, so that no byte loop is needed. */
static inline uint64_t hash_bytes(const char *bytes, size_t count)
{
	uint64_t seed = count * HASH_K2, a, b;
	if (count >= 16) {
		const char *last = bytes + count - 16;
		for (; bytes < last; bytes += 16)
			seed = hash_mix(bytes_load64(bytes) ^ HASH_K0, bytes_load64(bytes + 8) ^ seed);
		a = bytes_load64(last);
		b = bytes_load64(last + 8);
	} else if (count >= 8) {
		a = bytes_load64(bytes);
		b = bytes_load64(bytes + count - 8);
	} else if (count >= 4) {
		a = bytes_load32(bytes);
		b = bytes_load32(bytes + count - 4);
	} else if (count) {
		a = (uint64_t)(uint8_t)bytes[0] << 16 | (uint64_t)(uint8_t)bytes[count / 2] << 8 |
		    (uint8_t)bytes[count - 1];
		b = 0;
	} else {
		return HASH_K1;
	}
	return hash_mix(a ^ HASH_K1, b ^ seed);
}

#endif
