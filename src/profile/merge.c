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
	if (quality->names_advice)
		into->quality.names_advice = strings[quality->names_advice];
	if (quality->lost_advice)
		into->quality.lost_advice = strings[quality->lost_advice];
	if (quality->lost_records_advice)
		into->quality.lost_records_advice = strings[quality->lost_records_advice];
}

static void count_values(struct profile *into, const struct profile *from, const value_id *values)
{
	for (size_t i = 0; i < from->value_count; i++) {
		const struct value_type *type = &from->values[i];
		struct value_type *met = &into->values[values[i]];
		met->samples += type->samples;
		met->truncated += type->truncated;
		met->unresolved += type->unresolved;
		met->derived += type->derived;
		met->late += type->late;
	}
}

void profile_merge(struct profile *into, const struct profile *from)
{
	struct profile_follower to = {0};
	profile_follow_names(&to, into, from);
	count_values(into, from, to.values.ids);
	for (size_t i = 0; i < from->sample_count; i++) {
		const struct sample *sample = &from->samples[i];
		value_id value = to.values.ids[sample->value];
		int64_t weight = rescaled(into, sample->weight, from->values[sample->value].decimals,
					  into->values[value].decimals);
		struct sample translated = {
			.weight = weight,
			.thread = to.threads.ids[sample->thread],
			.stack = to.stacks.ids[sample->stack],
			.value = value,
			.count = sample->count,
		};
		label_set_id labels = to.labels.ids[label_column_get(&from->labels, i)];
		profile_add_timed(into, translated, labels, profile_sample_time(from, i));
	}
	merge_quality(into, from, to.strings.ids);
	extent_add(&into->extent, &from->extent);
	into->differential |= from->differential;
	profile_follower_release(&to);
}
