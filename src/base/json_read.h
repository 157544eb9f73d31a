/*
 * Reads JSON that others wrote. All of it is checked and stored as one array of values, whose size and depth are
 * bounded. A value that is not there is JSON_ABSENT, and so is every member of it, so that callers check only what they
 * use.
 */
#ifndef WICK_BASE_JSON_READ_H
#define WICK_BASE_JSON_READ_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define JSON_READ_DEPTH_MAX 64
#define JSON_READ_VALUES_MAX (1u << 20)

typedef uint32_t json_id;
#define JSON_ABSENT 0
#define JSON_ROOT 1

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_value {
	enum json_type type;
	uint32_t key, text; /* offsets in `texts` */
	json_id first, next; /* member or element, and the next one beside this */
};

/* Zero-initialized is empty: JSON_ROOT is not there. */
struct json_document {
	struct json_value *values;
	size_t count, capacity;
	struct buf texts;
};

/* False: it is not JSON, or too large; the document is then empty. */
bool json_parse(struct json_document *document, const char *bytes, size_t size);
void json_document_release(struct json_document *document);
#define CLEANUP_JSON __attribute__((cleanup(json_document_release)))

enum json_type json_type(const struct json_document *document, json_id value);
/* The first member of an object with this name, or JSON_ABSENT. */
json_id json_member(const struct json_document *document, json_id object, const char *name);
/* Members and elements one after the other. */
json_id json_first(const struct json_document *document, json_id value);
json_id json_next(const struct json_document *document, json_id value);
const char *json_key(const struct json_document *document, json_id value);
/* A string, or what stands there of a number or boolean; "" for all others. Without NUL: that becomes U+FFFD. */
const char *json_text(const struct json_document *document, json_id value);
/* json_text() of a member. */
const char *json_member_text(const struct json_document *document, json_id object, const char *name);

#endif
