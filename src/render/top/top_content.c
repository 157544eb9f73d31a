/* Builds the rows and trees of `wick top` from a profile. */
#include "base/hash.h"
#include "render/top/top.h"

#define MIN_PERCENT 0.5 /* of a tree: lighter nodes are summed up */
#define OPEN_SHARE 0.05 /* nodes as heavy as this are open until they are closed by hand */

/* Which nodes of a tree are closed. */
struct closing {
	const struct top_state *state;
	const struct calltree *tree;
	const uint64_t *path;
};

static bool is_flipped(const struct top_state *state, uint64_t path)
{
	for (size_t i = 0; i < state->flipped_count; i++)
		if (state->flipped[i] == path)
			return true;
	return false;
}

static bool is_closed(const void *context, uint32_t node)
{
	const struct closing *closing = context;
	const int64_t *total = closing->tree->total[0];
	bool light = (double)total[node] < (double)total[0] * OPEN_SHARE;
	return node != 0 && light != is_flipped(closing->state, closing->path[node]);
}

static uint64_t *hash_paths(const struct calltree *tree, bool bottom_up)
{
	uint64_t *path = mem_alloc((tree->count + 1) * sizeof *path);
	path[0] = bottom_up ? HASH_K0 : HASH_K1;
	for (uint32_t i = 1; i < tree->count; i++) {
		const struct tree_label *label = &tree->labels[tree->label[i]];
		path[i] = hash_mix(path[tree->parent[i]], hash_bytes(label->text, label->length) ^ HASH_K2);
	}
	return path;
}

/* Stacks without the kernel's frames, which are always the innermost. */
static stack_id user_stack(const struct profile *profile, stack_id stack)
{
	while (stack != STACK_ROOT && frame_is_kernel(profile, profile->stacks[stack].frame))
		stack = profile->stacks[stack].parent;
	return stack;
}

/* The part of the stack from its start to the innermost call of a function; STACK_ROOT: it is not called. */
static stack_id stack_up_to(const struct profile *profile, stack_id stack, const struct hot_function *row)
{
	for (; stack != STACK_ROOT; stack = profile->stacks[stack].parent) {
		frame_id frame = profile->stacks[stack].frame;
		const struct function *function = &profile->functions[profile->frames[frame].function];
		if (function->name == row->name && function->module == row->module)
			break;
	}
	return stack;
}

/* The heading, and a blank line between two sections. */
static size_t heading_lines(const struct top_content *content, const struct top_section *section)
{
	return section == content->sections ? 1 : 2;
}

static void add_section(struct top_content *content, const struct top_state *state, struct sample_list *samples,
			struct calltree_options options)
{
	struct top_section *section = &content->sections[content->section_count++];
	/* The profile with other samples: names and stacks are only read. */
	struct profile part = *content->profile;
	part.samples = samples->items;
	part.sample_count = samples->count;
	part.labels = samples->labels;
	section->bottom_up = options.reverse;
	options.values[0] = content->value;
	options.values[1] = PROFILE_NONE;
	options.order = ORDER_WIDTH;
	options.annotate_kernel = true;
	calltree_build(&section->tree, &part, &options);
	section->path = hash_paths(&section->tree, section->bottom_up);
	/* Later than the hashes: a short form changes when it has to become distinct from a new one. */
	if (state->names == LABELS_SHORT)
		calltree_shorten(&section->tree, content->profile);
	struct closing closing = {.state = state, .tree = &section->tree, .path = section->path};
	struct tree_pruning pruning = {.min_percent = MIN_PERCENT, .closed = is_closed, .context = &closing};
	tree_lines_build(&section->lines, &section->tree, &pruning);
	content->line_count += heading_lines(content, section) + section->lines.count;
}

