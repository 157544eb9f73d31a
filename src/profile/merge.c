/* Adding one profile to another: every id of `from` is translated once, then its samples are added. */
#include "profile/profile.h"

struct translation {
	str_id *strings;
	function_id *functions;
	frame_id *frames;
	stack_id *stacks;
	thread_id *threads;
	value_id *values;
};

static void translate_names(struct translation *to, struct profile *into, const struct profile *from)
{
	to->strings = mem_alloc(from->strings.count * sizeof *to->strings);
	for (size_t i = 0; i < from->strings.count; i++)
		to->strings[i] = profile_string(into, from->strings.entries[i].text, from->strings.entries[i].length);
	to->functions = mem_alloc(from->function_count * sizeof *to->functions);
	for (size_t i = 0; i < from->function_count; i++)
		to->functions[i] = profile_function(into, (struct function){
								  .name = to->strings[from->functions[i].name],
								  .module = to->strings[from->functions[i].module],
								  .file = to->strings[from->functions[i].file],
							  });
	to->threads = mem_alloc(from->thread_count * sizeof *to->threads);
	to->threads[THREAD_UNKNOWN] = THREAD_UNKNOWN;
	for (size_t i = 1; i < from->thread_count; i++) {
		struct thread thread = from->threads[i];
		thread.comm = to->strings[thread.comm];
		to->threads[i] = profile_thread(into, thread);
	}
}

static void translate_stacks(struct translation *to, struct profile *into, const struct profile *from)
{
	to->frames = mem_alloc(from->frame_count * sizeof *to->frames);
	for (size_t i = 0; i < from->frame_count; i++) {
		struct frame frame = from->frames[i];
		frame.function = to->functions[frame.function];
		to->frames[i] = profile_frame(into, frame);
	}
	to->stacks = mem_alloc(from->stack_count * sizeof *to->stacks);
	to->stacks[STACK_ROOT] = STACK_ROOT;
	for (size_t i = 1; i < from->stack_count; i++)
		to->stacks[i] =
			profile_stack(into, to->stacks[from->stacks[i].parent], to->frames[from->stacks[i].frame]);
}

static void translate_values(struct translation *to, struct profile *into, const struct profile *from)
{
	to->values = mem_alloc(from->value_count * sizeof *to->values);
	for (size_t i = 0; i < from->value_count; i++) {
		const struct value_type *type = &from->values[i];
		value_id id = profile_value(into, profile_text(from, type->name), profile_text(from, type->unit));
		to->values[i] = id;
		profile_set_decimals(into, id, type->decimals);
		struct value_type *met = &into->values[id];
		if (type->first_seen < met->first_seen)
			met->first_seen = type->first_seen;
		met->samples += type->samples;
		met->truncated += type->truncated;
		met->unresolved += type->unresolved;
	}
}

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

void profile_merge(struct profile *into, const struct profile *from)
{
	struct translation to = {0};
	translate_names(&to, into, from);
	translate_stacks(&to, into, from);
	translate_values(&to, into, from);
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
	free(to.strings);
	free(to.functions);
	free(to.frames);
	free(to.stacks);
	free(to.threads);
	free(to.values);
}
