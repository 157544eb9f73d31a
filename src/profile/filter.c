/* Taking parts of a profile away. What goes is counted in its quality. */
#include "profile/profile.h"

#include "base/hash.h"

/* Samples that have become equal are added up, in place. */
static void merge_equal_samples(struct profile *profile)
{
	struct sample *samples = profile->samples;
	size_t count = profile->sample_count;
	profile->sample_count = 0;
	index_map_clear(&profile->sample_map);
	for (size_t i = 0; i < count; i++)
		profile_add(profile, samples[i].thread, samples[i].stack, samples[i].value, samples[i].weight);
}

void profile_keep_value(struct profile *profile, value_id value)
{
	struct value_type *kept = &profile->values[value];
	size_t to = 0;
	for (size_t i = 0; i < profile->sample_count; i++) {
		struct sample sample = profile->samples[i];
		if (sample.value != value && profile->values[sample.value].name != 0)
			continue;
		sample.value = value;
		profile->samples[to++] = sample;
	}
	profile->sample_count = to;
	merge_equal_samples(profile);
	for (size_t i = 0; i < profile->value_count; i++) {
		struct value_type *other = &profile->values[i];
		if (other == kept)
			continue;
		if (other->name == 0) {
			kept->samples += other->samples;
			kept->truncated += other->truncated;
			kept->unresolved += other->unresolved;
		} else {
			profile->quality.filtered += other->samples;
		}
		other->samples = other->truncated = other->unresolved = 0;
	}
	profile->quality.samples = kept->samples;
	profile->quality.truncated = kept->truncated;
	profile->quality.unresolved = kept->unresolved;
}
