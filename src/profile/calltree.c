#include "profile/calltree.h"

#include "base/hash.h"
#include "profile/labels.h"

/* The tree while it grows: nodes in the order of their creation, so that parents come before their children. */
struct builder {
	const struct profile *profile;
	const struct calltree_options *options;
	struct calltree *tree;
	struct label_set labels;
	uint32_t *frame_label, *thread_label;
	bool *starts; /* by label: stacks begin here (options->skip_after and options->base); NULL: none does */

	uint32_t *label, *parent;
	int64_t *self[2];
	size_t count, capacity[4];
	struct index_map children; /* (parent, label) → node */

	uint32_t *path; /* scratch: labels or stacks of one sample */
	size_t path_capacity;
};

#define NODE_ROOT 0
#define NODE_OUT UINT32_MAX /* the stack has no frame of options->base so far */
#define NODE_UNSET (UINT32_MAX - 1)

static uint32_t new_node(struct builder *b, uint32_t parent, uint32_t label)
{
	uint32_t node = (uint32_t)b->count;
	size_t want = b->count + 1;
	b->label = mem_grow(b->label, &b->capacity[0], want, sizeof *b->label);
	b->parent = mem_grow(b->parent, &b->capacity[1], want, sizeof *b->parent);
	b->self[0] = mem_grow(b->self[0], &b->capacity[2], want, sizeof *b->self[0]);
	b->self[1] = mem_grow(b->self[1], &b->capacity[3], want, sizeof *b->self[1]);
	b->label[node] = label;
	b->parent[node] = parent;
	b->self[0][node] = b->self[1][node] = 0;
	b->count++;
	return node;
}

static uint32_t child(struct builder *b, uint32_t parent, uint32_t label)
{
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
	b->self[which][node] = weight_add(b->self[which][node], sample->weight);
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

static uint32_t thread_node(struct builder *b, thread_id thread)
{
	if (b->options->base)
		return NODE_OUT;
	uint32_t label = b->thread_label[thread];
	return label == LABEL_HIDDEN ? NODE_ROOT : child(b, NODE_ROOT, label);
}

/* Fills b->path with the stacks from `stack` (inclusive) up to, not including, the first one that `known` has. */
static size_t climb(struct builder *b, stack_id stack, const uint32_t *known)
{
	size_t count = 0;
	while (stack != STACK_ROOT && (!known || known[stack] == NODE_UNSET)) {
		b->path = mem_grow(b->path, &b->path_capacity, count + 1, sizeof *b->path);
		b->path[count++] = stack;
		stack = b->profile->stacks[stack].parent;
	}
	return count;
}

/*
 * Samples grouped by the label of their thread: within a group a stack always leads to the same node, so that each
 * stack is walked once.
 */
static void add_group(struct builder *b, const uint32_t *group, size_t count, uint32_t *known)
{
	const struct stack *stacks = b->profile->stacks;
	uint32_t start = thread_node(b, b->profile->samples[group[0]].thread);
	known[STACK_ROOT] = start;
	for (size_t i = 0; i < count; i++) {
		const struct sample *sample = &b->profile->samples[group[i]];
		size_t steps = climb(b, sample->stack, known);
		for (size_t k = steps; k-- > 0;) {
			stack_id stack = b->path[k];
			known[stack] = step(b, known[stacks[stack].parent], stacks[stack].frame);
		}
		uint32_t node = known[sample->stack];
		if (node == NODE_OUT)
			b->tree->left_out++;
		else
			add_self(b, node, sample);
	}
}

/* Indexes of the wanted samples, grouped by thread label in the order of first appearance. Returns their number. */
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
		uint32_t key = b->thread_label[profile->samples[i].thread] + 1; /* LABEL_HIDDEN becomes 0 */
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
			order[at[b->thread_label[profile->samples[i].thread] + 1]++] = (uint32_t)i;
	return total;
}

static void add_merged(struct builder *b)
{
	const struct profile *profile = b->profile;
	uint32_t *order CLEANUP_FREE = mem_alloc((profile->sample_count + 1) * sizeof *order);
	size_t *group_end CLEANUP_FREE = mem_alloc((b->labels.count + 1) * sizeof *group_end);
	size_t groups;
	group_samples(b, order, group_end, &groups);
	uint32_t *known CLEANUP_FREE = mem_alloc(profile->stack_count * sizeof *known);
	size_t from = 0;
	for (size_t g = 0; g < groups; g++) {
		for (size_t i = 0; i < profile->stack_count; i++)
			known[i] = NODE_UNSET;
		add_group(b, order + from, group_end[g] - from, known);
		from = group_end[g];
	}
}

