/* Parses the options of filters. */
#include "cmd/filter_options.h"

#include <ctype.h>

/* A time such as "2.5", "300ms" or "4s", seconds when it has no unit; `end` is behind it. */
static bool parse_time(const char *text, const char *end, uint64_t *ret_nanoseconds)
{
	static const struct {
		const char *name;
		double nanoseconds;
	} units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"", 1e9}};
	char *rest;
	double value = isdigit((unsigned char)*text) || *text == '.' ? strtod(text, &rest) : -1;
	if (!(value >= 0) || rest == text || rest > end)
		return false;
	size_t length = (size_t)(end - rest);
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strlen(units[i].name) == length && memcmp(rest, units[i].name, length) == 0) {
			value *= units[i].nanoseconds;
			*ret_nanoseconds = value < 0x1p63 ? (uint64_t)value : (uint64_t)1 << 63;
			return true;
		}
	return false;
}

/* "2.5-4s", "300ms-", "-10s": since the first sample. */
static bool parse_time_range(const char *text, struct collect_filter *takes)
{
	const char *dash = strchr(text, '-'), *end = text + strlen(text);
	if (!dash || (dash == text && dash + 1 == end))
		return false;
	if (dash > text && !parse_time(text, dash, &takes->from))
		return false;
	return dash + 1 == end || (parse_time(dash + 1, end, &takes->to) && takes->to > takes->from);
}

/* The number at the start of `*text`, which moves behind it. */
static bool parse_number(const char **text, uint32_t max, uint32_t *ret_number)
{
	uint64_t number = 0;
	const char *at = *text;
	for (; isdigit((unsigned char)*at) && number <= max; at++)
		number = number * 10 + (uint64_t)(*at - '0');
	if (at == *text || number > max)
		return false;
	*text = at;
	*ret_number = (uint32_t)number;
	return true;
}

/* Appends the numbers of "0,2-3" (ranges if they are allowed); false when it is no such list. */
static bool parse_numbers(const struct option_list *texts, uint32_t max, bool ranges, struct buf *out)
{
	for (size_t i = 0; i < texts->count; i++)
		for (const char *at = texts->items[i];;) {
			uint32_t first, last;
			if (!parse_number(&at, max, &first))
				return false;
			last = first;
			if (ranges && *at == '-') {
				at++;
				if (!parse_number(&at, max, &last) || last < first)
					return false;
			}
			for (uint32_t number = first; number <= last; number++)
				buf_add(out, &number, sizeof number);
			if (!*at)
				break;
			if (*at++ != ',')
				return false;
		}
	uint32_t end = UINT32_MAX; /* −1 as an id */
	buf_add(out, &end, sizeof end);
	return true;
}

/* "KEY=PATTERN", once or several times: patterns of one key are a list. False when one has no key. */
static bool parse_labels(const struct option_list *texts, struct input_filter *filter)
{
	struct arena *arena = &filter->labels;
	struct label_filter *labels =
		arena_alloc(arena, (texts->count + 1) * sizeof *labels, _Alignof(struct label_filter));
	const char **patterns = arena_alloc(arena, 2 * texts->count * sizeof *patterns, _Alignof(const char *));
	size_t count = 0;
	for (size_t i = 0; i < texts->count; i++) {
		size_t length = strcspn(texts->items[i], "="), known = 0;
		if (!length || !texts->items[i][length])
			return false;
		const char *key = arena_copy(arena, texts->items[i], length);
		while (known < count && strcmp(labels[known].key, key) != 0)
			known++;
		if (known < count)
			continue;
		labels[count++] = (struct label_filter){.key = key, .values = patterns};
		for (size_t same = i; same < texts->count; same++)
			if (!strncmp(texts->items[same], texts->items[i], length + 1))
				*patterns++ = texts->items[same] + length + 1;
		*patterns++ = NULL;
	}
	labels[count] = (struct label_filter){0};
	filter->takes.profile.labels = count ? labels : NULL;
	return true;
}

int input_filter_parse(struct input_filter *filter, const struct input_options *options)
{
	*filter = (struct input_filter){0};
	struct collect_filter *takes = &filter->takes;
	if (!parse_numbers(&options->pids, INT32_MAX, false, &filter->pids) ||
	    !parse_numbers(&options->tids, INT32_MAX, false, &filter->tids)) {
		say_error("--pid= and --tid= must be numbers such as 12,13");
		return EXIT_USAGE;
	}
	if (!parse_numbers(&options->cpus, 1 << 20, true, &filter->cpus)) {
		say_error("--cpu must be numbers such as 0,2-3");
		return EXIT_USAGE;
	}
	if (options->time && !parse_time_range(options->time, takes)) {
		say_error("--time must be a range such as 2.5-4s, 300ms- or -10s, not '%s'", options->time);
		return EXIT_USAGE;
	}
	takes->profile = (struct profile_filter){
		.comms = options->comms.items,
		.pids = options->pids.count ? (const int32_t *)filter->pids.data : NULL,
		.tids = options->tids.count ? (const int32_t *)filter->tids.data : NULL,
		.modules = options->dsos.items,
		.functions = options->symbols.items,
	};
	if (!parse_labels(&options->labels, filter)) {
		say_error("--label must be KEY=PATTERN, such as cpu=3");
		return EXIT_USAGE;
	}
	takes->cpus = options->cpus.count ? (const uint32_t *)filter->cpus.data : NULL;
	takes->cgroups = options->cgroups.items;
	filter->recordings_only = takes->cpus || takes->cgroups || options->time;
	filter->any = filter->recordings_only || options->comms.count || options->pids.count || options->tids.count ||
		      options->dsos.count || options->symbols.count || options->labels.count;
	return PROCEED;
}

void input_filter_release(struct input_filter *filter)
{
	buf_release(&filter->pids);
	buf_release(&filter->tids);
	buf_release(&filter->cpus);
	arena_release(&filter->labels);
}
