#include "base/hash.h"
#include "base/text.h"
#include "profile/tidy.h"
#include "symbolize/lookup.h"
#include "symbolize/symbolizer.h"

#include <stdio.h>
#include <string.h>

function_id symbolize_module_function(struct profile *addresses, module_id module)
{
	char number[16] = "";
	if (module != MODULE_NONE)
		snprintf(number, sizeof number, "%u", module);
	return profile_function(addresses,
				(struct function){.module = profile_string(addresses, number, strlen(number))});
}

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
	free(n->module);
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

static void add_frame(struct symbolizer *n, struct function function, uint32_t line, enum frame_kind kind)
{
	struct frame frame = {
		.function = profile_function(n->profile, function),
		.line = n->options.keep_lines ? line : 0,
		.kind = kind,
	};
	MEM_ROOM(n->chain, n->chain_count, n->chain_capacity);
	n->chain[n->chain_count++] = profile_frame(n->profile, frame);
}

static enum frame_kind kind_of(const struct symbolizer *n, module_id module, const struct frame *address, bool inlined)
{
	if (inlined)
		return FRAME_INLINED;
	if (address->kind == FRAME_KERNEL)
		return FRAME_KERNEL;
	return module < MODULE_TRUNCATED && module_code_is_jit(module_store_get(n->codes, module)) ? FRAME_JIT :
												     FRAME_NATIVE;
}

static void name_unresolved(struct symbolizer *n, module_id module, uint64_t address)
{
	str_id path = symbolizer_module_path(n, module);
	const char *text = profile_text(n->profile, path);
	buf_clear(&n->scratch);
	tidy_unresolved(&n->scratch, text, module == MODULE_NONE ? 0 : strlen(text));
	text_one_frame(n->scratch.data, n->scratch.size);
	if (n->options.addresses) {
		n->scratch.size--; /* the bracket */
		buf_printf(&n->scratch, " <%llx>]", (unsigned long long)address);
	}
	str_id name = profile_string(n->profile, n->scratch.data, n->scratch.size);
	add_frame(n, (struct function){.name = name, .module = path}, 0, FRAME_UNKNOWN);
}

/*
 * The whole name, as one frame of a folded line: no ';', which separates frames, and no line breaks. Java's
 * Lorg/example/Main;::run loses its L, as users of flame graphs know it.
 */
static void write_name(struct buf *out, const char *text, bool jit)
{
	const char *end = jit && text[0] == 'L' ? strchr(text, ';') : NULL;
	if (end && memchr(text, '/', (size_t)(end - text)))
		text++;
	buf_str(out, text);
	text_one_frame(out->data, out->size);
}

static str_id name_of(struct symbolizer *n, const char *text, bool jit)
{
	uint64_t hash = hash_u64((uintptr_t)text);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&n->name_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&n->name_map, &probe))
		if (n->names[i].text == text)
			return n->names[i].name;
	buf_clear(&n->scratch);
	write_name(&n->scratch, text, jit);
	MEM_ROOM(n->names, n->name_count, n->name_capacity);
	struct known_name *known = &n->names[n->name_count];
	*known = (struct known_name){text, profile_string(n->profile, n->scratch.data, n->scratch.size)};
	index_map_insert(&n->name_map, hash, (uint32_t)n->name_count++);
	return known->name;
}

static void name_resolved(struct symbolizer *n, module_id module, const struct frame *address,
			  const struct answer *answer)
{
	str_id path = profile_string(n->profile, answer->module, strlen(answer->module));
	bool jit = module_code_is_jit(module_store_get(n->codes, module));
	for (size_t i = answer->count; i-- > 0;) {
		const struct symbol_frame *frame = &answer->frames[i];
		struct function function = {.name = name_of(n, frame->name, jit), .module = path};
		if (frame->file && n->options.keep_lines)
			function.file = profile_string(n->profile, frame->file, strlen(frame->file));
		add_frame(n, function, frame->line, kind_of(n, module, address, frame->inlined));
	}
}

static void reverse_frames(frame_id *frames, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		frame_id other = frames[i];
		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = other;
	}
}

static bool is_derived(const struct symbolizer *n, module_id module, const struct frame *address)
{
	bool exact = address->line & 1;
	return module < MODULE_TEXT && address->kind != FRAME_KERNEL &&
	       module_code_is_derived(module_store_get(n->codes, module), address->address - !exact);
}

static void name_address(struct symbolizer *n, const struct profile *addresses, const struct frame *address,
			 struct answer *answer)
{
	if (answer && answer->named) {
		n->named[n->frame_count++] = n->named[answer->named - 1];
		return;
	}
	module_id module = n->module[address->function];
	const char *text = profile_text(addresses, addresses->functions[address->function].name);
	struct symbolizer_name named = {.first = n->chain_count};
	if (module == MODULE_TRUNCATED) {
		str_id name = profile_string(n->profile, "[truncated]", strlen("[truncated]"));
		add_frame(n, (struct function){.name = name}, 0, FRAME_UNKNOWN);
	} else if (module == MODULE_TEXT) {
		add_frame(n, (struct function){.name = profile_string(n->profile, text, strlen(text))}, 0,
			  FRAME_UNKNOWN);
	} else if (answer) {
		name_resolved(n, module, address, answer);
		answer->named = n->frame_count + 1;
	} else {
		name_unresolved(n, module, address->address);
		named.unresolved = true;
	}
	named.derived = is_derived(n, module, address);
	named.count = (uint32_t)(n->chain_count - named.first);
	if (!strcmp(text, SYMBOLIZE_REVERSED))
		reverse_frames(n->chain + named.first, named.count);
	n->named[n->frame_count++] = named;
}

