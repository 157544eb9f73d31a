#include "profile/calltree.h"

#include "base/hash.h"
#include "profile/labels.h"

/* The tree while it grows: nodes in the order of their creation, so that parents come before their children. */
struct builder {
	const struct profile *profile;
	const struct calltree_options *options;
	struct calltree *tree;
	int values; /* 1, or 2 when two value types are compared */
	bool in_time_order; /* a frame continues only the same frame of the sample just before */
	struct label_set labels;
	uint32_t *frame_label, *thread_label;
	bool *starts; /* by label: stacks begin here (options->skip_after and options->base); NULL: none does */

	uint32_t *label, *parent;
	uint32_t *first_child; /* NODE_ROOT: none */
	int64_t *self[2];
	int64_t *total[2]; /* when all nodes are there */
	int64_t *lead; /* as in struct calltree; NULL unless in time order */
	size_t count, capacity;
	uint32_t *rank; /* by label: its place in the order of names */
	struct index_map children; /* (parent, label) → node, for all but first children */

	uint32_t *path; /* scratch: labels or stacks of one sample */
	size_t path_capacity;
};

#define NODE_ROOT 0
#define NODE_OUT UINT32_MAX /* the stack has no frame of options->base so far */
#define NODE_UNSET (UINT32_MAX - 1)

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

/*
 * When every frame has a label of its own, no thread is shown and no rule changes where stacks begin, the stacks are
 * the nodes: folded text is always so.
 */
static bool stacks_are_nodes(const struct builder *b)
{
	if (b->labels.count != b->profile->frame_count + 1 || b->starts || (int)b->profile->value_count != b->values)
		return false;
	for (size_t i = 0; i < b->profile->thread_count; i++)
		if (b->thread_label[i] != LABEL_HIDDEN)
			return false;
	return !b->options->hide_inlined && !b->options->base;
}

