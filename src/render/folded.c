/*
 * Folded stacks, in the byte order of the whole line as `LC_ALL=C sort` and stackcollapse-perf.pl have it. That is not
 * quite the order of the tree: between the line of "a;b" and those of "a;b;…" come the lines of "a;b2;…", since '2'
 * sorts before ';'. So each node gives its parent two items to sort: its own line and its subtree.
 */
#include "base/text.h"
#include "render/render.h"

#include <unistd.h>

struct item {
	uint32_t node;
	bool own_line; /* else: everything below the node */
};

/* The items of one parent being written, as a slice of the shared array. */
struct level {
	size_t next, end;
	size_t prefix; /* length of the text before the names of these items */
};

struct folder {
	const struct calltree *tree;
	struct outfile *out;
	unsigned decimals;
	int64_t numerator, denominator; /* scale of the first value; equal: none */
	struct item *items;
	size_t item_count, item_capacity;
	struct level *levels;
	size_t level_count, level_capacity;
	struct buf line;
	bool terminal; /* what names drive terminals with is not written to one */
};

static bool has_self(const struct calltree *tree, uint32_t node)
{
	return tree->self[0][node] != 0 || (tree->self[1] && tree->self[1][node] != 0);
}

static int compare_items(const void *left, const void *right, void *context)
{
	const struct calltree *tree = context;
	const struct item *a = left, *b = right;
	const struct tree_label *la = &tree->labels[tree->label[a->node]], *lb = &tree->labels[tree->label[b->node]];
	size_t shared = la->length < lb->length ? la->length : lb->length;
	int order = memcmp(la->text, lb->text, shared);
	if (order)
		return order;
	/* What follows the shared part: more of the name, the separator, or the end of the stack. */
	int next_a = la->length > shared ? (unsigned char)la->text[shared] : a->own_line ? -1 : ';';
	int next_b = lb->length > shared ? (unsigned char)lb->text[shared] : b->own_line ? -1 : ';';
	return next_a - next_b;
}

static void enter(struct folder *f, uint32_t parent, size_t prefix)
{
	const struct calltree *tree = f->tree;
	size_t first = f->item_count;
	bool sorted = true;
	for (uint32_t node = parent + 1; node < tree->end[parent]; node = tree->end[node])
		for (int own = 1; own >= 0; own--) {
			if (own ? !has_self(tree, node) : tree->end[node] == node + 1)
				continue;
			MEM_ROOM(f->items, f->item_count, f->item_capacity);
			f->items[f->item_count++] = (struct item){.node = node, .own_line = own};
			if (f->item_count - first > 1)
				sorted &= compare_items(&f->items[f->item_count - 2], &f->items[f->item_count - 1],
							(void *)tree) <= 0;
		}
	if (!sorted)
		qsort_r(f->items + first, f->item_count - first, sizeof *f->items, compare_items, (void *)tree);
	MEM_ROOM(f->levels, f->level_count, f->level_capacity);
	f->levels[f->level_count++] = (struct level){.next = first, .end = f->item_count, .prefix = prefix};
}

static int64_t scaled(const struct folder *f, int64_t weight)
{
	if (f->numerator == f->denominator)
		return weight;
	int64_t whole = 1;
	for (unsigned i = 0; i < f->decimals; i++)
		whole *= 10;
	__int128 product = (__int128)weight * f->numerator / f->denominator;
	product -= product % whole;
	return product > INT64_MAX ? INT64_MAX : (int64_t)product;
}

static void write_line(struct folder *f, uint32_t node)
{
	for (int v = 0; v < 2 && f->tree->self[v]; v++) {
		int64_t weight = f->tree->self[v][node];
		buf_char(&f->line, ' ');
		text_decimal(&f->line, v ? weight : scaled(f, weight), f->decimals);
	}
	if (f->terminal) {
		CLEANUP_BUF struct buf shown = {0};
		text_terminal(&shown, f->line.data, f->line.size);
		outfile_add(f->out, shown.data, shown.size);
		outfile_str(f->out, "\n");
		return;
	}
	buf_char(&f->line, '\n');
	outfile_add(f->out, f->line.data, f->line.size);
}

static void write_item(struct folder *f, struct item item, size_t prefix)
{
	const struct tree_label *label = &f->tree->labels[f->tree->label[item.node]];
	f->line.size = prefix;
	buf_add(&f->line, label->text, label->length);
	if (item.own_line) {
		write_line(f, item.node);
	} else {
		buf_char(&f->line, ';');
		enter(f, item.node, f->line.size);
	}
}

void render_folded(const struct calltree *tree, unsigned decimals, struct outfile *out)
{
	render_folded_scaled(tree, decimals, 1, 1, out);
}

void render_folded_scaled(const struct calltree *tree, unsigned decimals, int64_t numerator, int64_t denominator,
			  struct outfile *out)
{
	struct folder f = {
		.tree = tree,
		.out = out,
		.decimals = decimals,
		.numerator = numerator,
		.denominator = denominator,
		.terminal = isatty(out->fd),
	};
	if (has_self(tree, 0))
		write_line(&f, 0);
	enter(&f, 0, 0);
	while (f.level_count) {
		struct level *level = &f.levels[f.level_count - 1];
		if (level->next == level->end) {
			f.level_count--;
			f.item_count = f.level_count ? f.levels[f.level_count - 1].end : 0;
			continue;
		}
		write_item(&f, f.items[level->next++], level->prefix);
	}
	free(f.items);
	free(f.levels);
	buf_release(&f.line);
}
