/* The rows of all profile types. */
#include "profile/types.h"

#include <string.h>

const struct profile_type profile_types[] = {
	{
		.name = "cpu",
		.help = "where threads run",
		.needs = TYPE_CLOCK | TYPE_CLOCK_KEPT,
	},
	{
		.name = "offcpu",
		.help = "where they wait, how long and for what",
		.needs = TYPE_SWITCHES | TYPE_WAIT_FILTER | TYPE_DERIVED,
		.views = {{
			.name = "offcpu",
			.title = "Off-CPU Time",
			.background = "blue",
			.unit = "ns",
			.load = "threads off CPU",
			.parts =
				{{.value = "time-sleeping", .label = PART_SLEEPING, .waits = true, .may_be_lock = true},
				 {.value = "time-disk", .label = PART_DISK, .waits = true, .may_be_lock = true},
				 {.value = "time-runnable", .label = PART_RUNNABLE, .waits = true},
				 {.value = "offcpu-time", .waits = true}}, /* of perf record --off-cpu */
		}},
	},
	{
		.name = "wall",
		.help = "both, which adds up to elapsed time",
		.needs = TYPE_CLOCK | TYPE_RUN_TIME | TYPE_SWITCHES | TYPE_DERIVED,
		.views = {{
			.name = "wall",
			.title = "Wall-Clock Time",
			.background = "grey",
			.unit = "ns",
			.load = "threads",
			.shown_by = "time-running",
			.parts =
				{{.value = "time-running", .label = PART_RUNNING},
				 {.value = "time-runnable", .label = PART_RUNNABLE, .waits = true},
				 {.value = "time-sleeping", .label = PART_SLEEPING, .waits = true, .may_be_lock = true},
				 {.value = "time-disk", .label = PART_DISK, .waits = true, .may_be_lock = true}},
		}},
	},
	{
		.name = "faults",
		.other_name = "mem",
		.help = "where memory is touched for the first time",
		.needs = TYPE_DERIVED,
		.events = {{"minor-faults", DERIVE_PAGES, DERIVED_MINOR_BYTES},
			   {"major-faults", DERIVE_PAGES, DERIVED_MAJOR_BYTES}},
		.views = {{
				  .name = "faults",
				  .title = "Page Faults",
				  .background = "green",
				  .unit = "faults",
				  .one = "fault",
				  .counted = true,
				  .load = "faults/s",
				  .shown_by = "-fault-bytes",
				  .parts = {{.value = "minor-faults", .label = PART_MINOR},
					    {.value = "major-faults", .label = PART_MAJOR},
					    {.value = "page-faults"}},
			  },
			  {
				  .name = "fault-bytes",
				  .title = "Memory First Touched",
				  .background = "green",
				  .unit = "bytes",
				  .one = "byte",
				  .load = "faults/s",
				  .parts = {{.value = "minor-fault-bytes", .label = PART_MINOR},
					    {.value = "major-fault-bytes", .label = PART_MAJOR}},
			  }},
	},
	{
		.name = "trace",
		.help = "where --event happens, every time",
		.needs = TYPE_EACH_EVENT | TYPE_DERIVED,
	},
};
const size_t profile_type_count = sizeof profile_types / sizeof *profile_types;

const char *derived_name(enum derived_event event)
{
	static const char *const names[DERIVED_EVENTS] = {
		[DERIVED_RUNNING] = "time-running",          [DERIVED_RUNNABLE] = "time-runnable",
		[DERIVED_SLEEPING] = "time-sleeping",        [DERIVED_DISK] = "time-disk",
		[DERIVED_MINOR_BYTES] = "minor-fault-bytes", [DERIVED_MAJOR_BYTES] = "major-fault-bytes",
	};
	return names[event];
}

static const struct {
	const char *text, *kind;
	bool time;
} part_labels[PART_LABELS] = {
#define PART_ROW(id, name, time, ...) [PART_##id] = {"[" name "]", name, time},
	PROFILE_PARTS(PART_ROW)
#undef PART_ROW
};

const char *part_label_text(enum part_label label)
{
	return part_labels[label].text;
}

const char *part_label_time(const char *name)
{
	for (int i = PART_NONE + 1; i < PART_LABELS; i++)
		if (part_labels[i].time && !strcmp(part_labels[i].text, name))
			return part_labels[i].kind;
	return NULL;
}

const struct profile_view *profile_view_next(const struct profile_view *view)
{
	bool found = !view;
	for (size_t i = 0; i < profile_type_count; i++)
		for (const struct profile_view *at = profile_types[i].views;
		     at < profile_types[i].views + TYPE_VIEWS_MAX && at->name; at++) {
			if (found)
				return at;
			found = at == view;
		}
	return NULL;
}

static bool is_called(const char *name, const char *text, size_t length)
{
	return name && !strncmp(name, text, length) && !name[length];
}

static size_t find_type(const char *text, size_t length)
{
	size_t i = 0;
	while (i < profile_type_count && !is_called(profile_types[i].name, text, length) &&
	       !is_called(profile_types[i].other_name, text, length))
		i++;
	return i;
}

int profile_types_parse(const char *text, unsigned *ret_types, struct err *err)
{
	unsigned types = 0;
	for (;;) {
		size_t length = strcspn(text, ","), i = find_type(text, length);
		if (i == profile_type_count) {
			CLEANUP_BUF struct buf list = {0};
			profile_types_list(&list, 0);
			return err_set(err, ERR_USAGE, "--type must be %s, not '%.*s'", list.data, (int)length, text);
		}
		types |= 1u << i;
		if (!text[length])
			break;
		text += length + 1;
	}
	*ret_types |= types;
	return 0;
}

unsigned profile_types_needs(unsigned types)
{
	unsigned needs = 0;
	for (size_t i = 0; i < profile_type_count; i++)
		if (types & 1u << i)
			needs |= profile_types[i].needs;
	return needs;
}

static void add_name(struct buf *out, const struct profile_type *type)
{
	buf_str(out, type->name);
	if (type->other_name)
		buf_printf(out, " (or %s)", type->other_name);
}

void profile_types_list(struct buf *out, unsigned needs)
{
	size_t left = 0;
	for (size_t i = 0; i < profile_type_count; i++)
		left += !needs || profile_types[i].needs & needs;
	bool first = true;
	for (size_t i = 0; i < profile_type_count; i++) {
		if (needs && !(profile_types[i].needs & needs))
			continue;
		buf_str(out, first ? "" : left == 1 ? " or " : ", ");
		add_name(out, &profile_types[i]);
		first = false;
		left--;
	}
}

void profile_types_help(struct buf *out)
{
	for (size_t i = 0; i < profile_type_count; i++) {
		buf_str(out, i ? " " : "");
		add_name(out, &profile_types[i]);
		buf_printf(out, "%s: %s.", 1u << i & PROFILE_TYPES_DEFAULT ? " (default)" : "", profile_types[i].help);
	}
}
