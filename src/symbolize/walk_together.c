/* Walks several traces as one tree of named stacks. */
#include "symbolize/walk_together.h"

#define FEW 16 /* are sorted by insertion */

/* What is called from a stack of a trace. */
struct callee {
	stack_id stack;
	trace_frame_id frame; /* among those that have names */
};

/* The tree of a trace, from callers to callees. */
struct tree {
	uint32_t *begin; /* by stack: its callees in `callees` */
	struct callee *callees;
};

/* On the way from a stack of a trace to one of its callees, whose frame stands for several names. */
struct walker {
	frame_id next; /* the frame with a name that it goes to */
	uint32_t tree;
	struct callee to;
	uint32_t walked; /* names of `to` */
	struct symbolizer_stack from;
};

/* Those who are at one stack with names, and continue from there. */
struct level {
	stack_id stack;
	size_t begin, at, end; /* in `walkers`, sorted by the frames they go to; those before `at` are gone */
};

struct walk {
	const struct symbolizer *n;
	const struct trace_frame *frames; /* that have names */
	struct walked *walked;
	struct tree *trees; /* one of each */
	struct profile *into;
	struct walker *walkers;
	size_t walker_count, walker_capacity;
	struct level *levels;
	size_t level_count, level_capacity;
};

static void make_tree(struct tree *tree, const struct walked *walked)
{
	const struct trace *from = walked->trace;
	tree->begin = mem_zalloc(from->stack_count + 2, sizeof *tree->begin);
	tree->callees = mem_alloc(from->stack_count * sizeof *tree->callees);
	for (size_t i = STACK_ROOT + 1; i < from->stack_count; i++)
		tree->begin[from->stacks[i].parent + 2]++;
	for (size_t i = 2; i < from->stack_count + 2; i++)
		tree->begin[i] += tree->begin[i - 1];
	/* Until here each beginning stands one place too high; it moves on while callees are filled in. */
	for (size_t i = STACK_ROOT + 1; i < from->stack_count; i++) {
		const struct stack *stack = &from->stacks[i];
		trace_frame_id frame = walked->frames ? walked->frames[stack->frame] : stack->frame;
		tree->callees[tree->begin[stack->parent + 1]++] = (struct callee){(stack_id)i, frame};
	}
}

static void add_walker(struct walk *walk, struct walker walker)
{
	walker.next = walk->n->chain[walk->n->named[walker.to.frame].first + walker.walked];
	MEM_ROOM(walk->walkers, walk->walker_count, walk->walker_capacity);
	walk->walkers[walk->walker_count++] = walker;
}

/* A stack of a trace is reached: it continues to its callees. */
static void arrive(struct walk *walk, uint32_t tree, stack_id stack, struct symbolizer_stack named)
{
	walk->walked[tree].stacks[stack] = named;
	const struct tree *callers = &walk->trees[tree];
	for (uint32_t i = callers->begin[stack]; i < callers->begin[stack + 1]; i++)
		add_walker(walk, (struct walker){.tree = tree, .to = callers->callees[i], .from = named});
}

/* The walker has come one name further, to `stack`. */
static void step(struct walk *walk, struct walker walker, stack_id stack)
{
	if (++walker.walked < walk->n->named[walker.to.frame].count) {
		add_walker(walk, walker);
		return;
	}
	struct symbolizer_stack named =
		symbolizer_quality(walk->n, walker.from, &walk->frames[walker.to.frame], walker.to.frame);
	named.stack = stack;
	arrive(walk, walker.tree, walker.to.stack, named);
}

static int by_next(const void *left, const void *right)
{
	const struct walker *a = left, *b = right;
	return a->next < b->next ? -1 : a->next > b->next;
}

static void sort_walkers(struct walker *walkers, size_t count)
{
	if (count > FEW) {
		qsort(walkers, count, sizeof *walkers, by_next);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		struct walker walker = walkers[i];
		size_t at = i;
		for (; at && walkers[at - 1].next > walker.next; at--)
			walkers[at] = walkers[at - 1];
		walkers[at] = walker;
	}
}

/* All walkers from `begin` on are at `stack`. */
static void open_level(struct walk *walk, stack_id stack, size_t begin)
{
	if (walk->walker_count > begin)
		sort_walkers(walk->walkers + begin, walk->walker_count - begin);
	MEM_ROOM(walk->levels, walk->level_count, walk->level_capacity);
	walk->levels[walk->level_count++] =
		(struct level){.stack = stack, .begin = begin, .at = begin, .end = walk->walker_count};
}

/* Takes those who go to the same frame there. */
static void walk_on(struct walk *walk, struct level *level)
{
	size_t from = level->at, begin = walk->walker_count;
	frame_id next = walk->walkers[from].next;
	while (level->at < level->end && walk->walkers[level->at].next == next)
		level->at++;
	size_t to = level->at;
	stack_id stack = profile_new_stack(walk->into, level->stack, next);
	for (size_t i = from; i < to; i++)
		step(walk, walk->walkers[i], stack);
	if (walk->walker_count > begin)
		open_level(walk, stack, begin);
}

void walk_together(const struct symbolizer *n, const struct trace_frame *frames, struct walked *walked, size_t count,
		   struct profile *into)
{
	struct walk walk = {.n = n, .frames = frames, .walked = walked, .into = into};
	walk.trees = mem_zalloc(count, sizeof *walk.trees);
	for (size_t i = 0; i < count; i++) {
		make_tree(&walk.trees[i], &walked[i]);
		walked[i].stacks = mem_alloc(walked[i].trace->stack_count * sizeof *walked[i].stacks);
	}
	for (size_t i = 0; i < count; i++)
		arrive(&walk, (uint32_t)i, STACK_ROOT, SYMBOLIZER_OUTSIDE);
	open_level(&walk, STACK_ROOT, 0);
	while (walk.level_count) {
		struct level *level = &walk.levels[walk.level_count - 1];
		if (level->at < level->end) {
			walk_on(&walk, level);
			continue;
		}
		walk.walker_count = level->begin;
		walk.level_count--;
	}
	for (size_t i = 0; i < count; i++) {
		free(walk.trees[i].begin);
		free(walk.trees[i].callees);
	}
	free(walk.trees);
	free(walk.walkers);
	free(walk.levels);
}
