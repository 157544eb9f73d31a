/* Interns strings, functions, frames, stacks and threads, and adds samples. */
#include "profile/profile.h"

#include "profile/intern.h"

const char *frame_kind_name(enum frame_kind kind)
{
	static const char *const names[FRAME_KINDS] = {
		[FRAME_NATIVE] = "native", [FRAME_KERNEL] = "kernel", [FRAME_INLINED] = "inlined",
		[FRAME_JIT] = "jit",       [FRAME_PYTHON] = "python", [FRAME_UNKNOWN] = "unknown",
	};
	return (unsigned)kind < FRAME_KINDS ? names[kind] : "unknown";
}

stack_id profile_new_stack(struct profile *profile, stack_id parent, frame_id frame)
{
	MEM_ROOM(profile->stacks, profile->stack_count, profile->stack_capacity);
	stack_id id = (stack_id)profile->stack_count++;
	profile->stacks[id] = (struct stack){.parent = parent, .frame = frame, .first_child = STACK_ROOT};
	if (parent != PROFILE_NONE && profile->stacks[parent].first_child == STACK_ROOT)
		profile->stacks[parent].first_child = id;
	return id;
}

void profile_init(struct profile *profile)
{
	*profile = (struct profile){0};
	strpool_init(&profile->strings);
	profile_new_stack(profile, PROFILE_NONE, PROFILE_NONE); /* STACK_ROOT */
	profile->stacks_indexed = profile->stack_count;
	MEM_ROOM(profile->threads, profile->thread_count, profile->thread_capacity);
	profile->threads[profile->thread_count++] = (struct thread){.pid = -1, .tid = -1};
}

void profile_release(struct profile *profile)
{
	strpool_release(&profile->strings);
	free(profile->functions);
	free(profile->frames);
	free(profile->stacks);
	free(profile->threads);
	free(profile->values);
	free(profile->samples);
	label_sets_release(&profile->label_sets);
	label_column_release(&profile->labels);
	time_columns_release(&profile->times);
	quality_release(&profile->quality);
	index_map_release(&profile->function_map);
	index_map_release(&profile->frame_map);
	index_map_release(&profile->stack_map);
	index_map_release(&profile->path_map);
	index_map_release(&profile->thread_map);
	index_map_release(&profile->sample_map);
	*profile = (struct profile){0};
}

str_id profile_string(struct profile *profile, const char *bytes, size_t length)
{
	return strpool_add(&profile->strings, bytes, length);
}

static uint64_t hash_function(const struct function *function)
{
	return hash_mix(hash_pair(function->name, function->module), function->file ^ HASH_K2);
}

function_id profile_new_function(struct profile *profile, struct function function)
{
	MEM_ROOM(profile->functions, profile->function_count, profile->function_capacity);
	function_id id = (function_id)profile->function_count++;
	profile->functions[id] = function;
	return id;
}

static void index_functions(struct profile *profile)
{
	struct index_map *map = &profile->function_map;
	while (map->count < profile->function_count)
		index_map_insert(map, hash_function(&profile->functions[map->count]), map->count);
}

function_id profile_function(struct profile *profile, struct function function)
{
	index_functions(profile);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&profile->function_map, hash_function(&function), &probe); i != INDEX_NONE;
	     i = index_map_next(&profile->function_map, &probe)) {
		const struct function *other = &profile->functions[i];
		if (other->name == function.name && other->module == function.module && other->file == function.file)
			return i;
	}
	return profile_new_function(profile, function);
}

static uint64_t hash_frame(const struct frame *frame)
{
	return hash_mix(hash_pair(frame->function, frame->line), frame->address ^ frame->kind ^ HASH_K2);
}

frame_id profile_new_frame(struct profile *profile, struct frame frame)
{
	frame.reserved = 0;
	MEM_ROOM(profile->frames, profile->frame_count, profile->frame_capacity);
	frame_id id = (frame_id)profile->frame_count++;
	profile->frames[id] = frame;
	return id;
}

static void index_frames(struct profile *profile)
{
	struct index_map *map = &profile->frame_map;
	while (map->count < profile->frame_count)
		index_map_insert(map, hash_frame(&profile->frames[map->count]), map->count);
}

