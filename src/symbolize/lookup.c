/* Sorts frames by module, and looks them up on all cores. */
#include "symbolize/lookup.h"

#include "base/hash.h"
#include "base/parallel.h"
#include "base/radix_sort.h"
#include "symbolize/rules.h"

#include <string.h>

#define MAX_INLINED 64
#define CHUNK 256 /* addresses a thread takes at a time: neighbours in a module share compilation units */
#define RECENT 4096 /* answers of a thread to compare with; a power of two */

/* A thread's answers. */
struct answerer {
	struct arena arena;
	struct answer *recent[RECENT]; /* by hash */
};

static uint64_t hash_frames(const struct lookup *lookup, const struct answer *head, const struct symbol_frame *frames)
{
	uint64_t hash = hash_pair(head->module, head->flags);
	for (size_t i = 0; i < head->count; i++)
		hash = hash_mix((uintptr_t)frames[i].name ^ HASH_K0, hash ^ (lookup->lines ? frames[i].line : HASH_K1));
	return hash;
}

static bool is_answer(const struct lookup *lookup, const struct answer *answer, const struct answer *head,
		      const struct symbol_frame *frames)
{
	if (!answer || answer->count != head->count || answer->module != head->module || answer->kind != head->kind ||
	    answer->flags != head->flags || answer->shown_module != head->shown_module)
		return false;
	for (size_t i = 0; i < answer->count; i++) {
		const struct symbol_frame *a = &answer->frames[i], *b = &frames[i];
		if (a->name != b->name || a->inlined != b->inlined || a->start != b->start ||
		    (lookup->lines && (a->file != b->file || a->line != b->line)))
			return false;
	}
	return true;
}

static struct module_code *code_of(const struct lookup *lookup, const struct trace_frame *frame)
{
	module_id module = frame_rule_module(frame);
	return module == MODULE_NONE ? NULL : lookup->code[module];
}

/* Neighbours often have the same answer: it is kept, and later named, once. */
static void look_up(struct lookup *lookup, uint32_t id, struct answerer *answerer)
{
	const struct trace_frame *frame = &lookup->trace->frames[id];
	struct symbol_frame frames[MAX_INLINED];
	struct module_code *code = code_of(lookup, frame);
	if (!code)
		return;
	size_t count = (trace_frame_is_exact(frame) ? module_code_find : module_code_find_call)(
		code, frame->address, frame->version, frames, MAX_INLINED);
	if (!count)
		return;
	struct answer head = {
		.module = frame->module,
		.kind = frame->kind,
		.flags = frame->flags & TRACE_INVERTED,
		.shown_module = module_code_shown_module_at(code, frame->address),
		.count = count,
	};
	struct answer **recent = &answerer->recent[hash_frames(lookup, &head, frames) >> 32 & (RECENT - 1)];
	if (!is_answer(lookup, *recent, &head, frames)) {
		*recent = arena_alloc(&answerer->arena, sizeof head + count * sizeof *frames, _Alignof(struct answer));
		**recent = head;
		memcpy((*recent)->frames, frames, count * sizeof *frames);
	}
	lookup->answers[id - lookup->from] = *recent;
}

static const struct trace_frame *frame_in_order(const struct lookup *lookup, size_t at)
{
	return &lookup->trace->frames[lookup->order[at]];
}

static bool starts_module(const struct lookup *lookup, size_t at)
{
	return !at ||
	       frame_rule_module(frame_in_order(lookup, at)) != frame_rule_module(frame_in_order(lookup, at - 1));
}

/*
 * The first address of a module takes the longest: its files are opened then, while all who ask for another address in
 * it wait. So these are spread over the threads before the others, beginning with the kernel's, whose symbols take the
 * longest of all.
 */
static void work(void *context, unsigned worker)
{
	struct lookup *lookup = context;
	size_t count = lookup->count, start;
	while ((start = atomic_fetch_add(&lookup->next_start, 1)) < lookup->start_count)
		look_up(lookup, lookup->order[lookup->starts[lookup->start_count - 1 - start]],
			&lookup->answerers[worker]);
	size_t chunks = (count + CHUNK - 1) / CHUNK, each = (chunks + lookup->threads - 1) / lookup->threads, next;
	while ((next = atomic_fetch_add(&lookup->next, 1)) < each * lookup->threads) {
		/* Neighbours are of one compilation unit, which threads would wait for: each has a part of its own. */
		size_t from = (next % lookup->threads * each + next / lookup->threads) * CHUNK;
		size_t to = from + CHUNK < count ? from + CHUNK : count;
		for (size_t i = from; i < to; i++)
			if (!starts_module(lookup, i))
				look_up(lookup, lookup->order[i], &lookup->answerers[worker]);
	}
}

