#include "capture/types.h"

#include "base/buf.h"
#include "capture/pmu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct type_row {
	const char *name;
	enum record_type type;
} type_rows[] = {
	{"cpu", RECORD_CPU},       {"offcpu", RECORD_OFFCPU}, {"wall", RECORD_WALL},
	{"faults", RECORD_FAULTS}, {"mem", RECORD_FAULTS},    {"trace", RECORD_TRACE},
};

int record_types_parse(const char *text, unsigned *ret_types, struct err *err)
{
	unsigned types = 0;
	for (;;) {
		size_t length = strcspn(text, ","), i = 0, count = sizeof type_rows / sizeof *type_rows;
		while (i < count &&
		       (strncmp(text, type_rows[i].name, length) != 0 || strlen(type_rows[i].name) != length))
			i++;
		if (i == count)
			return err_set(err, ERR_USAGE,
				       "--type must be cpu, offcpu, wall, faults (or mem) or trace, not '%.*s'",
				       (int)length, text);
		types |= type_rows[i].type;
		if (!text[length])
			break;
		text += length + 1;
	}
	*ret_types |= types;
	return 0;
}

static void note(const struct record_types_options *options, const char *text)
{
	if (options->note)
		options->note(options->context, text);
}

static struct capture_event *last_event(struct capture_events *events)
{
	return &events->items[events->count - 1];
}

/* --- on CPUs --- */

static int add_clock(struct capture_events *events, const struct record_types_options *options, struct err *err)
{
	bool cycles = pmu_has_cycles();
	if (!cycles && options->detail)
		options->detail(options->context, "no hardware counters (virtual machines often hide them): "
						  "recording cpu-clock instead of cycles");
	return capture_events_parse(events, cycles ? "cycles" : "cpu-clock", err);
}

/* --- switches --- */

static bool find_field(const char *system, const char *name, const char *field, struct trace_field *ret_field)
{
	CLEANUP_BUF struct buf format = {0};
	return pmu_tracepoint_format(&format, system, name) && trace_field_find(format.data, field, ret_field);
}

/* Every one is told, with its raw data. */
static void take_all(struct capture_event *event, enum derive_rule rule)
{
	event->derive.rule = rule;
	event->attr.sample_period = 1;
	if (event->attr.type == PERF_TYPE_TRACEPOINT)
		event->attr.sample_type |= PERF_SAMPLE_RAW;
}

/* From the best to the least: with state and stack, with stack, without both. */
static int add_switches(struct capture_events *events, const struct record_types_options *options,
			const struct capture_limits *limits, struct err *err)
{
	struct err refused = {0};
	events->switches = true;
	if (limits->tracepoints && !capture_events_parse(events, "sched:sched_switch", &refused)) {
		take_all(last_event(events), DERIVE_SWITCH);
		find_field("sched", "sched_switch", "prev_state", &events->prev_state);
		find_field("sched", "sched_switch", "next_pid", &events->next_pid);
	} else if (limits->kernel_samples) {
		events->kinds_missing = true;
		if (capture_events_parse(events, "context-switches", err))
			return err->code;
		take_all(last_event(events), DERIVE_SWITCH);
	} else {
		note(options, "waits have no stacks: run with sudo, or as root: sysctl kernel.perf_event_paranoid=1");
	}
	return 0;
}

/* From the wake-up on a thread only waits for a CPU. Anybody may be the one who wakes it up. */
static void add_wakings(struct capture_events *events, bool wakers, const struct capture_limits *limits)
{
	struct err refused = {0};
	if (!limits->tracepoints || !limits->whole_system ||
	    capture_events_parse(events, "sched:sched_waking", &refused)) {
		events->wakings_missing = true;
		return;
	}
	struct capture_event *event = last_event(events);
	take_all(event, DERIVE_WAKING);
	event->everywhere = true;
	event->bare = !wakers;
	find_field("sched", "sched_waking", "pid", &events->woken_pid);
}

/* --- page faults --- */

/* Whether the kernel can tell how large a page is (Linux 5.11). */
static bool knows_page_size(void)
{
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno != EINVAL;
}

