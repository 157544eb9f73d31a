/* Rewrites function names as stackcollapse-perf.pl does. */
#include "import/perl_name.h"

#include "import/shard.h"

#include <string.h>

static const char UNKNOWN[] = "[unknown]";

static bool equals(const char *text, size_t length, const char *other)
{
	return length == strlen(other) && memcmp(text, other, length) == 0;
}

static bool contains(const char *text, size_t length, const char *part)
{
	return memmem(text, length, part, strlen(part)) != NULL;
}

/* m/\.\(.*\)\./: a Go method such as "net/http.(*Client).Do" */
static bool is_go_method(const char *name, size_t length)
{
	const char *open = memmem(name, length, ".(", 2);
	return open && contains(open + 2, length - (size_t)(open + 2 - name), ").");
}

/* The first "(" that does not open "(anonymous namespace)". */
static size_t parameters_at(const char *name, size_t length)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *end = name + length, *open = memchr(name, '(', length);
	for (; open; open = memchr(open + 1, '(', (size_t)(end - open - 1)))
		if ((size_t)(end - open) < sizeof anonymous - 1 || memcmp(open, anonymous, sizeof anonymous - 1) != 0)
			return (size_t)(open - name);
	return length;
}

static void add_tidied(struct buf *out, const char *name, size_t length, bool java)
{
	if (!is_go_method(name, length))
		length = parameters_at(name, length);
	size_t first = out->size;
	for (size_t i = 0; i < length; i++)
		if (name[i] != '"' && name[i] != '\'')
			buf_char(out, name[i] == ';' ? ':' : name[i]);
	size_t size = out->size - first;
	if (java && size && out->data[first] == 'L' && memchr(out->data + first, '/', size)) {
		memmove(out->data + first, out->data + first + 1, size - 1);
		out->size--;
	}
}

/* "[libfoo.so]" or "[libfoo.so <7f12>]" */
static void add_unknown(struct buf *out, const struct perf_frame *frame, bool address)
{
	const char *module = "unknown";
	size_t length = strlen(module);
	if (!equals(frame->module, frame->module_length, UNKNOWN)) {
		const char *slash = memrchr(frame->module, '/', frame->module_length);
		module = slash ? slash + 1 : frame->module;
		length = frame->module_length - (size_t)(module - frame->module);
	}
	buf_char(out, '[');
	buf_add(out, module, length);
	if (address) {
		buf_str(out, " <");
		buf_add(out, frame->address, frame->address_length);
		buf_char(out, '>');
	}
	buf_char(out, ']');
}

/* m/(^\[|vmlinux$)/ and not /unknown/ */
static bool is_kernel(const char *module, size_t length)
{
	static const char image[] = "vmlinux";
	size_t size = strlen(image);
	return ((length && module[0] == '[') || (length >= size && memcmp(module + length - size, image, size) == 0)) &&
	       !contains(module, length, "unknown");
}

/* m:/tmp/perf-\d+\.map: */
static bool is_jit(const char *module, size_t length)
{
	static const char start[] = "/tmp/perf-";
	const char *end = module + length, *at = module;
	while ((at = memmem(at, (size_t)(end - at), start, strlen(start)))) {
		at += strlen(start);
		const char *digits = at;
		while (at < end && is_digit(*at))
			at++;
		if (at > digits && end - at >= 4 && memcmp(at, ".map", 4) == 0)
			return true;
	}
	return false;
}

static void add_mark(struct buf *out, size_t first, const char *mark)
{
	if (out->size == first || !contains(out->data + first, out->size - first, mark))
		buf_str(out, mark);
}

void perl_name(struct buf *out, const struct perf_frame *frame, const char *name, size_t length, size_t part,
	       const struct import_options *options, bool java)
{
	size_t first = out->size;
	if (equals(name, length, UNKNOWN)) {
		struct buf unknown CLEANUP_BUF = {0};
		add_unknown(&unknown, frame, options->addresses);
		add_tidied(out, unknown.data, unknown.size, java);
	} else {
		add_tidied(out, name, length, java);
	}
	if (part)
		add_mark(out, first, "_[i]");
	else if (options->perl->kernel && is_kernel(frame->module, frame->module_length))
		buf_str(out, "_[k]");
	else if (options->perl->jit && is_jit(frame->module, frame->module_length))
		add_mark(out, first, "_[j]");
}

void perl_source(struct buf *out, const char *line, size_t length)
{
	struct buf text CLEANUP_BUF = {0};
	for (size_t i = 0; i < length; i++) {
		const char *close = line[i] == '[' ? memchr(line + i, ']', length - i) : NULL;
		if (close)
			i = (size_t)(close - line);
		else
			buf_char(&text, line[i]);
	}
	size_t first = 0;
	while (first < text.size && is_space(text.data[first]))
		first++;
	while (text.size > first && is_space(text.data[text.size - 1]))
		text.size--;
	if (text.size == first)
		return;
	buf_char(out, ':');
	buf_add(out, text.data + first, text.size - first);
}
