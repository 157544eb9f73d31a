/* Adds up self and total weight per function, module, thread or process. */
#include "profile/functions.h"

#include "base/buf.h"
#include "base/hash.h"

const char *frame_module(const struct profile *profile, frame_id frame)
{
	if (frame == PROFILE_NONE)
		return "";
	const char *path = profile_text(profile, profile->functions[profile->frames[frame].function].module);
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

size_t label_module_prefix(const struct profile *profile, const char *label, frame_id frame)
{
	const char *module = frame_module(profile, frame);
	size_t length = strlen(module);
	return length && strncmp(label, module, length) == 0 && label[length] == '`' ? length + 1 : 0;
}

static struct function_row *add_row(struct function_table *table)
{
	MEM_ROOM(table->rows, table->count, table->capacity);
	struct function_row *row = &table->rows[table->count++];
	*row = (struct function_row){.frame = PROFILE_NONE};
	return row;
}

/*
 * Sums over the tree by group of labels. `row_of` gives the row of each group, PROFILE_NONE until it has one; `groups`
 * names them.
 */
struct grouping {
	const uint32_t *group_of; /* by label; NULL: each label is its own group */
	const struct tree_label *groups;
	uint32_t *row_of;
	uint32_t *open; /* by group: how many of the nodes on the way from the root belong to it */
};

static uint32_t group_of_node(const struct grouping *g, const struct calltree *tree, uint32_t node)
{
	uint32_t label = tree->label[node];
	return g->group_of ? g->group_of[label] : label;
}

static struct function_row *row_of_group(struct function_table *table, struct grouping *g, uint32_t group)
{
	if (g->row_of[group] == PROFILE_NONE) {
		g->row_of[group] = (uint32_t)table->count;
		struct function_row *row = add_row(table);
		row->name = g->groups[group].text;
		row->length = g->groups[group].length;
		row->frame = g->groups[group].frame;
		row->label = group;
	}
	return &table->rows[g->row_of[group]];
}

static void sum_groups(struct function_table *table, const struct calltree *tree, struct grouping *g)
{
	int values = tree->self[1] ? 2 : 1;
	/* way[d] is the node at depth d on the way to the current one; preorder keeps it complete. */
	uint32_t *way CLEANUP_FREE = mem_alloc(((size_t)tree->max_depth + 1) * sizeof *way);
	uint32_t depth = 0;
	for (uint32_t i = 1; i < tree->count; i++) {
		for (; depth >= tree->depth[i]; depth--)
			g->open[group_of_node(g, tree, way[depth])]--;
		depth = tree->depth[i];
		way[depth] = i;
		uint32_t group = group_of_node(g, tree, i);
		struct function_row *row = row_of_group(table, g, group);
		bool outermost = g->open[group]++ == 0;
		for (int v = 0; v < values; v++) {
			row->self[v] = weight_add(row->self[v], tree->self[v][i]);
			if (outermost)
				row->total[v] = weight_add(row->total[v], tree->total[v][i]);
		}
	}
}

static void build_grouped(struct function_table *table, const struct calltree *tree, const uint32_t *group_of,
			  const struct tree_label *groups, size_t group_count)
{
	uint32_t *row_of CLEANUP_FREE = mem_alloc((group_count + 1) * sizeof *row_of);
	uint32_t *open CLEANUP_FREE = mem_zalloc(group_count + 1, sizeof *open);
	for (size_t i = 0; i < group_count; i++)
		row_of[i] = PROFILE_NONE;
	struct grouping g = {.group_of = group_of, .groups = groups, .row_of = row_of, .open = open};
	sum_groups(table, tree, &g);
}

void function_table_build(struct function_table *table, const struct calltree *tree)
{
	*table = (struct function_table){0};
	build_grouped(table, tree, NULL, tree->labels, tree->label_count);
}

void function_table_modules(struct function_table *table, const struct calltree *tree, const struct profile *profile)
{
	*table = (struct function_table){0};
	struct strpool names;
	strpool_init(&names);
	uint32_t *group_of CLEANUP_FREE = mem_zalloc(tree->label_count, sizeof *group_of);
	for (size_t i = 0; i < tree->label_count; i++) {
		const char *module = frame_module(profile, tree->labels[i].frame);
		group_of[i] = strpool_add(&names, module, strlen(module));
	}
	struct tree_label *groups CLEANUP_FREE = mem_alloc(names.count * sizeof *groups);
	for (size_t i = 0; i < names.count; i++) {
		const char *text = i ? strpool_text(&names, (str_id)i) : "[not known]";
		size_t length = strlen(text);
		groups[i] = (struct tree_label){arena_copy(&table->arena, text, length), length, PROFILE_NONE};
	}
	build_grouped(table, tree, group_of, groups, names.count);
	strpool_release(&names);
}

void function_table_outermost(struct function_table *table, const struct calltree *tree)
{
	*table = (struct function_table){0};
	for (uint32_t i = 1; i < tree->count; i = tree->end[i]) {
		const struct tree_label *label = &tree->labels[tree->label[i]];
		struct function_row *row = add_row(table);
		*row = (struct function_row){label->text, label->length, label->frame, tree->label[i], {0}, {0}};
		for (int v = 0; v < 2 && tree->self[v]; v++)
			row->self[v] = row->total[v] = tree->total[v][i];
	}
}

bool profile_names_threads(const struct profile *profile, value_id value)
{
	for (size_t i = 0; i < profile->sample_count; i++)
		if (profile->samples[i].value == value && profile->samples[i].thread != THREAD_UNKNOWN)
			return true;
	return false;
}

static void name_row(struct function_table *table, struct function_row *row, const struct buf *text)
{
	row->name = arena_copy(&table->arena, text->data, text->size);
	row->length = text->size;
}

static void name_thread(struct function_table *table, struct function_row *row, const struct profile *profile,
			const struct thread *thread, bool by_process)
{
	struct buf text CLEANUP_BUF = {0};
	buf_str(&text, profile_text(profile, thread->comm));
	if (thread->pid >= 0)
		buf_printf(&text, "-%d", thread->pid);
	if (thread->tid >= 0 && !by_process)
		buf_printf(&text, "%s%d", thread->pid >= 0 ? "/" : "-?/", thread->tid);
	if (!text.size)
		buf_str(&text, "[not known]");
	name_row(table, row, &text);
}

/*
 * The thread whose name a process carries: its first thread, which has the process's id, else the heaviest. `chosen`
 * and `weights` are by thread id.
 */
static bool speaks_for_process(const struct thread *candidate, const struct thread *so_far, int64_t weight,
			       int64_t weight_so_far)
{
	bool leads = candidate->tid == candidate->pid, led = so_far->tid == so_far->pid;
	return leads != led ? leads : weight > weight_so_far;
}

static bool same_process(const struct thread *a, const struct thread *b)
{
	return a->pid >= 0 || b->pid >= 0 ? a->pid == b->pid : a->comm == b->comm;
}

static uint64_t process_hash(const struct thread *thread)
{
	return thread->pid >= 0 ? hash_pair(1, (uint32_t)thread->pid) : hash_pair(2, thread->comm);
}

static void add_thread(struct function_table *table, const struct profile *profile, struct index_map *processes,
		       const int64_t *weights, const int64_t *samples, thread_id id, bool by_process)
{
	const struct thread *thread = &profile->threads[id];
	struct index_probe probe;
	uint64_t hash = process_hash(thread);
	uint32_t found = by_process ? index_map_first(processes, hash, &probe) : INDEX_NONE;
	while (found != INDEX_NONE && !same_process(thread, &profile->threads[table->rows[found].label]))
		found = index_map_next(processes, &probe);
	if (found == INDEX_NONE) {
		if (by_process)
			index_map_insert(processes, hash, (uint32_t)table->count);
		struct function_row *row = add_row(table);
		row->label = id;
		row->self[0] = row->total[0] = weights[id];
		row->self[1] = row->total[1] = samples[id];
		return;
	}
	struct function_row *row = &table->rows[found];
	if (speaks_for_process(thread, &profile->threads[row->label], weights[id], weights[row->label]))
		row->label = id;
	row->self[0] = row->total[0] = weight_add(row->self[0], weights[id]);
	row->self[1] = row->total[1] = weight_add(row->self[1], samples[id]);
}

void function_table_threads(struct function_table *table, const struct profile *profile, value_id value,
			    bool by_process)
{
	*table = (struct function_table){0};
	int64_t *weights CLEANUP_FREE = mem_zalloc(profile->thread_count, sizeof *weights);
	int64_t *samples CLEANUP_FREE = mem_zalloc(profile->thread_count, sizeof *samples);
	bool *seen CLEANUP_FREE = mem_zalloc(profile->thread_count, sizeof *seen);
	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct sample *sample = &profile->samples[i];
		if (sample->value != value)
			continue;
		seen[sample->thread] = true;
		weights[sample->thread] = weight_add(weights[sample->thread], sample->weight);
		samples[sample->thread] = weight_add(samples[sample->thread], (int64_t)sample->count);
	}
	struct index_map processes = {0};
	for (size_t i = 0; i < profile->thread_count; i++)
		if (seen[i])
			add_thread(table, profile, &processes, weights, samples, (thread_id)i, by_process);
	for (size_t i = 0; i < table->count; i++)
		name_thread(table, &table->rows[i], profile, &profile->threads[table->rows[i].label], by_process);
	index_map_release(&processes);
}

