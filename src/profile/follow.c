/* Translates new ids of one profile to those of another. */
#include "profile/follow.h"

void profile_follower_release(struct profile_follower *follower)
{
	struct followed *all[] = {&follower->strings, &follower->functions, &follower->frames, &follower->stacks,
				  &follower->threads, &follower->values,    &follower->labels};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]->ids);
	*follower = (struct profile_follower){0};
}

void follow_strings(struct followed *strings, struct strpool *into, const struct strpool *from)
{
	followed_room(strings, from->count);
	for (; strings->count < from->count; strings->count++) {
		const struct strpool_entry *entry = &from->entries[strings->count];
		strings->ids[strings->count] = strpool_add(into, entry->text, entry->length);
	}
}

void follow_label_sets(struct followed *labels, struct label_sets *into, struct strpool *into_strings,
		       const struct label_sets *from, const struct strpool *from_strings)
{
	followed_room(labels, label_sets_count(from));
	for (; labels->count < label_sets_count(from); labels->count++)
		labels->ids[labels->count] =
			label_sets_copy(into, into_strings, from, from_strings, (label_set_id)labels->count);
}

static void follow_functions(struct profile_follower *to, struct profile *into, const struct profile *from)
{
	follow_strings(&to->strings, &into->strings, &from->strings);
	followed_room(&to->functions, from->function_count);
	for (; to->functions.count < from->function_count; to->functions.count++) {
		const struct function *function = &from->functions[to->functions.count];
		to->functions.ids[to->functions.count] =
			profile_function(into, (struct function){
						       .name = to->strings.ids[function->name],
						       .module = to->strings.ids[function->module],
						       .file = to->strings.ids[function->file],
					       });
	}
}

static void follow_threads(struct profile_follower *to, struct profile *into, const struct profile *from)
{
	followed_room(&to->threads, from->thread_count);
	for (; to->threads.count < from->thread_count; to->threads.count++) {
		struct thread thread = from->threads[to->threads.count];
		thread.comm = to->strings.ids[thread.comm];
		to->threads.ids[to->threads.count] = to->threads.count == THREAD_UNKNOWN ? THREAD_UNKNOWN :
											   profile_thread(into, thread);
	}
}

static void follow_frames(struct profile_follower *to, struct profile *into, const struct profile *from)
{
	follow_functions(to, into, from);
	followed_room(&to->frames, from->frame_count);
	for (; to->frames.count < from->frame_count; to->frames.count++) {
		struct frame frame = from->frames[to->frames.count];
		frame.function = to->functions.ids[frame.function];
		to->frames.ids[to->frames.count] = profile_frame(into, frame);
	}
}

static void follow_stacks(struct profile_follower *to, struct profile *into, const struct profile *from)
{
	followed_room(&to->stacks, from->stack_count);
	for (; to->stacks.count < from->stack_count; to->stacks.count++) {
		const struct stack *stack = &from->stacks[to->stacks.count];
		const struct stack *ahead = stack + STACKS_AHEAD;
		if (to->stacks.count + STACKS_AHEAD < from->stack_count && ahead->parent < to->stacks.count)
			profile_stack_prefetch(into, to->stacks.ids[ahead->parent], to->frames.ids[ahead->frame]);
		to->stacks.ids[to->stacks.count] =
			to->stacks.count == STACK_ROOT ?
				STACK_ROOT :
				profile_stack(into, to->stacks.ids[stack->parent], to->frames.ids[stack->frame]);
	}
}

static void follow_values(struct profile_follower *to, struct profile *into, const struct profile *from)
{
	followed_room(&to->values, from->value_count);
	for (; to->values.count < from->value_count; to->values.count++) {
		const struct value_type *type = &from->values[to->values.count];
		value_id id = profile_value(into, profile_text(from, type->name), profile_text(from, type->unit));
		to->values.ids[to->values.count] = id;
		profile_set_decimals(into, id, type->decimals);
		struct value_type *met = &into->values[id];
		if (type->first_seen < met->first_seen)
			met->first_seen = type->first_seen;
	}
}

void profile_follow_names(struct profile_follower *follower, struct profile *into, const struct profile *from)
{
	follow_frames(follower, into, from);
	follow_threads(follower, into, from);
	follow_stacks(follower, into, from);
	follow_values(follower, into, from);
	follow_label_sets(&follower->labels, &into->label_sets, &into->strings, &from->label_sets, &from->strings);
}
