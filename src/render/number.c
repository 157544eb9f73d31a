/* Formats numbers without printf. */
#include "render/number.h"

#include <math.h>

static const int64_t powers[] = {1, 10, 100, 1000};

int64_t number_scaled(double value, unsigned digits)
{
	if (value < 0)
		return -number_scaled(-value, digits);
	double product = value * (double)powers[digits];
	if (!(product < 9e18))
		return INT64_MAX;
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

static unsigned count_digits(uint64_t value)
{
	unsigned count = 1;
	for (; value >= 10000; value /= 10000)
		count += 4;
	return count + (value >= 10) + (value >= 100) + (value >= 1000);
}

/* Writes `count` digits of `value` that end before `end`, and returns the rest of it. */
static uint64_t put_digits(char *end, uint64_t value, unsigned count)
{
	for (; count; count--, value /= 10)
		*--end = (char)('0' + value % 10);
	return value;
}

char *number_fixed(char *to, int64_t scaled, unsigned digits)
{
	uint64_t rest = magnitude(scaled);
	unsigned count = count_digits(rest);
	unsigned whole = count > digits ? count - digits : 1;
	if (scaled < 0)
		*to++ = '-';
	char *end = to + whole;
	if (digits) {
		*end = '.';
		rest = put_digits(end + 1 + digits, rest, digits);
	}
	put_digits(end, rest, whole);
	return digits ? end + 1 + digits : end;
}

static char *put_two(char *to, uint32_t value)
{
	to[0] = (char)('0' + value / 10);
	to[1] = (char)('0' + value % 10);
	return to + 2;
}

static char *put_up_to_two(char *to, uint32_t value)
{
	if (value >= 10)
		return put_two(to, value);
	*to = (char)('0' + value);
	return to + 1;
}

char *number_integer(char *to, int64_t value)
{
	/* Small ones are most of what a tree is made of. */
	if (value < 0 || value >= 1000000)
		return number_fixed(to, value, 0);
	uint32_t rest = (uint32_t)value;
	if (rest >= 10000) {
		to = put_up_to_two(to, rest / 10000);
		to = put_two(to, rest / 100 % 100);
		return put_two(to, rest % 100);
	}
	if (rest >= 100) {
		to = put_up_to_two(to, rest / 100);
		return put_two(to, rest % 100);
	}
	return put_up_to_two(to, rest);
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
	uint64_t rest = magnitude(value);
	unsigned count = count_digits(rest);
	if (value < 0)
		*to++ = '-';
	char *end = to + count + (count - 1) / 3, *at = end;
	for (; count > 3; count -= 3) {
		rest = put_digits(at, rest, 3);
		at -= 4;
		*at = ',';
	}
	put_digits(at, rest, count);
	return end;
}

void number_plain(struct buf *out, double value)
{
	buf_printf(out, "%.15g", value);
}