static int add_faults(struct capture_events *events, struct err *err)
{
	static const struct {
		const char *name;
		enum derive_rule rule;
	} faults[] = {{"minor-faults", DERIVE_MINOR_FAULT}, {"major-faults", DERIVE_MAJOR_FAULT}};
	bool page_size = knows_page_size();
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		int result = capture_events_parse(events, faults[i].name, err);
		if (result)
			return result;
		take_all(last_event(events), faults[i].rule);
		if (page_size)
			last_event(events)->attr.sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE;
	}
	return 0;
}

/* --- tracepoints --- */

static int weigh_by_field(struct capture_event *event, const char *field, struct err *err)
{
	CLEANUP_BUF struct buf system = {0};
	CLEANUP_BUF struct buf name = {0};
	CLEANUP_BUF struct buf format = {0};
	CLEANUP_BUF struct buf fields = {0};
	const char *colon = strchr(event->name, ':');
	if (event->attr.type != PERF_TYPE_TRACEPOINT || !colon)
		return err_set(err, ERR_USAGE, "--weight: %s is not a tracepoint and has no fields", event->name);
	buf_add(&system, event->name, (size_t)(colon - event->name));
	buf_add(&name, colon + 1, strcspn(colon + 1, ":"));
	if (!pmu_tracepoint_format(&format, system.data, name.data))
		return err_set(err, ERR_SYSTEM, "--weight: cannot read the fields of %s", event->name);
	if (!trace_field_find(format.data, field, &event->derive.weight)) {
		trace_fields_list(format.data, &fields);
		return err_set(err, ERR_USAGE, "--weight: %s has no numeric field '%s'; it has %s", event->name, field,
			       fields.size ? fields.data : "none");
	}
	take_all(event, DERIVE_WEIGH);
	return 0;
}

static int settle_traces(struct capture_events *events, const struct record_types_options *options, struct err *err)
{
	if (!events->count)
		return err_set(err, ERR_USAGE, "-t trace needs --event, such as syscalls:sys_enter_write");
	for (size_t i = 0; i < events->count; i++) {
		struct capture_event *event = &events->items[i];
		event->trace = true;
		event->attr.sample_period = 1;
		int result = options->weight ? weigh_by_field(event, options->weight, err) : 0;
		if (result)
			return result;
	}
	return 0;
}

int record_types_events(struct capture_events *events, const struct record_types_options *options,
			const struct capture_limits *limits, struct err *err)
{
	unsigned types = options->types ? options->types : RECORD_CPU;
	int result = types & RECORD_TRACE ? settle_traces(events, options, err) : 0;
	bool named = !(types & RECORD_TRACE) && events->count;
	if (!result && options->weight && !(types & RECORD_TRACE))
		result = err_set(err, ERR_USAGE, "--weight needs -t trace");
	if (!result && named && !(types & (RECORD_CPU | RECORD_WALL)))
		result = err_set(err, ERR_USAGE, "--event needs -t cpu, wall or trace");
	size_t first = events->count;
	if (!result && types & (RECORD_CPU | RECORD_WALL) && !named)
		result = add_clock(events, options, err);
	for (size_t i = named ? 0 : first; !result && types & RECORD_WALL && i < events->count; i++)
		events->items[i].derive = (struct derive_source){.rule = DERIVE_CLOCK, .keep = types & RECORD_CPU};
	if (!result && types & RECORD_WAITS)
		result = add_switches(events, options, limits, err);
	if (!result && types & RECORD_FAULTS)
		result = add_faults(events, err);
	if (!result && types & RECORD_WAITS)
		add_wakings(events, options->wakers, limits);
	return result;
}

void record_types_note_missing(const struct capture_events *events, const struct record_types_options *options)
{
	if (events->kinds_missing)
		note(options, "kinds of wait are not recorded: tracepoints need root, or CAP_PERFMON and a "
			      "readable /sys/kernel/tracing");
	if (events->wakings_missing)
		note(options, "waiting for a CPU after a wakeup counts as part of the wait: wakeups need root "
			      "and tracefs");
}
