/* Growing the tree: samples in, nodes out. calltree_finish.c brings them in order. */
#include "base/hash.h"
#include "profile/calltree_builder.h"
#include "profile/match.h"

static uint32_t new_node(struct builder *b, uint32_t parent, uint32_t label)
{
	if (b->count == b->capacity) {
		b->capacity = b->capacity ? b->capacity * 2 : 1024;
		b->label = mem_realloc(b->label, b->capacity, sizeof *b->label);
		b->parent = mem_realloc(b->parent, b->capacity, sizeof *b->parent);
		b->first_child = mem_realloc(b->first_child, b->capacity, sizeof *b->first_child);
		for (int v = 0; v < b->values; v++)
			b->self[v] = mem_realloc(b->self[v], b->capacity, sizeof *b->self[v]);
		if (b->in_time_order)
			b->lead = mem_realloc(b->lead, b->capacity, sizeof *b->lead);
	}
	uint32_t node = (uint32_t)b->count++;
	b->label[node] = label;
	b->parent[node] = parent;
	b->first_child[node] = NODE_ROOT;
	for (int v = 0; v < b->values; v++)
		b->self[v][node] = 0;
	if (b->in_time_order)
		b->lead[node] = node == NODE_ROOT ? 0 : b->self[0][parent];
	return node;
}

/* As profile_stack(): most nodes have one child at most, which needs no hash table. */
static uint32_t child(struct builder *b, uint32_t parent, uint32_t label)
{
	uint32_t first = b->first_child[parent];
	if (first == NODE_ROOT) {
		uint32_t node = new_node(b, parent, label);
		b->first_child[parent] = node;
		return node;
	}
	if (b->label[first] == label)
		return first;
	uint64_t hash = hash_pair(parent, label);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&b->children, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&b->children, &probe))
		if (b->parent[i] == parent && b->label[i] == label)
			return i;
	uint32_t node = new_node(b, parent, label);
	index_map_insert(&b->children, hash, node);
	return node;
}

static void add_self(struct builder *b, uint32_t node, const struct sample *sample)
{
	int which = sample->value == b->options->values[0] ? 0 : 1;
	int64_t weight = b->options->weigh == TREE_SAMPLES ? (int64_t)sample->count : sample->weight;
	b->self[which][node] = weight_add(b->self[which][node], weight);
	if (b->options->weigh == TREE_WEIGHTS_AND_SAMPLES)
		b->self[1][node] = weight_add(b->self[1][node], (int64_t)sample->count);
}

static bool wanted(const struct builder *b, const struct sample *sample)
{
	return sample->value == b->options->values[0] || sample->value == b->options->values[1];
}

/* The node of `frame` called from the node `parent`, by the rules about where stacks begin. */
static uint32_t step(struct builder *b, uint32_t parent, frame_id frame)
{
	uint32_t label = b->frame_label[frame];
	if (label == LABEL_HIDDEN)
		return parent;
	if (b->starts && b->starts[label])
		parent = NODE_ROOT;
	return parent == NODE_OUT ? NODE_OUT : child(b, parent, label);
}

/* What stands below the root for the sample `index`: its thread, or one of its labels. */
static uint32_t outer_label(const struct builder *b, size_t index)
{
	if (b->set_label)
		return b->set_label[label_column_get(&b->profile->labels, index)];
	return b->thread_label[b->profile->samples[index].thread];
}

static uint32_t outer_node(struct builder *b, size_t index)
{
	if (b->options->base)
		return NODE_OUT;
	uint32_t label = outer_label(b, index);
	return label == LABEL_HIDDEN ? NODE_ROOT : child(b, NODE_ROOT, label);
}

/* Marks the stacks that samples of the group have, and those they are called from. */
static void mark_needed(const struct builder *b, const uint32_t *group, size_t count, bool *needed)
{
	const struct profile *profile = b->profile;
	memset(needed, 0, profile->stack_count * sizeof *needed);
	for (size_t i = 0; i < count; i++)
		needed[profile->samples[group[i]].stack] = true;
	for (size_t i = profile->stack_count; i-- > STACK_ROOT + 1;)
		if (needed[i])
			needed[profile->stacks[i].parent] = true;
}

static void prefetch_step(const struct builder *b, uint32_t parent, frame_id frame)
{
	if (parent == NODE_OUT)
		return;
	__builtin_prefetch(&b->first_child[parent]);
	index_map_prefetch(&b->children, hash_pair(parent, b->frame_label[frame]));
}

/*
 * Samples grouped by their outermost label: within a group a stack always leads to the same node. Callers come
 * before what they call, so one pass over the stacks will do.
 */
