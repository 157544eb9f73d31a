/* A screen of `wick top` while it is drawn, and the lines it is made of. Private to top*.c. */
#ifndef WICK_RENDER_TOP_TOP_LINE_H
#define WICK_RENDER_TOP_TOP_LINE_H

#include "base/buf.h"
#include "render/screen.h"
#include "render/top/top.h"

enum { TOP_GUTTER = 2, TOP_GAP = 2 }; /* columns before a line, and between its parts */

/* One screen while it is drawn. */
struct top_drawing {
	struct buf *out;
	const struct top_state *state;
	const struct top_content *content;
	const struct top_facts *facts;
	size_t columns, page_lines;
	bool colour;
};

/* Text in styles, as far as it fits. */
struct top_line {
	struct buf text;
	size_t used, columns;
	bool colour;
};

size_t top_columns_of(const struct buf *text);

struct top_line top_line_new(const struct top_drawing *d);
/* Cuts what does not fit into what is left of the line. */
void top_put(struct top_line *line, enum screen_style style, const char *text);
/* The same when all of it fits, else nothing; returns whether it did. */
bool top_put_whole(struct top_line *line, enum screen_style style, const char *text);
void top_put_spaces(struct top_line *line, size_t count);
/* Draws the line and releases it. */
void top_line_end(struct top_drawing *d, struct top_line *line);
void top_blank_line(struct top_drawing *d);

#endif
