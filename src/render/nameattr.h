/*
 * Attributes of single functions, from a file of lines "function TAB key=value TAB key=value …": flamegraph.pl's
 * --nameattr. Keys: href, target, title, class, id, style, and g_extra and a_extra, which are attributes as XML writes
 * them.
 */
#ifndef WICK_RENDER_NAMEATTR_H
#define WICK_RENDER_NAMEATTR_H

#include "base/err.h"
#include "base/strpool.h"

/* All members are text as it is, not escaped, or NULL. */
struct nameattr_entry {
	const char *href, *target, *title, *class, *id, *style;
	const char *g_extra, *a_extra; /* whole attributes, ready for a start tag: ` data-x="1"` */
};

struct nameattr {
	struct strpool functions;
	struct nameattr_entry *entries; /* by function */
	size_t capacity;
	struct arena arena;
	uint64_t dropped; /* attributes that are not supported or would run script */
	char first_dropped[256]; /* "file:line: …", empty when there is none */
};

void nameattr_init(struct nameattr *attributes);
void nameattr_release(struct nameattr *attributes);

/* A line that is not in the format is an error that names file and line. */
int nameattr_read(struct nameattr *attributes, const char *path, struct err *err);

/* NULL when the function has none. */
const struct nameattr_entry *nameattr_find(const struct nameattr *attributes, const char *function, size_t length);

#endif
