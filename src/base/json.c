/* A writer of JSON. */
#include "base/json.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct json_layout json_compact = {"", ",", "", ":"};
const struct json_layout json_inline = {"", ", ", "", ": "};
const struct json_layout json_lines = {"\n", ",\n", "\n", ": "};

struct buf *json_value(struct json *json, const char *name)
{
	if (json->depth) {
		struct json_level *level = &json->levels[json->depth - 1];
		const char *separator = level->some ? level->layout->between : level->layout->first;
		buf_str(json->out, json->separator ? json->separator : separator);
		level->some = true;
	}
	json->separator = NULL;
	if (name)
		buf_printf(json->out, "\"%s\"%s", name, json->levels[json->depth - 1].layout->colon);
	return json->out;
}

static void open_level(struct json *json, const char *name, const struct json_layout *layout, const char *ends)
{
	if (json->depth == JSON_DEPTH_MAX)
		abort(); /* formats are known: none is so deep */
	buf_char(json_value(json, name), ends[0]);
	json->levels[json->depth++] = (struct json_level){.layout = layout, .end = ends[1]};
}

void json_object(struct json *json, const char *name, const struct json_layout *layout)
{
	open_level(json, name, layout, "{}");
}

void json_array(struct json *json, const char *name, const struct json_layout *layout)
{
	open_level(json, name, layout, "[]");
}

void json_end(struct json *json)
{
	const struct json_level *level = &json->levels[--json->depth];
	buf_str(json->out, level->layout->last);
	buf_char(json->out, level->end);
}

void json_separate(struct json *json, const char *separator)
{
	json->separator = separator;
}

void json_bytes(struct json *json, const char *name, const char *bytes, size_t count)
{
	text_json(json_value(json, name), bytes, count);
}

void json_null(struct json *json, const char *name)
{
	buf_str(json_value(json, name), "null");
}

void json_string(struct json *json, const char *name, const char *text)
{
	if (text)
		json_bytes(json, name, text, strlen(text));
	else
		json_null(json, name);
}

void json_known(struct json *json, const char *name, const char *text)
{
	json_string(json, name, text && *text ? text : NULL);
}

void json_strings(struct json *json, const char *name, const char *const *texts)
{
	json_array(json, name, &json_inline);
	for (size_t i = 0; texts[i]; i++)
		json_string(json, NULL, texts[i]);
	json_end(json);
}

static void drop_zeros(struct buf *out)
{
	while (out->data[out->size - 1] == '0')
		out->size--;
	if (out->data[out->size - 1] == '.')
		out->size--;
	out->data[out->size] = '\0';
}

void json_number(struct json *json, const char *name, double value, unsigned digits)
{
	if (!isfinite(value)) {
		json_null(json, name);
		return;
	}
	struct buf *out = json_value(json, name);
	size_t start = out->size;
	buf_printf(out, "%.*f", (int)digits, value);
	if (digits)
		drop_zeros(out);
	if (strcmp(out->data + start, "-0") == 0) {
		out->size = start;
		buf_char(out, '0');
	}
}

void json_uint(struct json *json, const char *name, uint64_t value)
{
	buf_uint(json_value(json, name), value);
}

void json_int(struct json *json, const char *name, int64_t value)
{
	buf_int(json_value(json, name), value);
}

void json_bool(struct json *json, const char *name, bool value)
{
	buf_str(json_value(json, name), value ? "true" : "false");
}