static void get_codes(struct lookup *lookup)
{
	const struct trace_frame *frames = lookup->trace->frames + lookup->from;
	size_t modules = 0;
	for (size_t i = 0; i < lookup->count; i++) {
		module_id module = frame_rule_module(&frames[i]);
		if (module != MODULE_NONE && module >= modules)
			modules = (size_t)module + 1;
	}
	lookup->code = mem_zalloc(modules + 1, sizeof *lookup->code);
	for (size_t i = 0; i < lookup->count; i++) {
		module_id module = frame_rule_module(&frames[i]);
		if (module != MODULE_NONE && !lookup->code[module])
			lookup->code[module] = module_store_get(lookup->codes, module);
	}
}

/* Kernel code after all other. */
static uint64_t place_of_module(const struct trace_frame *frame)
{
	return (uint64_t)(frame->kind == TRACE_KERNEL) << 32 | frame_rule_module(frame);
}

static void put_in_order(struct lookup *lookup)
{
	const struct trace_frame *frames = lookup->trace->frames;
	struct radix_key *keys CLEANUP_FREE = mem_alloc(lookup->count * sizeof *keys);
	for (size_t i = 0; i < lookup->count; i++)
		keys[i] = (struct radix_key){frames[lookup->from + i].address, (uint32_t)(lookup->from + i)};
	radix_sort(keys, lookup->count);
	for (size_t i = 0; i < lookup->count; i++)
		keys[i].key = place_of_module(&frames[keys[i].index]);
	radix_sort(keys, lookup->count);
	lookup->order = mem_alloc(lookup->count * sizeof *lookup->order);
	lookup->starts = mem_alloc(lookup->count * sizeof *lookup->starts);
	for (size_t i = 0; i < lookup->count; i++) {
		lookup->order[i] = keys[i].index;
		if (starts_module(lookup, i))
			lookup->starts[lookup->start_count++] = i;
	}
}

/* Whoever can write a file can write nonsense into it while it is read: it has no names then. */
static void forget_changed(struct lookup *lookup)
{
	for (size_t start = 0; start < lookup->start_count; start++) {
		size_t end = start + 1 < lookup->start_count ? lookup->starts[start + 1] : lookup->count;
		struct module_code *code = code_of(lookup, frame_in_order(lookup, lookup->starts[start]));
		bool changed = code && code_changed(code);
		for (size_t i = lookup->starts[start]; changed && i < end; i++)
			lookup->answers[lookup->order[i] - lookup->from] = NULL;
	}
}

void lookup_run(struct lookup *lookup)
{
	lookup->count = lookup->trace->frame_count - lookup->from;
	if (!lookup->count)
		return;
	lookup->answers = mem_zalloc(lookup->count, sizeof *lookup->answers);
	lookup->answerers = mem_zalloc(lookup->threads, sizeof *lookup->answerers);
	get_codes(lookup);
	put_in_order(lookup);
	parallel_run(lookup->threads, work, lookup);
	forget_changed(lookup);
}

/* Addresses of a module are neighbours in `order`. */
void lookup_keep(const struct lookup *lookup)
{
	struct name_entry *entries CLEANUP_FREE = mem_alloc((lookup->count + 1) * sizeof *entries);
	for (size_t start = 0; start < lookup->start_count; start++) {
		size_t end = start + 1 < lookup->start_count ? lookup->starts[start + 1] : lookup->count, count = 0;
		struct module_code *code = code_of(lookup, frame_in_order(lookup, lookup->starts[start]));
		for (size_t i = lookup->starts[start]; i < end && code; i++) {
			const struct answer *answer = lookup->answers[lookup->order[i] - lookup->from];
			uint64_t address = frame_in_order(lookup, i)->address;
			if (answer && (!count || entries[count - 1].address < address))
				entries[count++] = (struct name_entry){address, answer->frames, answer->count};
		}
		if (count)
			module_code_keep_names(code, entries, count);
	}
}

void lookup_release(struct lookup *lookup)
{
	for (unsigned i = 0; lookup->answerers && i < lookup->threads; i++)
		arena_release(&lookup->answerers[i].arena);
	free(lookup->code);
	free(lookup->order);
	free(lookup->starts);
	free(lookup->answers);
	free(lookup->answerers);
}
