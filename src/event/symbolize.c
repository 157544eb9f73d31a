#include "event/symbolize.h"

#include "base/hash.h"
#include "base/parallel.h"
#include "event/fetch.h"
#include "event/remedies.h"
#include "profile/tidy.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define MOST_INLINED 64
#define CHUNK 256 /* addresses a thread takes at a time: neighbours in a module share compilation units */

#define SAMPLES_AHEAD 8 /* whose stacks are fetched from memory already */
#define RECENT 4096 /* answers of a thread to compare with; a power of two */

/* What addresses are called that differ in nothing that is shown. */
struct answer {
	function_id function; /* of `addresses`: the module */
	uint32_t kind;
	const char *module; /* what is shown as its module */
	size_t named; /* frame + 1 of `addresses` that has got its name; 0: none yet */
	size_t count;
	struct symbol_frame frames[]; /* innermost first */
};

/* A thread's answers. */
struct answerer {
	struct arena arena;
	struct answer *recent[RECENT]; /* by hash */
};

/* Looking up the frames of `addresses` from `from` on. */
struct job {
	const struct profile *addresses;
	const module_id *module; /* by function of `addresses` */
	struct code **code; /* the same; NULL: none */
	size_t from, count;
	uint32_t *order; /* frames, sorted by module and address, those of the kernel last */
	struct answer **answers; /* by frame − from; NULL: nothing is known */
	bool lines; /* they are shown or kept */
	size_t *starts; /* where in `order` a module begins */
	size_t start_count;
	unsigned threads;
	atomic_size_t next_start, next;
	struct answerer *answerers; /* by worker */
};

function_id symbolize_module_function(struct profile *addresses, module_id module)
{
	char number[16] = "";
	if (module != MODULE_NONE)
		snprintf(number, sizeof number, "%u", module);
	return profile_function(addresses,
				(struct function){.module = profile_string(addresses, number, strlen(number))});
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

static uint64_t hash_frames(const struct job *job, function_id function, const struct symbol_frame *frames,
			    size_t count)
{
	uint64_t hash = hash_u64(function);
	for (size_t i = 0; i < count; i++)
		hash = hash_mix((uintptr_t)frames[i].name ^ HASH_K0, hash ^ (job->lines ? frames[i].line : HASH_K1));
	return hash;
}

static bool is_answer(const struct job *job, const struct answer *answer, const struct answer *head,
		      const struct symbol_frame *frames)
{
	if (!answer || answer->count != head->count || answer->function != head->function ||
	    answer->kind != head->kind || answer->module != head->module)
		return false;
	for (size_t i = 0; i < answer->count; i++) {
		const struct symbol_frame *a = &answer->frames[i], *b = &frames[i];
		if (a->name != b->name || a->inlined != b->inlined || a->start != b->start ||
		    (job->lines && (a->file != b->file || a->line != b->line)))
			return false;
	}
	return true;
}

/* Neighbours often have the same answer: it is kept, and later named, once. */
static void look_up(struct job *job, uint32_t id, struct answerer *answerer)
{
	const struct frame *frame = &job->addresses->frames[id];
	struct symbol_frame frames[MOST_INLINED];
	struct code *code = job->code[frame->function];
	if (!code)
		return;
	size_t count = frame->line & 1 ? code_find(code, frame->address, frame->line >> 1, frames, MOST_INLINED) :
					 code_find_call(code, frame->address, frame->line >> 1, frames, MOST_INLINED);
	if (!count)
		return;
	struct answer head = {
		.function = frame->function,
		.kind = frame->kind,
		.module = code_module_name(code, frame->address),
		.count = count,
	};
	struct answer **recent =
		&answerer->recent[hash_frames(job, frame->function, frames, count) >> 32 & (RECENT - 1)];
	if (!is_answer(job, *recent, &head, frames)) {
		*recent = arena_alloc(&answerer->arena, sizeof head + count * sizeof *frames, _Alignof(struct answer));
		**recent = head;
		memcpy((*recent)->frames, frames, count * sizeof *frames);
	}
	job->answers[id - job->from] = *recent;
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
	size_t count = job->count, start;
	while ((start = atomic_fetch_add(&job->next_start, 1)) < job->start_count)
		look_up(job, job->order[job->starts[job->start_count - 1 - start]], &job->answerers[worker]);
	size_t chunks = (count + CHUNK - 1) / CHUNK, each = (chunks + job->threads - 1) / job->threads, next;
	while ((next = atomic_fetch_add(&job->next, 1)) < each * job->threads) {
		/* Neighbours are of one compilation unit, which threads would wait for: each has a part of its own. */
		size_t from = (next % job->threads * each + next / job->threads) * CHUNK;
		size_t to = from + CHUNK < count ? from + CHUNK : count;
		for (size_t i = from; i < to; i++)
			if (!starts_module(job, i))
				look_up(job, job->order[i], &job->answerers[worker]);
	}
}

static void get_codes(struct job *job, struct codes *codes)
{
	job->code = mem_zalloc(job->addresses->function_count, sizeof *job->code);
	for (size_t i = 0; i < job->addresses->function_count; i++)
		if (job->module[i] < MODULE_TEXT)
			job->code[i] = codes_get(codes, job->module[i]);
}

static void put_in_order(struct job *job)
{
	size_t count = job->count;
	job->order = mem_alloc((count + 1) * sizeof *job->order);
	job->starts = mem_alloc((count + 1) * sizeof *job->starts);
	for (size_t i = 0; i < count; i++)
		job->order[i] = (uint32_t)(job->from + i);
	qsort_r(job->order, count, sizeof *job->order, compare_addresses, job);
	for (size_t i = 0; i < count; i++)
		if (starts_module(job, i))
			job->starts[job->start_count++] = i;
}

/* --- the profile with names --- */

/* What an address is called. */
struct symbolizer_name {
	size_t first; /* in `chain` */
	uint32_t count;
	bool unresolved;
};

struct known_name {
	const char *text; /* where a symbol has it: each is tidied once */
	str_id name;
};

struct symbolizer {
	struct profile *profile;
	struct codes *codes;
	struct symbolize_options options;
	module_id *module; /* by function of the addresses */
	size_t function_count, function_capacity;
	struct symbolizer_name *named; /* by frame of the addresses */
	size_t frame_count, frame_capacity;
	frame_id *chain; /* frames of each address, outermost first */
	size_t chain_count, chain_capacity;
	struct symbolizer_stack *stacks; /* by stack of the addresses */
	size_t stack_count, stack_capacity;
	thread_id *threads; /* by thread of the addresses */
	size_t thread_count, thread_capacity;
	str_id *module_path; /* by module id; 0: not made yet */
	size_t path_count, path_capacity;
	struct buf scratch;
	struct known_name *names; /* that have been tidied */
	size_t name_count, name_capacity;
	struct index_map name_map;
};

struct symbolizer *symbolizer_new(struct profile *profile, struct codes *codes, const struct symbolize_options *options)
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

static str_id path_of(struct symbolizer *n, module_id module)
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
		const char *path = code_path(codes_get(n->codes, module));
		n->module_path[module] = profile_string(n->profile, path, strlen(path));
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
	return module < MODULE_TRUNCATED && code_is_jit(codes_get(n->codes, module)) ? FRAME_JIT : FRAME_NATIVE;
}

