/* Parses JSON (RFC 8259) by recursive descent. */
#include "base/json_read.h"

#include "base/text.h"

#include <ctype.h>

#define REPLACEMENT 0xfffd

struct parser {
	const char *at, *end;
	unsigned depth;
	struct json_document *document;
};

static bool parse_value(struct parser *parser, json_id into);

static void skip_space(struct parser *parser)
{
	while (parser->at < parser->end && memchr(" \t\r\n", *parser->at, 4))
		parser->at++;
}

/* Takes one character, after spaces. */
static bool take(struct parser *parser, char c)
{
	skip_space(parser);
	if (parser->at == parser->end || *parser->at != c)
		return false;
	parser->at++;
	return true;
}

static uint32_t add_text(struct parser *parser, const char *bytes, size_t count)
{
	struct buf *texts = &parser->document->texts;
	uint32_t offset = (uint32_t)texts->size;
	buf_add(texts, bytes, count);
	buf_char(texts, '\0');
	return offset;
}

static bool take_hex(struct parser *parser, uint32_t *ret_unit)
{
	*ret_unit = 0;
	if (parser->end - parser->at < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		int c = tolower((unsigned char)*parser->at++);
		if (!isxdigit(c))
			return false;
		*ret_unit = *ret_unit << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return true;
}

static void add_code_point(struct buf *out, uint32_t code)
{
	if (code < 0x80) {
		buf_char(out, (char)code);
	} else if (code < 0x800) {
		buf_char(out, (char)(0xc0 | code >> 6));
		buf_char(out, (char)(0x80 | (code & 0x3f)));
	} else if (code < 0x10000) {
		buf_char(out, (char)(0xe0 | code >> 12));
		buf_char(out, (char)(0x80 | (code >> 6 & 0x3f)));
		buf_char(out, (char)(0x80 | (code & 0x3f)));
	} else {
		buf_char(out, (char)(0xf0 | code >> 18));
		buf_char(out, (char)(0x80 | (code >> 12 & 0x3f)));
		buf_char(out, (char)(0x80 | (code >> 6 & 0x3f)));
		buf_char(out, (char)(0x80 | (code & 0x3f)));
	}
}

/* Behind "\u": one code point may be two escapes. Half of a pair, and NUL, become U+FFFD. */
static bool take_code_point(struct parser *parser)
{
	uint32_t code, low;
	if (!take_hex(parser, &code))
		return false;
	if (code >= 0xd800 && code < 0xdc00 && parser->end - parser->at >= 6 && !memcmp(parser->at, "\\u", 2)) {
		const char *second = parser->at;
		parser->at += 2;
		if (!take_hex(parser, &low))
			return false;
		if (low >= 0xdc00 && low < 0xe000)
			code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
		else
			parser->at = second;
	}
	bool alone = code >= 0xd800 && code < 0xe000;
	add_code_point(&parser->document->texts, alone || !code ? REPLACEMENT : code);
	return true;
}

static bool take_escape(struct parser *parser)
{
	static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	if (parser->at == parser->end)
		return false;
	char c = *parser->at++;
	if (c == 'u')
		return take_code_point(parser);
	const char *name = c ? strchr(names, c) : NULL;
	if (name)
		buf_char(&parser->document->texts, meanings[name - names]);
	return name;
}

static bool take_string(struct parser *parser, uint32_t *ret_text)
{
	*ret_text = (uint32_t)parser->document->texts.size;
	if (!take(parser, '"'))
		return false;
	while (parser->at < parser->end && *parser->at != '"') {
		const char *from = parser->at;
		while (parser->at < parser->end && *parser->at != '"' && *parser->at != '\\') {
			if ((unsigned char)*parser->at < 0x20)
				return false;
			parser->at++;
		}
		buf_add(&parser->document->texts, from, (size_t)(parser->at - from));
		if (parser->at < parser->end && *parser->at == '\\' && (parser->at++, !take_escape(parser)))
			return false;
	}
	buf_char(&parser->document->texts, '\0');
	return take(parser, '"');
}

static bool take_digits(struct parser *parser)
{
	const char *from = parser->at;
	while (parser->at < parser->end && isdigit((unsigned char)*parser->at))
		parser->at++;
	return parser->at > from;
}

static bool take_any(struct parser *parser, const char *set)
{
	bool there = parser->at < parser->end && *parser->at && strchr(set, *parser->at);
	parser->at += there;
	return there;
}

static bool take_number(struct parser *parser, uint32_t *ret_text)
{
	const char *from = parser->at;
	take_any(parser, "-");
	const char *digits = parser->at;
	if (!take_digits(parser) || (*digits == '0' && parser->at > digits + 1))
		return false;
	if (take_any(parser, ".") && !take_digits(parser))
		return false;
	if (take_any(parser, "eE")) {
		take_any(parser, "+-");
		if (!take_digits(parser))
			return false;
	}
	*ret_text = add_text(parser, from, (size_t)(parser->at - from));
	return true;
}

/* True, false and null. */
static bool take_word(struct parser *parser, struct json_value *value)
{
	static const struct {
		const char *word;
		enum json_type type;
	} words[] = {{"true", JSON_BOOL}, {"false", JSON_BOOL}, {"null", JSON_NULL}};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t length = strlen(words[i].word);
		if ((size_t)(parser->end - parser->at) < length || memcmp(parser->at, words[i].word, length) != 0)
			continue;
		parser->at += length;
		value->type = words[i].type;
		value->text = value->type == JSON_BOOL ? add_text(parser, words[i].word, length) : 0;
		return true;
	}
	return false;
}