frame_id profile_frame(struct profile *profile, struct frame frame)
{
	index_frames(profile);
	frame.reserved = 0;
	struct index_probe probe;
	for (uint32_t i = index_map_first(&profile->frame_map, hash_frame(&frame), &probe); i != INDEX_NONE;
	     i = index_map_next(&profile->frame_map, &probe))
		if (memcmp(&profile->frames[i], &frame, sizeof frame) == 0)
			return i;
	return profile_new_frame(profile, frame);
}

/* First children need no index: their parents know them. */
static void index_stacks(struct profile *profile)
{
	for (; profile->stacks_indexed < profile->stack_count; profile->stacks_indexed++) {
		stack_id id = (stack_id)profile->stacks_indexed;
		const struct stack *stack = &profile->stacks[id];
		if (profile->stacks[stack->parent].first_child != id)
			index_map_insert(&profile->stack_map, hash_pair(stack->parent, stack->frame), id);
	}
}

stack_id profile_stack(struct profile *profile, stack_id parent, frame_id frame)
{
	stack_id first = profile->stacks[parent].first_child;
	if (first == STACK_ROOT)
		return profile_new_stack(profile, parent, frame);
	if (profile->stacks[first].frame == frame)
		return first;
	index_stacks(profile);
	stack_id known = intern_find_stack(profile->stacks, &profile->stack_map, parent, frame);
	return known != INDEX_NONE ? known : profile_new_stack(profile, parent, frame);
}

void profile_stack_prefetch(const struct profile *profile, stack_id parent, frame_id frame)
{
	__builtin_prefetch(&profile->stacks[parent]);
	index_map_prefetch(&profile->stack_map, hash_pair(parent, frame));
}

/* True when walking from `stack` to the root meets exactly these frames. */
static bool is_path(const struct profile *profile, stack_id stack, const frame_id *innermost_first, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (stack == STACK_ROOT || profile->stacks[stack].frame != innermost_first[i])
			return false;
		stack = profile->stacks[stack].parent;
	}
	return stack == STACK_ROOT;
}

static uint64_t hash_path(const frame_id *frames, size_t count)
{
	uint64_t hash = count * HASH_K2;
	size_t i = 0;
	for (; i + 4 <= count; i += 4)
		hash = hash_mix(((uint64_t)frames[i] << 32 | frames[i + 1]) ^ HASH_K0,
				((uint64_t)frames[i + 2] << 32 | frames[i + 3]) ^ hash);
	for (; i < count; i++)
		hash = hash_mix(frames[i] ^ HASH_K0, hash ^ HASH_K1);
	return hash;
}

stack_id profile_path(struct profile *profile, const frame_id *innermost_first, size_t count)
{
	uint64_t hash = hash_path(innermost_first, count);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&profile->path_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&profile->path_map, &probe))
		if (is_path(profile, i, innermost_first, count))
			return i;
	stack_id stack = STACK_ROOT;
	for (size_t i = count; i-- > 0;)
		stack = profile_stack(profile, stack, innermost_first[i]);
	index_map_insert(&profile->path_map, hash, stack);
	return stack;
}

thread_id profile_thread(struct profile *profile, struct thread thread)
{
	return intern_thread((struct intern_threads){&profile->threads, &profile->thread_count,
						     &profile->thread_capacity, &profile->thread_map},
			     thread);
}

value_id profile_value(struct profile *profile, const char *name, const char *unit)
{
	str_id name_id = profile_string(profile, name, strlen(name));
	for (size_t i = 0; i < profile->value_count; i++)
		if (profile->values[i].name == name_id)
			return (value_id)i;
	MEM_ROOM(profile->values, profile->value_count, profile->value_capacity);
	value_id id = (value_id)profile->value_count++;
	profile->values[id] = (struct value_type){
		.name = name_id,
		.unit = profile_string(profile, unit, strlen(unit)),
		.first_seen = UINT64_MAX,
	};
	return id;
}

label_set_id profile_label_set(struct profile *profile, const struct label *labels, size_t count)
{
	return label_sets_add(&profile->label_sets, &profile->strings, labels, count);
}

str_id profile_label(const struct profile *profile, label_set_id labels, const char *key)
{
	str_id id = labels == LABEL_SET_EMPTY ? INDEX_NONE : strpool_find(&profile->strings, key, strlen(key));
	return id == INDEX_NONE ? 0 : label_sets_value(&profile->label_sets, labels, id);
}

