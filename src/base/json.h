/*
 * Writes JSON. Separators and names are added by the writer; the layout of an object or array says where lines break,
 * because people read it too.
 */
#ifndef WICK_BASE_JSON_H
#define WICK_BASE_JSON_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* What stands before the first member, between two, before the end, and behind the name of a member. */
struct json_layout {
	const char *first, *between, *last, *colon;
};
extern const struct json_layout json_compact; /* without spaces: {"a":1,"b":2} */
extern const struct json_layout json_inline; /* in one line: {"a": 1, "b": 2} */
extern const struct json_layout json_lines; /* one line each */

#define JSON_DEPTH_MAX 8
struct json {
	struct buf *out; /* the caller's, which may be cleared meanwhile */
	const char *separator; /* of the next member only; NULL: that of the layout */
	unsigned depth;
	struct json_level {
		const struct json_layout *layout;
		char end;
		bool some;
	} levels[JSON_DEPTH_MAX];
};

/* Everywhere `name` is that of a member, and NULL for an element of an array and for the outermost value. */
void json_object(struct json *json, const char *name, const struct json_layout *layout);
void json_array(struct json *json, const char *name, const struct json_layout *layout);
/* Ends the innermost object or array. */
void json_end(struct json *json);
/* The next member stands behind this, and not behind what the layout says. */
void json_separate(struct json *json, const char *separator);

/* A string; NULL is null. */
void json_string(struct json *json, const char *name, const char *text);
/* The same, but null when it is empty: what is not known. */
void json_known(struct json *json, const char *name, const char *text);
void json_bytes(struct json *json, const char *name, const char *bytes, size_t count);
/* An array of strings, ended by NULL. */
void json_strings(struct json *json, const char *name, const char *const *texts);
/* A number with at most `digits` digits behind the point; what is no number is null. */
void json_number(struct json *json, const char *name, double value, unsigned digits);
void json_uint(struct json *json, const char *name, uint64_t value);
void json_int(struct json *json, const char *name, int64_t value);
void json_bool(struct json *json, const char *name, bool value);
void json_null(struct json *json, const char *name);
/* For a value that the caller appends to the result. */
struct buf *json_value(struct json *json, const char *name);

#endif
