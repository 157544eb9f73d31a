/* Styles, truncated names, percentages and bars for terminals. */
#include "render/screen.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>

void screen_style(struct buf *out, bool colour, enum screen_style style)
{
	static const char *const codes[] = {
		[STYLE_PLAIN] = "\033[0m",   [STYLE_BOLD] = "\033[1m",    [STYLE_DIM] = "\033[2m",
		[STYLE_HOT] = "\033[1;31m",  [STYLE_WARM] = "\033[33m",   [STYLE_WORSE] = "\033[31m",
		[STYLE_BETTER] = "\033[32m", [STYLE_ACCENT] = "\033[36m", [STYLE_INVERSE] = "\033[7m",
	};
	if (colour)
		buf_str(out, codes[style]);
}

enum screen_style screen_heat(double percent)
{
	if (percent >= 10)
		return STYLE_HOT;
	if (percent >= 2)
		return STYLE_WARM;
	return percent >= 0.5 ? STYLE_PLAIN : STYLE_DIM;
}

void screen_spaces(struct buf *out, size_t count)
{
	memset(buf_reserve(out, count), ' ', count);
	out->size += count;
	out->data[out->size] = '\0';
}

void screen_right(struct buf *out, const char *text, size_t columns)
{
	size_t have = text_columns(text, strlen(text));
	if (have < columns)
		screen_spaces(out, columns - have);
	buf_str(out, text);
}

/* The end of the longest part from `from` on that takes at most `columns`. */
static size_t advance(const char *text, size_t from, size_t size, size_t columns)
{
	size_t used = 0;
	while (from < size) {
		uint32_t code_point;
		size_t length = text_utf8(text + from, size - from, &code_point);
		used += text_columns(text + from, length);
		if (used > columns)
			break;
		from += length;
	}
	return from;
}

void screen_name(struct buf *out, const char *bytes, size_t count, size_t columns)
{
	struct buf safe CLEANUP_BUF = {0};
	text_terminal(&safe, bytes, count);
	size_t need = text_columns(safe.data ? safe.data : "", safe.size);
	if (!columns || need <= columns) {
		buf_add(out, safe.data, safe.size);
		return;
	}
	/* Namespaces at the front and the function at the end matter most: what is between is removed. */
	size_t keep = columns - 1, head = keep - keep / 2;
	size_t head_end = advance(safe.data, 0, safe.size, head);
	size_t tail = advance(safe.data, 0, safe.size, need - keep / 2);
	/* A wide character may straddle the cut: then one column less is used. */
	while (text_columns(safe.data + tail, safe.size - tail) > keep / 2)
		tail = advance(safe.data, tail, safe.size, 2);
	buf_add(out, safe.data, head_end);
	buf_str(out, "…");
	buf_add(out, safe.data + tail, safe.size - tail);
}

void screen_name_padded(struct buf *out, const char *bytes, size_t count, size_t columns)
{
	size_t start = out->size;
	screen_name(out, bytes, count, columns);
	size_t used = text_columns(out->data + start, out->size - start);
	if (used < columns)
		screen_spaces(out, columns - used);
}

void screen_percent(struct buf *out, double percent)
{
	char text[32];
	snprintf(text, sizeof text, "%.2f %%", fmax(-999.99, fmin(percent, 999.99)));
	screen_right(out, text, 8);
}

void screen_bar(struct buf *out, double share, size_t columns)
{
	static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	size_t units = (size_t)(fmax(0, fmin(share, 1)) * (double)columns * 8 + 0.5);
	for (size_t i = 0; i < units / 8; i++)
		buf_str(out, "█");
	buf_str(out, eighths[units % 8]);
	size_t used = (units + 7) / 8;
	screen_spaces(out, columns - used);
}

void screen_fact(struct buf *out, bool colour, const char *word, const char *bytes, size_t count)
{
	screen_style(out, colour, STYLE_DIM);
	screen_name_padded(out, word, strlen(word), 8);
	screen_style(out, colour, STYLE_PLAIN);
	text_terminal(out, bytes, count);
	buf_char(out, '\n');
}
