#include "event/symbolize.h"

#include "base/hash.h"
#include "base/parallel.h"
#include "event/fetch.h"
#include "profile/tidy.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define MOST_INLINED 64
#define CHUNK 256 /* addresses a thread takes at a time: neighbours in a module share compilation units */

struct answer {
	struct symbol_frame *frames; /* innermost first; NULL: nothing is known */
	size_t count;
	const char *module; /* what is shown as its module */
};

struct job {
	const struct profile *addresses;
	struct codes *codes;
	module_id *module; /* by function of `addresses` */
	uint32_t *order; /* frames, sorted by module and address, those of the kernel last */
	struct answer *answers; /* by frame */
	size_t *starts; /* where in `order` a module begins */
	size_t start_count;
	atomic_size_t next_start, next;
	struct arena *arenas; /* by worker: where its answers live */
};

function_id symbolize_module_function(struct profile *addresses, module_id module)
{
	char number[16] = "";
	if (module != MODULE_NONE)
		snprintf(number, sizeof number, "%u", module);
	return profile_function(addresses,
				(struct function){.module = profile_string(addresses, number, strlen(number))});
}

static module_id *modules_of_functions(const struct profile *addresses)
{
	module_id *modules = mem_alloc(addresses->function_count * sizeof *modules);
	for (size_t i = 0; i < addresses->function_count; i++) {
		const char *number = profile_text(addresses, addresses->functions[i].module);
		modules[i] = *number ? (module_id)strtoul(number, NULL, 10) : MODULE_NONE;
	}
	return modules;
}

