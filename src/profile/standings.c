#include "profile/standings.h"

#include "base/hash.h"
#include "profile/match.h"

void standings_release(struct standings *standings)
{
	free(standings->rows);
	free(standings->row_of);
	index_map_release(&standings->map);
	*standings = (struct standings){0};
}

void standings_clear(struct standings *standings)
{
	for (size_t i = 0; i < standings->count; i++)
		standings->rows[i].self = standings->rows[i].user_self = standings->rows[i].total = 0;
	standings->total = standings->user_total = 0;
}

bool frame_is_kernel(const struct profile *profile, frame_id id)
{
	const struct frame *frame = &profile->frames[id];
	if (frame->kind != FRAME_INLINED)
		return frame->kind == FRAME_KERNEL;
	const char *module = profile_text(profile, profile->functions[frame->function].module);
	return module[0] == '[' && strcmp(module, "[vdso]") != 0;
}

static uint32_t find_row(struct standings *standings, const struct profile *profile, frame_id frame)
{
	const struct function *function = &profile->functions[profile->frames[frame].function];
	uint64_t hash = hash_pair(function->name, function->module);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&standings->map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&standings->map, &probe))
		if (standings->rows[i].name == function->name && standings->rows[i].module == function->module)
			return i;
	MEM_ROOM(standings->rows, standings->count, standings->capacity);
	uint32_t row = (uint32_t)standings->count++;
	standings->rows[row] = (struct standing){
		.name = function->name,
		.module = function->module,
		.kernel = frame_is_kernel(profile, frame),
	};
	index_map_insert(&standings->map, hash, row);
	return row;
}

static struct standing *row_of_frame(struct standings *standings, const struct profile *profile, frame_id frame)
{
	function_id function = profile->frames[frame].function;
	if (standings->row_of[function] == INDEX_NONE)
		standings->row_of[function] = find_row(standings, profile, frame);
	return &standings->rows[standings->row_of[function]];
}

static void add_sample(struct standings *standings, const struct profile *profile, const struct sample *sample)
{
	bool leaf = true, user = false;
	standings->samples++;
	standings->total = weight_add(standings->total, sample->weight);
	for (stack_id stack = sample->stack; stack != STACK_ROOT; stack = profile->stacks[stack].parent) {
		struct standing *row = row_of_frame(standings, profile, profile->stacks[stack].frame);
		if (leaf)
			row->self = weight_add(row->self, sample->weight);
		if (!user && !row->kernel) {
			row->user_self = weight_add(row->user_self, sample->weight);
			standings->user_total = weight_add(standings->user_total, sample->weight);
			user = true;
		}
		if (row->last_sample != standings->samples)
			row->total = weight_add(row->total, sample->weight);
		row->last_sample = standings->samples;
		leaf = false;
	}
}

void standings_add(struct standings *standings, const struct profile *profile, value_id value,
		   const struct sample *samples, size_t count)
{
	size_t old = standings->function_capacity;
	standings->row_of = mem_grow(standings->row_of, &standings->function_capacity, profile->function_count,
				     sizeof *standings->row_of);
	for (size_t i = old; i < standings->function_capacity; i++)
		standings->row_of[i] = INDEX_NONE;
	for (size_t i = 0; i < count; i++)
		if (samples[i].value == value)
			add_sample(standings, profile, &samples[i]);
}

struct ordering {
	const struct standings *standings;
	const struct profile *profile;
	const struct standings_view *view;
};

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct ordering *ordering = context;
	const struct standing *a = &ordering->standings->rows[*(const uint32_t *)left];
	const struct standing *b = &ordering->standings->rows[*(const uint32_t *)right];
	bool kernel = ordering->view->kernel;
	const int64_t keys[2][2] = {{standing_self(a, kernel), standing_self(b, kernel)}, {a->total, b->total}};
	for (int k = 0; k < 2; k++) {
		const int64_t *key = keys[ordering->view->order == FUNCTIONS_BY_TOTAL ? 1 - k : k];
		if (key[0] != key[1])
			return key[0] > key[1] ? -1 : 1;
	}
	return strcmp(profile_text(ordering->profile, a->name), profile_text(ordering->profile, b->name));
}

static bool wanted(const struct ordering *ordering, const struct standing *row)
{
	const char *search = ordering->view->search;
	if (!row->total || (row->kernel && !ordering->view->kernel))
		return false;
	return !search || !*search || match_part(search, profile_text(ordering->profile, row->name)) ||
	       strcasestr(profile_text(ordering->profile, row->module), search);
}

uint32_t *standings_order(const struct standings *standings, const struct profile *profile,
			  const struct standings_view *view, size_t *ret_count)
{
	struct ordering ordering = {standings, profile, view};
	uint32_t *order = mem_alloc((standings->count + 1) * sizeof *order);
	size_t count = 0;
	for (size_t i = 0; i < standings->count; i++)
		if (wanted(&ordering, &standings->rows[i]))
			order[count++] = (uint32_t)i;
	qsort_r(order, count, sizeof *order, compare_rows, &ordering);
	*ret_count = count;
	return order;
}