static void add_group(struct builder *b, const uint32_t *group, size_t count, bool *needed, uint32_t *node)
{
	const struct profile *profile = b->profile;
	const struct stack *stacks = profile->stacks;
	mark_needed(b, group, count, needed);
	node[STACK_ROOT] = outer_node(b, group[0]);
	for (size_t i = STACK_ROOT + 1; i < profile->stack_count; i++) {
		const struct stack *ahead = &stacks[i + STACKS_AHEAD];
		if (i + STACKS_AHEAD < profile->stack_count && needed[i + STACKS_AHEAD] && ahead->parent < i)
			prefetch_step(b, node[ahead->parent], ahead->frame);
		if (needed[i])
			node[i] = step(b, node[stacks[i].parent], stacks[i].frame);
	}
	for (size_t i = 0; i < count; i++) {
		const struct sample *sample = &profile->samples[group[i]];
		if (node[sample->stack] == NODE_OUT)
			b->tree->left_out++;
		else
			add_self(b, node[sample->stack], sample);
	}
}

/* Indexes of the wanted samples, grouped by outermost label in the order of first appearance. Returns their number. */
static size_t group_samples(const struct builder *b, uint32_t *order, size_t *group_end, size_t *group_count)
{
	const struct profile *profile = b->profile;
	size_t labels = b->labels.count + 1, total = 0;
	uint32_t *size CLEANUP_FREE = mem_zalloc(labels, sizeof *size);
	uint32_t *sequence CLEANUP_FREE = mem_alloc(labels * sizeof *sequence);
	size_t *at CLEANUP_FREE = mem_alloc(labels * sizeof *at);
	*group_count = 0;
	for (size_t i = 0; i < profile->sample_count; i++) {
		if (!wanted(b, &profile->samples[i]))
			continue;
		uint32_t key = outer_label(b, i) + 1; /* LABEL_HIDDEN becomes 0 */
		if (!size[key]++)
			sequence[(*group_count)++] = key;
		total++;
	}
	size_t offset = 0;
	for (size_t g = 0; g < *group_count; g++) {
		at[sequence[g]] = offset;
		offset += size[sequence[g]];
		group_end[g] = offset;
	}
	for (size_t i = 0; i < profile->sample_count; i++)
		if (wanted(b, &profile->samples[i]))
			order[at[outer_label(b, i) + 1]++] = (uint32_t)i;
	return total;
}

static void add_merged(struct builder *b)
{
	const struct profile *profile = b->profile;
	uint32_t *order CLEANUP_FREE = mem_alloc((profile->sample_count + 1) * sizeof *order);
	size_t *group_end CLEANUP_FREE = mem_alloc((b->labels.count + 1) * sizeof *group_end);
	size_t groups;
	group_samples(b, order, group_end, &groups);
	uint32_t *node CLEANUP_FREE = mem_alloc(profile->stack_count * sizeof *node); /* by stack */
	bool *needed CLEANUP_FREE = mem_alloc(profile->stack_count * sizeof *needed);
	size_t from = 0;
	for (size_t g = 0; g < groups; g++) {
		add_group(b, order + from, group_end[g] - from, needed, node);
		from = group_end[g];
	}
}

/*
 * When every frame has a label of its own, no thread is shown and no rule changes where stacks begin, the stacks are
 * the nodes: folded text is always so.
 */
static bool stacks_are_nodes(const struct builder *b)
{
	if (b->labels.count != b->profile->frame_count + 1 || b->starts || b->set_label ||
	    (int)b->profile->value_count != (b->options->values[1] == PROFILE_NONE ? 1 : 2))
		return false;
	for (size_t i = 0; i < b->profile->thread_count; i++)
		if (b->thread_label[i] != LABEL_HIDDEN)
			return false;
	return !b->options->hide_inlined && !b->options->base;
}

static void adopt_stacks(struct builder *b)
{
	const struct profile *profile = b->profile;
	b->stacks = profile->stacks;
	b->count = profile->stack_count;
	for (int v = 0; v < b->values; v++) {
		b->self[v] = mem_realloc(b->self[v], b->count, sizeof *b->self[v]);
		/* Written and not calloc'ed: what is read before it is written costs two page faults. */
		memset(b->self[v], 0, b->count * sizeof *b->self[v]);
	}
	for (size_t i = 0; i < profile->sample_count; i++)
		if (wanted(b, &profile->samples[i]))
			add_self(b, profile->samples[i].stack, &profile->samples[i]);
}

/* Fills b->path with the stacks from `stack` up to the outermost one. */
static size_t climb(struct builder *b, stack_id stack)
{
	size_t count = 0;
	for (; stack != STACK_ROOT; stack = b->profile->stacks[stack].parent) {
		b->path = mem_grow(b->path, &b->path_capacity, count + 1, sizeof *b->path);
		b->path[count++] = stack;
	}
	return count;
}

