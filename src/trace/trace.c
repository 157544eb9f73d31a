/* The store of a trace: every frame, stack, thread and event is stored once. */
#include "trace/trace.h"

#include "base/hash.h"
#include "profile/intern.h"

#include <string.h>

void trace_init(struct trace *trace)
{
	*trace = (struct trace){0};
	strpool_init(&trace->strings);
	MEM_ROOM(trace->stacks, trace->stack_count, trace->stack_capacity);
	trace->stacks[trace->stack_count++] = (struct stack){.parent = PROFILE_NONE, .frame = PROFILE_NONE};
	MEM_ROOM(trace->threads, trace->thread_count, trace->thread_capacity);
	trace->threads[trace->thread_count++] = (struct thread){.pid = -1, .tid = -1};
}

void trace_release(struct trace *trace)
{
	strpool_release(&trace->strings);
	free(trace->frames);
	free(trace->stacks);
	free(trace->threads);
	free(trace->values);
	free(trace->samples);
	label_sets_release(&trace->label_sets);
	label_column_release(&trace->labels);
	time_columns_release(&trace->times);
	index_map_release(&trace->frame_map);
	index_map_release(&trace->stack_map);
	index_map_release(&trace->thread_map);
	index_map_release(&trace->sample_map);
	*trace = (struct trace){0};
}

str_id trace_string(struct trace *trace, const char *text)
{
	return strpool_add(&trace->strings, text, strlen(text));
}

static uint64_t hash_frame(const struct trace_frame *frame)
{
	uint64_t rest = hash_pair(frame->module, frame->version);
	return hash_mix(rest ^ (uint32_t)(frame->kind << 8 | frame->flags), frame->address ^ HASH_K2);
}

trace_frame_id trace_frame(struct trace *trace, struct trace_frame frame)
{
	uint64_t hash = hash_frame(&frame);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&trace->frame_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&trace->frame_map, &probe))
		if (trace_frame_equal(&trace->frames[i], &frame))
			return i;
	MEM_ROOM(trace->frames, trace->frame_count, trace->frame_capacity);
	trace_frame_id id = (trace_frame_id)trace->frame_count++;
	trace->frames[id] = frame;
	index_map_insert(&trace->frame_map, hash, id);
	return id;
}

trace_frame_id trace_text_frame(struct trace *trace, const char *text)
{
	return trace_frame(
		trace,
		(struct trace_frame){.kind = TRACE_TEXT, .module = MODULE_NONE, .address = trace_string(trace, text)});
}

static stack_id new_stack(struct trace *trace, stack_id parent, trace_frame_id frame)
{
	MEM_ROOM(trace->stacks, trace->stack_count, trace->stack_capacity);
	stack_id id = (stack_id)trace->stack_count++;
	trace->stacks[id] = (struct stack){.parent = parent, .frame = frame, .first_child = STACK_ROOT};
	return id;
}

stack_id trace_stack(struct trace *trace, stack_id parent, trace_frame_id frame)
{
	stack_id first = trace->stacks[parent].first_child;
	if (first == STACK_ROOT) {
		first = new_stack(trace, parent, frame);
		trace->stacks[parent].first_child = first;
		return first;
	}
	if (trace->stacks[first].frame == frame)
		return first;
	stack_id id = intern_find_stack(trace->stacks, &trace->stack_map, parent, frame);
	if (id == INDEX_NONE) {
		id = new_stack(trace, parent, frame);
		index_map_insert(&trace->stack_map, hash_pair(parent, frame), id);
	}
	return id;
}

thread_id trace_thread(struct trace *trace, struct thread thread)
{
	return intern_thread((struct intern_threads){&trace->threads, &trace->thread_count, &trace->thread_capacity,
						     &trace->thread_map},
			     thread);
}

value_id trace_value(struct trace *trace, const char *name, const char *unit, uint64_t seen)
{
	str_id wanted = trace_string(trace, name);
	value_id id = 0;
	while (id < trace->value_count && trace->values[id].name != wanted)
		id++;
	if (id == trace->value_count) {
		MEM_ROOM(trace->values, trace->value_count, trace->value_capacity);
		trace->values[trace->value_count++] =
			(struct trace_value){.name = wanted, .unit = trace_string(trace, unit), .first_seen = seen};
	}
	if (trace->values[id].first_seen > seen)
		trace->values[id].first_seen = seen;
	return id;
}

label_set_id trace_label_set(struct trace *trace, const struct label *labels, size_t count)
{
	return label_sets_add(&trace->label_sets, &trace->strings, labels, count);
}

static struct sample *find_sample(struct trace *trace, const struct sample *sample, label_set_id labels)
{
	struct intern_samples samples = {trace->samples, trace->sample_count, &trace->labels, &trace->sample_map,
					 trace->stacks};
	return intern_find_sample(&samples, sample, labels);
}

void trace_add(struct trace *trace, struct sample sample, label_set_id labels)
{
	struct sample *known = trace->ordered || trace->keep_times ? NULL : find_sample(trace, &sample, labels);
	if (!known) {
		MEM_ROOM(trace->samples, trace->sample_count, trace->sample_capacity);
		label_column_set(&trace->labels, trace->sample_count, labels);
		if (trace->keep_times)
			time_columns_set(&trace->times, trace->sample_count, SAMPLE_TIME_UNKNOWN);
		trace->samples[trace->sample_count++] = sample;
		trace->stacks[sample.stack].last_sample = (uint32_t)trace->sample_count;
		return;
	}
	int64_t sum;
	trace->overflows += __builtin_add_overflow(known->weight, sample.weight, &sum);
	known->weight = weight_add(known->weight, sample.weight);
	if (__builtin_add_overflow(known->count, sample.count, &known->count))
		known->count = UINT32_MAX;
}

void trace_add_timed(struct trace *trace, struct sample sample, label_set_id labels, struct sample_time time)
{
	trace_add(trace, sample, labels);
	if (trace->keep_times)
		time_columns_set(&trace->times, trace->sample_count - 1, time);
}

struct sample_time trace_sample_time(const struct trace *trace, size_t index)
{
	return trace->keep_times ? time_columns_get(&trace->times, index) : SAMPLE_TIME_UNKNOWN;
}
