/* A growable byte buffer. Zero-initialised is empty; `data` is NUL-terminated whenever it is not NULL. */
#ifndef WICK_BASE_BUF_H
#define WICK_BASE_BUF_H

#include "base/mem.h"

#include <stdarg.h>
#include <string.h>

struct buf {
	char *data;
	size_t size;
	size_t capacity;
};

void buf_release(struct buf *buf);
#define CLEANUP_BUF __attribute__((cleanup(buf_release)))

/* Makes room for `more` bytes after the end (plus the NUL) and returns where they go; size is unchanged. */
char *buf_reserve(struct buf *buf, size_t more);
void buf_add(struct buf *buf, const void *bytes, size_t count);
void buf_char(struct buf *buf, char c);
void buf_str(struct buf *buf, const char *text);
void buf_uint(struct buf *buf, uint64_t value);
void buf_int(struct buf *buf, int64_t value);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *buf, const char *format, va_list args);

static inline void buf_clear(struct buf *buf)
{
	buf->size = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

#endif
