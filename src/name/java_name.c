/* Makes names of Java methods readable. */
#include "name/java_name.h"

#include <ctype.h>
#include <string.h>

/* Of names of classes, methods and types; letters beyond ASCII are allowed. */
static bool is_part(unsigned char c)
{
	return isalnum(c) || c == '_' || c == '$' || c == '.' || c >= 0x80;
}

static size_t count_hex(const char *text, const char *end)
{
	size_t count = 0;
	while (text + count < end && isxdigit((unsigned char)text[count]))
		count++;
	return count;
}

/* "/0x00007f4228001c50", also with '+': the number of a hidden class. Returns its length, 0: there is none. */
static size_t hidden_suffix(const char *text, const char *end)
{
	if (end - text < 4 || (text[0] != '/' && text[0] != '+') || text[1] != '0' || text[2] != 'x')
		return 0;
	size_t digits = count_hex(text + 3, end);
	return digits ? 3 + digits : 0;
}

/* "$$Lambda$14": the number is that of the order in which they were made. */
static void drop_number(struct buf *out, size_t from)
{
	static const char lambda[] = "$$Lambda$";
	size_t size = out->size;
	while (size > from && isdigit((unsigned char)out->data[size - 1]))
		size--;
	if (size < out->size && size - from >= sizeof lambda - 1 &&
	    !memcmp(out->data + size - (sizeof lambda - 1), lambda, sizeof lambda - 1))
		out->size = size - 1;
}

static void write_method(struct buf *out, const char *text, const char *end)
{
	size_t from = out->size;
	while (text < end) {
		size_t skipped = hidden_suffix(text, end);
		if (skipped)
			drop_number(out, from);
		else
			buf_char(out, *text);
		text += skipped ? skipped : 1;
	}
}

/* "int[]", up to the blank. NULL: it is no type. */
static const char *skip_type(const char *text)
{
	const char *start = text, *end = text + strlen(text);
	for (size_t step = 1; step; text += step)
		step = is_part((unsigned char)*text) ? 1 : hidden_suffix(text, end);
	if (text == start)
		return NULL;
	while (text[0] == '[' && text[1] == ']')
		text += 2;
	return *text == ' ' ? text + 1 : NULL;
}

/* "foo.Bar.<init>(": up to the parenthesis. NULL: it is no method of a class. */
static const char *skip_method(const char *text)
{
	bool qualified = false;
	for (const char *end = text + strlen(text); text < end && *text != '('; text++) {
		size_t hidden = hidden_suffix(text, end);
		qualified = qualified || *text == '.' || (text[0] == ':' && text[1] == ':');
		if (hidden)
			text += hidden - 1;
		else if (!is_part((unsigned char)*text) && !strchr("<>:-", *text))
			return NULL;
	}
	return *text == '(' && qualified ? text : NULL;
}

static bool write_declaration(struct buf *out, const char *name)
{
	const char *method = skip_type(name), *parameters = method ? skip_method(method) : NULL;
	size_t length = strlen(name);
	if (!parameters || name[length - 1] != ')')
		return false;
	write_method(out, method, parameters);
	buf_str(out, parameters);
	return true;
}

/* The signature is skipped: it has the types of the result and of the parameters in a form for machines. */
static bool write_internal(struct buf *out, const char *name)
{
	const char *end = *name == 'L' ? strchr(name, ';') : NULL;
	if (!end || end == name + 1 || (end[1] != ':' && end[1] != '.') || memchr(name, ' ', (size_t)(end - name)) ||
	    memchr(name, '(', (size_t)(end - name)))
		return false;
	size_t from = out->size;
	write_method(out, name + 1, end);
	for (size_t i = from; i < out->size; i++)
		if (out->data[i] == '/')
			out->data[i] = '.';
	buf_add(out, end + 1, strcspn(end + 1, "("));
	return true;
}

bool java_name(struct buf *out, const char *name)
{
	return write_declaration(out, name) || write_internal(out, name);
}
