/* Translates the ids of a trace into those of another one. */
#include "trace/follow.h"

void trace_follower_release(struct trace_follower *follower)
{
	free(follower->strings);
	free(follower->frames);
	free(follower->stacks);
	free(follower->threads);
	free(follower->values);
	free(follower->labels);
	free(follower->seen);
	*follower = (struct trace_follower){0};
}

#define ROOM(follower, items, capacity, want) \
	((follower)->items =                  \
		 mem_grow((follower)->items, &(follower)->capacity, (size_t)(want), sizeof *(follower)->items))

static void follow_strings(struct trace_follower *to, struct trace *into, const struct trace *from)
{
	ROOM(to, strings, string_capacity, from->strings.count);
	for (; to->string_count < from->strings.count; to->string_count++) {
		const struct strpool_entry *entry = &from->strings.entries[to->string_count];
		to->strings[to->string_count] = strpool_add(&into->strings, entry->text, entry->length);
	}
}

void trace_follow_frames(struct trace_follower *to, struct trace *into, const struct trace *from)
{
	follow_strings(to, into, from);
	ROOM(to, frames, frame_capacity, from->frame_count);
	for (; to->frame_count < from->frame_count; to->frame_count++) {
		struct trace_frame frame = from->frames[to->frame_count];
		if (frame.kind == TRACE_TEXT)
			frame.address = to->strings[frame.address];
		to->frames[to->frame_count] = trace_frame(into, frame);
	}
}

static void follow_threads(struct trace_follower *to, struct trace *into, const struct trace *from)
{
	ROOM(to, threads, thread_capacity, from->thread_count);
	for (; to->thread_count < from->thread_count; to->thread_count++) {
		struct thread thread = from->threads[to->thread_count];
		thread.comm = to->strings[thread.comm];
		to->threads[to->thread_count] = to->thread_count == THREAD_UNKNOWN ? THREAD_UNKNOWN :
										     trace_thread(into, thread);
	}
}

static void follow_stacks(struct trace_follower *to, struct trace *into, const struct trace *from)
{
	ROOM(to, stacks, stack_capacity, from->stack_count);
	for (; to->stack_count < from->stack_count; to->stack_count++) {
		const struct stack *stack = &from->stacks[to->stack_count];
		to->stacks[to->stack_count] =
			to->stack_count == STACK_ROOT ?
				STACK_ROOT :
				trace_stack(into, to->stacks[stack->parent], to->frames[stack->frame]);
	}
}

/* All of them each time: an event may have been seen earlier than was known. */
static void follow_values(struct trace_follower *to, struct trace *into, const struct trace *from)
{
	ROOM(to, values, value_capacity, from->value_count);
	for (to->value_count = 0; to->value_count < from->value_count; to->value_count++) {
		const struct trace_value *value = &from->values[to->value_count];
		to->values[to->value_count] = trace_value(into, trace_text(from, value->name),
							  trace_text(from, value->unit), value->first_seen);
	}
}

static void follow_labels(struct trace_follower *to, struct trace *into, const struct trace *from)
{
	size_t sets = label_sets_count(&from->label_sets);
	ROOM(to, labels, label_capacity, sets);
	for (; to->label_count < sets; to->label_count++)
		to->labels[to->label_count] = label_sets_copy(&into->label_sets, &into->strings, &from->label_sets,
							      &from->strings, (label_set_id)to->label_count);
}

static void follow_names(struct trace_follower *follower, struct trace *into, const struct trace *from)
{
	trace_follow_frames(follower, into, from);
	follow_threads(follower, into, from);
	follow_stacks(follower, into, from);
	follow_values(follower, into, from);
	follow_labels(follower, into, from);
}

static struct sample translated(const struct trace_follower *follower, struct sample sample)
{
	sample.thread = follower->threads[sample.thread];
	sample.stack = follower->stacks[sample.stack];
	sample.value = follower->values[sample.value];
	return sample;
}

void trace_follow(struct trace_follower *follower, struct trace *into, const struct trace *from,
		  struct sample_list *news)
{
	follow_names(follower, into, from);
	ROOM(follower, seen, seen_capacity, from->sample_count);
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
		sample_list_add(news, grown, follower->labels[label_column_get(&from->labels, i)]);
		*seen = *sample;
	}
	follower->seen_count = from->sample_count;
}

void trace_merge(struct trace *into, const struct trace *from)
{
	struct trace_follower to = {0};
	follow_names(&to, into, from);
	for (size_t i = 0; i < from->sample_count; i++)
		trace_add_timed(into, translated(&to, from->samples[i]), to.labels[label_column_get(&from->labels, i)],
				trace_sample_time(from, i));
	into->overflows += from->overflows;
	into->ordered |= from->ordered;
	trace_follower_release(&to);
}
