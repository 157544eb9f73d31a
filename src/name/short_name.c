/* Parses a demangled name into parts, and joins those that a short name keeps. */
#include "name/short_name.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define GROUPS_MAX 32 /* parameter lists of one name: its own and those of enclosing functions */
#define RETURNED_MAX 4 /* nested pointers to functions that are returned */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool begins(const char *name, size_t at, size_t length, const char *text)
{
	size_t size = strlen(text);
	return length - at >= size && !memcmp(name + at, text, size);
}

/* Where something may begin or end: the next bracket, space or 'o' (of "operator") from `at` on. */
static size_t next_mark(const char *name, size_t at, size_t length)
{
	static const bool marks[UCHAR_MAX + 1] = {
		['o'] = true, ['<'] = true, ['>'] = true, ['('] = true, ['{'] = true, ['['] = true, [' '] = true,
	};
	while (at < length && !marks[(unsigned char)name[at]])
		at++;
	return at;
}

/* Bytes of an operator's name at `at` ("operator<<"), in which brackets open and close nothing; else 0. */
static size_t operator_length(const char *name, size_t at, size_t length)
{
	static const char *const operators[] = {
		"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "==", "!=", "&&", "||",
		"++",  "--",  "+=",  "-=",  "*=", "/=", "%=", "^=", "&=", "|=", "()", "[]", "<",
		">",   "+",   "-",   "*",   "/",  "%",  "^",  "&",  "|",  "~",  "!",  "=",  ",",
	};
	if (name[at] != 'o' || at + 1 == length || name[at + 1] != 'p' || !begins(name, at, length, "operator") ||
	    (at && is_word(name[at - 1])))
		return 0;
	size_t end = at + strlen("operator");
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (begins(name, end, length, operators[i]))
			return end + strlen(operators[i]) - at;
	/* A type follows, or a word such as new. */
	return end < length && (name[end] == ' ' || name[end] == '"') ? end - at : 0;
}

/* The end of a group of parentheses, braces or brackets that opens at `at`; 0: it is never closed. */
static size_t group_end(const char *name, size_t at, size_t length)
{
	char open = name[at], close = open == '(' ? ')' : open == '{' ? '}' : ']';
	size_t depth = 0;
	for (; at < length; at++) {
		depth += name[at] == open;
		if (name[at] == close && !--depth)
			return at + 1;
	}
	return 0;
}

/* In an argument, a bracket behind a parenthesis compares, "(1)<(2)", except in "operator()<int>". */
static bool compares(const char *name, size_t at)
{
	return at && name[at - 1] == ')' && !(at >= 10 && !memcmp(name + at - 10, "operator()", 10));
}

/* The same for angle brackets. What stands in parentheses between them has brackets of its own. */
static size_t angle_end(const char *name, size_t at, size_t length)
{
	size_t angles = 0;
	for (; (at = next_mark(name, at, length)) < length; at++) {
		size_t skip = operator_length(name, at, length);
		if (skip) {
			at += skip - 1;
		} else if (name[at] == '(') {
			size_t end = group_end(name, at, length);
			if (!end)
				return 0;
			at = end - 1;
		} else if (name[at] == '<') {
			angles += !compares(name, at);
		} else if (name[at] == '>' && name[at - 1] != '-' && name[at - 1] != '=') {
			if (!--angles)
				return at + 1;
		}
	}
	return 0;
}

/*
 * Brackets behind a word, an operator or "::" hold arguments, and those set apart by a space in "operator< <int>".
 * Others are part of the name itself: Rust's "<T as Debug>::fmt", and "::<impl [T]>".
 */
static bool opens_arguments(const char *name, size_t at, size_t length, size_t operator_end)
{
	if (!at || begins(name, at, length, "<impl "))
		return false;
	if (at == operator_end || (name[at - 1] == ' ' && at - 1 == operator_end))
		return true;
	char before = name[at - 1];
	return is_word(before) || before == ':' || before == '>' || before == ']' || before == '}';
}

/* --- the parts of a name --- */

struct parts {
	size_t start; /* of the name, behind the return type */
	struct {
		size_t start, end;
	} lists[GROUPS_MAX]; /* of parameters, in order */
	size_t list_count;
	size_t returned, returned_end; /* "(*f(int))" of a function that returns a pointer to a function; 0: none */
};