static int compare_addresses(const void *left, const void *right, void *context)
{
	const struct job *job = context;
	const struct frame *a = &job->addresses->frames[*(const uint32_t *)left];
	const struct frame *b = &job->addresses->frames[*(const uint32_t *)right];
	module_id ma = job->module[a->function], mb = job->module[b->function];
	if (a->kind != b->kind)
		return a->kind == FRAME_KERNEL ? 1 : b->kind == FRAME_KERNEL ? -1 : a->kind < b->kind ? -1 : 1;
	if (ma != mb)
		return ma < mb ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static void look_up(struct job *job, uint32_t id, struct arena *arena)
{
	const struct frame *frame = &job->addresses->frames[id];
	module_id module = job->module[frame->function];
	struct symbol_frame frames[MOST_INLINED];
	if (module >= MODULE_TRUNCATED)
		return;
	struct code *code = codes_get(job->codes, module);
	size_t count = code_find(code, frame->address, frames, MOST_INLINED);
	if (!count)
		return;
	struct answer *answer = &job->answers[id];
	answer->module = code_module_name(code, frame->address);
	answer->frames = arena_alloc(arena, count * sizeof *frames, _Alignof(struct symbol_frame));
	answer->count = count;
	memcpy(answer->frames, frames, count * sizeof *frames);
}

static bool starts_module(const struct job *job, size_t at)
{
	const struct frame *frames = job->addresses->frames;
	return !at || job->module[frames[job->order[at]].function] != job->module[frames[job->order[at - 1]].function];
}

/*
 * The first address of a module takes the longest: its files are opened then, while all who ask for another address in
 * it wait. So these are spread over the threads before the others, beginning with the kernel's, whose symbols take the
 * longest of all.
 */
static void work(void *context, unsigned worker)
{
	struct job *job = context;
	size_t count = job->addresses->frame_count, start;
	while ((start = atomic_fetch_add(&job->next_start, 1)) < job->start_count)
		look_up(job, job->order[job->starts[job->start_count - 1 - start]], &job->arenas[worker]);
	for (;;) {
		size_t from = atomic_fetch_add(&job->next, CHUNK);
		if (from >= count)
			return;
		size_t to = from + CHUNK < count ? from + CHUNK : count;
		for (size_t i = from; i < to; i++)
			if (!starts_module(job, i))
				look_up(job, job->order[i], &job->arenas[worker]);
	}
}

static void put_in_order(struct job *job)
{
	size_t count = job->addresses->frame_count;
	job->order = mem_alloc((count + 1) * sizeof *job->order);
	job->starts = mem_alloc((count + 1) * sizeof *job->starts);
	for (size_t i = 0; i < count; i++)
		job->order[i] = (uint32_t)i;
	qsort_r(job->order, count, sizeof *job->order, compare_addresses, job);
	for (size_t i = 0; i < count; i++)
		if (starts_module(job, i))
			job->starts[job->start_count++] = i;
}

/* --- the profile with names --- */

struct naming {
	const struct job *job;
	struct profile *profile;
	const struct symbolize_options *options;
	str_id *module_path; /* by module id; 0: not made yet */
	frame_id *chain; /* frames of each address, outermost first */
	size_t chain_count, chain_capacity;
	struct {
		size_t first;
		uint32_t count;
		bool unresolved;
	} * named; /* by frame of `addresses` */
	uint64_t *unresolved; /* by module id + 1: frames without a symbol, over all samples */
	struct buf scratch;
	struct known_name *names; /* that have been tidied */
	size_t name_count, name_capacity;
	struct index_map name_map;
};

struct known_name {
	const char *text; /* where a symbol has it: each is tidied once */
	str_id name;
};

static str_id path_of(struct naming *n, module_id module)
{
	if (module == MODULE_NONE)
		return profile_string(n->profile, "[unknown]", strlen("[unknown]"));
	if (!n->module_path[module]) {
		const char *path = module_path(n->job->codes->modules, module);
		n->module_path[module] = profile_string(n->profile, path, strlen(path));
	}
	return n->module_path[module];
}

static void add_frame(struct naming *n, struct function function, uint32_t line, enum frame_kind kind)
{
	struct frame frame = {
		.function = profile_function(n->profile, function),
		.line = n->options->keep_lines ? line : 0,
		.kind = kind,
	};
	MEM_ROOM(n->chain, n->chain_count, n->chain_capacity);
	n->chain[n->chain_count++] = profile_frame(n->profile, frame);
}

static enum frame_kind kind_of(const struct naming *n, module_id module, const struct frame *address, bool inlined)
{
	if (inlined)
		return FRAME_INLINED;
	if (address->kind == FRAME_KERNEL)
		return FRAME_KERNEL;
	return module < MODULE_TRUNCATED && n->job->codes->modules->items[module].kind == MODULE_JIT ? FRAME_JIT :
												       FRAME_NATIVE;
}

static void name_unresolved(struct naming *n, module_id module, uint64_t address)
{
	str_id path = path_of(n, module);
	const char *text = profile_text(n->profile, path);
	buf_clear(&n->scratch);
	tidy_unresolved(&n->scratch, text, module == MODULE_NONE ? 0 : strlen(text));
	if (n->options->addresses) {
		n->scratch.size--; /* the bracket */
		buf_printf(&n->scratch, " <%llx>]", (unsigned long long)address);
	}
	str_id name = profile_string(n->profile, n->scratch.data, n->scratch.size);
	add_frame(n, (struct function){.name = name, .module = path}, 0, FRAME_UNKNOWN);
}

static str_id tidied(struct naming *n, const char *text, bool jit)
{
	uint64_t hash = hash_u64((uintptr_t)text);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&n->name_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&n->name_map, &probe))
		if (n->names[i].text == text)
			return n->names[i].name;
	/* A Java class: Lorg/example/Main;::run */
	bool java = jit && text[0] == 'L' && strchr(text, ';');
	buf_clear(&n->scratch);
	tidy_name(&n->scratch, text, strlen(text), java);
	MEM_ROOM(n->names, n->name_count, n->name_capacity);
	struct known_name *known = &n->names[n->name_count];
	*known = (struct known_name){text, profile_string(n->profile, n->scratch.data, n->scratch.size)};
	index_map_insert(&n->name_map, hash, (uint32_t)n->name_count++);
	return known->name;
}

static void name_resolved(struct naming *n, module_id module, const struct frame *address, const struct answer *answer)
{
	str_id path = profile_string(n->profile, answer->module, strlen(answer->module));
	bool jit = n->job->codes->modules->items[module].kind == MODULE_JIT;
	for (size_t i = answer->count; i-- > 0;) {
		const struct symbol_frame *frame = &answer->frames[i];
		struct function function = {.name = tidied(n, frame->name, jit), .module = path};
		if (frame->file && n->options->keep_lines)
			function.file = profile_string(n->profile, frame->file, strlen(frame->file));
		add_frame(n, function, frame->line, kind_of(n, module, address, frame->inlined));
	}
}

