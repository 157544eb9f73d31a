/* Taking parts of a profile away. What goes is counted in its quality. */
#include "profile/event_name.h"
#include "profile/match.h"
#include "profile/profile.h"

/* Moves a sample, with its labels and its time, to a place before it that is free, or its own. */
static void move_sample(struct profile *profile, size_t to, size_t from)
{
	profile->samples[to] = profile->samples[from];
	label_column_set(&profile->labels, to, label_column_get(&profile->labels, from));
	if (profile->keep_times)
		time_columns_set(&profile->times, to, time_columns_get(&profile->times, from));
}

/* Samples that have become equal are added up, in place. */
static void merge_equal_samples(struct profile *profile)
{
	struct sample *samples = profile->samples;
	size_t count = profile->sample_count;
	if (profile->ordered || profile->keep_times)
		return;
	profile->sample_count = 0;
	index_map_clear(&profile->sample_map);
	for (size_t i = 0; i < count; i++)
		profile_add_labeled(profile, samples[i], label_column_get(&profile->labels, i));
}

static bool is_joined(const struct profile *profile, value_id value, value_id other)
{
	const struct value_type *a = &profile->values[value], *b = &profile->values[other];
	return value != other && a->name && b->name && a->decimals == b->decimals &&
	       event_is_same(profile_text(profile, a->name), profile_text(profile, b->name));
}

void profile_join_event(struct profile *profile, value_id value)
{
	bool joined = false;
	for (size_t i = 0; i < profile->sample_count; i++)
		if (is_joined(profile, value, profile->samples[i].value)) {
			profile->samples[i].value = value;
			joined = true;
		}
	if (!joined)
		return;
	merge_equal_samples(profile);
	struct value_type *kept = &profile->values[value];
	for (size_t i = 0; i < profile->value_count; i++) {
		struct value_type *other = &profile->values[i];
		if (!is_joined(profile, value, (value_id)i))
			continue;
		kept->samples += other->samples;
		kept->truncated += other->truncated;
		kept->unresolved += other->unresolved;
		kept->derived += other->derived;
		kept->late += other->late;
		other->samples = other->truncated = other->unresolved = other->derived = other->late = 0;
	}
	size_t length;
	const char *base = event_base(profile_text(profile, kept->name), &length);
	CLEANUP_FREE char *name = mem_strdup(base);
	kept->name = profile_string(profile, name, length);
}

void profile_keep_value(struct profile *profile, value_id value)
{
	struct value_type *kept = &profile->values[value];
	size_t to = 0;
	bool joined = false;
	for (size_t i = 0; i < profile->sample_count; i++) {
		value_id old = profile->samples[i].value;
		if (old != value && profile->values[old].name != 0)
			continue;
		joined |= old != value;
		move_sample(profile, to, i);
		profile->samples[to++].value = value;
	}
	profile->sample_count = to;
	index_map_clear(&profile->sample_map);
	if (joined)
		merge_equal_samples(profile);
	for (size_t i = 0; i < profile->value_count; i++) {
		struct value_type *other = &profile->values[i];
		if (other == kept)
			continue;
		if (other->name == 0) {
			kept->samples += other->samples;
			kept->truncated += other->truncated;
			kept->unresolved += other->unresolved;
			kept->derived += other->derived;
			kept->late += other->late;
		} else {
			profile->quality.filtered += other->samples;
		}
		other->samples = other->truncated = other->unresolved = other->derived = other->late = 0;
	}
	profile->quality.samples = kept->samples;
	profile->quality.truncated = kept->truncated;
	profile->quality.unresolved = kept->unresolved;
	profile->quality.derived = kept->derived;
	profile->quality.late = kept->late;
}

static bool *threads_that_fit(const struct profile *profile, const struct profile_filter *filter)
{
	bool *fits = mem_alloc(profile->thread_count * sizeof *fits);
	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct thread *thread = &profile->threads[i];
		fits[i] = match_id(filter->pids, thread->pid) && match_id(filter->tids, thread->tid) &&
			  match_text(filter->comms, profile_text(profile, thread->comm));
	}
	return fits;
}

static bool labels_fit(const struct profile *profile, const struct label_filter *filter, label_set_id labels)
{
	for (; filter && filter->key; filter++)
		if (!match_text(filter->values, profile_text(profile, profile_label(profile, labels, filter->key))))
			return false;
	return true;
}