/* What may stand behind a parameter list. Anything else says that the parentheses are something else. */
static bool may_follow_list(const char *name, size_t at, size_t length)
{
	static const char *const followers[] = {"::", " const", " volatile", " restrict", " &",  " [",
						"[",  "@",      "_[",        " noexcept", " (.", "."};
	if (at == length)
		return true;
	for (size_t i = 0; i < sizeof followers / sizeof *followers; i++)
		if (begins(name, at, length, followers[i]))
			return true;
	return false;
}

/* The operator that the name has up to here. */
struct last_operator {
	size_t end; /* of its name; SIZE_MAX: none */
	bool open; /* its type may follow: the spaces of "operator unsigned int" separate nothing */
};

static bool opens_list(const char *name, size_t at, const struct last_operator *operator)
{
	if (at == operator->end)
		return true;
	if (operator->open &&(name[at - 1] == '*' || name[at - 1] == '&')) /* operator void*() */
		return true;
	if (!at || !(is_word(name[at - 1]) || strchr(">]}", name[at - 1])))
		return false;
	return !(at >= 8 && !memcmp(name + at - 8, "decltype", 8));
}

/* A group of parentheses that opens at `at`. Returns its end; 0: this is no name that can be taken apart. */
static size_t take_group(struct parts *parts, const char *name, size_t at, size_t length,
			 const struct last_operator *operator)
{
	size_t end = group_end(name, at, length);
	if (!end)
		return 0;
	if (opens_list(name, at, operator)) {
		if (parts->list_count == GROUPS_MAX || !may_follow_list(name, end, length))
			return 0;
		parts->lists[parts->list_count].start = at;
		parts->lists[parts->list_count++].end = end;
	} else if (!parts->list_count && at && name[at - 1] == ' ' && (name[at + 1] == '*' || name[at + 1] == '&') &&
		   end < length && name[end] == '(') {
		parts->returned = at;
		parts->returned_end = end;
	}
	return end;
}

/* Behind the qualifiers of a member function, "() const &". */
static size_t skip_qualifiers(const char *name, size_t at, size_t length)
{
	static const char *const qualifiers[] = {" const", " volatile", " restrict", " noexcept", " &&", " &"};
	for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers; i++)
		if (begins(name, at, length, qualifiers[i]))
			at += strlen(qualifiers[i]);
	return at;
}

/* A space ends the return type, also one with parameter lists in it, "f(int)::local g<int>()". Returns what is next. */
static size_t take_space(struct parts *parts, const char *name, size_t at, size_t length)
{
	if (parts->list_count) {
		size_t end = skip_qualifiers(name, at, length);
		if (end > at)
			return end;
		if (begins(name, at, length, " [") || begins(name, at, length, " (."))
			return at + 1;
	}
	parts->list_count = 0;
	parts->start = at + 1;
	return at + 1;
}

/* False: the name is of no language that is known here, or damaged. */
static bool take_apart(struct parts *parts, const char *name, size_t length)
{
	struct last_operator operator= {.end = SIZE_MAX};
	for (size_t at = 0, end; (at = next_mark(name, at, length)) < length; at = end) {
		size_t skip = operator_length(name, at, length);
		end = at + 1;
		if (skip) {
			end = at + skip;
			operator=(struct last_operator){.end = end, .open = true};
		} else if (name[at] == '<' && !compares(name, at)) {
			end = angle_end(name, at, length);
		} else if (name[at] == '(') {
			end = take_group(parts, name, at, length, &operator);
			operator.open = false;
		} else if (name[at] == '{' || name[at] == '[') {
			end = group_end(name, at, length);
		} else if (name[at] == ' ' && !operator.open) {
			end = take_space(parts, name, at, length);
		}
		if (!end)
			return false;
	}
	if (!parts->list_count)
		parts->start = 0;
	return true;
}

/* --- writing --- */

