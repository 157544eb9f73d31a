/* What stands around a page of `wick top`: head, foot, and the help in its place. Private to top*.c. */
#ifndef WICK_RENDER_TOP_TOP_FRAME_H
#define WICK_RENDER_TOP_TOP_FRAME_H

#include "render/top/top_line.h"

void top_draw_title(struct top_drawing *d);
void top_draw_figures(struct top_drawing *d);
/* The last line, without an end of line. */
void top_draw_foot(struct top_drawing *d);
/* As many lines as requested. */
void top_draw_help(struct top_drawing *d, size_t lines);

#endif
