/* Text for people: names that fit their column, numbers under each other, color by weight. */
#ifndef WICK_RENDER_SCREEN_H
#define WICK_RENDER_SCREEN_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

enum screen_style {
	STYLE_PLAIN,
	STYLE_BOLD,
	STYLE_DIM,
	STYLE_HOT,
	STYLE_WARM,
	STYLE_WORSE, /* grew */
	STYLE_BETTER, /* shrank */
	STYLE_ACCENT,
	STYLE_INVERSE,
};

/* Switches the style when `colour` is true; STYLE_PLAIN ends the one before. */
void screen_style(struct buf *out, bool colour, enum screen_style style);
/* How a share of `percent` is shown: hot, warm, plain, dim. */
enum screen_style screen_heat(double percent);

/* Text that cannot drive the terminal; its middle becomes "…" when it needs more than `columns` (0: any length). */
void screen_name(struct buf *out, const char *bytes, size_t count, size_t columns);
/* The same, filled up with spaces to `columns`. */
void screen_name_padded(struct buf *out, const char *bytes, size_t count, size_t columns);
/* ASCII or short text right-aligned in `columns`. */
void screen_right(struct buf *out, const char *text, size_t columns);
void screen_spaces(struct buf *out, size_t count);
/* "12.34 %" right-aligned in 8 columns; percent is clamped to what fits. */
void screen_percent(struct buf *out, double percent);
/* A bar of `columns` columns of which `share` (0 to 1) is filled, in eighths. */
void screen_bar(struct buf *out, double share, size_t columns);
/* A dim word and a text behind it on a line of their own. */
void screen_fact(struct buf *out, bool colour, const char *word, const char *bytes, size_t count);

#endif
