/* Turns counter values and fields of samples into weights. */
#include "event/derive.h"

#include "base/id_map.h"
#include "base/mem.h"

#include <string.h>

struct derive {
	struct derive_options options;
	struct event_sink next;
	struct offcpu *offcpu;
	bool follows; /* switches */
	struct id_map pids; /* that records mentioned */
};

struct perf_event_attr derived_attr(enum derived_event event, const struct perf_event_attr *like)
{
	struct perf_event_attr attr = *like;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	attr.config1 = event; /* else they would be equal, and readers would take them for one */
	attr.freq = 0;
	attr.sample_period = 1;
	attr.sample_type &= ~(uint64_t)(PERF_SAMPLE_RAW | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE);
	return attr;
}

struct derive *derive_new(const struct derive_options *options, const struct event_sink *next)
{
	struct derive *derive = mem_zalloc(1, sizeof *derive);
	derive->options = *options;
	derive->next = *next;
	derive->follows = options->offcpu.waits || options->offcpu.running;
	for (int state = 0; state < THREAD_STATES; state++)
		derive->options.offcpu.source_of[state] = options->first_derived + DERIVED_RUNNING + (uint32_t)state;
	derive->offcpu = offcpu_new(&derive->options.offcpu, &derive->next);
	return derive;
}

void derive_free(struct derive *derive)
{
	if (!derive)
		return;
	offcpu_free(derive->offcpu);
	id_map_release(&derive->pids);
	free(derive);
}

static bool is_known(const struct derive *derive, int32_t pid)
{
	return id_map_find(&derive->pids, pid) != INDEX_NONE;
}

static void make_known(struct derive *derive, int32_t pid)
{
	if (!is_known(derive, pid))
		id_map_add(&derive->pids, pid);
}

static int give(struct derive *derive, const struct event_sample *sample)
{
	return sink_sample(&derive->next, sample);
}

static int take_pages(struct derive *derive, const struct event_sample *sample, enum derived_event event)
{
	struct event_sample faults = *sample, bytes = *sample;
	/* The kernel may have added some up. */
	faults.period = sample->count ? sample->count : 1;
	bytes.source = derive->options.first_derived + event;
	bytes.period = faults.period * (sample->data_page_size ? sample->data_page_size : derive->options.page_size);
	int result = give(derive, &faults);
	return result < 0 ? result : give(derive, &bytes);
}

static int weigh(struct derive *derive, const struct event_sample *sample, const struct trace_field *field)
{
	struct event_sample weighed = *sample;
	int64_t weight;
	/* What failed (read() that returns −1) and what is nothing weighs nothing. */
	if (!trace_field_read(field, sample, &weight) || weight <= 0)
		return 0;
	weighed.period = (uint64_t)weight;
	return give(derive, &weighed);
}

static int take_time(struct derive *derive, const struct event_sample *sample)
{
	struct event_sample given = *sample;
	uint64_t state;
	if (sample->raw_size != sizeof state)
		return 0;
	memcpy(&state, sample->raw, sizeof state);
	if (state >= THREAD_STATES)
		return 0;
	given.source = derive->options.offcpu.source_of[state];
	given.sum = true;
	given.raw = NULL;
	given.raw_size = 0;
	return give(derive, &given);
}

static int take_sample(struct derive *derive, const struct event_sample *sample)
{
	if (sample->source >= derive->options.source_count)
		return give(derive, sample);
	const struct derive_source *source = &derive->options.sources[sample->source];
	int result = 0;
	if (source->only_known && !is_known(derive, sample->pid))
		return 0;
	switch (source->rule) {
	case DERIVE_SWITCH:
		return offcpu_switch(derive->offcpu, sample);
	case DERIVE_TIME:
		return take_time(derive, sample);
	case DERIVE_WAKING:
		return offcpu_waking(derive->offcpu, sample);
	case DERIVE_CLOCK:
		if (source->keep)
			result = give(derive, sample);
		return result < 0 ? result : offcpu_clock(derive->offcpu, sample);
	case DERIVE_PAGES:
		return take_pages(derive, sample, source->derived);
	case DERIVE_WEIGH:
		return weigh(derive, sample, &source->weight);
	case DERIVE_PASS:
		break;
	}
	return give(derive, sample);
}

/* What other records say of waits. */
static int follow(struct derive *derive, const struct event *event)
{
	switch (event->type) {
	case EVENT_COMM:
		return offcpu_comm(derive->offcpu, event->comm);
	case EVENT_FORK:
		return offcpu_fork(derive->offcpu, event->task);
	case EVENT_EXIT:
		return offcpu_exit(derive->offcpu, event->task);
	case EVENT_SWITCH:
		return offcpu_record(derive->offcpu, event->change);
	case EVENT_ASLEEP:
		return offcpu_asleep(derive->offcpu, event->sample);
	default:
		return 0;
	}
}

static int take(void *context, const struct event *event)
{
	struct derive *derive = context;
	if (event->type == EVENT_SAMPLE)
		return take_sample(derive, event->sample);
	if (event->type == EVENT_COMM)
		make_known(derive, event->comm->pid);
	else if (event->type == EVENT_FORK)
		make_known(derive, event->task->pid);
	int result = derive->follows ? follow(derive, event) : 0;
	return result < 0 ? result : sink_take(&derive->next, event);
}

struct event_sink derive_sink(struct derive *derive)
{
	return (struct event_sink){.context = derive, .take = take};
}

void derive_begin(struct derive *derive, uint64_t time)
{
	offcpu_begin(derive->offcpu, time);
}

int derive_finish(struct derive *derive, uint64_t time)
{
	return offcpu_finish(derive->offcpu, time);
}

struct offcpu_counts derive_counts(const struct derive *derive)
{
	return offcpu_counts(derive->offcpu);
}
