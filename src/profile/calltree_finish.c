/* From nodes in the order of their creation to the tree: totals, the node budget, preorder. */
#include "profile/calltree_builder.h"

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

static uint32_t parent_of(const struct builder *b, size_t node)
{
	return b->stacks ? b->stacks[node].parent : b->parent[node];
}

/* Makes totals of the nodes' own weights, in place. */
static void sum_totals(struct builder *b)
{
	for (int v = 0; v < b->values; v++) {
		int64_t *total = b->total[v] = b->self[v];
		b->self[v] = NULL;
		for (size_t i = b->count; i-- > 1;) {
			uint32_t parent = parent_of(b, i);
			total[parent] = weight_add(total[parent], total[i]);
		}
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

/*
 * By node: its place among those that stay when the lightest are given up for the budget, or NODE_OUT. A caller weighs
 * no less than its callees and stays with them. NULL when all stay. The caller frees.
 */
static uint32_t *choose_nodes(const struct builder *b, size_t *ret_kept)
{
	size_t budget = b->options->node_budget;
	*ret_kept = b->count;
	if (!budget || b->count <= budget)
		return NULL;
	int64_t limit = weight_limit(b, budget);
	/* Of two values compared, a picture is at most as wide as both together, and at least half as wide as that. */
	double always = b->options->keep_share * (double)node_weight(b, 0) / b->values;
	uint32_t *place = mem_alloc(b->count * sizeof *place);
	uint32_t kept = 1;
	place[NODE_ROOT] = NODE_ROOT;
	for (size_t i = 1; i < b->count; i++) {
		int64_t weight = node_weight(b, i);
		uint32_t parent = place[parent_of(b, i)];
		if (parent != NODE_OUT && (weight > limit || (double)weight >= always)) {
			place[i] = kept++;
			continue;
		}
		place[i] = NODE_OUT;
		b->tree->folded_nodes++;
		if (parent != NODE_OUT)
			b->tree->folded_weight = weight_add(b->tree->folded_weight, b->total[0][i]);
	}
	*ret_kept = kept;
	return place;
}

/* Moves the nodes that stay together. What the others weighed becomes their callers' own. */
static void keep_nodes(struct builder *b)
{
	size_t kept;
	uint32_t *place CLEANUP_FREE = choose_nodes(b, &kept);
	if (b->stacks) {
		b->label = mem_realloc(b->label, kept, sizeof *b->label);
		b->parent = mem_realloc(b->parent, kept, sizeof *b->parent);
	}
	/* In place too: parents come first and nodes only move down. */
	for (size_t i = 1; (place || b->stacks) && i < b->count; i++) {
		uint32_t to = place ? place[i] : (uint32_t)i, parent = parent_of(b, i);
		if (to == NODE_OUT)
			continue;
		b->label[to] = b->stacks ? b->frame_label[b->stacks[i].frame] : b->label[i];
		b->parent[to] = place ? place[parent] : parent;
		if (b->lead)
			b->lead[to] = b->lead[i];
		for (int v = 0; v < b->values; v++)
			b->total[v][to] = b->total[v][i];
	}
	b->count = kept;
	for (int v = 0; v < b->values; v++) {
		int64_t *self = b->self[v] = mem_alloc(kept * sizeof *self);
		memcpy(self, b->total[v], kept * sizeof *self);
		for (size_t i = 1; i < kept; i++) {
			/* Totals that were held at the limit may be less than their parts. */
			int64_t *own = &self[b->parent[i]], part = b->total[v][i];
			*own = *own > part ? *own - part : 0;
		}
	}
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

void builder_finish(struct builder *b)
{
	struct calltree *tree = b->tree;
	sum_totals(b);
	keep_nodes(b);
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
