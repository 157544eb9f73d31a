/* Sets the common attributes of events: stacks, registers, side-band records. */
#include "capture/attr.h"

#include "arch/native.h"
#include "event/source_facts.h"

#include <time.h>

#define FORMAT_LOST (1u << 4) /* Linux 6.0 */

/* The same for all events of a recording, else their records could not be distinguished. */
static void set_common(struct perf_event_attr *attr, const struct attr_shape *shape)
{
	attr->size = sizeof *attr;
	attr->sample_type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			     PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	if (shape->cgroups)
		attr->sample_type |= PERF_SAMPLE_CGROUP;
	attr->sample_id_all = 1;
	attr->inherit = shape->inherit;
	attr->enable_on_exec = shape->enable_on_exec;
	attr->disabled = 1;
	if (shape->losses)
		attr->read_format = FORMAT_LOST;
	if (shape->clock) {
		/* The clock of jitdump files, and the same on all CPUs. */
		attr->use_clockid = 1;
		attr->clockid = CLOCK_MONOTONIC;
	}
}

static void set_stack(struct perf_event_attr *attr, const struct attr_shape *shape)
{
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	switch (shape->call_graph) {
	case CALL_GRAPH_DWARF:
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = ARCH_PERF_REGISTERS;
		/* With the chain of user space, which leads to stacks that are not copied (unwind/continue.c). */
		attr->sample_stack_user = shape->stack_size;
		break;
	case CALL_GRAPH_LBR:
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
					   PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS;
		attr->exclude_callchain_user = 1;
		break;
	case CALL_GRAPH_FP:
		break;
	}
}

/* With a period in each sample the kernel reports every event of these, each with the period 1. */
static bool counts_singly(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_TRACEPOINT || (attr->type == PERF_TYPE_SOFTWARE && !attr_is_clock(attr));
}

void attr_shape_event(struct perf_event_attr *attr, const struct attr_shape *shape, bool bare)
{
	set_common(attr, shape);
	if (!bare)
		set_stack(attr, shape);
	if (attr->sample_period)
		return;
	if (shape->period || attr->type == PERF_TYPE_TRACEPOINT) {
		attr->sample_period = shape->period ? shape->period : 1;
		if (attr->sample_period > 1 && counts_singly(attr))
			attr->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	} else {
		attr->freq = 1;
		attr->sample_freq = shape->frequency;
	}
}

struct perf_event_attr attr_tracking(const struct attr_shape *shape)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
	};
	set_common(&attr, shape);
	attr.build_id = shape->build_ids;
	attr.cgroup = shape->cgroups;
	attr.context_switch = shape->switches;
	return attr;
}
