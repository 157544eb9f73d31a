/* Parses the first line of a sample of perf script text: thread, ids, time, period, event. */
#include "import/perf_header.h"

#include "import/shard.h"

#include <string.h>

static int32_t to_id(const char *digits, size_t length)
{
	int64_t value = 0;
	for (size_t i = 0; i < length && value <= INT32_MAX; i++)
		value = value * 10 + (digits[i] - '0');
	return value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

/* A number, or two with a slash between, that white space follows. Returns its end or 0. */
static size_t ids_at(const char *line, size_t length, size_t at, struct perf_event_line *event)
{
	size_t first = at;
	while (at < length && is_digit(line[at]))
		at++;
	size_t first_end = at;
	while (at < length && line[at] == '/')
		at++;
	size_t second = at;
	while (at < length && is_digit(line[at]))
		at++;
	if (first_end == first || at == length || !is_space(line[at]))
		return 0;
	/* "0/0", the idle task, shows no pid, as the Perl script has it. */
	bool two = at > second && !(at == second + 1 && line[second] == '0');
	event->pid_text = two ? line + first : NULL;
	event->pid_length = two ? first_end - first : 0;
	event->tid_text = two ? line + second : line + first;
	event->tid_length = two ? at - second : first_end - first;
	event->pid = two ? to_id(event->pid_text, event->pid_length) : -1;
	event->tid = to_id(event->tid_text, event->tid_length);
	return at;
}

/* The thread's name may hold spaces: it ends at the first white space behind `min` bytes that ids follow. */
static size_t comm_and_ids(const char *line, size_t length, size_t from, size_t min, struct perf_event_line *event)
{
	for (size_t i = from + min; i < length; i++) {
		if (!is_space(line[i]))
			continue;
		size_t ids = i;
		while (ids < length && is_space(line[ids]))
			ids++;
		size_t end = ids_at(line, length, ids, event);
		if (end) {
			event->comm = line + from;
			event->comm_length = i - from;
			return end;
		}
		i = ids - 1;
	}
	return 0;
}

static int64_t to_period(const char *digits, size_t length, bool *overflow)
{
	int64_t value = 0;
	for (size_t i = 0; i < length; i++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, digits[i] - '0', &value)) {
			*overflow = true;
			return INT64_MAX;
		}
	return value ? value : 1;
}

/*
 * Is there ": [period] event:" that ends at `end` (the place of the last colon)? The event is the word before it, and
 * only white space and an optional number may stand between it and the colon of the time.
 */
static bool event_before(const char *line, size_t from, size_t end, struct perf_event_line *event)
{
	size_t word = end;
	while (word > from && !is_space(line[word - 1]))
		word--;
	size_t space = word;
	while (space > from && is_space(line[space - 1]))
		space--;
	if (word == end || space == word || space == from)
		return false;
	size_t digits = space;
	while (digits > from && is_digit(line[digits - 1]))
		digits--;
	size_t colon = digits;
	while (colon > from && is_space(line[colon - 1]))
		colon--;
	if (colon == from || line[colon - 1] != ':')
		return false;
	event->event = line + word;
	event->event_length = end - word;
	if (digits < space)
		event->period = to_period(line + digits, space - digits, &event->period_overflow);
	return true;
}

/* "… 123.456:  250000 cycles:u:  ffffffff81 main+0x1f (/bin/x)": the sample of a recording without call chains. */
static void find_frame_on_line(const char *line, size_t length, size_t from, struct perf_event_line *event)
{
	if (line[length - 1] != ')')
		return;
	for (size_t i = from; i + 1 < length; i++)
		if (line[i] == ':' && is_space(line[i + 1]) && event_before(line, from, i, event)) {
			event->rest = line + i + 1;
			event->rest_length = length - i - 1;
			return;
		}
}

bool perf_event_parse(const char *line, size_t length, struct perf_event_line *ret_event)
{
	struct perf_event_line event = {.period = 1};
	size_t from = 0;
	while (from < length && is_space(line[from]))
		from++;
	while (length > from && is_space(line[length - 1]))
		length--;
	/* White space must follow the ids; at the end of the line it was just taken off. */
	size_t after = comm_and_ids(line, length, from, 1, &event);
	if (!after)
		return false;
	if (line[length - 1] == ':')
		event_before(line, after, length - 1, &event);
	else
		find_frame_on_line(line, length, after, &event);
	*ret_event = event;
	return true;
}

bool perf_event_parse_perl(const char *line, size_t length, struct perf_event_line *ret_event)
{
	struct perf_event_line event = {.period = 1};
	if (!length || is_space(line[0]) || !comm_and_ids(line, length, 0, 2, &event))
		return false;
	while (length && is_space(line[length - 1]))
		length--;
	if (line[length - 1] == ':')
		event_before(line, 0, length - 1, &event);
	*ret_event = event;
	return true;
}

bool perf_event_is_record(const char *line, size_t length, uint64_t *ret_lost)
{
	const char *record = memmem(line, length, "PERF_RECORD_", 12);
	if (!record || record == line || !is_space(record[-1]))
		return false;
	*ret_lost = 0;
	const char *end = line + length;
	const char *lost = memmem(record, (size_t)(end - record), " lost ", 6);
	if (lost && memcmp(record + 12, "LOST", 4) == 0)
		for (const char *at = lost + 6; at < end && is_digit(*at); at++)
			*ret_lost = *ret_lost * 10 + (uint64_t)(*at - '0');
	return true;
}
