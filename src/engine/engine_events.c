/* Marks the events that the BPF engine takes, and describes them to it. */
#include "engine/engine_events.h"

#include "capture/types.h"
#include "event/source_facts.h"

#include <stdio.h>
#include <string.h>

static bool is_fault(const struct capture_event *event)
{
	return event->derive.rule == DERIVE_PAGES;
}

static bool is_suitable(const struct capture_event *event)
{
	if (event->derive.rule == DERIVE_SWITCH)
		return true;
	return event->attr.type != PERF_TYPE_TRACEPOINT && !event->path && !event->everywhere && !event->bare &&
	       !event->attr.precise_ip &&
	       (event->derive.rule == DERIVE_PASS || event->derive.rule == DERIVE_CLOCK || is_fault(event));
}

bool engine_events_mark(struct capture_events *events)
{
	bool some = false;
	for (size_t i = 0; i < events->count && i < ENGINE_SOURCES_MAX; i++) {
		events->items[i].by_engine = is_suitable(&events->items[i]);
		some = some || events->items[i].by_engine;
	}
	return some;
}

void engine_events_unmark(struct capture_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		events->items[i].by_engine = events->items[i].by_cpu = false;
}

/* Where all records of times are taken by programs, these can add them up. */
static bool can_count_waits(const struct capture_events *events)
{
	bool switches = false, clocks = true;
	for (size_t i = 0; i < events->count; i++) {
		const struct capture_event *event = &events->items[i];
		switches = switches || (event->by_engine && event->derive.rule == DERIVE_SWITCH);
		clocks = clocks && (event->by_engine || event->derive.rule != DERIVE_CLOCK);
	}
	return switches && clocks;
}

/* Waits that are computed outside need the time of each sample, so these are not added up then. */
static void describe_events(const struct capture_options *capture, struct engine_options *engine)
{
	const struct capture_events *events = capture->events;
	struct engine_waits *waits = &engine->waits;
	waits->counted = !capture->timeline && !capture->wakers && can_count_waits(events);
	for (size_t i = 0; i < events->count && i < ENGINE_SOURCES_MAX; i++) {
		const struct derive_source *derive = &events->items[i].derive;
		bool is_switch = derive->rule == DERIVE_SWITCH, is_clock = derive->rule == DERIVE_CLOCK;
		engine->switches |= (uint32_t)is_switch << i;
		engine->faults |= (uint32_t)is_fault(&events->items[i]) << i;
		engine->unaggregated |= (uint32_t)(!waits->counted && (is_switch || is_clock)) << i;
		waits->clocks |= (uint32_t)is_clock << i;
		waits->kept |= (uint32_t)(is_clock && derive->keep) << i;
		waits->running = waits->running || is_clock;
		if (is_switch)
			waits->source = (uint16_t)i;
	}
}

/* What happens all the time that code runs. The rate of rarer things is found out for each thread by itself. */
static bool is_steady(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE || attr_is_clock(attr);
}

static bool suits_cpus(const struct capture_event *event)
{
	enum derive_rule rule = event->derive.rule;
	return (rule == DERIVE_PASS || rule == DERIVE_CLOCK) && !event->attr.sample_period && is_steady(&event->attr);
}

static void use_cpus(struct capture_events *events, struct engine_options *engine)
{
	for (size_t i = 0; i < events->count && i < ENGINE_SOURCES_MAX; i++) {
		struct capture_event *event = &events->items[i];
		event->by_cpu = event->by_engine && suits_cpus(event);
		engine->members.sources |= (uint32_t)event->by_cpu << i;
	}
}

struct engine_options engine_options_of(const struct capture_options *capture, const struct target *target,
					const struct attr_shape *shape, const struct engine_facts *facts, bool any_cpu)
{
	bool by_cpu = target_is_by_cpu(target);
	struct engine_options engine = {
		.capture = capture,
		.many_processes = by_cpu,
		.pid_namespace = facts->pid_namespace,
		.kernel_memory =
			engine_memory(facts, capture->kernel_memory ? capture->kernel_memory : ENGINE_MEMORY_USUAL),
		.waits =
			{
				.from_exec = shape->enable_on_exec,
				.unseen = capture_types_count_unseen(capture),
				.children = capture->inherit || by_cpu,
			},
	};
	describe_events(capture, &engine);
	/* Programs decide by the numbers that processes have in the initial namespace. */
	if (any_cpu && !facts->pid_namespace && !by_cpu && capture->period != 1) {
		engine.members.threads = target->by_thread;
		engine.members.children = capture->inherit;
		use_cpus(capture->events, &engine);
	}
	return engine;
}

bool engine_events_rings_on_cpus(struct capture_events *events)
{
	bool some = false;
	for (size_t i = 0; i < events->count; i++) {
		struct capture_event *event = &events->items[i];
		event->by_cpu = suits_cpus(event) && event->attr.type != PERF_TYPE_TRACEPOINT && !event->path &&
				!event->everywhere && !event->bare;
		some = some || event->by_cpu;
	}
	return some;
}

/* The programs are not called by the tracepoint but by the event of the same moment. They report the state. */
static void take_switches(struct capture_events *events, struct capture_event *event)
{
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	event->attr.sample_type &= ~(uint64_t)PERF_SAMPLE_RAW;
	event->attr.exclude_idle = 1;
	events->prev_state = (struct trace_field){.size = sizeof(uint64_t)};
	events->next_pid = (struct trace_field){0};
	events->kinds_missing = false;
	free(event->name);
	event->name = mem_strdup("context-switches");
}

/* Times come as such; neither wake-ups nor records of switches are needed. */
static void take_waits(struct capture_events *events)
{
	events->waits_counted = true;
	events->switches = false;
	events->wakings_missing = false;
	for (size_t i = 0; i < events->count; i++) {
		struct derive_source *derive = &events->items[i].derive;
		if (derive->rule == DERIVE_SWITCH)
			derive->rule = DERIVE_TIME;
		else if (derive->rule == DERIVE_CLOCK)
			derive->rule = DERIVE_PASS;
	}
	/* They come last, so that no other event gets another number. */
	while (events->count && events->items[events->count - 1].derive.rule == DERIVE_WAKING)
		capture_events_drop_last(events);
}

static bool has_huge_pages(void)
{
	char line[64] = "";
	FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
	bool read = file && fgets(line, sizeof line, file);
	if (file)
		fclose(file);
	return read && !strstr(line, "[never]");
}

bool engine_events_taken(struct capture_events *events, const struct engine_options *engine)
{
	bool faults = false;
	for (size_t i = 0; i < events->count; i++) {
		struct capture_event *event = &events->items[i];
		if (event->by_engine && event->derive.rule == DERIVE_SWITCH)
			take_switches(events, event);
		faults = faults || (event->by_engine && is_fault(event));
	}
	if (engine->waits.counted)
		take_waits(events);
	return faults && has_huge_pages();
}
