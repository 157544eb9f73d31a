/* Removes parameters and other details from function names. */
#include "profile/tidy.h"

#include "profile/brackets.h"
#include "profile/module.h"

#include <ctype.h>
#include <string.h>

#define NOT_FOUND SIZE_MAX

static bool starts_with(const char *text, size_t length, const char *start)
{
	return length >= strlen(start) && memcmp(text, start, strlen(start)) == 0;
}

static bool ends_with_word(const char *text, size_t length, const char *word)
{
	size_t size = strlen(word);
	return length >= size && memcmp(text + length - size, word, size) == 0 &&
	       (length == size || !(isalnum((unsigned char)text[length - size - 1]) || text[length - size - 1] == '_'));
}

/*
 * Do the parentheses that open at `open` hold parameters? Not in "(anonymous namespace)", "ns::(anonymous class)",
 * "decltype (x)", "void (*f(int))(char)", Go's "pkg.(*T).m" and LLVM's "f()::'lambda'(int)".
 */
static bool holds_parameters(const char *name, size_t open)
{
	return open && !strchr(" :.'", name[open - 1]) && !ends_with_word(name, open, "decltype") &&
	       !ends_with_word(name, open, "noexcept") && !ends_with_word(name, open, "sizeof");
}

/* "V", "[I", "Ljava/lang/Object;": what a Java method returns; the end may be cut off. */
static bool is_java_type(const char *text, size_t length)
{
	while (length > 1 && *text == '[')
		text++, length--;
	if (length == 1)
		return strchr("VZBCSIJFDL", *text) != NULL;
	const char *end = length ? memchr(text, ';', length) : NULL;
	return length && *text == 'L' && !memchr(text, ' ', length) && (!end || end == text + length - 1);
}

/* The length of the qualifier that begins the text; 0: it begins with something else. */
static size_t qualifier_length(const char *text, size_t length)
{
	static const char *const words[] = {" const",  " volatile", " restrict", " noexcept",
					    " throws", " async",    " &&",       " &"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (starts_with(text, length, words[i]))
			return strlen(words[i]);
	/* GNU's "f(int) [clone .cold]", LLVM's "f(int) (.cold)", .NET's "f(int)[Tier1]" */
	bool square = starts_with(text, length, " [") || starts_with(text, length, "[");
	const char *end = square                           ? memchr(text, ']', length) :
			  starts_with(text, length, " (.") ? memchr(text, ')', length) :
							     NULL;
	return end ? (size_t)(end + 1 - text) : 0;
}

/* What may stand behind a parameter list: qualifiers, the suffix of a clone, or the type that is returned. */
static bool is_behind_parameters(const char *text, size_t length)
{
	for (size_t size; (size = qualifier_length(text, length));) {
		text += size;
		length -= size;
	}
	if (!length || starts_with(text, length, " ->") || starts_with(text, length, " requires ") ||
	    is_java_type(text, length))
		return true;
	if (*text != '.' && *text != '@')
		return false;
	for (size_t i = 1; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("._$@", text[i]))
			return false;
	return true;
}

size_t tidy_without_parameters(const char *name, size_t length)
{
	if (!memchr(name, '(', length))
		return length;
	struct brackets brackets;
	brackets.depth = 0;
	brackets.too_deep = false;
	size_t last = NOT_FOUND, last_end = 0;
	for (size_t at = 0; at < length && !brackets.too_deep;) {
		bool was_open = brackets.depth && brackets.open[0] == '(';
		at = brackets_step(&brackets, name, length, at);
		if (was_open && !brackets.depth && holds_parameters(name, brackets.at[0])) {
			last = brackets.at[0];
			last_end = at;
		}
	}
	if (brackets.too_deep)
		return length;
	/* A name that was cut off inside its parameters. */
	if (brackets.depth && brackets.open[0] == '(' && holds_parameters(name, brackets.at[0]))
		return brackets.at[0];
	bool found = last != NOT_FOUND && is_behind_parameters(name + last_end, length - last_end);
	return found ? last : length;
}

size_t tidy_part_end(const char *name, size_t length)
{
	if (!memchr(name, '-', length))
		return length;
	struct brackets brackets;
	brackets.depth = 0;
	brackets.too_deep = false;
	for (size_t at = 0; at + 1 < length;) {
		/* Behind a blank it is the arrow of a type: "fn() -> u32". */
		if (name[at] == '-' && name[at + 1] == '>' && !brackets.depth && !(at && name[at - 1] == ' '))
			return at;
		at = brackets_step(&brackets, name, length, at);
	}
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

static void replace_semicolons(char *at, const char *end)
{
	for (; at < end && (at = memchr(at, ';', (size_t)(end - at))); at++)
		*at = ':';
}

void tidy_whole(struct buf *out, const char *name, size_t length)
{
	size_t first = out->size;
	buf_add(out, name, length);
	if (length)
		replace_semicolons(out->data + first, out->data + out->size);
}

void tidy_name(struct buf *out, const char *name, size_t length, bool java)
{
	length = tidy_without_parameters(name, length);
	size_t first = out->size;
	buf_add(out, name, length);
	if (memchr(name, '"', length) || memchr(name, '\'', length))
		out->size = first + without_quotes(out->data + first, length);
	/* Lorg/mozilla/javascript/MemberBox;.<init> → org/mozilla/javascript/MemberBox:.<init> */
	if (java && out->size > first && out->data[first] == 'L' && memchr(out->data + first, '/', out->size - first)) {
		out->size--;
		memmove(out->data + first, out->data + first + 1, out->size - first);
	}
	if (out->size > first)
		replace_semicolons(out->data + first, out->data + out->size);
}

void tidy_unresolved(struct buf *out, const char *module, size_t length)
{
	size_t jit_length = strlen(MODULE_JIT_NAME);
	if (module_is_jit_file(module, length) ||
	    (length == jit_length && memcmp(module, MODULE_JIT_NAME, length) == 0)) {
		buf_add(out, MODULE_JIT_NAME, jit_length);
		return;
	}
	const char *slash = memrchr(module, '/', length);
	if (slash) {
		length -= (size_t)(slash + 1 - module);
		module = slash + 1;
	}
	buf_char(out, '[');
	buf_add(out, length ? module : "unknown", length ? length : strlen("unknown"));
	buf_char(out, ']');
}
