/* Adding one profile to another: every id of `from` is translated once, then its samples are added. */
#include "profile/follow.h"

static int64_t rescaled(struct profile *into, int64_t weight, unsigned from, unsigned to)
{
	for (; from < to; from++)
		if (__builtin_mul_overflow(weight, 10, &weight)) {
			into->quality.overflows++;
			return INT64_MAX;
		}
	return weight;
}

static void merge_quality(struct profile *into, const struct profile *from, const str_id *strings)
{
	const struct quality *quality = &from->quality;
	quality_add(&into->quality, quality);
	for (size_t i = 0; i < quality->module_count; i++) {
		const struct quality_module *module = &quality->modules[i];
		struct quality_module *met =
			quality_unresolved(&into->quality, strings[module->module], module->frames);
		if (module->advice)
			met->advice = strings[module->advice];
	}
	if (quality->truncated_advice)
		into->quality.truncated_advice = strings[quality->truncated_advice];
	if (quality->lost_advice)
		into->quality.lost_advice = strings[quality->lost_advice];
}

/* `values`: their ids in `into`; NULL: they are the same. */
static void count_values(struct profile *into, const struct profile *from, const value_id *values)
{
	for (size_t i = 0; i < from->value_count; i++) {
		const struct value_type *type = &from->values[i];
		struct value_type *met = &into->values[values ? values[i] : i];
		met->samples += type->samples;
		met->truncated += type->truncated;
		met->unresolved += type->unresolved;
	}
}

void profile_merge(struct profile *into, const struct profile *from)
{
	struct profile_follower to = {0};
	profile_follow_names(&to, into, from);
	count_values(into, from, to.values);
	for (size_t i = 0; i < from->sample_count; i++) {
		const struct sample *sample = &from->samples[i];
		value_id value = to.values[sample->value];
		int64_t weight = rescaled(into, sample->weight, from->values[sample->value].decimals,
					  into->values[value].decimals);
		profile_add_sum(into, (struct sample){
					      .weight = weight,
					      .thread = to.threads[sample->thread],
					      .stack = to.stacks[sample->stack],
					      .value = value,
					      .count = sample->count,
				      });
	}
	merge_quality(into, from, to.strings);
	into->differential |= from->differential;
	profile_follower_release(&to);
}

void profile_branch(struct profile *branch, const struct profile *trunk)
{
	profile_init(branch);
	for (size_t i = 0; i < trunk->value_count; i++) {
		struct value_type type = trunk->values[i];
		type.samples = type.truncated = type.unresolved = 0;
		MEM_ROOM(branch->values, branch->value_count, branch->value_capacity);
		branch->values[branch->value_count++] = type;
	}
	branch->ordered = trunk->ordered;
}

void profile_join(struct profile *trunk, const struct profile *branch)
{
	stack_id *stacks CLEANUP_FREE = mem_alloc(branch->stack_count * sizeof *stacks);
	stacks[STACK_ROOT] = STACK_ROOT;
	for (size_t i = STACK_ROOT + 1; i < branch->stack_count; i++) {
		const struct stack *stack = &branch->stacks[i], *ahead = stack + STACKS_AHEAD;
		if (i + STACKS_AHEAD < branch->stack_count && ahead->parent < i)
			profile_stack_prefetch(trunk, stacks[ahead->parent], ahead->frame);
		stacks[i] = profile_stack(trunk, stacks[stack->parent], stack->frame);
	}
	for (size_t i = 0; i < branch->sample_count; i++) {
		struct sample sample = branch->samples[i];
		sample.stack = stacks[sample.stack];
		profile_add_sum(trunk, sample);
	}
	count_values(trunk, branch, NULL);
	quality_add(&trunk->quality, &branch->quality);
}
