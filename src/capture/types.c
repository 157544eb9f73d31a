/* Adds the events that a profile type needs. */
#include "capture/types.h"

#include "base/buf.h"
#include "capture/pmu.h"
#include "system/system.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void note(const struct capture_options *options, const char *text)
{
	if (options->note)
		options->note(options->context, text);
}

static struct capture_event *last_event(struct capture_events *events)
{
	return &events->items[events->count - 1];
}

/* --- on CPUs --- */

static int add_clock(struct capture_events *events, const struct capture_options *options, struct err *err)
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

/* Every one is reported, with its raw data. */
static void take_all(struct capture_event *event, enum derive_rule rule)
{
	event->derive.rule = rule;
	event->attr.sample_period = 1;
	if (event->attr.type == PERF_TYPE_TRACEPOINT)
		event->attr.sample_type |= PERF_SAMPLE_RAW;
}

/* From the best to the least: with state and stack, with stack, without both. */
static int add_switches(struct capture_events *events, const struct capture_options *options,
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

/* Whether the kernel can report how large a page is (Linux 5.11). */
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
	return system_this().open_event(&attr) != -EINVAL;
}

/* --- events that a type names --- */

static int add_named(struct capture_events *events, const struct profile_type *type, struct err *err)
{
	for (const struct type_event *named = type->events; named < type->events + TYPE_EVENTS_MAX && named->name;
	     named++) {
		int result = capture_events_parse(events, named->name, err);
		if (result)
			return result;
		take_all(last_event(events), named->rule);
		last_event(events)->derive.derived = named->derived;
		if (named->rule == DERIVE_PAGES && knows_page_size())
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

static int settle_traces(struct capture_events *events, const struct capture_options *options, struct err *err)
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

/* Whether what the options name goes together. */
static int check_named(const struct capture_events *events, const struct capture_options *options, unsigned needs,
		       struct err *err)
{
	if (options->weight && !(needs & TYPE_EACH_EVENT))
		return err_set(err, ERR_USAGE, "--weight needs -t trace");
	if (events->count && !(needs & (TYPE_EACH_EVENT | TYPE_CLOCK))) {
		CLEANUP_BUF struct buf types = {0};
		profile_types_list(&types, TYPE_EACH_EVENT | TYPE_CLOCK);
		return err_set(err, ERR_USAGE, "--event needs -t %s", types.data);
	}
	return 0;
}

int capture_types_events(const struct capture_options *options, const struct capture_limits *limits, struct err *err)
{
	struct capture_events *events = options->events;
	unsigned needs = profile_types_needs(options->types);
	int result = needs & TYPE_EACH_EVENT ? settle_traces(events, options, err) : 0;
	if (!result)
		result = check_named(events, options, needs, err);
	bool named = !(needs & TYPE_EACH_EVENT) && events->count;
	size_t first = named ? 0 : events->count;
	if (!result && needs & TYPE_CLOCK && !named)
		result = add_clock(events, options, err);
	for (size_t i = first; !result && needs & TYPE_RUN_TIME && i < events->count; i++)
		events->items[i].derive = (struct derive_source){.rule = DERIVE_CLOCK, .keep = needs & TYPE_CLOCK_KEPT};
	if (!result && needs & TYPE_SWITCHES)
		result = add_switches(events, options, limits, err);
	for (size_t i = 0; !result && i < profile_type_count; i++)
		if (options->types & 1u << i)
			result = add_named(events, &profile_types[i], err);
	if (!result && needs & TYPE_SWITCHES)
		add_wakings(events, options->wakers, limits);
	return result;
}

/* With a clock the times of a thread must add up; in a whole system most threads wait for something all the time. */
bool capture_types_count_unseen(const struct capture_options *options)
{
	return profile_types_needs(options->types) & TYPE_RUN_TIME || !options->whole_system;
}

void capture_types_note_missing(const struct capture_options *options)
{
	if (options->events->kinds_missing)
		note(options, "kinds of wait are not recorded: tracepoints need root, or CAP_PERFMON and a "
			      "readable /sys/kernel/tracing");
	if (options->events->wakings_missing)
		note(options, "waiting for a CPU after a wakeup counts as part of the wait: wakeups need root "
			      "and tracefs");
}