/* std::basic_string<char, …> and its like have a name that everybody knows. `size` is that of the arguments. */
static bool put_alias(struct buf *out, size_t from, const char *arguments, size_t size)
{
	static const char strings[] = "<char, std::char_traits<char>, std::allocator<char> >";
	static const char streams[] = "<char, std::char_traits<char> >";
	static const struct {
		const char *written, *arguments, *alias;
	} aliases[] = {
		{"std::__cxx11::basic_string", strings, "std::string"}, {"std::basic_string", strings, "std::string"},
		{"std::basic_istream", streams, "std::istream"},        {"std::basic_ostream", streams, "std::ostream"},
		{"std::basic_iostream", streams, "std::iostream"},
	};
	for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
		size_t length = strlen(aliases[i].written);
		if (size != strlen(aliases[i].arguments) || memcmp(arguments, aliases[i].arguments, size) != 0 ||
		    out->size - from < length ||
		    memcmp(out->data + out->size - length, aliases[i].written, length) != 0)
			continue;
		out->size -= length;
		buf_str(out, aliases[i].alias);
		return true;
	}
	return false;
}

/* Leaves arguments out, with the space or the "::" (of Rust) before them. */
static void drop_arguments(struct buf *out, size_t from, const char *arguments, size_t size)
{
	if (put_alias(out, from, arguments, size))
		return;
	if (out->size > from && out->data[out->size - 1] == ' ')
		out->size--;
	else if (out->size - from > 2 && !memcmp(out->data + out->size - 2, "::", 2))
		out->size -= 2;
}

static void put_parts(struct buf *out, const struct parts *parts, const char *name, size_t length, unsigned keep)
{
	size_t from = out->size, list = 0, operator_end = SIZE_MAX;
	for (size_t at = parts->start; at < length;) {
		size_t skip = operator_length(name, at, length);
		if (skip) {
			buf_add(out, name + at, skip);
			at = operator_end = at + skip;
		} else if (list < parts->list_count && at == parts->lists[list].start && !(keep & SHORT_PARAMETERS)) {
			at = skip_qualifiers(name, parts->lists[list++].end, length);
		} else if (name[at] == '<' && !(keep & SHORT_ARGUMENTS) &&
			   opens_arguments(name, at, length, operator_end)) {
			size_t end = angle_end(name, at, length);
			if (!end) {
				buf_add(out, name + at, length - at);
				return;
			}
			drop_arguments(out, from, name + at, end - at);
			at = end;
		} else {
			size_t end = next_mark(name, at + 1, length);
			buf_add(out, name + at, end - at);
			at = end;
		}
	}
}

/* Bytes of "non-virtual thunk to " and its like, which are no return types. */
static size_t prefix_length(const char *name, size_t length)
{
	static const char *const prefixes[] = {
		"non-virtual thunk to ",
		"virtual thunk to ",
		"covariant return thunk to ",
		"TLS init function for ",
		"TLS wrapper function for ",
		"transaction clone for ",
		"non-transaction clone for ",
		"global constructors keyed to ",
		"global destructors keyed to ",
		"guard variable for ",
		"hidden alias for ",
		"typeinfo for ",
		"typeinfo name for ",
		"vtable for ",
		"VTT for ",
		"construction vtable for ",
	};
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (begins(name, 0, length, prefixes[i]))
			return strlen(prefixes[i]);
	return 0;
}

void short_name(struct buf *out, const char *name, size_t length, unsigned keep)
{
	size_t from = out->size;
	if (!memchr(name, '(', length) && !memchr(name, '<', length)) {
		buf_add(out, name, length);
		return;
	}
	size_t prefix = prefix_length(name, length);
	const char *rest = name + prefix;
	size_t left = length - prefix;
	buf_add(out, name, prefix);
	for (unsigned depth = 0;; depth++) {
		struct parts parts = {0};
		if (!take_apart(&parts, rest, left)) {
			buf_add(out, rest, left);
			break;
		}
		if (parts.list_count || !parts.returned || depth == RETURNED_MAX) {
			put_parts(out, &parts, rest, left, keep);
			break;
		}
		left = parts.returned_end - parts.returned - 3;
		rest += parts.returned + 2;
	}
	while (out->size > from && out->data[out->size - 1] == ' ')
		out->size--;
	if (out->size == from)
		buf_add(out, name, length);
	else
		out->data[out->size] = '\0';
}