void symbolizer_name_modules(struct symbolizer *n, const struct profile *addresses)
{
	n->module = mem_grow(n->module, &n->function_capacity, addresses->function_count, sizeof *n->module);
	for (; n->function_count < addresses->function_count; n->function_count++) {
		const char *number = profile_text(addresses, addresses->functions[n->function_count].module);
		const char *name = profile_text(addresses, addresses->functions[n->function_count].name);
		n->module[n->function_count] = *name && strcmp(name, SYMBOLIZE_REVERSED) != 0 ? MODULE_TEXT :
					       *number ? (module_id)strtoul(number, NULL, 10) :
							 MODULE_NONE;
	}
}

void symbolizer_name_frames(struct symbolizer *n, const struct profile *addresses)
{
	symbolizer_name_modules(n, addresses);
	struct lookup lookup = {
		.addresses = addresses,
		.codes = n->codes,
		.module = n->module,
		.from = n->frame_count,
		.threads = n->options.threads ? n->options.threads : 1,
		.lines = n->options.keep_lines || n->options.keep_names,
	};
	lookup_run(&lookup);
	if (n->options.keep_names)
		lookup_keep(&lookup);
	n->named = mem_grow(n->named, &n->frame_capacity, addresses->frame_count, sizeof *n->named);
	for (size_t i = 0; i < lookup.count; i++)
		name_address(n, addresses, &addresses->frames[lookup.from + i], lookup.answers[i]);
	lookup_release(&lookup);
}

struct symbolizer_stack symbolizer_quality(const struct symbolizer *n, struct symbolizer_stack caller,
					   const struct frame *address, frame_id id)
{
	struct symbolizer_stack named = caller;
	if (caller.outside)
		named.truncated = address->kind != FRAME_KERNEL && n->module[address->function] >= MODULE_TRUNCATED;
	named.outside = false;
	named.unresolved |= n->named[id].unresolved;
	named.derived |= n->named[id].derived;
	return named;
}

struct symbolizer_stack symbolizer_push(const struct symbolizer *n, struct symbolizer_stack caller,
					const struct frame *address, frame_id id)
{
	const struct symbolizer_name *name = &n->named[id];
	struct symbolizer_stack named = symbolizer_quality(n, caller, address, id);
	for (uint32_t k = 0; k < name->count; k++)
		named.stack = profile_stack(n->profile, named.stack, n->chain[name->first + k]);
	return named;
}

static void name_stack(struct symbolizer *n, const struct profile *addresses)
{
	const struct stack *stack = &addresses->stacks[n->stack_count];
	n->stacks[n->stack_count] =
		n->stack_count == STACK_ROOT ?
			SYMBOLIZER_OUTSIDE :
			symbolizer_push(n, n->stacks[stack->parent], &addresses->frames[stack->frame], stack->frame);
	n->stack_count++;
}

/* Names of threads begin folded lines, so they get what names of functions get. */
thread_id symbolizer_name_thread(struct symbolizer *n, const struct profile *addresses, struct thread thread)
{
	const char *comm = profile_text(addresses, thread.comm);
	buf_clear(&n->scratch);
	buf_str(&n->scratch, comm);
	text_one_frame(n->scratch.data, n->scratch.size);
	for (char *at = n->scratch.data; *at && !n->options.spaces; at++)
		if (*at == ' ')
			*at = '_';
	thread.comm = profile_string(n->profile, n->scratch.data, n->scratch.size);
	return profile_thread(n->profile, thread);
}

void symbolizer_extend(struct symbolizer *n, const struct profile *addresses)
{
	symbolizer_name_frames(n, addresses);
	n->stacks = mem_grow(n->stacks, &n->stack_capacity, addresses->stack_count, sizeof *n->stacks);
	while (n->stack_count < addresses->stack_count)
		name_stack(n, addresses);
	n->threads = mem_grow(n->threads, &n->thread_capacity, addresses->thread_count, sizeof *n->threads);
	for (; n->thread_count < addresses->thread_count; n->thread_count++)
		n->threads[n->thread_count] = symbolizer_name_thread(n, addresses, addresses->threads[n->thread_count]);
}

struct symbolizer_stack symbolizer_stack(const struct symbolizer *n, stack_id stack)
{
	return n->stacks[stack];
}

thread_id symbolizer_thread(const struct symbolizer *n, thread_id thread)
{
	return n->threads[thread];
}

value_id symbolizer_value(const struct symbolizer *n, const struct profile *addresses, value_id value)
{
	const struct value_type *type = &addresses->values[value];
	value_id named =
		profile_value(n->profile, profile_text(addresses, type->name), profile_text(addresses, type->unit));
	struct value_type *met = &n->profile->values[named];
	met->first_seen = type->first_seen < met->first_seen ? type->first_seen : met->first_seen;
	return named;
}

void symbolizer_count(struct profile *profile, value_id value, uint32_t count, const struct symbolizer_stack *stack)
{
	struct value_type *type = &profile->values[value];
	uint32_t truncated = stack->truncated ? count : 0, unresolved = stack->unresolved ? count : 0;
	uint32_t derived = stack->derived ? count : 0;
	type->samples += count;
	type->truncated += truncated;
	type->unresolved += unresolved;
	type->derived += derived;
	profile->quality.samples += count;
	profile->quality.truncated += truncated;
	profile->quality.unresolved += unresolved;
	profile->quality.derived += derived;
}