static void add_weight(struct profile *profile, int64_t *sum, int64_t weight)
{
	if (__builtin_add_overflow(*sum, weight, sum)) {
		*sum = weight < 0 ? INT64_MIN : INT64_MAX;
		profile->quality.overflows++;
	}
}

void profile_add(struct profile *profile, thread_id thread, stack_id stack, value_id value, int64_t weight)
{
	profile_add_sum(profile, (struct sample){weight, thread, stack, value, 1});
}

static void append_sample(struct profile *profile, struct sample sample, label_set_id labels)
{
	MEM_ROOM(profile->samples, profile->sample_count, profile->sample_capacity);
	label_column_set(&profile->labels, profile->sample_count, labels);
	if (profile->keep_times)
		time_columns_set(&profile->times, profile->sample_count, SAMPLE_TIME_UNKNOWN);
	profile->samples[profile->sample_count++] = sample;
	profile->stacks[sample.stack].last_sample = (uint32_t)profile->sample_count;
}

void profile_new_sample(struct profile *profile, struct sample sample)
{
	append_sample(profile, sample, LABEL_SET_EMPTY);
}

static struct sample *find_equal(struct profile *profile, const struct sample *sought, label_set_id labels)
{
	struct intern_samples samples = {profile->samples, profile->sample_count, &profile->labels,
					 &profile->sample_map, profile->stacks};
	return intern_find_sample(&samples, sought, labels);
}

void profile_add_labeled(struct profile *profile, struct sample sum, label_set_id labels)
{
	bool separate = profile->ordered || profile->keep_times;
	struct sample *sample = separate ? NULL : find_equal(profile, &sum, labels);
	if (!sample) {
		append_sample(profile, sum, labels);
		return;
	}
	add_weight(profile, &sample->weight, sum.weight);
	if (__builtin_add_overflow(sample->count, sum.count, &sample->count))
		sample->count = UINT32_MAX;
}

void profile_add_sum(struct profile *profile, struct sample sum)
{
	profile_add_labeled(profile, sum, LABEL_SET_EMPTY);
}

void profile_keep_times(struct profile *profile)
{
	for (size_t i = 0; i < profile->sample_count && !profile->keep_times; i++)
		time_columns_set(&profile->times, i, SAMPLE_TIME_UNKNOWN);
	profile->keep_times = true;
}

void profile_add_timed(struct profile *profile, struct sample sum, label_set_id labels, struct sample_time time)
{
	profile_add_labeled(profile, sum, labels);
	if (profile->keep_times)
		time_columns_set(&profile->times, profile->sample_count - 1, time);
}

struct sample_time profile_sample_time(const struct profile *profile, size_t index)
{
	return profile->keep_times ? time_columns_get(&profile->times, index) : SAMPLE_TIME_UNKNOWN;
}

void profile_set_decimals(struct profile *profile, value_id value, unsigned decimals)
{
	struct value_type *type = &profile->values[value];
	if (decimals <= type->decimals)
		return;
	int64_t factor = 1;
	for (unsigned i = type->decimals; i < decimals; i++)
		factor *= 10;
	type->decimals = decimals;
	for (size_t i = 0; i < profile->sample_count; i++) {
		struct sample *sample = &profile->samples[i];
		if (sample->value == value && __builtin_mul_overflow(sample->weight, factor, &sample->weight)) {
			sample->weight = INT64_MAX;
			profile->quality.overflows++;
		}
	}
}

int64_t profile_total(const struct profile *profile, value_id value)
{
	int64_t total = 0;
	for (size_t i = 0; i < profile->sample_count; i++)
		if (profile->samples[i].value == value)
			total = weight_add(total, profile->samples[i].weight);
	return total;
}

bool profile_sums_fit(const struct profile *profile, value_id value)
{
	int64_t up = 0, down = 0; /* every sum lies between them */
	bool fits = true;
	for (size_t i = 0; i < profile->sample_count && fits; i++) {
		int64_t weight = profile->samples[i].weight, *sum = weight < 0 ? &down : &up;
		if (profile->samples[i].value == value)
			fits = !__builtin_add_overflow(*sum, weight, sum);
	}
	return fits;
}

value_id profile_first_value(const struct profile *profile)
{
	value_id first = PROFILE_NONE;
	for (size_t i = 0; i < profile->value_count; i++)
		if (first == PROFILE_NONE || profile->values[i].first_seen < profile->values[first].first_seen)
			first = (value_id)i;
	return first;
}
