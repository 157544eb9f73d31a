/* Writes numbers, escapes XML and JSON, and decodes UTF-8. */
#include "base/text.h"

#include <endian.h>
#include <wchar.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD in UTF-8 */

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static void add_grouped(struct buf *out, uint64_t value)
{
	char digits[32];
	size_t at = sizeof digits;
	unsigned count = 0;
	do {
		if (count && count % 3 == 0)
			digits[--at] = ',';
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
		count++;
	} while (value);
	buf_add(out, digits + at, sizeof digits - at);
}

void text_grouped(struct buf *out, int64_t value)
{
	if (value < 0)
		buf_char(out, '-');
	add_grouped(out, magnitude(value));
}

void text_count(struct buf *out, uint64_t count, const char *one, const char *many)
{
	add_grouped(out, count);
	buf_char(out, ' ');
	buf_str(out, count == 1 ? one : many);
}

void text_bytes(struct buf *out, uint64_t bytes)
{
	static const char *const units[] = {"KB", "MB", "GB", "TB", "PB", "EB"};
	if (bytes < 1000) {
		buf_uint(out, bytes);
		buf_str(out, " B");
		return;
	}
	size_t unit = 0;
	double value = (double)bytes / 1000;
	/* 999.95 would print as "1000.0" */
	while (value >= 999.95 && unit + 1 < sizeof units / sizeof *units) {
		value /= 1000;
		unit++;
	}
	buf_printf(out, value < 99.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

static void add_decimal(struct buf *out, int64_t value, unsigned decimals, bool grouped)
{
	uint64_t rest = magnitude(value), scale = 1;
	/* 10^19 is the largest power of ten in 64 bits; beyond it every digit is behind the point. */
	unsigned digits = decimals < 19 ? decimals : 19;
	for (unsigned i = 0; i < digits; i++)
		scale *= 10;
	uint64_t whole = rest / scale, fraction = rest % scale;
	if (value < 0)
		buf_char(out, '-');
	if (grouped)
		add_grouped(out, whole);
	else
		buf_uint(out, whole);
	if (!fraction)
		return;
	buf_char(out, '.');
	for (unsigned i = digits; i < decimals; i++)
		buf_char(out, '0');
	for (; fraction; fraction %= scale) {
		scale /= 10;
		buf_char(out, (char)('0' + fraction / scale));
	}
}

void text_decimal(struct buf *out, int64_t value, unsigned decimals)
{
	add_decimal(out, value, decimals, false);
}

void text_decimal_grouped(struct buf *out, int64_t value, unsigned decimals)
{
	add_decimal(out, value, decimals, true);
}

/* The well-formed sequences of Unicode 15, table 3-7: the lead byte narrows the range of the second. */
size_t text_utf8(const char *bytes, size_t count, uint32_t *code_point)
{
	const unsigned char *byte = (const unsigned char *)bytes;
	unsigned lead = byte[0];
	size_t length;
	unsigned low = 0x80, high = 0xbf;
	uint32_t value;
	*code_point = 0xfffd;
	if (lead < 0x80) {
		*code_point = lead;
		return 1;
	}
	if (lead >= 0xc2 && lead <= 0xdf) {
		length = 2;
		value = lead & 0x1f;
	} else if ((lead & 0xf0) == 0xe0) {
		length = 3;
		value = lead & 0x0f;
		low = lead == 0xe0 ? 0xa0 : low;
		high = lead == 0xed ? 0x9f : high;
	} else if (lead >= 0xf0 && lead <= 0xf4) {
		length = 4;
		value = lead & 0x07;
		low = lead == 0xf0 ? 0x90 : low;
		high = lead == 0xf4 ? 0x8f : high;
	} else {
		return 1;
	}
	if (count < length)
		return 1;
	for (size_t i = 1; i < length; i++, low = 0x80, high = 0xbf) {
		if (byte[i] < low || byte[i] > high)
			return 1;
		value = value << 6 | (byte[i] & 0x3f);
	}
	*code_point = value;
	return length;
}

/* True for a well-formed sequence; text_utf8() gives U+FFFD also for a real U+FFFD, which is three bytes long. */
static bool is_broken(uint32_t code_point, size_t length)
{
	return code_point == 0xfffd && length == 1;
}

static const char *xml_escape(uint32_t code_point)
{
	switch (code_point) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	/* As references, since attribute values would turn them into spaces. */
	case '\t':
		return "&#9;";
	case '\n':
		return "&#10;";
	case '\r':
		return "&#13;";
	case 0xfffe:
	case 0xffff:
		return REPLACEMENT;
	default:
		return code_point < 0x20 ? REPLACEMENT : NULL;
	}
}

static bool is_special(unsigned char byte)
{
	static const bool special[256] = {
		[0 ... 0x1f] = true, ['"'] = true, ['&'] = true,  ['\''] = true,
		['<'] = true,        ['>'] = true, ['\\'] = true, [0x7f ... 0xff] = true,
	};
	return special[byte];
}

#define EACH_BYTE 0x0101010101010101ull
/* The high bit of each byte of `word` that equals `byte`; all bytes must be below 0x80. */
static uint64_t bytes_that_are(uint64_t word, unsigned char byte)
{
	return ~((word ^ EACH_BYTE * byte) + EACH_BYTE * 0x7f) & EACH_BYTE * 0x80;
}

/* The high bit of each byte that is_special() holds for. */
static uint64_t special_bytes(uint64_t word)
{
	uint64_t low = word & EACH_BYTE * 0x7f;
	uint64_t from_space_on = low + EACH_BYTE * 0x60; /* in the high bits */
	uint64_t ampersand_apostrophe = bytes_that_are(low & EACH_BYTE * 0x7e, '&');
	uint64_t less_greater = bytes_that_are(low & EACH_BYTE * 0x7d, '<');
	return ((word | ~from_space_on) & EACH_BYTE * 0x80) | ampersand_apostrophe | less_greater |
	       bytes_that_are(low, '"') | bytes_that_are(low, '\\') | bytes_that_are(low, 0x7f);
}

size_t text_plain(const char *bytes, size_t count)
{
	size_t at = 0;
	for (; at + 8 <= count; at += 8) {
		uint64_t word;
		memcpy(&word, bytes + at, sizeof word);
		uint64_t special = special_bytes(le64toh(word));
		if (special)
			return at + (size_t)__builtin_ctzll(special) / 8;
	}
	while (at < count && !is_special((unsigned char)bytes[at]))
		at++;
	return at;
}

void text_xml(struct buf *out, const char *bytes, size_t count)
{
	size_t kept = 0; /* start of the run that is copied as it is */
	for (size_t at = 0, length; (at += text_plain(bytes + at, count - at)) < count; at += length) {
		uint32_t code_point;
		length = text_utf8(bytes + at, count - at, &code_point);
		const char *escape = is_broken(code_point, length) ? REPLACEMENT : xml_escape(code_point);
		if (!escape)
			continue;
		buf_add(out, bytes + kept, at - kept);
		buf_str(out, escape);
		kept = at + length;
	}
	buf_add(out, bytes + kept, count - kept);
}

static bool json_needs_escape(uint32_t code_point)
{
	switch (code_point) {
	case '"':
	case '\\':
	case '<': /* "</script>" and "<!--" */
	case '>': /* "]]>" */
	case '&':
	case 0x7f:
	case 0x2028: /* line ends in scripts before ES2019 */
	case 0x2029:
	case 0xfffe: /* what XML cannot hold */
	case 0xffff:
		return true;
	default:
		return code_point < 0x20;
	}
}

static void json_escape(struct buf *out, uint32_t code_point)
{
	switch (code_point) {
	case '"':
		buf_str(out, "\\\"");
		break;
	case '\\':
		buf_str(out, "\\\\");
		break;
	case '\n':
		buf_str(out, "\\n");
		break;
	case '\r':
		buf_str(out, "\\r");
		break;
	case '\t':
		buf_str(out, "\\t");
		break;
	case '<': /* the brackets of C++ templates: too many for printf */
		buf_str(out, "\\u003c");
		break;
	case '>':
		buf_str(out, "\\u003e");
		break;
	default:
		buf_printf(out, "\\u%04x", code_point);
	}
}

void text_json(struct buf *out, const char *bytes, size_t count)
{
	size_t kept = 0;
	buf_char(out, '"');
	for (size_t at = 0, length; (at += text_plain(bytes + at, count - at)) < count; at += length) {
		uint32_t code_point;
		length = text_utf8(bytes + at, count - at, &code_point);
		bool broken = is_broken(code_point, length);
		if (!broken && !json_needs_escape(code_point))
			continue;
		buf_add(out, bytes + kept, at - kept);
		if (broken)
			buf_str(out, REPLACEMENT);
		else
			json_escape(out, code_point);
		kept = at + length;
	}
	buf_add(out, bytes + kept, count - kept);
	buf_char(out, '"');
}

/* Control characters of both sets, and the marks that reorder the text around them. */
static bool drives_terminal(uint32_t code_point)
{
	return code_point < 0x20 || (code_point >= 0x7f && code_point <= 0x9f) || code_point == 0x2028 ||
	       code_point == 0x2029 || (code_point >= 0x202a && code_point <= 0x202e) ||
	       (code_point >= 0x2066 && code_point <= 0x2069);
}

void text_csv(struct buf *out, const char *bytes, size_t count)
{
	bool formula = count && strchr("=+-@", bytes[0]);
	bool quote = count && (formula || bytes[0] == ' ' || bytes[count - 1] == ' ');
	for (size_t i = 0; i < count && !quote; i++)
		quote = bytes[i] == ',' || bytes[i] == '"';
	if (quote)
		buf_char(out, '"');
	if (formula)
		buf_char(out, '\'');
	for (size_t at = 0, length; at < count; at += length) {
		uint32_t code_point;
		length = text_utf8(bytes + at, count - at, &code_point);
		if (is_broken(code_point, length) || drives_terminal(code_point))
			buf_str(out, REPLACEMENT);
		else
			buf_add(out, bytes + at, length);
		if (code_point == '"')
			buf_char(out, '"');
	}
	if (quote)
		buf_char(out, '"');
}

void text_one_line(char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if ((unsigned char)bytes[i] < ' ' || bytes[i] == 0x7f)
			bytes[i] = ' ';
}

void text_one_frame(char *bytes, size_t count)
{
	text_one_line(bytes, count);
	for (size_t i = 0; i < count; i++)
		if (bytes[i] == ';')
			bytes[i] = ':';
}

void text_terminal(struct buf *out, const char *bytes, size_t count)
{
	for (size_t at = 0, length; at < count; at += length) {
		uint32_t code_point;
		length = text_utf8(bytes + at, count - at, &code_point);
		if (is_broken(code_point, length) || drives_terminal(code_point))
			buf_str(out, REPLACEMENT);
		else
			buf_add(out, bytes + at, length);
	}
}

size_t text_columns(const char *bytes, size_t count)
{
	size_t columns = 0;
	for (size_t at = 0; at < count;) {
		uint32_t code_point;
		at += text_utf8(bytes + at, count - at, &code_point);
		int width = code_point < 0x80 ? 1 : wcwidth((wchar_t)code_point);
		/* -1: not printable, or the locale does not know it; text_terminal() makes one column of it. */
		columns += width < 0 ? 1 : (size_t)width;
	}
	return columns;
}

static unsigned smallest(unsigned a, unsigned b, unsigned c)
{
	unsigned min = a < b ? a : b;
	return min < c ? min : c;
}

/* Three rows of the usual table are enough, since a swap looks back two rows. */
unsigned text_distance(const char *a, const char *b)
{
	size_t length_a = strlen(a), length_b = strlen(b), width = length_b + 1;
	CLEANUP_FREE unsigned *rows = mem_zalloc(3 * width, sizeof *rows);
	unsigned *before = rows, *last = rows + width, *row = rows + 2 * width;
	for (size_t j = 0; j < width; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= length_a; i++) {
		row[0] = (unsigned)i;
		for (size_t j = 1; j < width; j++) {
			unsigned changed = last[j - 1] + (a[i - 1] != b[j - 1]);
			row[j] = smallest(last[j] + 1, row[j - 1] + 1, changed);
			bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
			if (swapped && before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		unsigned *free_row = before;
		before = last;
		last = row;
		row = free_row;
	}
	return last[length_b];
}
