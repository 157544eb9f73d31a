/* Names the frames of traces, and builds the profile of their stacks. */
#include "base/text.h"
#include "symbolize/lookup.h"
#include "symbolize/rules.h"
#include "symbolize/symbolizer.h"

#include <string.h>

struct symbolizer *symbolizer_new(struct profile *profile, struct module_store *codes,
				  const struct symbolize_options *options)
{
	struct symbolizer *n = mem_zalloc(1, sizeof *n);
	n->profile = profile;
	n->codes = codes;
	n->options = *options;
	return n;
}

void symbolizer_free(struct symbolizer *n)
{
	if (!n)
		return;
	free(n->named);
	free(n->chain);
	free(n->stacks);
	free(n->threads);
	free(n->module_path);
	free(n->names);
	index_map_release(&n->name_map);
	buf_release(&n->scratch);
	free(n);
}

str_id symbolizer_module_path(struct symbolizer *n, module_id module)
{
	if (module == MODULE_NONE)
		return profile_string(n->profile, "[unknown]", strlen("[unknown]"));
	if (module >= n->path_count) {
		n->module_path =
			mem_grow(n->module_path, &n->path_capacity, (size_t)module + 1, sizeof *n->module_path);
		memset(n->module_path + n->path_count, 0, (n->path_capacity - n->path_count) * sizeof *n->module_path);
		n->path_count = n->path_capacity;
	}
	if (!n->module_path[module]) {
		buf_clear(&n->scratch);
		buf_str(&n->scratch, module_code_shown_module(module_store_get(n->codes, module)));
		text_one_line(n->scratch.data, n->scratch.size);
		n->module_path[module] = profile_string(n->profile, n->scratch.data, n->scratch.size);
	}
	return n->module_path[module];
}

void symbolizer_add_frame(struct symbolizer *n, struct function function, uint32_t line, enum frame_kind kind)
{
	struct frame frame = {
		.function = profile_function(n->profile, function),
		.line = n->options.keep_lines ? line : 0,
		.kind = kind,
	};
	MEM_ROOM(n->chain, n->chain_count, n->chain_capacity);
	n->chain[n->chain_count++] = profile_frame(n->profile, frame);
}

static void reverse_frames(frame_id *frames, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		frame_id other = frames[i];
		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = other;
	}
}

static void name_frame(struct symbolizer *n, const struct trace *trace, const struct trace_frame *frame,
		       struct answer *answer)
{
	if (answer && answer->named) {
		n->named[n->frame_count++] = n->named[answer->named - 1];
		return;
	}
	struct symbolizer_name named = {.first = n->chain_count};
	frame_rule(frame->kind)->name(n, trace, frame, answer, &named);
	named.count = (uint32_t)(n->chain_count - named.first);
	if (frame->flags & TRACE_INVERTED)
		reverse_frames(n->chain + named.first, named.count);
	n->named[n->frame_count++] = named;
	if (answer)
		answer->named = n->frame_count;
}

void symbolizer_name_frames(struct symbolizer *n, const struct trace *trace)
{
	struct lookup lookup = {
		.trace = trace,
		.codes = n->codes,
		.from = n->frame_count,
		.threads = n->options.threads ? n->options.threads : 1,
		.lines = n->options.keep_lines || n->options.keep_names,
	};
	lookup_run(&lookup);
	if (n->options.keep_names)
		lookup_keep(&lookup);
	n->named = mem_grow(n->named, &n->frame_capacity, trace->frame_count, sizeof *n->named);
	for (size_t i = 0; i < lookup.count; i++)
		name_frame(n, trace, &trace->frames[lookup.from + i], lookup.answers[i]);
	lookup_release(&lookup);
}

struct symbolizer_stack symbolizer_quality(const struct symbolizer *n, struct symbolizer_stack caller,
					   const struct trace_frame *frame, trace_frame_id id)
{
	struct symbolizer_stack named = caller;
	if (caller.outside)
		named.truncated = frame_rule_truncates(frame);
	named.outside = false;
	named.unresolved |= n->named[id].unresolved;
	named.derived |= n->named[id].derived;
	named.late |= n->named[id].late;
	return named;
}

struct symbolizer_stack symbolizer_push(const struct symbolizer *n, struct symbolizer_stack caller,
					const struct trace_frame *frame, trace_frame_id id)
{
	const struct symbolizer_name *name = &n->named[id];
	struct symbolizer_stack named = symbolizer_quality(n, caller, frame, id);
	for (uint32_t k = 0; k < name->count; k++)
		named.stack = profile_stack(n->profile, named.stack, n->chain[name->first + k]);
	return named;
}

static void name_stack(struct symbolizer *n, const struct trace *trace)
{
	const struct stack *stack = &trace->stacks[n->stack_count];
	n->stacks[n->stack_count] =
		n->stack_count == STACK_ROOT ?
			SYMBOLIZER_OUTSIDE :
			symbolizer_push(n, n->stacks[stack->parent], &trace->frames[stack->frame], stack->frame);
	n->stack_count++;
}

/* Names of threads begin folded lines, so they get what names of functions get. */
thread_id symbolizer_name_thread(struct symbolizer *n, const struct trace *trace, struct thread thread)
{
	const char *comm = trace_text(trace, thread.comm);
	buf_clear(&n->scratch);
	buf_str(&n->scratch, comm);
	text_one_frame(n->scratch.data, n->scratch.size);
	for (char *at = n->scratch.data; *at; at++)
		if (*at == ' ')
			*at = '_';
	thread.comm = profile_string(n->profile, n->scratch.data, n->scratch.size);
	return profile_thread(n->profile, thread);
}

void symbolizer_extend(struct symbolizer *n, const struct trace *trace)
{
	symbolizer_name_frames(n, trace);
	n->stacks = mem_grow(n->stacks, &n->stack_capacity, trace->stack_count, sizeof *n->stacks);
	while (n->stack_count < trace->stack_count)
		name_stack(n, trace);
	n->threads = mem_grow(n->threads, &n->thread_capacity, trace->thread_count, sizeof *n->threads);
	for (; n->thread_count < trace->thread_count; n->thread_count++)
		n->threads[n->thread_count] = symbolizer_name_thread(n, trace, trace->threads[n->thread_count]);
}

struct symbolizer_stack symbolizer_stack(const struct symbolizer *n, stack_id stack)
{
	return n->stacks[stack];
}

thread_id symbolizer_thread(const struct symbolizer *n, thread_id thread)
{
	return n->threads[thread];
}

value_id symbolizer_value(const struct symbolizer *n, const struct trace *trace, value_id value)
{
	const struct trace_value *type = &trace->values[value];
	value_id named = profile_value(n->profile, trace_text(trace, type->name), trace_text(trace, type->unit));
	struct value_type *met = &n->profile->values[named];
	met->first_seen = type->first_seen < met->first_seen ? type->first_seen : met->first_seen;
	return named;
}

void symbolizer_count(struct profile *profile, value_id value, uint32_t count, const struct symbolizer_stack *stack)
{
	struct value_type *type = &profile->values[value];
	uint32_t truncated = stack->truncated ? count : 0, unresolved = stack->unresolved ? count : 0;
	uint32_t derived = stack->derived ? count : 0, late = stack->late ? count : 0;
	type->samples += count;
	type->truncated += truncated;
	type->unresolved += unresolved;
	type->derived += derived;
	type->late += late;
	profile->quality.samples += count;
	profile->quality.truncated += truncated;
	profile->quality.unresolved += unresolved;
	profile->quality.derived += derived;
	profile->quality.late += late;
}