static void list_samples(struct sample_list *to, const struct top_content *content, const struct top_state *state,
			 const struct sample_list *samples, const struct hot_function *with, bool up_to)
{
	to->count = 0;
	for (size_t i = 0; i < samples->count; i++) {
		struct sample sample = samples->items[i];
		if (!state->kernel)
			sample.stack = user_stack(content->profile, sample.stack);
		stack_id cut = with ? stack_up_to(content->profile, sample.stack, with) : sample.stack;
		if (cut == STACK_ROOT)
			continue;
		if (up_to)
			sample.stack = cut;
		sample_list_add(to, sample, label_column_get(&samples->labels, i));
	}
}

/* Processes are distinguished where there are several. */
static enum thread_label label_of_threads(const struct profile *profile, const struct sample_list *samples)
{
	for (size_t i = 1; i < samples->count; i++)
		if (profile->threads[samples->items[i].thread].comm != profile->threads[samples->items[0].thread].comm)
			return THREAD_LABEL_COMM;
	return THREAD_LABEL_NONE;
}

static void build_trees(struct top_content *content, const struct top_state *state, const struct sample_list *samples)
{
	struct sample_list part = {0};
	if (state->page == TOP_TREE) {
		list_samples(&part, content, state, samples, NULL, false);
		enum thread_label label = label_of_threads(content->profile, &part);
		add_section(content, state, &part, (struct calltree_options){.thread_label = label});
	} else {
		const struct hot_function *row = &content->hot_functions->rows[state->function];
		const char *base[] = {profile_text(content->profile, row->name), NULL};
		list_samples(&part, content, state, samples, row, true);
		add_section(content, state, &part, (struct calltree_options){.reverse = true});
		list_samples(&part, content, state, samples, row, false);
		add_section(content, state, &part, (struct calltree_options){.base = base});
	}
	sample_list_release(&part);
}

static void build_list(struct top_content *content, struct top_state *state)
{
	struct hot_functions_view view = {
		.order = state->order,
		.kernel = state->kernel,
		.search = state->search.data,
	};
	content->order = hot_functions_order(content->hot_functions, content->profile, &view, &content->line_count);
	for (size_t i = 0; state->chosen != INDEX_NONE && i < content->line_count; i++) {
		if (content->order[i] != state->chosen)
			continue;
		/* The function keeps its place on the screen where it can. */
		size_t above = state->selected - state->first;
		state->selected = i;
		state->first = i > above ? i - above : 0;
		break;
	}
}

void top_content_build(struct top_content *content, struct top_state *state, const struct profile *profile,
		       value_id value, const struct hot_functions *hot_functions, const struct sample_list *samples)
{
	*content = (struct top_content){.profile = profile, .hot_functions = hot_functions, .value = value};
	if (value == PROFILE_NONE)
		return;
	if (state->names == LABELS_SHORT)
		short_names_build(&content->names, profile);
	if (state->page == TOP_FUNCTIONS)
		build_list(content, state);
	else
		build_trees(content, state, samples);
	if (state->selected >= content->line_count)
		state->selected = content->line_count ? content->line_count - 1 : 0;
}

void top_content_release(struct top_content *content)
{
	for (size_t i = 0; i < content->section_count; i++) {
		calltree_release(&content->sections[i].tree);
		tree_lines_release(&content->sections[i].lines);
		free(content->sections[i].path);
	}
	free(content->order);
	short_names_release(&content->names);
	*content = (struct top_content){0};
}

struct short_text top_name(const struct top_content *content, const struct hot_function *row)
{
	if (row->name < content->names.count && content->names.texts[row->name].text)
		return content->names.texts[row->name];
	return (struct short_text){profile_text(content->profile, row->name),
				   strpool_length(&content->profile->strings, row->name)};
}

const struct top_section *top_section_at(const struct top_content *content, size_t line, long *ret_at)
{
	for (size_t i = 0; i < content->section_count; i++) {
		const struct top_section *section = &content->sections[i];
		size_t heading = heading_lines(content, section), lines = heading + section->lines.count;
		if (line < lines) {
			*ret_at = (long)line - (long)heading;
			return section;
		}
		line -= lines;
	}
	return NULL;
}