static void adopt_stacks(struct builder *b)
{
	const struct profile *profile = b->profile;
	size_t count = profile->stack_count;
	b->label = mem_realloc(b->label, count, sizeof *b->label);
	b->parent = mem_realloc(b->parent, count, sizeof *b->parent);
	for (size_t i = 1; i < count; i++) {
		b->label[i] = b->frame_label[profile->stacks[i].frame];
		b->parent[i] = profile->stacks[i].parent;
	}
	for (int v = 0; v < b->values; v++) {
		free(b->self[v]);
		b->self[v] = mem_alloc(count * sizeof *b->self[v]);
		memset(b->self[v], 0, count * sizeof *b->self[v]);
	}
	b->count = count;
	for (size_t i = 0; i < profile->sample_count; i++)
		if (wanted(b, &profile->samples[i]))
			add_self(b, profile->samples[i].stack, &profile->samples[i]);
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
static void add_one_by_one(struct builder *b)
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
 * All nodes but the root, sorted stably by key[node], or by place[key[node]] when `place` is given; keys are below
 * `keys`. `from` is the order before; NULL stands for that of creation.
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

static int64_t node_weight(const struct builder *b, size_t node)
{
	return b->total[1] ? weight_add(b->total[0][node], b->total[1][node]) : b->total[0][node];
}

static void sum_totals(struct builder *b)
{
	for (int v = 0; v < b->values; v++) {
		int64_t *total = b->total[v] = mem_alloc(b->count * sizeof *total);
		memcpy(total, b->self[v], b->count * sizeof *total);
		for (size_t i = b->count; i-- > 1;)
			total[b->parent[i]] = weight_add(total[b->parent[i]], total[i]);
	}
}

static int heavier_first(const void *left, const void *right, void *context)
{
	const struct builder *b = context;
	uint32_t one = *(const uint32_t *)left, other = *(const uint32_t *)right;
	int64_t wa = node_weight(b, one), wb = node_weight(b, other);
	if (wa != wb)
		return wa > wb ? -1 : 1;
	uint32_t ra = b->rank[b->label[one]], rb = b->rank[b->label[other]];
	return ra < rb ? -1 : ra > rb;
}

/* All nodes but the root, sorted by parent and among siblings as the options say. The caller frees. */
static uint32_t *order_siblings(struct builder *b)
{
	size_t count = b->count;
	uint32_t *sorted = mem_alloc(count * sizeof *sorted), *first CLEANUP_FREE = NULL;
	if (b->options->order == ORDER_NAME) {
		first = mem_alloc(count * sizeof *first);
		sort_by_key(first, NULL, count, b->label, b->rank, b->labels.count);
	} else if (b->options->order == ORDER_WIDTH) {
		first = mem_alloc(count * sizeof *first);
		for (size_t i = 0; i + 1 < count; i++)
			first[i] = (uint32_t)i + 1;
		qsort_r(first, count - 1, sizeof *first, heavier_first, b);
	}
	sort_by_key(sorted, first, count, b->parent, NULL, count);
	return sorted;
}

int64_t weight_at_rank(const int64_t *weights, size_t count, size_t rank, size_t *ret_left)
{
	uint64_t found = 0, bits = 0;
	for (size_t i = 0; i < count; i++)
		bits |= (uint64_t)weights[i];
	int shift = bits ? (63 - __builtin_clzll(bits)) / 8 * 8 : 0; /* bytes above are zero in every weight */
	for (; shift >= 0; shift -= 8) {
		size_t histogram[256] = {0};
		for (size_t i = 0; i < count; i++) {
			uint64_t weight = (uint64_t)weights[i] >> shift;
			if (weight >> 8 == found)
				histogram[weight & 255]++;
		}
		unsigned byte = 255;
		for (; byte > 0 && histogram[byte] <= rank; byte--)
			rank -= histogram[byte];
		found = found << 8 | byte;
	}
	*ret_left = rank;
	return (int64_t)found;
}

/* The heaviest weight the budget has no room for. */
static int64_t weight_limit(const struct builder *b, size_t budget)
{
	size_t left;
	if (!b->total[1])
		return weight_at_rank(b->total[0] + 1, b->count - 1, budget, &left);
	int64_t *both CLEANUP_FREE = mem_alloc(b->count * sizeof *both);
	for (size_t i = 0; i < b->count; i++)
		both[i] = node_weight(b, i);
	return weight_at_rank(both + 1, b->count - 1, budget, &left);
}

/* Keeps the nodes heavier than what the budget has room for. A caller weighs no less than its callees and stays too. */
static void fold_lightest(struct builder *b)
{
	size_t budget = b->options->node_budget;
	if (!budget || b->count <= budget)
		return;
	int64_t limit = weight_limit(b, budget);
	/* Of two values compared, a picture is at most as wide as both together, and at least half as wide as that. */
	double always = b->options->keep_share * (double)node_weight(b, 0) / b->values;
	uint32_t *place CLEANUP_FREE = mem_alloc(b->count * sizeof *place);
	uint32_t kept = 1;
	place[NODE_ROOT] = NODE_ROOT;
	for (size_t i = 1; i < b->count; i++) {
		int64_t weight = node_weight(b, i);
		uint32_t parent = place[b->parent[i]];
		if (parent == NODE_OUT || (weight <= limit && (double)weight < always)) {
			b->tree->folded_nodes++;
			place[i] = NODE_OUT;
			if (parent == NODE_OUT)
				continue;
			b->tree->folded_weight = weight_add(b->tree->folded_weight, b->total[0][i]);
			for (int v = 0; v < b->values; v++)
				b->self[v][parent] = weight_add(b->self[v][parent], b->total[v][i]);
			continue;
		}
		/* Never behind where it was read from: parents come first and nodes only move down. */
		b->label[kept] = b->label[i];
		b->parent[kept] = parent;
		if (b->lead)
			b->lead[kept] = b->lead[i];
		for (int v = 0; v < b->values; v++) {
			b->self[v][kept] = b->self[v][i];
			b->total[v][kept] = b->total[v][i];
		}
		place[i] = kept++;
	}
	b->count = kept;
}

/* Where each node stands in preorder. Parents were created before their children, so one pass in that order will do. */
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

/* Lays the nodes out in preorder, siblings as the options say. */
static void arrange(struct builder *b)
{
	struct calltree *tree = b->tree;
	size_t count = b->count;
	if (b->options->order != ORDER_INPUT)
		b->rank = labels_rank(b->labels.items, b->labels.count);
	uint32_t *sorted CLEANUP_FREE = order_siblings(b);
	uint32_t *size CLEANUP_FREE = mem_alloc(count * sizeof *size);
	uint32_t *place CLEANUP_FREE = preorder_places(b, sorted, size);
	tree->label = mem_alloc(count * sizeof *tree->label);
	tree->parent = mem_alloc(count * sizeof *tree->parent);
	tree->end = mem_alloc(count * sizeof *tree->end);
	tree->depth = mem_alloc(count * sizeof *tree->depth);
	for (int v = 0; v < b->values; v++) {
		tree->self[v] = mem_alloc(count * sizeof *tree->self[v]);
		tree->total[v] = mem_alloc(count * sizeof *tree->total[v]);
	}
	tree->lead = b->lead ? mem_alloc(count * sizeof *tree->lead) : NULL;
	for (size_t i = 0; i < count; i++) {
		uint32_t to = place[i];
		if (tree->lead)
			tree->lead[to] = b->lead[i];
		tree->label[to] = b->label[i];
		tree->parent[to] = place[b->parent[i]];
		tree->end[to] = to + size[i];
		tree->depth[to] = i ? tree->depth[tree->parent[to]] + 1 : 0;
		for (int v = 0; v < b->values; v++) {
			tree->self[v][to] = b->self[v][i];
			tree->total[v][to] = b->total[v][i];
		}
	}
}

/*
 * True when the nodes stand in preorder and siblings as the options say, as those of sorted folded stacks do. Then
 * `depth` is theirs.
 */
static bool stands_in_order(const struct builder *b, uint32_t *depth)
{
	if (b->options->order == ORDER_WIDTH)
		return false;
	const struct tree_label *labels = b->labels.items;
	depth[NODE_ROOT] = 0;
	for (uint32_t i = 1; i < b->count; i++) {
		uint32_t caller = b->parent[i], before = i - 1, sibling = NODE_ROOT;
		for (; before != caller && before > caller; before = b->parent[before])
			sibling = before;
		if (before != caller)
			return false;
		if (sibling != NODE_ROOT && b->options->order == ORDER_NAME &&
		    label_compare(&labels[b->label[sibling]], &labels[b->label[i]]) >= 0)
			return false;
		depth[i] = depth[caller] + 1;
	}
	return true;
}

/* Takes the nodes as they stand. */
static void keep_in_place(struct builder *b, uint32_t *depth)
{
	struct calltree *tree = b->tree;
	tree->label = b->label;
	tree->parent = b->parent;
	tree->lead = b->lead;
	tree->depth = depth;
	tree->end = mem_alloc(b->count * sizeof *tree->end);
	for (uint32_t i = 0; i < b->count; i++)
		tree->end[i] = i + 1;
	for (size_t i = b->count; i-- > 1;)
		if (tree->end[b->parent[i]] < tree->end[i])
			tree->end[b->parent[i]] = tree->end[i];
	for (int v = 0; v < b->values; v++) {
		tree->self[v] = b->self[v];
		tree->total[v] = b->total[v];
		b->self[v] = b->total[v] = NULL;
	}
	b->label = b->parent = NULL;
	b->lead = NULL;
}

static void finish(struct builder *b)
{
	struct calltree *tree = b->tree;
	sum_totals(b);
	fold_lightest(b);
	tree->count = (uint32_t)b->count;
	uint32_t *depth = mem_alloc(b->count * sizeof *depth);
	if (stands_in_order(b, depth)) {
		keep_in_place(b, depth);
	} else {
		free(depth);
		arrange(b);
	}
	for (uint32_t i = 0; i < tree->count; i++)
		if (tree->depth[i] > tree->max_depth)
			tree->max_depth = tree->depth[i];
	tree->labels = b->labels.items;
	tree->label_count = b->labels.count;
	tree->arena = b->labels.arena;
}

void calltree_build(struct calltree *tree, const struct profile *profile, const struct calltree_options *options)
{
	*tree = (struct calltree){0};
	struct builder b = {.profile = profile, .options = options, .tree = tree};
	b.values = options->values[1] == PROFILE_NONE ? 1 : 2;
	label_set_init(&b.labels);
	b.frame_label = labels_of_frames(&b.labels, profile, options);
	b.thread_label = labels_of_threads(&b.labels, profile, options);
	mark_starts(&b);
	b.in_time_order = profile->ordered && options->order == ORDER_INPUT;
	new_node(&b, NODE_ROOT, 0);
	if (options->reverse || b.in_time_order)
		add_one_by_one(&b);
	else if (stacks_are_nodes(&b))
		adopt_stacks(&b);
	else
		add_merged(&b);
	finish(&b);
	free(b.frame_label);
	free(b.thread_label);
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
