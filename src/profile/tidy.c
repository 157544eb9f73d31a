#include "profile/tidy.h"

#include <string.h>

/* A Go method, "net/http.(*Client).Do", needs its parentheses. */
static bool is_go_method(const char *name, size_t length)
{
	const char *open = memmem(name, length, ".(", 2);
	return open && memmem(open + 2, length - (size_t)(open + 2 - name), ").", 2);
}

/* Where the argument list begins: the first "(" that does not open "(anonymous namespace)". */
static size_t arguments_at(const char *name, size_t length)
{
	static const char anonymous[] = "(anonymous namespace)";
	for (size_t i = 0; i < length; i++) {
		if (name[i] != '(')
			continue;
		if (length - i < sizeof anonymous - 1 || memcmp(name + i, anonymous, sizeof anonymous - 1) != 0)
			return i;
	}
	return length;
}

void tidy_name(struct buf *out, const char *name, size_t length, bool java)
{
	if (!is_go_method(name, length))
		length = arguments_at(name, length);
	size_t first = out->size;
	char *to = buf_reserve(out, length);
	size_t kept = 0;
	bool slash = false;
	for (size_t i = 0; i < length; i++) {
		char c = name[i];
		if (c == '"' || c == '\'')
			continue;
		slash |= c == '/';
		to[kept++] = c == ';' ? ':' : c;
	}
	out->size += kept;
	/* Lorg/mozilla/javascript/MemberBox;.<init> → org/mozilla/javascript/MemberBox:.<init> */
	if (java && slash && kept && out->data[first] == 'L') {
		memmove(out->data + first, out->data + first + 1, kept - 1);
		out->size--;
	}
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