static int by_name(const struct function_row *a, const struct function_row *b)
{
	size_t shared = a->length < b->length ? a->length : b->length;
	int order = memcmp(a->name, b->name, shared);
	if (order)
		return order;
	return a->length < b->length ? -1 : a->length > b->length;
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct function_row *a = left, *b = right;
	enum function_order order = *(const enum function_order *)context;
	const int64_t keys[2][2] = {{a->self[0], b->self[0]}, {a->total[0], b->total[0]}};
	for (int k = 0; k < 2 && order != FUNCTIONS_BY_NAME; k++) {
		const int64_t *key = keys[order == FUNCTIONS_BY_SELF ? k : 1 - k];
		if (key[0] != key[1])
			return key[0] > key[1] ? -1 : 1;
	}
	return by_name(a, b);
}

void function_table_sort(struct function_table *table, enum function_order order)
{
	if (table->count)
		qsort_r(table->rows, table->count, sizeof *table->rows, compare_rows, &order);
}

void function_table_release(struct function_table *table)
{
	free(table->rows);
	arena_release(&table->arena);
	*table = (struct function_table){0};
}

void function_table_drop_modules(struct function_table *table, const struct profile *profile)
{
	for (size_t i = 0; i < table->count; i++) {
		struct function_row *row = &table->rows[i];
		size_t prefix = label_module_prefix(profile, row->name, row->frame);
		row->name += prefix;
		row->length -= prefix;
	}
}
