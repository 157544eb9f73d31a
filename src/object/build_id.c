/* Reads build IDs from notes, compares them, and converts them from and to text. */
#include "object/build_id.h"

#include <elf.h>
#include <string.h>

static uint64_t aligned(uint64_t value, uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

struct build_id build_id_from_notes(const void *notes, size_t size, uint64_t align)
{
	const uint8_t *bytes = notes;
	struct build_id id = {0};
	align = align == 8 ? 8 : 4;
	for (uint64_t at = 0; at < size && size - at >= sizeof(Elf64_Nhdr);) {
		Elf64_Nhdr note;
		memcpy(&note, bytes + at, sizeof note);
		uint64_t name = at + sizeof note;
		uint64_t text = aligned(name + note.n_namesz, align);
		uint64_t end = text + note.n_descsz;
		if (end > size)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(bytes + name, "GNU", 4) &&
		    note.n_descsz) {
			id.size = note.n_descsz < BUILD_ID_MAX ? (uint8_t)note.n_descsz : BUILD_ID_MAX;
			memcpy(id.bytes, bytes + text, id.size);
			break;
		}
		at = aligned(end, align);
	}
	return id;
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	if (!a->size || !b->size)
		return false;
	const struct build_id *longer = a->size < b->size ? b : a;
	size_t common = a->size < b->size ? a->size : b->size;
	for (size_t i = common; i < longer->size; i++)
		if (longer->bytes[i])
			return false;
	return !memcmp(a->bytes, b->bytes, common);
}

const char *build_id_text(const struct build_id *id, char text[BUILD_ID_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	size_t at = 0;
	for (size_t i = 0; i < id->size && i < BUILD_ID_MAX; i++) {
		text[at++] = digits[id->bytes[i] >> 4];
		text[at++] = digits[id->bytes[i] & 15];
	}
	text[at] = '\0';
	return text;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool build_id_parse(struct build_id *ret_id, const char *text)
{
	size_t length = strlen(text);
	struct build_id id = {.size = (uint8_t)(length / 2)};
	if (!length || length % 2 || length / 2 > BUILD_ID_MAX)
		return false;
	for (size_t i = 0; i < id.size; i++) {
		int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		id.bytes[i] = (uint8_t)(high << 4 | low);
	}
	*ret_id = id;
	return true;
}
