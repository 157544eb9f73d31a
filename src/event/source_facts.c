/* Derives what samples mean from the attributes of their event. */
#include "event/source_facts.h"

#include "profile/view.h"

#include <string.h>
#include <time.h>

#define SECOND 1000000000ull
#define DEFAULT_CHAIN 127 /* kernel.perf_event_max_stack, for events that do not say */

static uint32_t chain_max_of(const struct perf_event_attr *attr)
{
	if (!(attr->sample_type & PERF_SAMPLE_CALLCHAIN))
		return 0;
	return attr->sample_max_stack ? attr->sample_max_stack : DEFAULT_CHAIN;
}

bool attr_is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

bool attr_is_dummy(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

struct source_facts source_facts_of(const struct perf_event_attr *attr, const char *name, bool weighs_one)
{
	return (struct source_facts){
		.chain_max = chain_max_of(attr),
		.monotonic = attr->use_clockid && attr->clockid == CLOCK_MONOTONIC,
		.weighs_one = weighs_one,
		.unit = weighs_one          ? "" :
			attr_is_clock(attr) ? "ns" :
					      profile_unit_of(name),
		.stack_bytes = attr->sample_type & PERF_SAMPLE_STACK_USER ? attr->sample_stack_user : 0,
		.frequency = attr->freq ? attr->sample_freq : 0,
		.clock = attr_is_clock(attr),
		.waits = !attr_is_clock(attr) && !strcmp(profile_unit_of(name), "ns"),
		.period = !attr->freq       ? attr->sample_period :
			  attr->sample_freq ? SECOND / attr->sample_freq :
					      0,
		.user_only = attr->exclude_kernel,
		.each = !attr->freq && attr->sample_period == 1 && !attr_is_dummy(attr),
	};
}
