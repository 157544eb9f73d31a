/* Lines of a screen: text that is truncated or padded to its columns. */
#include "render/top/top_line.h"

#include "base/text.h"

size_t top_columns_of(const struct buf *text)
{
	return text_columns(text->data ? text->data : "", text->size);
}

void top_put(struct top_line *line, enum screen_style style, const char *text)
{
	size_t length = strlen(text), need = text_columns(text, length);
	size_t left = line->columns > line->used ? line->columns - line->used : 0;
	if (!left)
		return;
	screen_style(&line->text, line->colour, style);
	screen_name(&line->text, text, length, need > left ? left : 0);
	screen_style(&line->text, line->colour, STYLE_PLAIN);
	line->used += need > left ? left : need;
}

bool top_put_whole(struct top_line *line, enum screen_style style, const char *text)
{
	if (line->used + text_columns(text, strlen(text)) > line->columns)
		return false;
	top_put(line, style, text);
	return true;
}

void top_put_spaces(struct top_line *line, size_t count)
{
	size_t left = line->columns > line->used ? line->columns - line->used : 0;
	count = count < left ? count : left;
	screen_spaces(&line->text, count);
	line->used += count;
}

void top_line_end(struct top_drawing *d, struct top_line *line)
{
	buf_add(d->out, line->text.data ? line->text.data : "", line->text.size);
	buf_char(d->out, '\n');
	buf_release(&line->text);
}

struct top_line top_line_new(const struct top_drawing *d)
{
	return (struct top_line){.columns = d->columns, .colour = d->colour};
}

void top_blank_line(struct top_drawing *d)
{
	buf_char(d->out, '\n');
}