/* The labels of one sample, outermost first, into b->path; returns their number or SIZE_MAX when it is left out. */
static size_t sample_labels(struct builder *b, const struct sample *sample)
{
	size_t steps = climb(b, sample->stack, NULL);
	b->path = mem_grow(b->path, &b->path_capacity, steps * 2 + 1, sizeof *b->path);
	uint32_t *labels = b->path + steps;
	size_t count = 0;
	bool in = !b->options->base;
	if (in && b->thread_label[sample->thread] != LABEL_HIDDEN)
		labels[count++] = b->thread_label[sample->thread];
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
static void add_one_by_one(struct builder *b, bool in_time_order)
{
	uint32_t *open CLEANUP_FREE = NULL; /* nodes of the sample before, by depth */
	size_t open_count = 0, open_capacity = 0;
	for (size_t i = 0; i < b->profile->sample_count; i++) {
		const struct sample *sample = &b->profile->samples[i];
		if (!wanted(b, sample))
			continue;
		size_t count = sample_labels(b, sample);
		if (count == SIZE_MAX) {
			b->tree->left_out++;
			continue;
		}
		if (b->options->reverse)
			reverse(b->path, count);
		uint32_t node = NODE_ROOT;
		bool same = in_time_order;
		open = mem_grow(open, &open_capacity, count, sizeof *open);
		for (size_t k = 0; k < count; k++) {
			same = same && k < open_count && b->label[open[k]] == b->path[k];
			if (same)
				node = open[k];
			else
				node = in_time_order ? new_node(b, node, b->path[k]) : child(b, node, b->path[k]);
			open[k] = node;
		}
		open_count = count;
		add_self(b, node, sample);
	}
}

static bool matches(const char *const *names, const char *name, const struct tree_label *label)
{
	for (; names && *names; names++)
		if (strcmp(*names, name) == 0 || strcmp(*names, label->text) == 0)
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

/*
 * All nodes but the root, sorted stably by key[node], or by place[key[node]] when `place` is given; keys are below `keys`.
 * `from` is the order before; NULL stands for that of creation.
 */
static void sort_by_key(uint32_t *to, const uint32_t *from, size_t count, const uint32_t *key, const uint32_t *place,
			size_t keys)
{
	uint32_t *at CLEANUP_FREE = mem_zalloc(keys + 1, sizeof *at);
	for (size_t node = 1; node < count; node++)
		at[(place ? place[key[node]] : key[node]) + 1]++;
	for (size_t k = 0; k < keys; k++)
		at[k + 1] += at[k];
	for (size_t i = 0; i + 1 < count; i++) {
		uint32_t node = from ? from[i] : (uint32_t)i + 1;
		to[at[place ? place[key[node]] : key[node]]++] = node;
	}
}

static int heavier_first(const void *left, const void *right, void *context)
{
	const struct calltree *unordered = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int64_t wa = unordered->total[0][a] + (unordered->total[1] ? unordered->total[1][a] : 0);
	int64_t wb = unordered->total[0][b] + (unordered->total[1] ? unordered->total[1][b] : 0);
	if (wa != wb)
		return wa > wb ? -1 : 1;
	uint32_t ra = unordered->rank[unordered->label[a]], rb = unordered->rank[unordered->label[b]];
	return ra < rb ? -1 : ra > rb;
}

/* All nodes but the root, sorted by parent and among siblings as the options say. The caller frees. */
static uint32_t *order_siblings(struct builder *b, struct calltree *unordered)
{
	size_t count = b->count;
	uint32_t *sorted = mem_alloc(count * sizeof *sorted), *first CLEANUP_FREE = NULL;
	if (b->options->order == ORDER_NAME) {
		first = mem_alloc(count * sizeof *first);
		sort_by_key(first, NULL, count, b->label, unordered->rank, b->labels.count);
	} else if (b->options->order == ORDER_WIDTH) {
		first = mem_alloc(count * sizeof *first);
		for (size_t i = 0; i + 1 < count; i++)
			first[i] = (uint32_t)i + 1;
		qsort_r(first, count - 1, sizeof *first, heavier_first, unordered);
	}
	sort_by_key(sorted, first, count, b->parent, NULL, count);
	return sorted;
}

static void sum_totals(const struct builder *b, int64_t *const self[2], int64_t *total[2], int values)
{
	for (int v = 0; v < values; v++) {
		total[v] = mem_alloc(b->count * sizeof *total[v]);
		memcpy(total[v], self[v], b->count * sizeof *total[v]);
		for (size_t i = b->count; i-- > 1;)
			total[v][b->parent[i]] = weight_add(total[v][b->parent[i]], total[v][i]);
	}
}

/* Where each node stands in preorder. Parents were created before their children, so one pass in that order is enough. */
static uint32_t *preorder_places(const struct builder *b, const uint32_t *sorted, uint32_t *size)
{
	size_t count = b->count;
	for (size_t i = 0; i < count; i++)
		size[i] = 1;
	for (size_t i = count; i-- > 1;)
		size[b->parent[i]] += size[i];
	uint32_t *place = mem_alloc(count * sizeof *place);
	uint32_t *next CLEANUP_FREE = mem_alloc(count * sizeof *next); /* by parent: where its next child goes */
	uint32_t *begin CLEANUP_FREE = mem_zalloc(count + 1, sizeof *begin); /* by parent: its children in sorted[] */
	for (size_t i = 1; i < count; i++)
		begin[b->parent[i] + 1]++;
	for (size_t i = 0; i < count; i++)
		begin[i + 1] += begin[i];
	place[NODE_ROOT] = 0;
	for (size_t p = 0; p < count; p++) {
		next[p] = place[p] + 1;
		for (uint32_t k = begin[p]; k < begin[p + 1]; k++) {
			place[sorted[k]] = next[p];
			next[p] += size[sorted[k]];
		}
	}
	return place;
}

static void finish(struct builder *b)
{
	struct calltree *tree = b->tree;
	size_t count = b->count;
	int values = b->options->values[1] == PROFILE_NONE ? 1 : 2;
	struct calltree unordered = {.label = b->label};
	sum_totals(b, b->self, unordered.total, values);
	tree->rank = unordered.rank = labels_rank(b->labels.items, b->labels.count);
	uint32_t *sorted CLEANUP_FREE = order_siblings(b, &unordered);
	uint32_t *size CLEANUP_FREE = mem_alloc(count * sizeof *size);
	uint32_t *place CLEANUP_FREE = preorder_places(b, sorted, size);

	tree->count = (uint32_t)count;
	tree->label = mem_alloc(count * sizeof *tree->label);
	tree->parent = mem_alloc(count * sizeof *tree->parent);
	tree->end = mem_alloc(count * sizeof *tree->end);
	tree->depth = mem_alloc(count * sizeof *tree->depth);
	for (int v = 0; v < values; v++) {
		tree->self[v] = mem_alloc(count * sizeof *tree->self[v]);
		tree->total[v] = mem_alloc(count * sizeof *tree->total[v]);
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t to = place[i];
		tree->label[to] = b->label[i];
		tree->parent[to] = place[b->parent[i]];
		tree->end[to] = to + size[i];
		tree->depth[to] = i ? tree->depth[tree->parent[to]] + 1 : 0;
		if (tree->depth[to] > tree->max_depth)
			tree->max_depth = tree->depth[to];
		for (int v = 0; v < values; v++) {
			tree->self[v][to] = b->self[v][i];
			tree->total[v][to] = unordered.total[v][i];
		}
	}
	for (int v = 0; v < values; v++)
		free(unordered.total[v]);
	tree->labels = b->labels.items;
	tree->label_count = b->labels.count;
	tree->arena = b->labels.arena;
}

void calltree_build(struct calltree *tree, const struct profile *profile, const struct calltree_options *options)
{
	*tree = (struct calltree){0};
	struct builder b = {.profile = profile, .options = options, .tree = tree};
	label_set_init(&b.labels);
	b.frame_label = labels_of_frames(&b.labels, profile, options);
	b.thread_label = labels_of_threads(&b.labels, profile, options);
	mark_starts(&b);
	new_node(&b, NODE_ROOT, 0);
	bool in_time_order = profile->ordered && options->order == ORDER_INPUT;
	if (options->reverse || in_time_order)
		add_one_by_one(&b, in_time_order);
	else
		add_merged(&b);
	finish(&b);
	free(b.frame_label);
	free(b.thread_label);
	free(b.starts);
	free(b.label);
	free(b.parent);
	free(b.self[0]);
	free(b.self[1]);
	free(b.path);
	index_map_release(&b.children);
	index_map_release(&b.labels.map);
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
	free(tree->labels);
	free(tree->rank);
	arena_release(&tree->arena);
	*tree = (struct calltree){0};
}
