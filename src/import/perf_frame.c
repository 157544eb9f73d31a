#include "import/perf_frame.h"

#include "import/shard.h"
#include "profile/tidy.h"

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The last " (" before `end`, or `end` when there is none. */
static size_t last_open(const char *line, size_t end)
{
	for (size_t at = end; at >= 2; at--)
		if (line[at - 1] == '(' && line[at - 2] == ' ')
			return at - 2;
	return end;
}

/* The module stands between the last " (" and the last ")" of the line; a file removed since is "(/x/y (deleted))". */
static bool find_module(const char *line, size_t length, size_t *ret_open, size_t *ret_close)
{
	static const char deleted[] = " (deleted))";
	const char *last = memrchr(line, ')', length);
	if (!last)
		return false;
	size_t close = (size_t)(last - line), open = last_open(line, close);
	if (open == close)
		return false;
	if (close + 1 - open == sizeof deleted - 1 && memcmp(line + open, deleted, sizeof deleted - 1) == 0) {
		size_t before = last_open(line, open);
		if (before < open) {
			close = open;
			open = before;
		}
	}
	*ret_open = open;
	*ret_close = close;
	return true;
}

/* "main+0x1f" → length of "main" */
static size_t without_offset(const char *symbol, size_t length)
{
	size_t at = length;
	while (at && (is_digit(symbol[at - 1]) || (symbol[at - 1] >= 'a' && symbol[at - 1] <= 'f')))
		at--;
	if (at < length && at >= 3 && memcmp(symbol + at - 3, "+0x", 3) == 0)
		return at - 3;
	return length;
}

bool perf_frame_split(const char *line, size_t length, struct perf_frame *ret_frame)
{
	size_t start = 0;
	while (start < length && is_space(line[start]))
		start++;
	size_t address_end = start;
	while (address_end < length && is_word(line[address_end]))
		address_end++;
	size_t open, close;
	if (address_end == start || !find_module(line, length, &open, &close) || open < start)
		return false;
	size_t symbol = address_end;
	while (symbol < open && is_space(line[symbol]))
		symbol++;
	if (symbol >= open) {
		/* No symbol between address and module: the pattern that users know takes one character back. */
		symbol = open - 1;
		if (open < start + 2)
			return false;
		if (address_end > symbol)
			address_end = symbol;
	}
	*ret_frame = (struct perf_frame){
		.address = line + start,
		.address_length = address_end - start,
		.symbol = line + symbol,
		.symbol_length = without_offset(line + symbol, open - symbol),
		.module = line + open + 2,
		.module_length = close - open - 2,
	};
	return true;
}

static bool contains(const char *text, size_t length, const char *part)
{
	return memmem(text, length, part, strlen(part)) != NULL;
}

static bool has_suffix(const char *text, size_t length, const char *suffix)
{
	size_t suffix_length = strlen(suffix);
	return length >= suffix_length && memcmp(text + length - suffix_length, suffix, suffix_length) == 0;
}

static bool equals(const char *text, size_t length, const char *other)
{
	return length == strlen(other) && memcmp(text, other, length) == 0;
}

static enum frame_kind kind_of_module(const char *module, size_t length)
{
	if (equals(module, length, "inlined"))
		return FRAME_INLINED;
	if (equals(module, length, "[vdso]") || equals(module, length, "[vsyscall]") ||
	    equals(module, length, "[heap]") || equals(module, length, "[stack]") ||
	    equals(module, length, "[unknown]"))
		return FRAME_NATIVE;
	if ((length && module[0] == '[') || has_suffix(module, length, "vmlinux") || contains(module, length, ".ko"))
		return FRAME_KERNEL;
	if ((contains(module, length, "/perf-") && has_suffix(module, length, ".map")) ||
	    contains(module, length, "jitted-") || equals(module, length, "//anon"))
		return FRAME_JIT;
	return FRAME_NATIVE;
}

static void add_unresolved(struct buf *out, const struct perf_frame *frame, bool addresses)
{
	bool unknown = equals(frame->module, frame->module_length, "[unknown]");
	tidy_unresolved(out, frame->module, unknown ? 0 : frame->module_length);
	if (addresses) {
		out->size--; /* the bracket */
		buf_str(out, " <");
		buf_add(out, frame->address, frame->address_length);
		buf_str(out, ">]");
	}
}

/*
 * The end of the part that begins at `from`: "->" separates a caller from what was inlined into it. The arrow of C++'s
 * operator-> is part of the name.
 */
static size_t part_end(const char *symbol, size_t length, size_t from)
{
	for (size_t i = from; i + 1 < length; i++)
		if (symbol[i] == '-' && symbol[i + 1] == '>' && !(i >= 8 && memcmp(symbol + i - 8, "operator", 8) == 0))
			return i;
	return length;
}

void perf_frame_functions(const struct perf_frame *frame, struct perf_frame_style style, struct buf *scratch,
			  void (*add)(void *context, const char *name, size_t length, enum frame_kind kind),
			  void *context)
{
	size_t length = frame->symbol_length;
	if (!length || frame->symbol[0] == '(')
		return;
	/* Empty parts at the end do not count. */
	while (length >= 2 && memcmp(frame->symbol + length - 2, "->", 2) == 0 &&
	       !(length >= 10 && memcmp(frame->symbol + length - 10, "operator", 8) == 0))
		length -= 2;
	enum frame_kind kind = kind_of_module(frame->module, frame->module_length);
	for (size_t from = 0, part = 0; from < length; part++) {
		size_t end = part_end(frame->symbol, length, from);
		const char *name = frame->symbol + from;
		bool unresolved = equals(name, end - from, "[unknown]");
		buf_clear(scratch);
		if (unresolved) {
			struct buf raw CLEANUP_BUF = {0};
			add_unresolved(&raw, frame, style.addresses);
			tidy_name(scratch, raw.data, raw.size, style.java);
		} else {
			tidy_name(scratch, name, end - from, style.java);
		}
		if (part && !(scratch->size && contains(scratch->data, scratch->size, "_[i]")))
			buf_str(scratch, "_[i]");
		add(context, scratch->data ? scratch->data : "", scratch->size,
		    unresolved ? FRAME_UNKNOWN :
		    part       ? FRAME_INLINED :
				 kind);
		from = end + 2;
	}
}
