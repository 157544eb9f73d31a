/* The script and the style of src/web/, embedded by the Makefile (its WEB_JS says in which order). NUL-terminated. */
#ifndef WICK_RENDER_WEB_H
#define WICK_RENDER_WEB_H

#include <stddef.h>

extern const char web_flame_js[];
extern const size_t web_flame_js_size; /* without the NUL */
extern const char web_flame_css[];
extern const size_t web_flame_css_size;

#endif