static json_id add_value(struct json_document *document)
{
	if (document->count >= JSON_READ_VALUES_MAX)
		return JSON_ABSENT;
	MEM_ROOM(document->values, document->count, document->capacity);
	document->values[document->count] = (struct json_value){0};
	return (json_id)document->count++;
}

static bool take_members(struct parser *parser, json_id into, bool keys)
{
	struct json_document *document = parser->document;
	char end = keys ? '}' : ']';
	json_id last = JSON_ABSENT;
	if (++parser->depth > JSON_READ_DEPTH_MAX)
		return false;
	if (take(parser, end)) {
		parser->depth--;
		return true;
	}
	do {
		json_id value = add_value(document);
		uint32_t key = 0;
		if (!value || (keys && (!take_string(parser, &key) || !take(parser, ':'))) ||
		    !parse_value(parser, value))
			return false;
		document->values[value].key = key;
		if (last)
			document->values[last].next = value;
		else
			document->values[into].first = value;
		last = value;
	} while (take(parser, ','));
	parser->depth--;
	return take(parser, end);
}

static bool parse_value(struct parser *parser, json_id into)
{
	struct json_value value = {0};
	skip_space(parser);
	if (parser->at == parser->end)
		return false;
	bool keys = *parser->at == '{';
	if (keys || *parser->at == '[') {
		parser->at++;
		parser->document->values[into].type = keys ? JSON_OBJECT : JSON_ARRAY;
		return take_members(parser, into, keys);
	}
	bool taken;
	if (*parser->at == '"') {
		value.type = JSON_STRING;
		taken = take_string(parser, &value.text);
	} else if (*parser->at == '-' || isdigit((unsigned char)*parser->at)) {
		value.type = JSON_NUMBER;
		taken = take_number(parser, &value.text);
	} else {
		taken = take_word(parser, &value);
	}
	parser->document->values[into] = value;
	return taken;
}

bool json_parse(struct json_document *document, const char *bytes, size_t size)
{
	struct parser parser = {.at = bytes, .end = bytes + size, .document = document};
	*document = (struct json_document){0};
	if (size >= UINT32_MAX / 4) /* U+FFFD is no longer than its escape; offsets have 32 bits */
		return false;
	buf_char(&document->texts, '\0');
	add_value(document); /* JSON_ABSENT */
	bool parsed = parse_value(&parser, add_value(document));
	skip_space(&parser);
	if (parsed && parser.at == parser.end)
		return true;
	json_document_release(document);
	return false;
}

void json_document_release(struct json_document *document)
{
	free(document->values);
	buf_release(&document->texts);
	*document = (struct json_document){0};
}

static const struct json_value *value_of(const struct json_document *document, json_id value)
{
	static const struct json_value absent;
	return value < document->count ? &document->values[value] : &absent;
}

static const char *text_at(const struct json_document *document, uint32_t offset)
{
	return offset < document->texts.size ? document->texts.data + offset : "";
}

enum json_type json_type(const struct json_document *document, json_id value)
{
	return value_of(document, value)->type;
}

json_id json_first(const struct json_document *document, json_id value)
{
	return value_of(document, value)->first;
}

json_id json_next(const struct json_document *document, json_id value)
{
	return value_of(document, value)->next;
}

const char *json_key(const struct json_document *document, json_id value)
{
	return text_at(document, value_of(document, value)->key);
}

const char *json_text(const struct json_document *document, json_id value)
{
	return text_at(document, value_of(document, value)->text);
}

json_id json_member(const struct json_document *document, json_id object, const char *name)
{
	if (json_type(document, object) != JSON_OBJECT)
		return JSON_ABSENT;
	for (json_id at = json_first(document, object); at; at = json_next(document, at))
		if (!strcmp(json_key(document, at), name))
			return at;
	return JSON_ABSENT;
}

const char *json_member_text(const struct json_document *document, json_id object, const char *name)
{
	return json_text(document, json_member(document, object, name));
}
