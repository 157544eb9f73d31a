/* Bytes from a terminal → keys. Sequences may come in any number of pieces. */
#ifndef WICK_BASE_KEYS_H
#define WICK_BASE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A key is a code point; those without one lie above all code points. Enter is '\n', Backspace '\b'. */
enum {
	KEY_ESCAPE = 0x1b,
	KEY_UP = 0x110000,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_HOME,
	KEY_END,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_DELETE,
	KEY_OTHER, /* one that has no meaning here */
};

#define KEYS_MAX 32 /* no sequence is longer */

/* Zero-initialised is empty. */
struct keys {
	char bytes[KEYS_MAX];
	size_t count;
};

/* How many more bytes may be added now; at least one after keys_next() returned false. */
static inline size_t keys_room(const struct keys *keys)
{
	return KEYS_MAX - keys->count;
}
/* Adds bytes, at most keys_room(). */
void keys_add(struct keys *keys, const char *bytes, size_t count);
/*
 * The next key, or false when more bytes are needed. An Escape may be the key or the beginning of a sequence: with
 * `waited` nothing has followed for a while, and what is there is taken as it is.
 */
bool keys_next(struct keys *keys, bool waited, uint32_t *ret_key);

#endif