/* The labels of one sample, outermost first, into b->path; returns their number or SIZE_MAX when it is omitted. */
static size_t labels_of_sample(struct builder *b, size_t index)
{
	size_t steps = climb(b, b->profile->samples[index].stack);
	b->path = mem_grow(b->path, &b->path_capacity, steps * 2 + 1, sizeof *b->path);
	uint32_t *labels = b->path + steps;
	size_t count = 0;
	bool in = !b->options->base;
	if (in && outer_label(b, index) != LABEL_HIDDEN)
		labels[count++] = outer_label(b, index);
	for (size_t k = steps; k-- > 0;) {
		uint32_t label = b->frame_label[b->profile->stacks[b->path[k]].frame];
		if (label == LABEL_HIDDEN)
			continue;
		if (b->starts && b->starts[label]) {
			count = 0;
			in = true;
		}
		if (in)
			labels[count++] = label;
	}
	memmove(b->path, labels, count * sizeof *labels);
	return in ? count : SIZE_MAX;
}

static void reverse(uint32_t *items, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t other = items[i];
		items[i] = items[count - 1 - i];
		items[count - 1 - i] = other;
	}
}

/*
 * Sample by sample: needed when the stack is read from its leaf, and for time order, where a frame continues only the
 * same frame of the sample just before.
 */
static void add_one_by_one(struct builder *b)
{
	uint32_t *open CLEANUP_FREE = NULL; /* nodes of the sample before, by depth */
	size_t open_count = 0, open_capacity = 0;
	for (size_t i = 0; i < b->profile->sample_count; i++) {
		const struct sample *sample = &b->profile->samples[i];
		if (!wanted(b, sample))
			continue;
		size_t count = labels_of_sample(b, i);
		if (count == SIZE_MAX) {
			b->tree->left_out++;
			continue;
		}
		if (b->options->reverse)
			reverse(b->path, count);
		uint32_t node = NODE_ROOT;
		bool same = b->in_time_order;
		open = mem_grow(open, &open_capacity, count, sizeof *open);
		for (size_t k = 0; k < count; k++) {
			same = same && k < open_count && b->label[open[k]] == b->path[k];
			if (same)
				node = open[k];
			else
				node = b->in_time_order ? new_node(b, node, b->path[k]) : child(b, node, b->path[k]);
			open[k] = node;
		}
		open_count = count;
		add_self(b, node, sample);
	}
}

static bool matches(const char *const *names, const char *name, const struct tree_label *label)
{
	for (; names && *names; names++)
		if (match_written(*names, strlen(*names), name, strlen(name)) || strcmp(*names, label->text) == 0)
			return true;
	return false;
}

static void mark_starts(struct builder *b)
{
	if (!b->options->skip_after && !b->options->base)
		return;
	b->starts = mem_zalloc(b->labels.count, sizeof *b->starts);
	for (size_t i = 0; i < b->profile->frame_count; i++) {
		uint32_t label = b->frame_label[i];
		if (label == LABEL_HIDDEN)
			continue;
		const char *name = profile_text(b->profile, b->profile->functions[b->profile->frames[i].function].name);
		b->starts[label] |= matches(b->options->skip_after, name, &b->labels.items[label]) ||
				    matches(b->options->base, name, &b->labels.items[label]);
	}
}

void calltree_build(struct calltree *tree, const struct profile *profile, const struct calltree_options *options)
{
	*tree = (struct calltree){0};
	struct builder b = {.profile = profile, .options = options, .tree = tree};
	b.values = options->values[1] == PROFILE_NONE && options->weigh != TREE_WEIGHTS_AND_SAMPLES ? 1 : 2;
	tree_labels_init(&b.labels);
	b.frame_label = labels_of_frames(&b.labels, profile, options);
	b.thread_label = labels_of_threads(&b.labels, profile, options);
	b.set_label = options->label ? labels_of_sets(&b.labels, profile, options) : NULL;
	mark_starts(&b);
	b.in_time_order = profile->ordered && options->order == ORDER_INPUT;
	new_node(&b, NODE_ROOT, 0);
	if (options->reverse || b.in_time_order)
		add_one_by_one(&b);
	else if (stacks_are_nodes(&b))
		adopt_stacks(&b);
	else
		add_merged(&b);
	builder_finish(&b);
	free(b.frame_label);
	free(b.thread_label);
	free(b.set_label);
	free(b.starts);
	free(b.label);
	free(b.parent);
	free(b.first_child);
	for (int v = 0; v < 2; v++) {
		free(b.self[v]);
		free(b.total[v]);
	}
	free(b.rank);
	free(b.lead);
	free(b.path);
	index_map_release(&b.children);
	index_map_release(&b.labels.map);
	/* At the end: distinct names have distinct short forms, so nothing of the tree depends on them. */
	if (options->names == LABELS_SHORT)
		calltree_shorten(tree, profile);
}

void calltree_release(struct calltree *tree)
{
	free(tree->label);
	free(tree->parent);
	free(tree->end);
	free(tree->depth);
	for (int v = 0; v < 2; v++) {
		free(tree->self[v]);
		free(tree->total[v]);
	}
	free(tree->lead);
	free(tree->labels);
	arena_release(&tree->arena);
	*tree = (struct calltree){0};
}
