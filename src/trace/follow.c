/* Translates the ids of a trace into those of another one. */
#include "trace/follow.h"

void trace_follower_release(struct trace_follower *follower)
{
	struct followed *all[] = {&follower->strings, &follower->frames, &follower->stacks,
				  &follower->threads, &follower->values, &follower->labels};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]->ids);
	free(follower->seen);
	*follower = (struct trace_follower){0};
}

void trace_follow_frames(struct trace_follower *to, struct trace *into, const struct trace *from)
{
	follow_strings(&to->strings, &into->strings, &from->strings);
	followed_room(&to->frames, from->frame_count);
	for (; to->frames.count < from->frame_count; to->frames.count++) {
		struct trace_frame frame = from->frames[to->frames.count];
		if (frame.kind == TRACE_TEXT)
			frame.address = to->strings.ids[frame.address];
		to->frames.ids[to->frames.count] = trace_frame(into, frame);
	}
}

static void follow_threads(struct trace_follower *to, struct trace *into, const struct trace *from)
{
	followed_room(&to->threads, from->thread_count);
	for (; to->threads.count < from->thread_count; to->threads.count++) {
		struct thread thread = from->threads[to->threads.count];
		thread.comm = to->strings.ids[thread.comm];
		to->threads.ids[to->threads.count] = to->threads.count == THREAD_UNKNOWN ? THREAD_UNKNOWN :
											   trace_thread(into, thread);
	}
}

static void follow_stacks(struct trace_follower *to, struct trace *into, const struct trace *from)
{
	followed_room(&to->stacks, from->stack_count);
	for (; to->stacks.count < from->stack_count; to->stacks.count++) {
		const struct stack *stack = &from->stacks[to->stacks.count];
		to->stacks.ids[to->stacks.count] =
			to->stacks.count == STACK_ROOT ?
				STACK_ROOT :
				trace_stack(into, to->stacks.ids[stack->parent], to->frames.ids[stack->frame]);
	}
}

/* All of them each time: an event may have been seen earlier than was known. */
static void follow_values(struct trace_follower *to, struct trace *into, const struct trace *from)
{
	followed_room(&to->values, from->value_count);
	for (to->values.count = 0; to->values.count < from->value_count; to->values.count++) {
		const struct trace_value *value = &from->values[to->values.count];
		to->values.ids[to->values.count] = trace_value(into, trace_text(from, value->name),
							       trace_text(from, value->unit), value->first_seen);
	}
}

static void follow_names(struct trace_follower *follower, struct trace *into, const struct trace *from)
{
	trace_follow_frames(follower, into, from);
	follow_threads(follower, into, from);
	follow_stacks(follower, into, from);
	follow_values(follower, into, from);
	follow_label_sets(&follower->labels, &into->label_sets, &into->strings, &from->label_sets, &from->strings);
}

static struct sample translated(const struct trace_follower *follower, struct sample sample)
{
	sample.thread = follower->threads.ids[sample.thread];
	sample.stack = follower->stacks.ids[sample.stack];
	sample.value = follower->values.ids[sample.value];
	return sample;
}

void trace_follow(struct trace_follower *follower, struct trace *into, const struct trace *from,
		  struct sample_list *news)
{
	follow_names(follower, into, from);
	follower->seen = mem_grow(follower->seen, &follower->seen_capacity, from->sample_count, sizeof *follower->seen);
	for (size_t i = 0; i < from->sample_count; i++) {
		const struct sample *sample = &from->samples[i];
		struct sample *seen = &follower->seen[i];
		if (i >= follower->seen_count)
			*seen = (struct sample){0};
		if (sample->weight == seen->weight && sample->count == seen->count)
			continue;
		struct sample grown = translated(follower, *sample);
		grown.weight = sample->weight - seen->weight;
		grown.count = sample->count - seen->count;
		sample_list_add(news, grown, follower->labels.ids[label_column_get(&from->labels, i)]);
		*seen = *sample;
	}
	follower->seen_count = from->sample_count;
}

void trace_merge(struct trace *into, const struct trace *from)
{
	struct trace_follower to = {0};
	follow_names(&to, into, from);
	for (size_t i = 0; i < from->sample_count; i++)
		trace_add_timed(into, translated(&to, from->samples[i]),
				to.labels.ids[label_column_get(&from->labels, i)], trace_sample_time(from, i));
	into->overflows += from->overflows;
	into->ordered |= from->ordered;
	trace_follower_release(&to);
}
