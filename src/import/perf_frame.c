/* Parses a frame of perf script text: symbol, offset, module, inlined functions. */
#include "import/perf_frame.h"

#include "import/shard.h"
#include "profile/module.h"
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

/* The module stands between the last " (" and the last ")" of the line. */
static bool find_module(const char *line, size_t length, size_t *ret_open, size_t *ret_close)
{
	const char *last = memrchr(line, ')', length);
	if (!last)
		return false;
	size_t close = (size_t)(last - line), open = last_open(line, close);
	*ret_open = open;
	*ret_close = close;
	return open != close;
}

/* The module of a file that was removed is "(/x/y (deleted))". */
static void leave_out_deleted(const char *line, size_t *open, size_t *close)
{
	static const char deleted[] = " (deleted))";
	if (*close + 1 - *open != sizeof deleted - 1 || memcmp(line + *open, deleted, sizeof deleted - 1) != 0)
		return;
	size_t before = last_open(line, *open);
	if (before < *open) {
		*close = *open;
		*open = before;
	}
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

static bool split(const char *line, size_t length, bool perl, struct perf_frame *ret_frame)
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
	if (!perl)
		leave_out_deleted(line, &open, &close);
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

bool perf_frame_split(const char *line, size_t length, struct perf_frame *ret_frame)
{
	return split(line, length, false, ret_frame);
}

bool perf_frame_split_perl(const char *line, size_t length, struct perf_frame *ret_frame)
{
	return split(line, length, true, ret_frame);
}

static bool equals(const char *text, size_t length, const char *other)
{
	return length == strlen(other) && memcmp(text, other, length) == 0;
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

static void add_name(struct buf *out, const char *name, size_t length, struct perf_frame_style style)
{
	if (style.tidy)
		tidy_name(out, name, length, style.java);
	else
		tidy_whole(out, name, length);
}

/* "(comm)": some versions of perf print a process so. "(anonymous namespace)::f" is a function. */
static bool names_process(const char *symbol, size_t length)
{
	const char *close = symbol[0] == '(' ? memchr(symbol, ')', length) : NULL;
	return symbol[0] == '(' && (!close || close + 1 == symbol + length);
}

/* An empty part at the end does not count. */
static size_t without_last_arrow(const char *symbol, size_t length)
{
	while (length >= 2 && memcmp(symbol + length - 2, "->", 2) == 0 &&
	       !(length >= 10 && memcmp(symbol + length - 10, "operator", 8) == 0))
		length -= 2;
	return length;
}

void perf_frame_functions(const struct perf_frame *frame, struct perf_frame_style style, struct buf *scratch,
			  void (*add)(void *context, const char *name, size_t length, enum frame_kind kind),
			  void *context)
{
	static const char mark[] = "_[i]";
	if (!frame->symbol_length || names_process(frame->symbol, frame->symbol_length))
		return;
	size_t length = without_last_arrow(frame->symbol, frame->symbol_length);
	enum frame_kind kind = module_kind(frame->module, frame->module_length);
	for (size_t from = 0, part = 0; from < length; part++) {
		const char *name = frame->symbol + from;
		size_t size = tidy_part_end(name, length - from);
		bool unresolved = equals(name, size, "[unknown]");
		buf_clear(scratch);
		if (unresolved) {
			struct buf raw CLEANUP_BUF = {0};
			add_unresolved(&raw, frame, style.addresses);
			tidy_whole(scratch, raw.data, raw.size);
		} else {
			add_name(scratch, name, size, style);
		}
		if (part && !(scratch->size && memmem(scratch->data, scratch->size, mark, strlen(mark))))
			buf_str(scratch, mark);
		add(context, scratch->data ? scratch->data : "", scratch->size,
		    unresolved ? FRAME_UNKNOWN :
		    part       ? FRAME_INLINED :
				 kind);
		from += size + 2;
	}
}
