#include "profile/profile.h"

#include "base/hash.h"

const char *frame_kind_name(enum frame_kind kind)
{
	static const char *const names[FRAME_KINDS] = {
		[FRAME_NATIVE] = "native", [FRAME_KERNEL] = "kernel", [FRAME_INLINED] = "inlined",
		[FRAME_JIT] = "jit",       [FRAME_PYTHON] = "python", [FRAME_UNKNOWN] = "unknown",
	};
	return (unsigned)kind < FRAME_KINDS ? names[kind] : "unknown";
}

static stack_id new_stack(struct profile *profile, stack_id parent, frame_id frame)
{
	MEM_ROOM(profile->stacks, profile->stack_count, profile->stack_capacity);
	stack_id id = (stack_id)profile->stack_count++;
	profile->stacks[id] = (struct stack){.parent = parent, .frame = frame, .first_child = STACK_ROOT};
	return id;
}

void profile_init(struct profile *profile)
{
	*profile = (struct profile){0};
	strpool_init(&profile->strings);
	new_stack(profile, PROFILE_NONE, PROFILE_NONE); /* STACK_ROOT */
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

function_id profile_function(struct profile *profile, struct function function)
{
	uint64_t hash = hash_mix(hash_pair(function.name, function.module), function.file ^ HASH_K2);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&profile->function_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&profile->function_map, &probe)) {
		const struct function *other = &profile->functions[i];
		if (other->name == function.name && other->module == function.module && other->file == function.file)
			return i;
	}
	MEM_ROOM(profile->functions, profile->function_count, profile->function_capacity);
	function_id id = (function_id)profile->function_count++;
	profile->functions[id] = function;
	index_map_insert(&profile->function_map, hash, id);
	return id;
}

frame_id profile_frame(struct profile *profile, struct frame frame)
{
	frame.reserved = 0;
	uint64_t hash = hash_mix(hash_pair(frame.function, frame.line), frame.address ^ frame.kind ^ HASH_K2);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&profile->frame_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&profile->frame_map, &probe))
		if (memcmp(&profile->frames[i], &frame, sizeof frame) == 0)
			return i;
	MEM_ROOM(profile->frames, profile->frame_count, profile->frame_capacity);
	frame_id id = (frame_id)profile->frame_count++;
	profile->frames[id] = frame;
	index_map_insert(&profile->frame_map, hash, id);
	return id;
}

stack_id profile_stack(struct profile *profile, stack_id parent, frame_id frame)
{
	stack_id first = profile->stacks[parent].first_child;
	if (first == STACK_ROOT) {
		stack_id id = new_stack(profile, parent, frame);
		profile->stacks[parent].first_child = id;
		return id;
	}
	if (profile->stacks[first].frame == frame)
		return first;
	uint64_t hash = hash_pair(parent, frame);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&profile->stack_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&profile->stack_map, &probe))
		if (profile->stacks[i].parent == parent && profile->stacks[i].frame == frame)
			return i;
	stack_id id = new_stack(profile, parent, frame);
	index_map_insert(&profile->stack_map, hash, id);
	return id;
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
	uint64_t hash = hash_mix(hash_pair((uint32_t)thread.pid, (uint32_t)thread.tid), thread.comm ^ HASH_K2);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&profile->thread_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&profile->thread_map, &probe)) {
		const struct thread *other = &profile->threads[i];
		if (other->pid == thread.pid && other->tid == thread.tid && other->comm == thread.comm)
			return i;
	}
	MEM_ROOM(profile->threads, profile->thread_count, profile->thread_capacity);
	thread_id id = (thread_id)profile->thread_count++;
	profile->threads[id] = thread;
	index_map_insert(&profile->thread_map, hash, id);
	return id;
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

void profile_add_sum(struct profile *profile, struct sample sum)
{
	uint64_t hash = 0;
	if (!profile->ordered) {
		hash = hash_mix(hash_pair(sum.thread, sum.stack), sum.value ^ HASH_K2);
		struct index_probe probe;
		for (uint32_t i = index_map_first(&profile->sample_map, hash, &probe); i != INDEX_NONE;
		     i = index_map_next(&profile->sample_map, &probe)) {
			struct sample *sample = &profile->samples[i];
			if (sample->stack == sum.stack && sample->thread == sum.thread && sample->value == sum.value) {
				add_weight(profile, &sample->weight, sum.weight);
				if (__builtin_add_overflow(sample->count, sum.count, &sample->count))
					sample->count = UINT32_MAX;
				return;
			}
		}
	}
	MEM_ROOM(profile->samples, profile->sample_count, profile->sample_capacity);
	uint32_t id = (uint32_t)profile->sample_count++;
	profile->samples[id] = sum;
	if (!profile->ordered)
		index_map_insert(&profile->sample_map, hash, id);
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

value_id profile_first_value(const struct profile *profile)
{
	value_id first = PROFILE_NONE;
	for (size_t i = 0; i < profile->value_count; i++)
		if (first == PROFILE_NONE || profile->values[i].first_seen < profile->values[first].first_seen)
			first = (value_id)i;
	return first;
}
