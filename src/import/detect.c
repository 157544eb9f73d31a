/* Guesses the format of an input from its first lines. */
#include "import/detect.h"

#include "import/perf_frame.h"
#include "import/perf_header.h"

#define LINES_TO_SEE 2000
#define HEAD_OF_TABLE 4096
#define BYTES_TO_SEE ((size_t)64 << 10) /* unless nothing in them shows it */

struct signs {
	size_t events, frames, folded, folded_pairs;
};

static bool is_text_line(const char *line, size_t length)
{
	return !memchr(line, '\0', length);
}

/* "… 12" or "… 12.5": returns what is left of it, 0 when there is no count. */
static size_t before_count(const char *line, size_t length)
{
	size_t at = length;
	while (at && (is_digit(line[at - 1]) || line[at - 1] == '.'))
		at--;
	if (at == length || !is_digit(line[at]) || !at || !is_space(line[at - 1]))
		return 0;
	while (at && is_space(line[at - 1]))
		at--;
	return at;
}

static bool is_stack_line(const char *line, size_t length)
{
	struct perf_frame frame;
	if (!is_space(line[0]) || !perf_frame_split(line, length, &frame))
		return false;
	for (size_t i = 0; i < frame.address_length; i++)
		if (!is_digit(frame.address[i]) && !(frame.address[i] >= 'a' && frame.address[i] <= 'f'))
			return false;
	return true;
}

/* An event line has a colon behind its ids: that of the time, or of the event. */
static bool is_event_line(const char *line, size_t length)
{
	struct perf_event_line event;
	uint64_t lost;
	if (!perf_event_parse(line, length, &event))
		return false;
	return event.event || perf_event_is_record(line, length, &lost) ||
	       (!is_space(line[0]) && memchr(event.comm + event.comm_length, ':', length - event.comm_length));
}

static void look_at(struct signs *signs, const char *line, size_t length)
{
	if (!is_text_line(line, length))
		return;
	if (is_stack_line(line, length)) {
		signs->frames++;
		return;
	}
	if (is_event_line(line, length))
		signs->events++;
	size_t stack = before_count(line, length);
	if (stack) {
		signs->folded++;
		signs->folded_pairs += before_count(line, stack) != 0;
	}
}

/* Names may hold odd bytes, but where one byte in twenty is a control character it is no text. */
static bool is_binary(const char *data, size_t size)
{
	size_t controls = 0;
	for (size_t i = 0; i < size; i++)
		controls += (unsigned char)data[i] < ' ' && !is_space(data[i]) && data[i] != '\033';
	return controls > 16 && controls > size / 20;
}

static bool starts_with(const char *data, size_t size, const char *text)
{
	return size >= strlen(text) && memcmp(data, text, strlen(text)) == 0;
}

/* Some rows of wick's own tables end in a number, as folded stacks do. */
static const char *guess_table(const char *data, size_t size)
{
	size_t seen = size < HEAD_OF_TABLE ? size : HEAD_OF_TABLE;
	if (starts_with(data, size, "Before  ") && memmem(data, seen, "\nAfter   ", 9))
		return "this is a table of wick diff; use wick diff A B -o diff.svg, or wick diff --format "
		       "folded A B | wick flame";
	if (starts_with(data, size, "Total   ") && memmem(data, seen, "\nInput   ", 9))
		return "this is a table of wick report; use the recording or the folded stacks";
	return NULL;
}

static const char *guess_rubbish(const char *data, size_t size)
{
	if (size >= 8 && (memcmp(data, "PERFILE2", 8) == 0 || memcmp(data, "2ELIFREP", 8) == 0))
		return "this is a compressed perf.data file; decompress it first";
	if (size >= 4 && memcmp(data, "\177ELF", 4) == 0)
		return "this is a program, not a profile";
	if (size >= 5 && (memcmp(data, "<?xml", 5) == 0 || memcmp(data, "<svg ", 5) == 0))
		return "this is XML, possibly a flame graph; use the recording or the folded stacks";
	if (size >= 3 && memcmp(data, "BZh", 3) == 0)
		return "this is bzip2 data; decompress it first (gzip, xz and zstd are supported)";
	if (is_binary(data, size) || memchr(data, '\0', size))
		return "unknown binary data; wick reads perf.data, perf script text and folded stacks";
	return "no line is perf script text or a folded stack (\"main;work 12\")";
}

const struct import_format *detect_format(const char *data, size_t size, bool perl, const char **ret_guess)
{
	struct signs signs = {0};
	size_t lines = 0;
	*ret_guess = guess_table(data, size);
	if (*ret_guess)
		return NULL;
	if (is_binary(data, size < BYTES_TO_SEE ? size : BYTES_TO_SEE)) {
		*ret_guess = guess_rubbish(data, size);
		return NULL;
	}
	for (size_t at = 0; at < size && lines < LINES_TO_SEE; lines++) {
		if (at > BYTES_TO_SEE && (signs.events || signs.frames || signs.folded))
			break;
		const char *newline = memchr(data + at, '\n', size - at);
		size_t next = newline ? (size_t)(newline + 1 - data) : size;
		size_t length = newline ? (size_t)(newline - data) - at : size - at;
		while (length && is_space(data[at + length - 1]))
			length--;
		if (length && data[at] != '#')
			look_at(&signs, data + at, length);
		at = next;
	}
	if (perl && (signs.events || signs.frames))
		return &format_perf_perl;
	if (signs.events && (signs.frames || signs.events > signs.folded))
		return &format_perf_script;
	if (signs.folded)
		return signs.folded_pairs == signs.folded ? &format_folded_pair : &format_folded;
	if (signs.events || signs.frames)
		return &format_perf_script;
	/* One line longer than what can be seen here: its count is still to come. */
	if (!memchr(data, '\n', size) && !memchr(data, '\0', size) && memchr(data, ';', size))
		return &format_folded;
	*ret_guess = guess_rubbish(data, size);
	return NULL;
}
