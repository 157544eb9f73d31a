/* Profiles of addresses, one of each worker's, become one with names: side by side, as far as they differ. */
#include "base/parallel.h"
#include "event/fetch.h"
#include "event/remedies.h"
#include "event/symbolizer.h"
#include "profile/follow.h"

#include <stdatomic.h>
#include <string.h>

#define SAMPLES_AHEAD 8 /* whose stacks are fetched from memory already */

/* What one profile of addresses becomes. */
struct part {
	const struct profile *addresses;
	struct profile_follower to; /* its frames among those of the first part, which has got all */
	const frame_id *frames; /* the same; NULL: it is the first */
	thread_id *threads; /* with names, by its own ids */
	value_id *values;
	struct profile *named; /* the result, or `branch`, which later joins it */
	struct profile branch;
	struct symbolizer_stack *stacks; /* by its own ids */
	uint64_t *unresolved; /* frames without a symbol over all samples, by module id + 1 */
};

struct parts {
	struct symbolizer *symbolizer;
	const struct profile *addresses; /* the first part, which has the frames of all */
	struct part *items;
	size_t count;
	atomic_size_t next;
};

static void name_stacks(const struct parts *parts, struct part *part)
{
	const struct symbolizer *n = parts->symbolizer;
	const struct profile *from = part->addresses;
	part->stacks = mem_alloc(from->stack_count * sizeof *part->stacks);
	part->stacks[STACK_ROOT] = SYMBOLIZER_OUTSIDE;
	for (size_t i = STACK_ROOT + 1; i < from->stack_count; i++) {
		const struct stack *stack = &from->stacks[i], *ahead = stack + STACKS_AHEAD;
		if (i + STACKS_AHEAD < from->stack_count && ahead->parent < i) {
			frame_id id = part->frames ? part->frames[ahead->frame] : ahead->frame;
			profile_stack_prefetch(part->named, part->stacks[ahead->parent].stack,
					       n->chain[n->named[id].first]);
		}
		frame_id id = part->frames ? part->frames[stack->frame] : stack->frame;
		part->stacks[i] =
			symbolizer_push(n, part->named, part->stacks[stack->parent], &parts->addresses->frames[id], id);
	}
}

/* Fills in how many samples end in each stack of addresses. */
static void add_samples(const struct symbolizer *n, struct part *part, uint64_t *ends)
{
	const struct profile *from = part->addresses;
	const struct profile_filter *filter = &n->options.filter;
	bool *fits CLEANUP_FREE = filter->modules || filter->functions ? profile_stacks_that_fit(part->named, filter) :
									 NULL;
	for (size_t i = 0; i < from->sample_count; i++) {
		struct sample sample = from->samples[i];
		if (i + SAMPLES_AHEAD < from->sample_count)
			__builtin_prefetch(
				&part->named->stacks[part->stacks[from->samples[i + SAMPLES_AHEAD].stack].stack]);
		const struct symbolizer_stack *stack = &part->stacks[sample.stack];
		if (fits && !fits[stack->stack])
			continue;
		ends[sample.stack] += sample.count;
		sample.value = part->values[sample.value];
		symbolizer_count(part->named, sample.value, sample.count, stack);
		sample.thread = part->threads[sample.thread];
		sample.stack = stack->stack;
		profile_add_sum(part->named, sample);
	}
}

static void count_unresolved(const struct parts *parts, struct part *part, uint64_t *ends)
{
	const struct symbolizer *n = parts->symbolizer;
	const struct profile *from = part->addresses;
	for (size_t i = from->stack_count; i-- > STACK_ROOT + 1;) {
		const struct stack *stack = &from->stacks[i];
		frame_id id = part->frames ? part->frames[stack->frame] : stack->frame;
		ends[stack->parent] += ends[i];
		if (n->named[id].unresolved)
			part->unresolved[(module_id)(n->module[parts->addresses->frames[id].function] + 1)] += ends[i];
	}
}

static void name_parts(void *context, unsigned worker)
{
	(void)worker;
	struct parts *parts = context;
	size_t next;
	while ((next = atomic_fetch_add(&parts->next, 1)) < parts->count) {
		struct part *part = &parts->items[next];
		uint64_t *ends CLEANUP_FREE = mem_zalloc(part->addresses->stack_count, sizeof *ends);
		name_stacks(parts, part);
		add_samples(parts->symbolizer, part, ends);
		count_unresolved(parts, part, ends);
	}
}

