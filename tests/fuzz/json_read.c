/* Bytes as JSON. What was read is written again, and must read as the same. */
#include "base/json.h"
#include "base/json_read.h"
#include "harness.h"

#include <stdlib.h>

static void write_value(const struct json_document *document, json_id value, struct buf *out)
{
	struct json json = {.out = out};
	const char *text = json_text(document, value);
	enum json_type type = json_type(document, value);
	bool keys = type == JSON_OBJECT;
	if (type == JSON_STRING)
		json_string(&json, NULL, text);
	else if (keys || type == JSON_ARRAY)
		buf_char(out, keys ? '{' : '[');
	else
		buf_str(out, type == JSON_NULL ? "null" : text);
	for (json_id at = json_first(document, value); at; at = json_next(document, at)) {
		if (keys) {
			struct json key = {.out = out};
			json_string(&key, NULL, json_key(document, at));
			buf_char(out, ':');
		}
		write_value(document, at, out);
		buf_str(out, json_next(document, at) ? "," : "");
	}
	if (keys || type == JSON_ARRAY)
		buf_char(out, keys ? '}' : ']');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_document document CLEANUP_JSON = {0}, again CLEANUP_JSON = {0};
	struct buf once CLEANUP_BUF = {0}, twice CLEANUP_BUF = {0};
	if (!json_parse(&document, (const char *)data, size)) {
		if (json_first(&document, JSON_ROOT) || *json_text(&document, JSON_ROOT))
			abort();
		return 0;
	}
	write_value(&document, JSON_ROOT, &once);
	if (!json_parse(&again, once.data, once.size) || again.count != document.count)
		abort();
	write_value(&again, JSON_ROOT, &twice);
	if (once.size != twice.size || memcmp(once.data, twice.data, once.size) != 0)
		abort();
	return 0;
}
