/* Traces, one of each worker's, become one profile. */
#include "symbolize/fetch.h"
#include "symbolize/remedies.h"
#include "symbolize/walk_together.h"
#include "trace/follow.h"

#define SAMPLES_AHEAD 8 /* whose stacks are fetched from memory already */

struct parts {
	struct symbolizer *symbolizer;
	struct trace *const *traces; /* the first has the frames of all */
	struct trace_follower *followers; /* by part: its frames among those of the first */
	struct walked *walked; /* by part: its stacks */
	size_t count;
};

/* One stack after the other, where the profile has some already. */
static void name_stacks(const struct symbolizer *n, const struct trace_frame *frames, struct walked *walked)
{
	const struct trace *from = walked->trace;
	walked->stacks = mem_alloc(from->stack_count * sizeof *walked->stacks);
	walked->stacks[STACK_ROOT] = SYMBOLIZER_OUTSIDE;
	for (size_t i = STACK_ROOT + 1; i < from->stack_count; i++) {
		const struct stack *stack = &from->stacks[i];
		trace_frame_id id = walked->frames ? walked->frames[stack->frame] : stack->frame;
		walked->stacks[i] = symbolizer_push(n, walked->stacks[stack->parent], &frames[id], id);
	}
}

static void name_all_stacks(struct parts *parts)
{
	struct symbolizer *n = parts->symbolizer;
	const struct trace_frame *frames = parts->traces[0]->frames;
	if (n->profile->stack_count == STACK_ROOT + 1) {
		walk_together(n, frames, parts->walked, parts->count, n->profile);
		return;
	}
	for (size_t i = 0; i < parts->count; i++)
		name_stacks(n, frames, &parts->walked[i]);
}

static thread_id *name_threads(struct symbolizer *n, const struct trace *from)
{
	thread_id *threads = mem_alloc((from->thread_count + 1) * sizeof *threads);
	for (size_t i = 0; i < from->thread_count; i++)
		threads[i] = symbolizer_name_thread(n, from, from->threads[i]);
	return threads;
}

static value_id *name_values(const struct symbolizer *n, const struct trace *from)
{
	value_id *values = mem_alloc((from->value_count + 1) * sizeof *values);
	for (size_t i = 0; i < from->value_count; i++)
		values[i] = symbolizer_value(n, from, (value_id)i);
	return values;
}

static label_set_id *copy_label_sets(const struct symbolizer *n, const struct trace *from)
{
	size_t count = label_sets_count(&from->label_sets);
	label_set_id *labels = mem_alloc(count * sizeof *labels);
	for (size_t i = 0; i < count; i++)
		labels[i] = label_sets_copy(&n->profile->label_sets, &n->profile->strings, &from->label_sets,
					    &from->strings, (label_set_id)i);
	return labels;
}

/* Fills in how many samples end in each stack of addresses. `fits` by stack with names. */
static void add_samples(struct symbolizer *n, const struct walked *walked, const bool *fits, uint64_t *ends)
{
	const struct trace *from = walked->trace;
	thread_id *threads CLEANUP_FREE = name_threads(n, from);
	value_id *values CLEANUP_FREE = name_values(n, from);
	label_set_id *labels CLEANUP_FREE = copy_label_sets(n, from);
	for (size_t i = 0; i < from->sample_count; i++) {
		struct sample sample = from->samples[i];
		if (i + SAMPLES_AHEAD < from->sample_count)
			__builtin_prefetch(
				&n->profile->stacks[walked->stacks[from->samples[i + SAMPLES_AHEAD].stack].stack]);
		const struct symbolizer_stack *stack = &walked->stacks[sample.stack];
		if (!fits[stack->stack])
			continue;
		ends[sample.stack] += sample.count;
		sample.value = values[sample.value];
		symbolizer_count(n->profile, sample.value, sample.count, stack);
		sample.thread = threads[sample.thread];
		sample.stack = stack->stack;
		profile_add_timed(n->profile, sample, labels[label_column_get(&from->labels, i)],
				  trace_sample_time(from, i));
	}
}

