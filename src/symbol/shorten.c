#include "symbol/demangle.h"

#include <ctype.h>

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Bytes of an operator's name at `at` ("operator<<", "operator->"), whose brackets open and close nothing; else 0. */
static size_t operator_length(const char *name, size_t at, size_t length)
{
	static const char word[] = "operator";
	static const char *const operators[] = {"<=>", "<<=", ">>=", "->*", "<<", ">>",
						"<=",  ">=",  "->",  "<",   ">",  "()"};
	size_t end = at + sizeof word - 1;
	if (end >= length || memcmp(name + at, word, sizeof word - 1) || (at && is_word(name[at - 1])))
		return 0;
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		size_t size = strlen(operators[i]);
		if (length - end >= size && !memcmp(name + end, operators[i], size))
			return end + size - at;
	}
	return 0;
}

/* A bracket behind a parenthesis compares, "(1)<(2)", except in "operator()<int>". */
static bool compares(const char *name, size_t at)
{
	return at && name[at - 1] == ')' && !(at >= 10 && !memcmp(name + at - 10, "operator()", 10));
}

/* Where the bracket at `at` is closed; `length` when it is not. Brackets inside parentheses are their own matter. */
static size_t closing_bracket(const char *name, size_t at, size_t length)
{
	size_t angles = 0, parentheses = 0;
	for (; at < length; at++) {
		size_t skip = operator_length(name, at, length);
		if (skip) {
			at += skip - 1;
			continue;
		}
		switch (name[at]) {
		case '(':
			parentheses++;
			break;
		case ')':
			parentheses -= parentheses > 0;
			break;
		case '<':
			angles += !parentheses && !compares(name, at);
			break;
		case '>':
			if (parentheses || (at && (name[at - 1] == '-' || name[at - 1] == '=')))
				break;
			if (!--angles)
				return at;
			break;
		}
	}
	return length;
}

/* "operator+<char>", "operator==<int>" */
static bool follows_operator(const char *name, size_t at)
{
	static const char word[] = "operator";
	size_t end = at;
	while (end && memchr("+-*/%^&|~!=,", name[end - 1], 12))
		end--;
	return end < at && end >= sizeof word - 1 && !memcmp(name + end - (sizeof word - 1), word, sizeof word - 1);
}

/*
 * Brackets behind a word, an operator or "::" hold arguments, and those set apart by a blank in "operator< <int>".
 * Others are part of the name itself: "<Vec<T> as Debug>::fmt" in Rust keeps the outer pair.
 */
static bool opens_arguments(const char *name, size_t at)
{
	return at && (is_word(name[at - 1]) || name[at - 1] == ':' || name[at - 1] == '>' || name[at - 1] == ']' ||
		      (name[at - 1] == ')' && !compares(name, at)) ||
		      (at >= 2 && name[at - 1] == ' ' && name[at - 2] == '<') || follows_operator(name, at));
}

void demangle_shorten(struct buf *out, const char *name, size_t length)
{
	bool balanced = true; /* until a bracket is found that is never closed */
	for (size_t at = 0; at < length; at++) {
		size_t skip = operator_length(name, at, length);
		if (skip) {
			buf_add(out, name + at, skip);
			at += skip - 1;
			continue;
		}
		if (balanced && name[at] == '<' && opens_arguments(name, at)) {
			size_t end = closing_bracket(name, at, length);
			balanced = end < length;
			if (balanced) {
				buf_str(out, "<…>");
				at = end;
				continue;
			}
		}
		buf_char(out, name[at]);
	}
}
