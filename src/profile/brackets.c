/* Follows the nesting of brackets in a function name. */
#include "profile/brackets.h"

#include <ctype.h>
#include <string.h>

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* The length of "operator" and of the symbol behind it that would pass for brackets; 0: it is no operator. */
static size_t operator_at(const char *name, size_t length, size_t at)
{
	static const char word[] = "operator";
	static const char *const symbols[] = {"()", "->*", "->", "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "<", ">"};
	size_t end = at + sizeof word - 1;
	if (end > length || memcmp(name + at, word, sizeof word - 1) != 0 || (at && is_word(name[at - 1])))
		return 0;
	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
		size_t size = strlen(symbols[i]);
		if (length - end >= size && memcmp(name + end, symbols[i], size) == 0)
			return end + size - at;
	}
	return 0;
}

static void open_bracket(struct brackets *brackets, char open, size_t at)
{
	if (brackets->depth == BRACKETS_MAX) {
		brackets->too_deep = true;
		return;
	}
	brackets->open[brackets->depth] = open;
	brackets->at[brackets->depth++] = at;
}

/* A '<' that is still open within parentheses was a comparison. */
static void close_bracket(struct brackets *brackets, char open)
{
	unsigned depth = brackets->depth;
	while (depth && brackets->open[depth - 1] != open)
		depth--;
	if (depth)
		brackets->depth = depth - 1;
}

size_t brackets_step(struct brackets *brackets, const char *name, size_t length, size_t at)
{
	char c = name[at];
	if (c == 'o') {
		size_t skip = operator_at(name, length, at);
		return at + (skip ? skip : 1);
	}
	if (c == '(' || c == '[' || c == '{' || c == '<')
		open_bracket(brackets, c, at);
	else if (c == ')')
		close_bracket(brackets, '(');
	else if (c == ']')
		close_bracket(brackets, '[');
	else if (c == '}')
		close_bracket(brackets, '{');
	else if (c == '>' && !(at && name[at - 1] == '-') && brackets->depth &&
		 brackets->open[brackets->depth - 1] == '<')
		brackets->depth--;
	return at + 1;
}
