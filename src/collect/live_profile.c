/* Keeps a profile of a running recording up to date. */
#include "collect/live_profile.h"

#include <string.h>

/* What came between two looks. */
struct period {
	uint64_t time; /* of the second */
	struct sample_list samples;
};

struct live {
	struct collector *collector;
	struct trace_follower *followers; /* by worker of the collector */
	struct trace trace; /* of all workers; has no samples */
	struct profile profile;
	struct symbolizer *symbolizer;
	struct profile_viewer *viewer; /* NULL: samples are shown as they are */
	struct period *periods; /* in the order of time */
	size_t period_count, period_capacity;
	struct sample_list news;
};

struct live *live_new(struct collector *collector, const struct symbolize_options *options,
		      const struct profile_view *view)
{
	struct live *live = mem_zalloc(1, sizeof *live);
	live->collector = collector;
	live->followers = mem_zalloc(collector_worker_count(collector), sizeof *live->followers);
	trace_init(&live->trace);
	profile_init(&live->profile);
	live->symbolizer = symbolizer_new(&live->profile, collector_codes(collector), options);
	live->viewer = view ? profile_viewer_new(&live->profile, view) : NULL;
	return live;
}

void live_free(struct live *live)
{
	if (!live)
		return;
	for (unsigned i = 0; i < collector_worker_count(live->collector); i++)
		trace_follower_release(&live->followers[i]);
	for (size_t i = 0; i < live->period_count; i++)
		sample_list_release(&live->periods[i].samples);
	free(live->periods);
	free(live->followers);
	sample_list_release(&live->news);
	profile_viewer_free(live->viewer);
	symbolizer_free(live->symbolizer);
	trace_release(&live->trace);
	profile_release(&live->profile);
	free(live);
}

static void forget(struct live *live, uint64_t before)
{
	size_t old = 0;
	while (old < live->period_count && live->periods[old].time < before)
		sample_list_release(&live->periods[old++].samples);
	live->period_count -= old;
	if (old)
		memmove(live->periods, live->periods + old, live->period_count * sizeof *live->periods);
}

static void append(struct sample_list *to, const struct sample_list *from)
{
	to->items = mem_grow(to->items, &to->capacity, to->count + from->count, sizeof *to->items);
	for (size_t i = 0; i < from->count; i++)
		sample_list_add(to, from->items[i], label_column_get(&from->labels, i));
}

/* Gives the news names, and leaves out what is not shown. */
static void name_news(struct live *live)
{
	size_t kept = 0;
	for (size_t i = 0; i < live->news.count; i++) {
		struct sample sample = live->news.items[i];
		struct symbolizer_stack stack = symbolizer_stack(live->symbolizer, sample.stack);
		sample.value = symbolizer_value(live->symbolizer, &live->trace, sample.value);
		sample.thread = symbolizer_thread(live->symbolizer, sample.thread);
		sample.stack = stack.stack;
		if (live->viewer && !profile_viewer_move(live->viewer, &sample))
			continue;
		label_set_id labels = label_sets_copy(&live->profile.label_sets, &live->profile.strings,
						      &live->trace.label_sets, &live->trace.strings,
						      label_column_get(&live->news.labels, i));
		symbolizer_count(&live->profile, sample.value, sample.count, &stack);
		profile_add_labeled(&live->profile, sample, labels);
		label_column_set(&live->news.labels, kept, labels);
		live->news.items[kept++] = sample;
	}
	live->news.count = kept;
}

const struct sample_list *live_update(struct live *live, uint64_t now, uint64_t keep)
{
	live->news.count = 0;
	for (unsigned i = 0; i < collector_worker_count(live->collector); i++)
		collector_follow(live->collector, i, &live->followers[i], &live->trace, &live->news);
	symbolizer_extend(live->symbolizer, &live->trace);
	name_news(live);
	forget(live, now > keep ? now - keep : 0);
	if (live->news.count) {
		MEM_ROOM(live->periods, live->period_count, live->period_capacity);
		struct period *period = &live->periods[live->period_count++];
		*period = (struct period){.time = now};
		append(&period->samples, &live->news);
	}
	return &live->news;
}

const struct profile *live_profile(const struct live *live)
{
	return &live->profile;
}

void live_since(const struct live *live, uint64_t time, struct sample_list *samples)
{
	for (size_t i = 0; i < live->period_count; i++)
		if (live->periods[i].time > time)
			append(samples, &live->periods[i].samples);
}

void live_reset(struct live *live)
{
	live->profile.sample_count = 0;
	index_map_clear(&live->profile.sample_map);
	forget(live, UINT64_MAX);
}