static void name_address(struct naming *n, uint32_t id)
{
	const struct frame *address = &n->job->addresses->frames[id];
	const struct answer *answer = &n->job->answers[id];
	module_id module = n->job->module[address->function];
	n->named[id].first = n->chain_count;
	if (module == MODULE_TRUNCATED) {
		str_id name = profile_string(n->profile, "[truncated]", strlen("[truncated]"));
		add_frame(n, (struct function){.name = name}, 0, FRAME_UNKNOWN);
	} else if (answer->count) {
		name_resolved(n, module, address, answer);
	} else {
		name_unresolved(n, module, address->address);
		n->named[id].unresolved = true;
	}
	n->named[id].count = (uint32_t)(n->chain_count - n->named[id].first);
}

static stack_id *name_stacks(struct naming *n)
{
	const struct profile *addresses = n->job->addresses;
	stack_id *stacks = mem_alloc(addresses->stack_count * sizeof *stacks);
	stacks[STACK_ROOT] = STACK_ROOT;
	for (size_t i = 1; i < addresses->stack_count; i++) {
		frame_id frame = addresses->stacks[i].frame;
		stack_id stack = stacks[addresses->stacks[i].parent];
		for (uint32_t k = 0; k < n->named[frame].count; k++)
			stack = profile_stack(n->profile, stack, n->chain[n->named[frame].first + k]);
		stacks[i] = stack;
	}
	return stacks;
}

/* What the quality counts, by stack of `addresses`. */
struct stack_facts {
	bool truncated, unresolved;
	uint64_t samples; /* that end in this stack or below it */
};

static struct stack_facts *judge_stacks(const struct naming *n)
{
	const struct profile *addresses = n->job->addresses;
	struct stack_facts *facts = mem_zalloc(addresses->stack_count, sizeof *facts);
	for (size_t i = 1; i < addresses->stack_count; i++) {
		const struct stack *stack = &addresses->stacks[i];
		facts[i] = facts[stack->parent];
		const struct frame *frame = &addresses->frames[stack->frame];
		if (stack->parent == STACK_ROOT)
			facts[i].truncated = frame->kind != FRAME_KERNEL &&
					     n->job->module[frame->function] >= MODULE_TRUNCATED;
		facts[i].unresolved |= n->named[stack->frame].unresolved;
	}
	return facts;
}

/* Names of threads begin folded lines, so they get what names of functions get. */
static thread_id *name_threads(struct naming *n)
{
	const struct profile *addresses = n->job->addresses;
	thread_id *threads = mem_alloc(addresses->thread_count * sizeof *threads);
	for (size_t i = 0; i < addresses->thread_count; i++) {
		struct thread thread = addresses->threads[i];
		const char *comm = profile_text(addresses, thread.comm);
		buf_clear(&n->scratch);
		for (; *comm; comm++)
			buf_char(&n->scratch, *comm == ' ' ? '_' : *comm == ';' ? ':' : *comm);
		thread.comm = profile_string(n->profile, n->scratch.data ? n->scratch.data : "", n->scratch.size);
		threads[i] = profile_thread(n->profile, thread);
	}
	return threads;
}

static value_id *name_values(struct naming *n)
{
	const struct profile *addresses = n->job->addresses;
	value_id *values = mem_alloc((addresses->value_count + 1) * sizeof *values);
	for (size_t i = 0; i < addresses->value_count; i++) {
		const struct value_type *type = &addresses->values[i];
		values[i] = profile_value(n->profile, profile_text(addresses, type->name),
					  profile_text(addresses, type->unit));
		struct value_type *met = &n->profile->values[values[i]];
		met->first_seen = type->first_seen < met->first_seen ? type->first_seen : met->first_seen;
	}
	return values;
}

static void count_sample(struct profile *profile, value_id value, uint32_t count, const struct stack_facts *facts)
{
	struct value_type *type = &profile->values[value];
	uint32_t truncated = facts->truncated ? count : 0, unresolved = facts->unresolved ? count : 0;
	type->samples += count;
	type->truncated += truncated;
	type->unresolved += unresolved;
	profile->quality.samples += count;
	profile->quality.truncated += truncated;
	profile->quality.unresolved += unresolved;
}