/* Counts frames without a symbol by module, over all samples; by module id + 1. */
static void count_unresolved(const struct symbolizer *n, const struct trace_frame *frames, const struct walked *walked,
			     uint64_t *ends, uint64_t *unresolved)
{
	const struct trace *from = walked->trace;
	for (size_t i = from->stack_count; i-- > STACK_ROOT + 1;) {
		const struct stack *stack = &from->stacks[i];
		trace_frame_id id = walked->frames ? walked->frames[stack->frame] : stack->frame;
		ends[stack->parent] += ends[i];
		if (n->named[id].unresolved)
			unresolved[(module_id)(frames[id].module + 1)] += ends[i];
	}
}

static void add_all_samples(struct parts *parts, uint64_t *unresolved)
{
	struct symbolizer *n = parts->symbolizer;
	bool *fits CLEANUP_FREE = profile_stacks_that_fit(n->profile, &n->options.filter);
	for (size_t i = 0; i < parts->count; i++) {
		const struct trace *from = parts->traces[i];
		uint64_t *ends CLEANUP_FREE = mem_zalloc(from->stack_count, sizeof *ends);
		n->profile->ordered |= from->ordered;
		if (from->keep_times)
			profile_keep_times(n->profile);
		n->profile->quality.overflows += from->overflows;
		add_samples(n, &parts->walked[i], fits, ends);
		count_unresolved(n, parts->traces[0]->frames, &parts->walked[i], ends, unresolved);
	}
}

/* By the number of frames: what the filters leave of the samples is not known yet. */
static void start_remedies(const struct symbolizer *n, const struct trace *trace, struct remedies *remedies)
{
	uint64_t *amounts CLEANUP_FREE = mem_zalloc(n->codes->modules->count + 1, sizeof *amounts);
	for (size_t i = 0; i < n->frame_count; i++)
		if (n->named[i].unresolved)
			amounts[(module_id)(trace->frames[i].module + 1)]++;
	remedies_start(remedies, n->codes, amounts);
}

static void report_unresolved(struct symbolizer *n, const uint64_t *unresolved, struct remedies *remedies)
{
	struct quality *quality = &n->profile->quality;
	module_id heaviest[REMEDIES_MAX];
	size_t count = remedies_rank(n->codes, unresolved, heaviest);
	for (size_t i = 0; i <= n->codes->modules->count; i++)
		if (unresolved[i])
			quality_unresolved(quality, symbolizer_module_path(n, (module_id)i - 1), unresolved[i]);
	for (size_t i = 0; i < count; i++) {
		const struct buf *text = remedies_text(remedies, heaviest[i], &n->scratch);
		if (text->size)
			quality_unresolved(quality, symbolizer_module_path(n, heaviest[i]), 0)->advice =
				profile_string(n->profile, text->data, text->size);
	}
}

static void symbolize(struct parts *parts)
{
	struct symbolizer *n = parts->symbolizer;
	const struct trace *all = parts->traces[0];
	fetch_debug_files(n->codes, all);
	symbolizer_name_frames(n, all);
	struct remedies remedies;
	start_remedies(n, all, &remedies);
	name_all_stacks(parts);
	uint64_t *unresolved CLEANUP_FREE = mem_zalloc(n->codes->modules->count + 1, sizeof *unresolved);
	add_all_samples(parts, unresolved);
	report_unresolved(n, unresolved, &remedies);
	remedies_end(&remedies);
}

void symbolize_traces(struct profile *profile, struct trace *const *traces, size_t count, struct module_store *codes,
		      const struct symbolize_options *options)
{
	/* Whose files are worth fetching is asked of all samples together. */
	if (codes->debuginfod)
		for (; count > 1; count--)
			trace_merge(traces[0], traces[count - 1]);
	struct parts parts = {
		.symbolizer = symbolizer_new(profile, codes, options),
		.traces = traces,
		.followers = mem_zalloc(count, sizeof *parts.followers),
		.walked = mem_zalloc(count, sizeof *parts.walked),
		.count = count,
	};
	for (size_t i = 0; i < count; i++) {
		if (i)
			trace_follow_frames(&parts.followers[i], traces[0], traces[i]);
		parts.walked[i] = (struct walked){.trace = traces[i], .frames = parts.followers[i].frames.ids};
	}
	symbolize(&parts);
	for (size_t i = 0; i < count; i++) {
		trace_follower_release(&parts.followers[i]);
		free(parts.walked[i].stacks);
	}
	free(parts.followers);
	free(parts.walked);
	symbolizer_free(parts.symbolizer);
}
