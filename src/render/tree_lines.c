/* Lists the nodes of a call tree as lines, without those that are too small. */
#include "render/report.h"

/* A node whose children are being listed. */
struct open_node {
	uint32_t node, line, level;
	uint32_t next; /* the child to look at next */
	size_t visible, shown; /* children that stay, and how many of them are listed already */
	uint64_t hidden;
	int64_t hidden_weight;
};

struct lister {
	const struct calltree *tree;
	const struct tree_pruning *pruning;
	struct tree_lines *lines;
	struct open_node *stack;
	size_t count, capacity;
	double floor; /* weight below which a node is pruned */
};

static bool stays(const struct lister *l, uint32_t child, size_t place)
{
	const struct tree_pruning *pruning = l->pruning;
	return (double)l->tree->total[0][child] >= l->floor &&
	       (!pruning->max_depth || l->tree->depth[child] <= pruning->max_depth) &&
	       (!pruning->limit || place < pruning->limit);
}

static void open_node(struct lister *l, uint32_t node, uint32_t line, uint32_t level)
{
	const struct calltree *tree = l->tree;
	struct open_node open = {.node = node, .line = line, .level = level, .next = node + 1};
	size_t children = 0;
	bool closed = l->pruning->closed && l->pruning->closed(l->pruning->context, node);
	/* Heaviest first, so what stays comes before what is pruned. */
	for (uint32_t child = node + 1; child < tree->end[node]; child = tree->end[child], children++) {
		if (!closed && stays(l, child, children)) {
			open.visible++;
		} else {
			open.hidden++;
			open.hidden_weight = weight_add(open.hidden_weight, tree->total[0][child]);
		}
	}
	if (!children)
		return;
	if (open.visible < 2 && line != INDEX_NONE) {
		l->lines->lines[line].hidden = open.hidden;
		l->lines->lines[line].hidden_weight = open.hidden_weight;
		open.hidden = 0;
	}
	MEM_ROOM(l->stack, l->count, l->capacity);
	l->stack[l->count++] = open;
}

static uint32_t add_line(struct lister *l, struct tree_line line)
{
	struct tree_lines *lines = l->lines;
	MEM_ROOM(lines->lines, lines->count, lines->capacity);
	lines->lines[lines->count] = line;
	if (line.level > lines->max_level)
		lines->max_level = line.level;
	return (uint32_t)lines->count++;
}

/* A fork indents what is below it, also the one at the root, which has no line itself. */
static uint32_t level_below(const struct open_node *open)
{
	return open->visible + (open->hidden > 0) > 1 ? open->level + 1 : open->level;
}

static void list_child(struct lister *l)
{
	struct open_node *open = &l->stack[l->count - 1];
	uint32_t child = open->next;
	bool chained = open->visible == 1 && open->line != INDEX_NONE;
	struct tree_line line = {
		.node = child,
		.level = level_below(open),
		.parent_line = open->line,
		.chained = chained,
		.last = open->shown + 1 == open->visible && !open->hidden,
		.weight = l->tree->total[0][child],
	};
	if (chained)
		line.last = l->lines->lines[open->line].last;
	open->next = l->tree->end[child];
	open->shown++;
	open_node(l, child, add_line(l, line), line.level);
}

static void close_node(struct lister *l)
{
	struct open_node open = l->stack[--l->count];
	if (!open.hidden)
		return;
	add_line(l, (struct tree_line){
			    .node = open.node,
			    .level = level_below(&open),
			    .parent_line = open.line,
			    .last = true,
			    .remainder = true,
			    .weight = open.hidden_weight,
			    .hidden = open.hidden,
			    .hidden_weight = open.hidden_weight,
		    });
}

void tree_lines_build(struct tree_lines *lines, const struct calltree *tree, const struct tree_pruning *pruning)
{
	*lines = (struct tree_lines){0};
	struct lister l = {.tree = tree, .pruning = pruning, .lines = lines};
	l.floor = (double)tree->total[0][0] * pruning->min_percent / 100;
	open_node(&l, 0, INDEX_NONE, 0);
	while (l.count) {
		const struct open_node *open = &l.stack[l.count - 1];
		if (open->shown < open->visible)
			list_child(&l);
		else
			close_node(&l);
	}
	free(l.stack);
}

void tree_lines_release(struct tree_lines *lines)
{
	free(lines->lines);
	*lines = (struct tree_lines){0};
}
