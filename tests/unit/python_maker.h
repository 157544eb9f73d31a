/*
 * The memory of a CPython that does not exist: objects, frames, threads and the runtime, where a layout wants them.
 * Addresses are offsets in it, and the runtime is at MAKER_RUNTIME. What stands before is what tests/fuzz/python.c
 * reads.
 */
#ifndef WICK_TESTS_PYTHON_MAKER_H
#define WICK_TESTS_PYTHON_MAKER_H

#include "unit.h"

#include "runtime/memory.h"
#include "runtime/python/stack.h"

#include <string.h>

enum {
	MAKER_VERSION = 0, /* 32 bits */
	MAKER_TID = 4, /* 32 bits */
	MAKER_CODE = 8, /* the address of a code object */
	MAKER_RUNTIME = 64,
	MAKER_TABLE_WORDS = 112,
	MAKER_BYTES = 64 << 10,
	MAKER_KIND_NOT_COMPACT = 8, /* added to the width of characters */
};

struct maker {
	struct python_layout layout;
	struct target_memory memory;
	size_t used;
	bool interned_in_byte; /* how free-threaded builds from 3.14 keep the state of strings */
	uint8_t bytes[MAKER_BYTES];
};

static inline bool maker_read(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct maker *maker = context;
	if (address < MAKER_RUNTIME || address > maker->used || size > maker->used - address)
		return false;
	memcpy(bytes, maker->bytes + address, size);
	return true;
}

static inline void maker_put64(struct maker *maker, uint64_t address, uint64_t value)
{
	memcpy(maker->bytes + address, &value, sizeof value);
}

static inline void maker_put32(struct maker *maker, uint64_t address, uint32_t value)
{
	memcpy(maker->bytes + address, &value, sizeof value);
}

static inline uint64_t maker_room(struct maker *maker, size_t size)
{
	uint64_t address = (maker->used + 15) / 16 * 16;
	maker->used = address + size;
	assert_true(maker->used <= MAKER_BYTES);
	return address;
}

/* `table`: NULL, or the words that stand at the beginning of the runtime. */
static inline void maker_start(struct maker *maker, uint32_t version, const uint64_t *table, size_t words)
{
	*maker = (struct maker){.used = MAKER_RUNTIME + MAKER_TABLE_WORDS * 8};
	maker->memory = (struct target_memory){maker, maker_read};
	if (table) {
		memcpy(maker->bytes + MAKER_RUNTIME, table, words * 8);
		assert_true(python_layout_of_table(maker->bytes + MAKER_RUNTIME, words * 8, &maker->layout));
	} else {
		assert_true(python_layout_of_version(version, &maker->layout));
	}
	maker_put32(maker, MAKER_VERSION, maker->layout.version);
	maker->interned_in_byte = maker->layout.free_threaded && maker->layout.version >= 0x030e;
}

/* A string of characters of 1, 2 or 4 bytes; width 0: ASCII. */
static inline uint64_t maker_string(struct maker *maker, unsigned kind, const uint32_t *characters, size_t count)
{
	const struct python_layout *layout = &maker->layout;
	bool compact = !(kind & MAKER_KIND_NOT_COMPACT);
	unsigned width = kind & 7 ? kind & 7 : 1;
	bool ascii = !(kind & 7);
	size_t header = ascii && compact ? layout->string_ascii : layout->string_compact;
	uint64_t address = maker_room(maker, header + (compact ? count * width : 8));
	uint64_t data = compact ? address + header : maker_room(maker, count * width);
	uint32_t state = width | (uint32_t)compact << 3 | (uint32_t)ascii << 4;
	maker_put64(maker, address + layout->string_length, count);
	/* Behind the last member is what was there before. */
	state = maker->interned_in_byte ? state << 8 | 0x5a000000u : state << 2 | 0x5a000500u;
	maker_put32(maker, address + layout->string_state, 1 | state);
	if (!compact)
		maker_put64(maker, address + layout->string_compact, data);
	for (size_t i = 0; i < count; i++)
		memcpy(maker->bytes + data + i * width, &characters[i], width);
	return address;
}

static inline uint64_t maker_ascii(struct maker *maker, const char *text)
{
	uint32_t characters[2048];
	size_t count = strlen(text);
	assert_true(count <= 2048);
	for (size_t i = 0; i < count; i++)
		characters[i] = (uint8_t)text[i];
	return maker_string(maker, 0, characters, count);
}

static inline uint64_t maker_bytes(struct maker *maker, const void *bytes, size_t size)
{
	uint64_t address = maker_room(maker, maker->layout.bytes_data + size);
	maker_put64(maker, address + maker->layout.bytes_size, size);
	memcpy(maker->bytes + address + maker->layout.bytes_data, bytes, size);
	return address;
}

/* co_name is the last part of the qualified name. */
static inline uint64_t maker_code(struct maker *maker, const char *file, const char *qualname, uint32_t first_line)
{
	const struct python_layout *layout = &maker->layout;
	uint64_t address = maker_room(maker, 512);
	const char *dot = strrchr(qualname, '.');
	maker_put64(maker, address + layout->code_file, maker_ascii(maker, file));
	maker_put64(maker, address + layout->code_name, maker_ascii(maker, dot ? dot + 1 : qualname));
	if (layout->code_qualname != PYTHON_NO_OFFSET)
		maker_put64(maker, address + layout->code_qualname, maker_ascii(maker, qualname));
	maker_put32(maker, address + layout->code_first_line, first_line);
	maker_put64(maker, MAKER_CODE, address);
	return address;
}

