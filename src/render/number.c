#include "render/number.h"

#include <math.h>

static const int64_t powers[] = {1, 10, 100, 1000};

int64_t number_scaled(double value, unsigned digits)
{
	if (value < 0)
		return -number_scaled(-value, digits);
	double product = value * (double)powers[digits];
	double whole = floor(product);
	double rest = product - whole;
	int64_t result = (int64_t)whole;
	if (rest > 0.5)
		return result + 1;
	if (rest < 0.5)
		return result;
	/* The product itself was rounded: what it lost decides whether this really is the middle. */
	double lost = fma(value, (double)powers[digits], -product);
	if (lost > 0)
		return result + 1;
	if (lost < 0)
		return result;
	return result + (result & 1);
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* Copies what was written from the end of `text` backwards. */
static char *put_end(char *to, const char *text, size_t at)
{
	memcpy(to, text + at, NUMBER_ROOM - at);
	return to + (NUMBER_ROOM - at);
}

char *number_fixed(char *to, int64_t scaled, unsigned digits)
{
	char text[NUMBER_ROOM];
	size_t at = sizeof text;
	uint64_t rest = magnitude(scaled);
	for (unsigned i = 0; i < digits; i++, rest /= 10)
		text[--at] = (char)('0' + rest % 10);
	if (digits)
		text[--at] = '.';
	do {
		text[--at] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (scaled < 0)
		text[--at] = '-';
	return put_end(to, text, at);
}

char *number_integer(char *to, int64_t value)
{
	return number_fixed(to, value, 0);
}

char *number_short(char *to, double value)
{
	int64_t scaled = number_scaled(value, 3);
	unsigned digits = 3;
	for (; digits && scaled % 10 == 0; digits--)
		scaled /= 10;
	return number_fixed(to, scaled, digits);
}

char *number_grouped(char *to, int64_t value)
{
	char text[NUMBER_ROOM];
	size_t at = sizeof text;
	uint64_t rest = magnitude(value);
	for (unsigned count = 0; rest || !count; count++, rest /= 10) {
		if (count && count % 3 == 0)
			text[--at] = ',';
		text[--at] = (char)('0' + rest % 10);
	}
	if (value < 0)
		text[--at] = '-';
	return put_end(to, text, at);
}

void number_plain(struct buf *out, double value)
{
	buf_printf(out, "%.15g", value);
}