static void add_samples(struct naming *n, const stack_id *stacks, struct stack_facts *facts)
{
	const struct profile *addresses = n->job->addresses;
	value_id *values CLEANUP_FREE = name_values(n);
	thread_id *threads CLEANUP_FREE = name_threads(n);
	bool *fits CLEANUP_FREE = profile_stacks_that_fit(n->profile, &n->options->filter);
	for (size_t i = 0; i < addresses->sample_count; i++) {
		struct sample sample = addresses->samples[i];
		if (!fits[stacks[sample.stack]])
			continue;
		facts[sample.stack].samples += sample.count;
		sample.value = values[sample.value];
		count_sample(n->profile, sample.value, sample.count, &facts[sample.stack]);
		sample.thread = threads[sample.thread];
		sample.stack = stacks[sample.stack];
		profile_add_sum(n->profile, sample);
	}
}

/* Counts frames without a symbol by module, over all samples. */
static void count_unresolved(struct naming *n, struct stack_facts *facts)
{
	const struct profile *addresses = n->job->addresses;
	for (size_t i = addresses->stack_count; i-- > 1;) {
		const struct stack *stack = &addresses->stacks[i];
		facts[stack->parent].samples += facts[i].samples;
		if (n->named[stack->frame].unresolved)
			n->unresolved[n->job->module[addresses->frames[stack->frame].function] + 1] += facts[i].samples;
	}
}

static void tell_unresolved(struct naming *n)
{
	struct modules *modules = n->job->codes->modules;
	for (size_t i = 0; i <= modules->count; i++) {
		if (!n->unresolved[i])
			continue;
		module_id module = (module_id)i - 1;
		struct quality_module *told =
			quality_unresolved(&n->profile->quality, path_of(n, module), n->unresolved[i]);
		if (module == MODULE_NONE)
			continue;
		buf_clear(&n->scratch);
		code_advice(codes_get(n->job->codes, module), &n->scratch);
		if (n->scratch.size)
			told->advice = profile_string(n->profile, n->scratch.data, n->scratch.size);
	}
}

static void name_all(const struct job *job, struct profile *profile, const struct symbolize_options *options)
{
	struct naming n = {.job = job, .profile = profile, .options = options};
	size_t modules = job->codes->modules->count;
	n.module_path = mem_zalloc(modules + 1, sizeof *n.module_path);
	n.unresolved = mem_zalloc(modules + 1, sizeof *n.unresolved);
	n.named = mem_zalloc(job->addresses->frame_count + 1, sizeof *n.named);
	for (size_t i = 0; i < job->addresses->frame_count; i++)
		name_address(&n, (uint32_t)i);
	profile->ordered |= job->addresses->ordered;
	stack_id *stacks CLEANUP_FREE = name_stacks(&n);
	struct stack_facts *facts CLEANUP_FREE = judge_stacks(&n);
	add_samples(&n, stacks, facts);
	count_unresolved(&n, facts);
	tell_unresolved(&n);
	quality_add(&profile->quality, &job->addresses->quality);
	free(n.module_path);
	free(n.unresolved);
	free(n.named);
	free(n.chain);
	free(n.names);
	index_map_release(&n.name_map);
	buf_release(&n.scratch);
}

void symbolize_profile(struct profile *profile, const struct profile *addresses, struct codes *codes,
		       const struct symbolize_options *options)
{
	struct job job = {.addresses = addresses, .codes = codes};
	size_t count = addresses->frame_count;
	unsigned threads = options->threads ? options->threads : 1;
	job.module = modules_of_functions(addresses);
	fetch_debug_files(codes, addresses, job.module);
	job.answers = mem_zalloc(count + 1, sizeof *job.answers);
	job.arenas = mem_zalloc(threads, sizeof *job.arenas);
	put_in_order(&job);
	parallel_run(threads, work, &job);
	name_all(&job, profile, options);
	for (unsigned i = 0; i < threads; i++)
		arena_release(&job.arenas[i]);
	free(job.module);
	free(job.order);
	free(job.starts);
	free(job.answers);
	free(job.arenas);
}
