/* Growth of a byte buffer, and text and numbers appended to it. */
#include "base/buf.h"

#include <stdio.h>

void buf_release(struct buf *buf)
{
	free(buf->data);
	*buf = (struct buf){0};
}

char *buf_reserve(struct buf *buf, size_t more)
{
	size_t want;
	if (__builtin_add_overflow(buf->size, more, &want) || __builtin_add_overflow(want, 1, &want))
		want = SIZE_MAX;
	if (want > buf->capacity)
		buf->data = mem_grow(buf->data, &buf->capacity, want, 1);
	return buf->data + buf->size;
}

void buf_add(struct buf *buf, const void *bytes, size_t count)
{
	char *to = buf_reserve(buf, count);
	if (count)
		memcpy(to, bytes, count);
	buf->size += count;
	buf->data[buf->size] = '\0';
}

void buf_char(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

void buf_str(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void buf_uint(struct buf *buf, uint64_t value)
{
	char digits[20];
	size_t at = sizeof digits;
	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	buf_add(buf, digits + at, sizeof digits - at);
}

void buf_int(struct buf *buf, int64_t value)
{
	if (value < 0)
		buf_char(buf, '-');
	buf_uint(buf, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void buf_vprintf(struct buf *buf, const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	int need = vsnprintf(NULL, 0, format, args);
	if (need > 0) {
		vsnprintf(buf_reserve(buf, (size_t)need), (size_t)need + 1, format, again);
		buf->size += (size_t)need;
	}
	va_end(again);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	buf_vprintf(buf, format, args);
	va_end(args);
}
