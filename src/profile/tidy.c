#include "profile/tidy.h"

#include <string.h>

/* A Go method, "net/http.(*Client).Do", needs its parentheses. */
static bool is_go_method(const char *name, size_t length)
{
	const char *end = name + length, *open = memchr(name, '(', length);
	while (open && (open == name || open[-1] != '.'))
		open = memchr(open + 1, '(', (size_t)(end - open - 1));
	return open && memmem(open + 1, (size_t)(end - open - 1), ").", 2);
}

/* Where the argument list begins: the first "(" that does not open "(anonymous namespace)". */
static size_t arguments_at(const char *name, size_t length)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *end = name + length, *open = memchr(name, '(', length);
	for (; open; open = memchr(open + 1, '(', (size_t)(end - open - 1)))
		if ((size_t)(end - open) < sizeof anonymous - 1 || memcmp(open, anonymous, sizeof anonymous - 1) != 0)
			return (size_t)(open - name);
	return length;
}

static size_t without_quotes(char *text, size_t length)
{
	size_t kept = 0;
	for (size_t i = 0; i < length; i++)
		if (text[i] != '"' && text[i] != '\'')
			text[kept++] = text[i];
	return kept;
}

void tidy_name(struct buf *out, const char *name, size_t length, bool java)
{
	if (!is_go_method(name, length))
		length = arguments_at(name, length);
	size_t first = out->size;
	buf_add(out, name, length);
	if (memchr(name, '"', length) || memchr(name, '\'', length))
		out->size = first + without_quotes(out->data + first, length);
	/* Lorg/mozilla/javascript/MemberBox;.<init> → org/mozilla/javascript/MemberBox:.<init> */
	if (java && out->size > first && out->data[first] == 'L' && memchr(out->data + first, '/', out->size - first)) {
		out->size--;
		memmove(out->data + first, out->data + first + 1, out->size - first);
	}
	char *end = out->data + out->size;
	for (char *at = out->data + first; (at = memchr(at, ';', (size_t)(end - at)));)
		*at = ':';
}

void tidy_unresolved(struct buf *out, const char *module, size_t length)
{
	const char *slash = memrchr(module, '/', length);
	if (slash) {
		length -= (size_t)(slash + 1 - module);
		module = slash + 1;
	}
	buf_char(out, '[');
	buf_add(out, length ? module : "unknown", length ? length : strlen("unknown"));
	buf_char(out, ']');
}
