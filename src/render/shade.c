/* How a name becomes the place of its color within a hue. Each way must give the numbers its users know by heart. */
#include "base/text.h"
#include "render/palette.h"

#include <math.h>

/* What Perl's rand() gives first after srand(seed): the drand48 generator of POSIX, which Perl carries along itself. */
static double perl_random(uint32_t seed)
{
	uint64_t state = (uint64_t)seed << 16 | 0x330e;
	state = (state * 0x5deece66d + 0xb) & 0xffffffffffff;
	return (double)state * 0x1p-48;
}

static uint32_t sum_of_bytes(const char eight[8])
{
	const uint64_t even = 0x00ff00ff00ff00ff;
	uint64_t word;
	memcpy(&word, eight, sizeof word);
	uint64_t pairs = (word & even) + (word >> 8 & even);
	return (uint32_t)(pairs * 0x0001000100010001 >> 48);
}

static double sum_of_characters(const char *name, size_t length)
{
	uint32_t sum = 0;
	size_t at = 0;
	for (size_t plain = text_plain(name, length); at + 8 <= plain; at += 8)
		sum += sum_of_bytes(name + at);
	while (at < length) {
		uint32_t code_point = (unsigned char)name[at];
		if (code_point < 0x80)
			at++;
		else
			at += text_utf8(name + at, length - at, &code_point);
		sum += code_point;
	}
	return perl_random(sum);
}

/* Early characters weigh more, so that functions with a common prefix get neighbouring shades. */
static double weighted(const uint32_t *characters, size_t count)
{
	double vector = 0, weight = 1, max = 1;
	for (unsigned i = 0; i < count; i++) {
		unsigned modulus = 10 + i;
		vector += (double)(characters[i] % modulus) / (modulus - 1) * weight;
		max += weight;
		weight *= 0.70;
	}
	return 1 - vector / max;
}

#define WEIGHTED_CHARACTERS 3

/* The first characters behind a module`, or of the whole name. */
static double hash_of_start(const char *name, size_t length)
{
	const char *end = name + length;
	const char *tick = length > 1 ? memchr(name + 1, '`', length - 1) : NULL;
	if (tick)
		name = tick + 1;
	uint32_t characters[WEIGHTED_CHARACTERS] = {0};
	size_t count = 0;
	while (name < end && count < WEIGHTED_CHARACTERS)
		name += text_utf8(name, (size_t)(end - name), &characters[count++]);
	return weighted(characters, count);
}

/* The same of the name read backwards. */
static double hash_of_end(const char *name, size_t length)
{
	const char *end = name + length;
	const char *tick = length > 1 ? memrchr(name, '`', length - 1) : NULL;
	if (tick)
		end = tick;
	uint32_t characters[WEIGHTED_CHARACTERS] = {0};
	size_t count = 0;
	while (end > name && count < WEIGHTED_CHARACTERS) {
		const char *last = end - 1;
		while (last > name && end - last < 4 && ((unsigned char)*last & 0xc0) == 0x80)
			last--;
		size_t size = text_utf8(last, (size_t)(end - last), &characters[count++]);
		end = size == (size_t)(end - last) ? last : end - 1;
	}
	return weighted(characters, count);
}

/* In single precision, as inferno computes it. */
static struct shade fnv_shade(const char *name, size_t length)
{
	const uint64_t prime = 0x100000001b3;
	uint64_t hash = 0xcbf29ce484222325;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * prime;
	float value[3];
	for (unsigned i = 0; i < 3; i++, hash *= prime)
		value[i] = (float)((double)hash / (double)UINT64_MAX);
	return (struct shade){value[0], value[1], value[2]};
}

static double next_random(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15; /* splitmix64 */
	uint64_t z = *state;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	z ^= z >> 31;
	return ldexp((double)(z >> 11), -53);
}

struct shade shade_of(enum shade_method method, const char *name, size_t length, uint64_t *random)
{
	struct shade shade;
	switch (method) {
	case SHADE_BY_HASH:
		shade.v1 = hash_of_start(name, length);
		shade.v2 = shade.v3 = hash_of_end(name, length);
		return shade;
	case SHADE_BY_FNV:
		return fnv_shade(name, length);
	case SHADE_RANDOM:
		shade.v1 = next_random(random);
		shade.v2 = next_random(random);
		shade.v3 = next_random(random);
		return shade;
	case SHADE_BY_SUM:
		break;
	}
	shade.v1 = shade.v2 = shade.v3 = sum_of_characters(name, length);
	return shade;
}
