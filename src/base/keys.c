/* Decodes escape sequences and UTF-8 from a terminal into keys. */
#include "base/keys.h"

#include "base/text.h"

void keys_add(struct keys *keys, const char *bytes, size_t count)
{
	memcpy(keys->bytes + keys->count, bytes, count);
	keys->count += count;
}

static void take(struct keys *keys, size_t count)
{
	keys->count -= count;
	memmove(keys->bytes, keys->bytes + count, keys->count);
}

static uint32_t key_of_letter(char letter)
{
	switch (letter) {
	case 'A':
		return KEY_UP;
	case 'B':
		return KEY_DOWN;
	case 'C':
		return KEY_RIGHT;
	case 'D':
		return KEY_LEFT;
	case 'H':
		return KEY_HOME;
	case 'F':
		return KEY_END;
	default:
		return KEY_OTHER;
	}
}

/* ESC [ NUMBER ~, as terminals have it since the VT220 and rxvt. */
static uint32_t key_of_number(int number)
{
	static const uint32_t keys[] = {
		[1] = KEY_HOME,      [3] = KEY_DELETE, [4] = KEY_END, [5] = KEY_PAGE_UP,
		[6] = KEY_PAGE_DOWN, [7] = KEY_HOME,   [8] = KEY_END,
	};
	bool known = number > 0 && number < (int)(sizeof keys / sizeof *keys) && keys[number];
	return known ? keys[number] : KEY_OTHER;
}

/* A control sequence (ECMA-48, 5.4): ESC [, parameters, one final byte. Its length, 0: not all of it is here. */
static size_t control_sequence(const struct keys *keys, uint32_t *ret_key)
{
	int number = 0; /* the first parameter; those after it are modifiers, which do not matter */
	bool first = true;
	for (size_t i = 2; i < keys->count; i++) {
		char c = keys->bytes[i];
		first = first && c != ';';
		if (first && c >= '0' && c <= '9' && number < 100)
			number = number * 10 + c - '0';
		if (c >= 0x40 && c <= 0x7e) {
			*ret_key = c == '~' ? key_of_number(number) : key_of_letter(c);
			return i + 1;
		}
		if (c < 0x20 || c > 0x3f) { /* it was none */
			*ret_key = KEY_OTHER;
			return i;
		}
	}
	if (keys->count < KEYS_MAX)
		return 0;
	*ret_key = KEY_OTHER;
	return KEYS_MAX;
}

static size_t escape_sequence(const struct keys *keys, bool waited, uint32_t *ret_key)
{
	size_t length = 0;
	if (keys->count > 1 && keys->bytes[1] == '[') {
		length = control_sequence(keys, ret_key);
	} else if (keys->count > 2 && keys->bytes[1] == 'O') {
		*ret_key = keys->bytes[2] == 'M' ? '\n' : key_of_letter(keys->bytes[2]); /* M: Enter of the keypad */
		length = 3;
	} else if (keys->count > 1 && keys->bytes[1] != 'O') {
		*ret_key = KEY_ESCAPE; /* twice, or with a letter: Escape and then that */
		length = 1;
	}
	if (!length && waited) {
		*ret_key = keys->count == 1 ? KEY_ESCAPE : KEY_OTHER;
		length = keys->count;
	}
	return length;
}

static size_t utf8_length(unsigned char first)
{
	return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

bool keys_next(struct keys *keys, bool waited, uint32_t *ret_key)
{
	size_t length;
	if (!keys->count)
		return false;
	if (keys->bytes[0] == 0x1b) {
		length = escape_sequence(keys, waited, ret_key);
	} else if (keys->count < utf8_length((unsigned char)keys->bytes[0]) && !waited) {
		length = 0;
	} else {
		length = text_utf8(keys->bytes, keys->count, ret_key);
		if (*ret_key == '\r')
			*ret_key = '\n';
		else if (*ret_key == 0x7f)
			*ret_key = '\b';
	}
	if (!length)
		return false;
	take(keys, length);
	return true;
}