/* By id of the set of labels. The caller frees. */
static bool *label_sets_that_fit(const struct profile *profile, const struct profile_filter *filter)
{
	size_t count = label_sets_count(&profile->label_sets);
	bool *fits = mem_alloc(count * sizeof *fits);
	for (size_t i = 0; i < count; i++)
		fits[i] = labels_fit(profile, filter->labels, (label_set_id)i);
	return fits;
}

enum { FITS_MODULE = 1, FITS_FUNCTION = 2, FITS_BOTH = 3 };

bool *profile_stacks_that_fit(const struct profile *profile, const struct profile_filter *filter)
{
	uint8_t *functions CLEANUP_FREE = mem_zalloc(profile->function_count + 1, 1);
	for (size_t i = 0; i < profile->function_count; i++) {
		const struct function *function = &profile->functions[i];
		if (match_module(filter->modules, profile_text(profile, function->module)))
			functions[i] |= FITS_MODULE;
		if (match_function(filter->functions, profile_text(profile, function->name)))
			functions[i] |= FITS_FUNCTION;
	}
	uint8_t *stacks CLEANUP_FREE = mem_zalloc(profile->stack_count, 1);
	bool *fits = mem_alloc(profile->stack_count * sizeof *fits);
	stacks[STACK_ROOT] = (filter->modules ? 0 : FITS_MODULE) | (filter->functions ? 0 : FITS_FUNCTION);
	fits[STACK_ROOT] = stacks[STACK_ROOT] == FITS_BOTH;
	for (size_t i = 1; i < profile->stack_count; i++) {
		const struct stack *stack = &profile->stacks[i];
		stacks[i] = stacks[stack->parent] | functions[profile->frames[stack->frame].function];
		fits[i] = stacks[i] == FITS_BOTH;
	}
	return fits;
}

/*
 * Counts what the imports counted. Of perf script text: an outermost frame without a symbol is a stack that was not
 * unwound to its end. Of folded lines: innermost frames without a symbol.
 */
static void count_again(struct profile *profile, const struct sample *sample, bool folded)
{
	struct value_type *value = &profile->values[sample->value];
	bool unresolved = false, unknown = false;
	for (stack_id at = sample->stack; at != STACK_ROOT; at = folded ? STACK_ROOT : profile->stacks[at].parent) {
		const struct frame *frame = &profile->frames[profile->stacks[at].frame];
		unknown = frame->kind == FRAME_UNKNOWN;
		unresolved |= unknown;
		if (unknown && !folded)
			quality_unresolved(&profile->quality, profile->functions[frame->function].module,
					   sample->count);
	}
	value->samples += sample->count;
	value->unresolved += unresolved ? sample->count : 0;
	value->truncated += unknown ? sample->count : 0;
}

static void forget_quality(struct profile *profile)
{
	for (size_t i = 0; i < profile->value_count; i++)
		profile->values[i].samples = profile->values[i].truncated = profile->values[i].unresolved = 0;
	for (size_t i = 0; i < profile->quality.module_count; i++)
		profile->quality.modules[i].frames = 0;
	profile->quality.samples = profile->quality.stacks = 0;
	profile->quality.truncated = profile->quality.unresolved = 0;
}

static void sum_quality(struct profile *profile, bool folded)
{
	struct quality *quality = &profile->quality;
	size_t modules = 0;
	for (size_t i = 0; i < quality->module_count; i++)
		if (quality->modules[i].frames)
			quality->modules[modules++] = quality->modules[i];
	quality->module_count = modules;
	for (size_t i = 0; i < profile->value_count; i++) {
		struct value_type *value = &profile->values[i];
		if (!folded) {
			quality->samples += value->samples;
			quality->truncated += value->truncated;
			quality->unresolved += value->unresolved;
			continue;
		}
		if (!i) { /* a line may have two counts */
			quality->stacks = value->samples;
			quality->unresolved = value->unresolved;
		}
		value->samples = value->truncated = 0;
	}
}

void profile_keep(struct profile *profile, const struct profile_filter *filter)
{
	bool *threads CLEANUP_FREE = threads_that_fit(profile, filter);
	bool *stacks CLEANUP_FREE = profile_stacks_that_fit(profile, filter);
	bool *labels CLEANUP_FREE = label_sets_that_fit(profile, filter);
	bool folded = !profile->quality.samples;
	size_t to = 0;
	forget_quality(profile);
	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct sample *sample = &profile->samples[i];
		if (!threads[sample->thread] || !stacks[sample->stack] ||
		    !labels[label_column_get(&profile->labels, i)])
			continue;
		count_again(profile, sample, folded);
		move_sample(profile, to++, i);
	}
	profile->sample_count = to;
	index_map_clear(&profile->sample_map);
	sum_quality(profile, folded);
}