static void name_unresolved(struct symbolizer *n, module_id module, uint64_t address)
{
	str_id path = path_of(n, module);
	const char *text = profile_text(n->profile, path);
	buf_clear(&n->scratch);
	tidy_unresolved(&n->scratch, text, module == MODULE_NONE ? 0 : strlen(text));
	if (n->options.addresses) {
		n->scratch.size--; /* the bracket */
		buf_printf(&n->scratch, " <%llx>]", (unsigned long long)address);
	}
	str_id name = profile_string(n->profile, n->scratch.data, n->scratch.size);
	add_frame(n, (struct function){.name = name, .module = path}, 0, FRAME_UNKNOWN);
}

static str_id tidied(struct symbolizer *n, const char *text, bool jit)
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

static void name_resolved(struct symbolizer *n, module_id module, const struct frame *address,
			  const struct answer *answer)
{
	str_id path = profile_string(n->profile, answer->module, strlen(answer->module));
	bool jit = code_is_jit(codes_get(n->codes, module));
	for (size_t i = answer->count; i-- > 0;) {
		const struct symbol_frame *frame = &answer->frames[i];
		struct function function = {.name = tidied(n, frame->name, jit), .module = path};
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
	named.count = (uint32_t)(n->chain_count - named.first);
	if (!strcmp(text, SYMBOLIZE_REVERSED))
		reverse_frames(n->chain + named.first, named.count);
	n->named[n->frame_count++] = named;
}

/* Addresses of a module are neighbours in `order`. */
static void keep_names(const struct symbolizer *n, const struct job *job)
{
	struct name_entry *entries CLEANUP_FREE = mem_alloc((job->count + 1) * sizeof *entries);
	for (size_t start = 0; start < job->start_count; start++) {
		size_t end = start + 1 < job->start_count ? job->starts[start + 1] : job->count, count = 0;
		module_id module = n->module[job->addresses->frames[job->order[job->starts[start]]].function];
		for (size_t i = job->starts[start]; i < end && module < MODULE_TRUNCATED; i++) {
			const struct answer *answer = job->answers[job->order[i] - job->from];
			uint64_t address = job->addresses->frames[job->order[i]].address;
			if (answer && (!count || entries[count - 1].address < address))
				entries[count++] = (struct name_entry){address, answer->frames, answer->count};
		}
		if (count)
			code_keep_names(codes_get(n->codes, module), entries, count);
	}
}

static void name_modules(struct symbolizer *n, const struct profile *addresses)
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

static void name_frames(struct symbolizer *n, const struct profile *addresses)
{
	unsigned threads = n->options.threads ? n->options.threads : 1;
	struct job job = {
		.addresses = addresses,
		.module = n->module,
		.threads = threads,
		.from = n->frame_count,
		.lines = n->options.keep_lines || n->options.keep_names,
		.count = addresses->frame_count - n->frame_count,
	};
	if (!job.count)
		return;
	job.answers = mem_zalloc(job.count, sizeof *job.answers);
	job.answerers = mem_zalloc(threads, sizeof *job.answerers);
	get_codes(&job, n->codes);
	put_in_order(&job);
	parallel_run(threads, work, &job);
	if (n->options.keep_names)
		keep_names(n, &job);
	n->named = mem_grow(n->named, &n->frame_capacity, addresses->frame_count, sizeof *n->named);
	for (size_t i = 0; i < job.count; i++)
		name_address(n, addresses, &addresses->frames[job.from + i], job.answers[i]);
	for (unsigned i = 0; i < threads; i++)
		arena_release(&job.answerers[i].arena);
	free(job.code);
	free(job.order);
	free(job.starts);
	free(job.answers);
	free(job.answerers);
}

static void name_stack(struct symbolizer *n, const struct profile *addresses)
{
	struct symbolizer_stack *named = &n->stacks[n->stack_count];
	*named = (struct symbolizer_stack){.stack = STACK_ROOT};
	if (n->stack_count++ == STACK_ROOT)
		return;
	const struct stack *stack = &addresses->stacks[n->stack_count - 1];
	const struct frame *frame = &addresses->frames[stack->frame];
	const struct symbolizer_name *name = &n->named[stack->frame];
	*named = n->stacks[stack->parent];
	if (stack->parent == STACK_ROOT)
		named->truncated = frame->kind != FRAME_KERNEL && n->module[frame->function] >= MODULE_TRUNCATED;
	named->unresolved |= name->unresolved;
	for (uint32_t k = 0; k < name->count; k++)
		named->stack = profile_stack(n->profile, named->stack, n->chain[name->first + k]);
}

/* Names of threads begin folded lines, so they get what names of functions get. */
static thread_id name_thread(struct symbolizer *n, const struct profile *addresses, struct thread thread)
{
	const char *comm = profile_text(addresses, thread.comm);
	buf_clear(&n->scratch);
	for (; *comm; comm++)
		buf_char(&n->scratch, *comm == ' ' ? '_' : *comm == ';' ? ':' : *comm);
	thread.comm = profile_string(n->profile, n->scratch.data ? n->scratch.data : "", n->scratch.size);
	return profile_thread(n->profile, thread);
}

void symbolizer_extend(struct symbolizer *n, const struct profile *addresses)
{
	name_modules(n, addresses);
	name_frames(n, addresses);
	n->stacks = mem_grow(n->stacks, &n->stack_capacity, addresses->stack_count, sizeof *n->stacks);
	while (n->stack_count < addresses->stack_count)
		name_stack(n, addresses);
	n->threads = mem_grow(n->threads, &n->thread_capacity, addresses->thread_count, sizeof *n->threads);
	for (; n->thread_count < addresses->thread_count; n->thread_count++)
		n->threads[n->thread_count] = name_thread(n, addresses, addresses->threads[n->thread_count]);
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

/* --- all at once --- */

static value_id *name_values(const struct symbolizer *n, const struct profile *addresses)
{
	value_id *values = mem_alloc((addresses->value_count + 1) * sizeof *values);
	for (size_t i = 0; i < addresses->value_count; i++)
		values[i] = symbolizer_value(n, addresses, (value_id)i);
	return values;
}

void symbolizer_count(struct profile *profile, value_id value, uint32_t count, const struct symbolizer_stack *stack)
{
	struct value_type *type = &profile->values[value];
	uint32_t truncated = stack->truncated ? count : 0, unresolved = stack->unresolved ? count : 0;
	type->samples += count;
	type->truncated += truncated;
	type->unresolved += unresolved;
	profile->quality.samples += count;
	profile->quality.truncated += truncated;
	profile->quality.unresolved += unresolved;
}

/* Fills in how many samples end in each stack of `addresses`. */
static void add_samples(struct symbolizer *n, const struct profile *addresses, uint64_t *ends)
{
	value_id *values CLEANUP_FREE = name_values(n, addresses);
	bool *fits CLEANUP_FREE = profile_stacks_that_fit(n->profile, &n->options.filter);
	for (size_t i = 0; i < addresses->sample_count; i++) {
		struct sample sample = addresses->samples[i];
		if (i + SAMPLES_AHEAD < addresses->sample_count)
			__builtin_prefetch(
				&n->profile->stacks[n->stacks[addresses->samples[i + SAMPLES_AHEAD].stack].stack]);
		const struct symbolizer_stack *stack = &n->stacks[sample.stack];
		if (!fits[stack->stack])
			continue;
		ends[sample.stack] += sample.count;
		sample.value = values[sample.value];
		symbolizer_count(n->profile, sample.value, sample.count, stack);
		sample.thread = n->threads[sample.thread];
		sample.stack = stack->stack;
		profile_add_sum(n->profile, sample);
	}
}

/* Counts frames without a symbol by module, over all samples; by module id + 1. */
static void count_unresolved(const struct symbolizer *n, const struct profile *addresses, uint64_t *ends,
			     uint64_t *unresolved)
{
	for (size_t i = addresses->stack_count; i-- > 1;) {
		const struct stack *stack = &addresses->stacks[i];
		ends[stack->parent] += ends[i];
		if (n->named[stack->frame].unresolved)
			unresolved[(module_id)(n->module[addresses->frames[stack->frame].function] + 1)] += ends[i];
	}
}

/* By the number of addresses: what the filters leave of the samples is not known yet. */
static void start_remedies(const struct symbolizer *n, const struct profile *addresses, struct remedies *remedies)
{
	uint64_t *amounts CLEANUP_FREE = mem_zalloc(n->codes->modules->count + 1, sizeof *amounts);
	for (size_t i = 0; i < n->frame_count; i++)
		if (n->named[i].unresolved)
			amounts[(module_id)(n->module[addresses->frames[i].function] + 1)]++;
	remedies_start(remedies, n->codes, amounts);
}

static void tell_unresolved(struct symbolizer *n, const uint64_t *unresolved, struct remedies *remedies)
{
	struct quality *quality = &n->profile->quality;
	module_id heaviest[REMEDIES_MOST];
	size_t count = remedies_rank(n->codes, unresolved, heaviest);
	for (size_t i = 0; i <= n->codes->modules->count; i++)
		if (unresolved[i])
			quality_unresolved(quality, path_of(n, (module_id)i - 1), unresolved[i]);
	for (size_t i = 0; i < count; i++) {
		const struct buf *text = remedies_text(remedies, heaviest[i], &n->scratch);
		if (text->size)
			quality_unresolved(quality, path_of(n, heaviest[i]), 0)->advice =
				profile_string(n->profile, text->data, text->size);
	}
}

void symbolize_profile(struct profile *profile, const struct profile *addresses, struct codes *codes,
		       const struct symbolize_options *options)
{
	struct symbolizer *n = symbolizer_new(profile, codes, options);
	uint64_t *ends CLEANUP_FREE = mem_zalloc(addresses->stack_count, sizeof *ends);
	uint64_t *unresolved CLEANUP_FREE = mem_zalloc(codes->modules->count + 1, sizeof *unresolved);
	name_modules(n, addresses);
	fetch_debug_files(codes, addresses, n->module);
	name_frames(n, addresses);
	struct remedies remedies;
	start_remedies(n, addresses, &remedies);
	symbolizer_extend(n, addresses);
	profile->ordered |= addresses->ordered;
	add_samples(n, addresses, ends);
	count_unresolved(n, addresses, ends, unresolved);
	tell_unresolved(n, unresolved, &remedies);
	remedies_end(&remedies);
	quality_add(&profile->quality, &addresses->quality);
	symbolizer_free(n);
}