/* Everything that the parts name in common; what is left to do for each of them touches nothing of the others. */
static void prepare_parts(struct parts *parts)
{
	struct symbolizer *n = parts->symbolizer;
	for (size_t i = 0; i < parts->count; i++) {
		struct part *part = &parts->items[i];
		const struct profile *from = part->addresses;
		part->threads = mem_alloc((from->thread_count + 1) * sizeof *part->threads);
		part->values = mem_alloc((from->value_count + 1) * sizeof *part->values);
		part->unresolved = mem_zalloc(n->codes->modules->count + 1, sizeof *part->unresolved);
		for (size_t k = 0; k < from->thread_count; k++)
			part->threads[k] = symbolizer_name_thread(n, from, from->threads[k]);
		for (size_t k = 0; k < from->value_count; k++)
			part->values[k] = symbolizer_value(n, from, (value_id)k);
		n->profile->ordered |= from->ordered;
		quality_add(&n->profile->quality, &from->quality);
	}
	parts->items[0].named = n->profile;
	for (size_t i = 1; i < parts->count; i++) {
		profile_branch(&parts->items[i].branch, n->profile);
		parts->items[i].named = &parts->items[i].branch;
	}
}

static void join_parts(struct parts *parts, uint64_t *unresolved)
{
	for (size_t i = 0; i < parts->count; i++) {
		struct part *part = &parts->items[i];
		if (i)
			profile_join(parts->symbolizer->profile, &part->branch);
		for (size_t k = 0; k <= parts->symbolizer->codes->modules->count; k++)
			unresolved[k] += part->unresolved[k];
		profile_release(&part->branch);
		free(part->threads);
		free(part->values);
		free(part->stacks);
		free(part->unresolved);
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
			quality_unresolved(quality, symbolizer_module_path(n, (module_id)i - 1), unresolved[i]);
	for (size_t i = 0; i < count; i++) {
		const struct buf *text = remedies_text(remedies, heaviest[i], &n->scratch);
		if (text->size)
			quality_unresolved(quality, symbolizer_module_path(n, heaviest[i]), 0)->advice =
				profile_string(n->profile, text->data, text->size);
	}
}

static void symbolize(struct parts *parts)
{
	struct symbolizer *n = parts->symbolizer;
	symbolizer_name_modules(n, parts->addresses);
	fetch_debug_files(n->codes, parts->addresses, n->module);
	symbolizer_name_frames(n, parts->addresses);
	struct remedies remedies;
	start_remedies(n, parts->addresses, &remedies);
	prepare_parts(parts);
	unsigned threads = n->options.threads ? n->options.threads : 1;
	parallel_run(threads < parts->count ? threads : (unsigned)parts->count, name_parts, parts);
	uint64_t *unresolved CLEANUP_FREE = mem_zalloc(n->codes->modules->count + 1, sizeof *unresolved);
	join_parts(parts, unresolved);
	tell_unresolved(n, unresolved, &remedies);
	remedies_end(&remedies);
}

void symbolize_profiles(struct profile *profile, struct profile *const *addresses, size_t count, struct codes *codes,
			const struct symbolize_options *options)
{
	/* Whose files are worth fetching, and which stacks pass a filter, is asked of all samples together. */
	if (codes->debuginfod || options->filter.modules || options->filter.functions)
		for (; count > 1; count--)
			profile_merge(addresses[0], addresses[count - 1]);
	struct parts parts = {
		.symbolizer = symbolizer_new(profile, codes, options),
		.addresses = addresses[0],
		.items = mem_zalloc(count, sizeof *parts.items),
		.count = count,
	};
	for (size_t i = 0; i < count; i++) {
		struct part *part = &parts.items[i];
		part->addresses = addresses[i];
		if (i)
			profile_follow_frames(&part->to, addresses[0], addresses[i]);
		part->frames = part->to.frames;
	}
	symbolize(&parts);
	for (size_t i = 0; i < count; i++)
		profile_follower_release(&parts.items[i].to);
	free(parts.items);
	symbolizer_free(parts.symbolizer);
}
