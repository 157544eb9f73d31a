/*
 * A str object has a header, which is longer unless all characters are ASCII, and characters of 1, 2 or 4 bytes. They
 * follow the header of a compact string; otherwise a pointer does.
 */
#include "runtime/python/text.h"

#include "base/bytes.h"

enum {
	CHUNK = 512, /* characters that are read at a time */
	SHIFT_INTERNED = 2, /* the first members of the state: how the string is interned, in two bits … */
	SHIFT_INTERNED_BYTE = 8, /* … or, in most free-threaded builds, in a byte */
	KIND = 7,
	COMPACT = 1 << 3,
	ASCII = 1 << 4,
	MAX_CHARACTERS = 1 << 24, /* no name or path is as long */
};

struct characters {
	uint64_t address;
	uint64_t count;
	unsigned width; /* bytes of each */
};

static bool find_characters(const struct target_memory *memory, const struct python_layout *layout, uint64_t address,
			    struct characters *ret)
{
	uint32_t state;
	if (!address || !target_memory_read(memory, address + layout->string_length, &ret->count, sizeof ret->count) ||
	    !target_memory_read(memory, address + layout->string_state, &state, sizeof state))
		return false;
	/*
	 * In two bits or a byte: the kind is never zero, and only two bits of the byte are ever used. What is behind
	 * the last member is not initialized.
	 */
	bool in_byte = layout->free_threaded && !(state >> SHIFT_INTERNED & KIND);
	state >>= in_byte ? SHIFT_INTERNED_BYTE : SHIFT_INTERNED;
	ret->width = state & KIND;
	if ((ret->width != 1 && ret->width != 2 && ret->width != 4) || ret->count > MAX_CHARACTERS)
		return false;
	if (state & ASCII && ret->width != 1)
		return false;
	if (state & COMPACT) {
		ret->address = address + (state & ASCII ? layout->string_ascii : layout->string_compact);
		return true;
	}
	return target_memory_read(memory, address + layout->string_compact, &ret->address, sizeof ret->address);
}

static uint32_t character_at(const uint8_t *bytes, unsigned width)
{
	return width == 1 ? *bytes : width == 2 ? bytes_load16(bytes) : bytes_load32(bytes);
}

/* Returns the length of the sequence. */
static size_t encode(uint32_t character, char bytes[static 4])
{
	if (character < 0x20 || (character >= 0x7f && character < 0xa0))
		character = '?';
	if ((character >= 0xd800 && character < 0xe000) || character > 0x10ffff)
		character = 0xfffd;
	if (character < 0x80) {
		bytes[0] = (char)character;
		return 1;
	}
	size_t length = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
	static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};
	for (size_t i = length; --i; character >>= 6)
		bytes[i] = (char)(0x80 | (character & 0x3f));
	bytes[0] = (char)(first[length] | character);
	return length;
}

static void cut(struct buf *buf, size_t size)
{
	buf->size = size;
	if (buf->data)
		buf->data[size] = '\0';
}

bool python_text_read(const struct target_memory *memory, const struct python_layout *layout, uint64_t address,
		      size_t max, struct buf *out)
{
	struct characters characters;
	size_t start = out->size;
	if (!find_characters(memory, layout, address, &characters))
		return false;
	while (characters.count) {
		uint8_t bytes[CHUNK * 4];
		size_t count = characters.count < CHUNK ? characters.count : CHUNK;
		if (!target_memory_read(memory, characters.address, bytes, count * characters.width)) {
			cut(out, start);
			return false;
		}
		for (size_t i = 0; i < count; i++) {
			char sequence[4];
			size_t length = encode(character_at(bytes + i * characters.width, characters.width), sequence);
			if (out->size - start + length > max)
				return true;
			buf_add(out, sequence, length);
		}
		characters.address += count * characters.width;
		characters.count -= count;
	}
	return true;
}