static inline void maker_lines(struct maker *maker, uint64_t code, const void *lines, size_t size)
{
	maker_put64(maker, code + maker->layout.code_lines, maker_bytes(maker, lines, size));
}

/* `offset` in bytes; `owner` where the layout has one. */
static inline uint64_t maker_frame(struct maker *maker, uint64_t code, uint64_t back, uint32_t offset, uint8_t owner)
{
	const struct python_layout *layout = &maker->layout;
	uint64_t address = maker_room(maker, PYTHON_FRAME_BYTES);
	maker_put64(maker, address + layout->frame_code, code);
	maker_put64(maker, address + layout->frame_back, back);
	if (layout->position == PYTHON_POSITION_POINTER)
		maker_put64(maker, address + layout->frame_position,
			    (code & ~7ull) + layout->code_instructions + offset);
	else
		maker_put32(maker, address + layout->frame_position,
			    layout->position == PYTHON_POSITION_UNITS ? offset / 2 : offset);
	if (layout->frame_owner != PYTHON_NO_OFFSET)
		maker->bytes[address + layout->frame_owner] = owner;
	return address;
}

/* The state of a thread, before `next` in the list. */
static inline uint64_t maker_thread(struct maker *maker, int32_t tid, uint64_t frame, uint64_t next)
{
	const struct python_layout *layout = &maker->layout;
	uint64_t address = maker_room(maker, 512);
	maker_put64(maker, address + layout->thread_next, next);
	maker_put32(maker, MAKER_TID, (uint32_t)tid);
	if (layout->thread_native_id != PYTHON_NO_OFFSET) {
		maker_put64(maker, address + layout->thread_native_id, (uint64_t)tid);
	} else {
		uint64_t pthread = maker_room(maker, 0x300);
		maker_put32(maker, pthread + PYTHON_PTHREAD_TID, (uint32_t)tid);
		maker_put64(maker, address + layout->thread_id, pthread);
	}
	if (layout->cframe_frame != PYTHON_NO_OFFSET) {
		uint64_t cframe = maker_room(maker, 16);
		maker_put64(maker, cframe + layout->cframe_frame, frame);
		frame = cframe;
	}
	maker_put64(maker, address + layout->thread_frame, frame);
	return address;
}

/* An interpreter with these threads, the first of the runtime. */
static inline uint64_t maker_interpreter(struct maker *maker, uint64_t threads, uint64_t next)
{
	const struct python_layout *layout = &maker->layout;
	uint32_t last = layout->interpreter_threads > layout->interpreter_next ? layout->interpreter_threads :
										 layout->interpreter_next;
	last = layout->interpreter_modules > last ? layout->interpreter_modules : last;
	uint64_t address = maker_room(maker, last + 8);
	maker_put64(maker, address + layout->interpreter_next, next);
	maker_put64(maker, address + layout->interpreter_threads, threads);
	maker_put64(maker, MAKER_RUNTIME + layout->runtime_interpreters, address);
	return address;
}

#define MAKER_COOKIE 0x7970677562656478ull /* "xdebugpy" */

/* That of 3.13.0 on x86-64. */
static const uint64_t maker_3_13[] = {
	MAKER_COOKIE, 0x030d00f0, 0,   283320, 608, 632, 194968, 7272, 7264, 7344, 7400, 7656, 7640, 7648, 16, 7752, 0,
	7768,         7760,       304, 0,      8,   16,  72,     152,  160,  232,  32,   80,   8,    0,    56, 72,   70,
	208,          112,        120, 128,    136, 68,  52,     96,   104,  200,  16,   8,    416,  24,   88, 168,  32,
	24,           16,         40,  24,     16,  48,  32,     40,   24,   16,   32,   16,   24,   40,   16, 32,   64,
	32,           16,         40,  240,    200,
};

/* What 3.14 needs more, or has elsewhere. */
static const uint64_t maker_3_14[95] = {
	MAKER_COOKIE, 0x030e00f0, 0,          [5] = 808,  [8] = 7272, [9] = 7344, [24] = 8,   [26] = 72,  [27] = 152,
	[28] = 160,   [32] = 8,   [33] = 0,   [34] = 56,  [36] = 74,  [38] = 76,  [40] = 112, [41] = 120, [42] = 128,
	[43] = 136,   [44] = 68,  [48] = 208, [49] = 200, [75] = 16,  [76] = 32,  [78] = 32,  [79] = 16,  [80] = 40,
};

enum { MAKER_LAYOUTS = 8 };

/* One of all layouts that differ; the last two are free-threaded. */
static inline struct maker *maker_layout(unsigned number)
{
	static struct maker maker;
	uint64_t words[MAKER_TABLE_WORDS];
	if (number < 5) {
		maker_start(&maker, 0x0308 + number, NULL, 0);
	} else if (number == 5 || number == 6) {
		memcpy(words, maker_3_13, sizeof maker_3_13);
		words[2] = number == 6;
		maker_start(&maker, 0, words, sizeof maker_3_13 / 8);
	} else {
		memcpy(words, maker_3_14, sizeof maker_3_14);
		words[2] = 1;
		maker_start(&maker, 0, words, sizeof maker_3_14 / 8);
	}
	return &maker;
}

static inline struct maker *maker_of_version(uint32_t version)
{
	return maker_layout(version - 0x0308);
}

#endif
