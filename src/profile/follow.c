/* Translates new ids of one profile to those of another. */
#include "profile/follow.h"

void profile_follower_release(struct profile_follower *follower)
{
	free(follower->strings);
	free(follower->functions);
	free(follower->frames);
	free(follower->stacks);
	free(follower->threads);
	free(follower->values);
	free(follower->labels);
	*follower = (struct profile_follower){0};
}

#define ROOM(follower, items, capacity, want) \
	((follower)->items =                  \
		 mem_grow((follower)->items, &(follower)->capacity, (size_t)(want), sizeof *(follower)->items))

static void follow_functions(struct profile_follower *to, struct profile *into, const struct profile *from)
{
	ROOM(to, strings, string_capacity, from->strings.count);
	for (; to->string_count < from->strings.count; to->string_count++) {
		const struct strpool_entry *entry = &from->strings.entries[to->string_count];
		to->strings[to->string_count] = profile_string(into, entry->text, entry->length);
	}
	ROOM(to, functions, function_capacity, from->function_count);
	for (; to->function_count < from->function_count; to->function_count++) {
		const struct function *function = &from->functions[to->function_count];
		to->functions[to->function_count] =
			profile_function(into, (struct function){
						       .name = to->strings[function->name],
						       .module = to->strings[function->module],
						       .file = to->strings[function->file],
					       });
	}
}

static void follow_threads(struct profile_follower *to, struct profile *into, const struct profile *from)
{
	ROOM(to, threads, thread_capacity, from->thread_count);
	for (; to->thread_count < from->thread_count; to->thread_count++) {
		struct thread thread = from->threads[to->thread_count];
		thread.comm = to->strings[thread.comm];
		to->threads[to->thread_count] = to->thread_count == THREAD_UNKNOWN ? THREAD_UNKNOWN :
										     profile_thread(into, thread);
	}
}

static void follow_frames(struct profile_follower *to, struct profile *into, const struct profile *from)
{
	follow_functions(to, into, from);
	ROOM(to, frames, frame_capacity, from->frame_count);
	for (; to->frame_count < from->frame_count; to->frame_count++) {
		struct frame frame = from->frames[to->frame_count];
		frame.function = to->functions[frame.function];
		to->frames[to->frame_count] = profile_frame(into, frame);
	}
}

static void follow_stacks(struct profile_follower *to, struct profile *into, const struct profile *from)
{
	ROOM(to, stacks, stack_capacity, from->stack_count);
	for (; to->stack_count < from->stack_count; to->stack_count++) {
		const struct stack *stack = &from->stacks[to->stack_count];
		const struct stack *ahead = stack + STACKS_AHEAD;
		if (to->stack_count + STACKS_AHEAD < from->stack_count && ahead->parent < to->stack_count)
			profile_stack_prefetch(into, to->stacks[ahead->parent], to->frames[ahead->frame]);
		to->stacks[to->stack_count] =
			to->stack_count == STACK_ROOT ?
				STACK_ROOT :
				profile_stack(into, to->stacks[stack->parent], to->frames[stack->frame]);
	}
}

static void follow_values(struct profile_follower *to, struct profile *into, const struct profile *from)
{
	ROOM(to, values, value_capacity, from->value_count);
	for (; to->value_count < from->value_count; to->value_count++) {
		const struct value_type *type = &from->values[to->value_count];
		value_id id = profile_value(into, profile_text(from, type->name), profile_text(from, type->unit));
		to->values[to->value_count] = id;
		profile_set_decimals(into, id, type->decimals);
		struct value_type *met = &into->values[id];
		if (type->first_seen < met->first_seen)
			met->first_seen = type->first_seen;
	}
}

static void follow_labels(struct profile_follower *to, struct profile *into, const struct profile *from)
{
	ROOM(to, labels, label_capacity, label_sets_count(&from->label_sets));
	for (; to->label_count < label_sets_count(&from->label_sets); to->label_count++)
		to->labels[to->label_count] = label_sets_copy(&into->label_sets, &into->strings, &from->label_sets,
							      &from->strings, (label_set_id)to->label_count);
}

void profile_follow_names(struct profile_follower *follower, struct profile *into, const struct profile *from)
{
	follow_frames(follower, into, from);
	follow_threads(follower, into, from);
	follow_stacks(follower, into, from);
	follow_values(follower, into, from);
	follow_labels(follower, into, from);
}
