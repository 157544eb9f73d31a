#include "profile/hot_functions.h"

#include "base/hash.h"
#include "profile/match.h"
#include "profile/own_code.h"

void standings_release(struct standings *standings)
{
	free(standings->rows);
	free(standings->row_of);
	free(standings->processes);
	free(standings->process_of);
	free(standings->shares);
	index_map_release(&standings->map);
	index_map_release(&standings->process_map);
	index_map_release(&standings->share_map);
	*standings = (struct standings){0};
}

void standings_clear(struct standings *standings)
{
	for (size_t i = 0; i < standings->count; i++) {
		struct standing *row = &standings->rows[i];
		row->self = row->user_self = row->total = row->most = 0;
		row->process_count = 0;
	}
	standings->share_count = 0;
	index_map_clear(&standings->share_map);
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

/* --- processes --- */

static uint32_t find_process(struct standings *standings, const struct profile *profile, thread_id id)
{
	const struct thread *thread = &profile->threads[id];
	/* Where no process is known, threads of one name stand for one. */
	uint64_t hash = thread->pid >= 0 ? hash_pair(1, (uint32_t)thread->pid) : hash_pair(2, thread->comm);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&standings->process_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&standings->process_map, &probe)) {
		struct standing_process *process = &standings->processes[i];
		if (process->pid != thread->pid ||
		    (thread->pid < 0 && profile->threads[process->thread].comm != thread->comm))
			continue;
		if (thread->tid == thread->pid)
			process->thread = id;
		return i;
	}
	MEM_ROOM(standings->processes, standings->process_count, standings->process_capacity);
	standings->processes[standings->process_count] = (struct standing_process){thread->pid, id};
	index_map_insert(&standings->process_map, hash, (uint32_t)standings->process_count);
	return (uint32_t)standings->process_count++;
}

static uint32_t process_of(struct standings *standings, const struct profile *profile, thread_id thread)
{
	if (standings->process_of[thread] == INDEX_NONE)
		standings->process_of[thread] = find_process(standings, profile, thread);
	return standings->process_of[thread];
}

static void add_share(struct standings *standings, uint32_t at, uint32_t process, int64_t weight)
{
	struct standing *row = &standings->rows[at];
	uint64_t hash = hash_pair(at, process);
	struct index_probe probe;
	uint32_t i = index_map_first(&standings->share_map, hash, &probe);
	while (i != INDEX_NONE && (standings->shares[i].row != at || standings->shares[i].process != process))
		i = index_map_next(&standings->share_map, &probe);
	if (i == INDEX_NONE) {
		i = (uint32_t)standings->share_count;
		index_map_insert(&standings->share_map, hash, i);
		MEM_ROOM(standings->shares, standings->share_count, standings->share_capacity);
		standings->shares[standings->share_count++] = (struct standing_share){.row = at, .process = process};
		row->process_count++;
	}
	int64_t *total = &standings->shares[i].total;
	*total = weight_add(*total, weight);
	if (*total > row->most || row->process_count == 1) {
		row->most = *total;
		row->process = process;
	}
}

void standing_process_text(struct buf *out, const struct standings *standings, const struct profile *profile,
			   const struct standing *row)
{
	if (!row->process_count)
		return;
	const struct standing_process *process = &standings->processes[row->process];
	buf_str(out, profile_text(profile, profile->threads[process->thread].comm));
	if (process->pid >= 0)
		buf_printf(out, "%s%d", out->size ? " " : "", (int)process->pid);
	if (row->process_count > 1)
		buf_printf(out, " +%u", row->process_count - 1);
}

/* --- rows --- */

static uint32_t find_row(struct standings *standings, const struct profile *profile, frame_id frame, const char *wait)
{
	const struct function *function = &profile->functions[profile->frames[frame].function];
	uint64_t hash = hash_pair(function->name, function->module);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&standings->map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&standings->map, &probe))
		if (standings->rows[i].name == function->name && standings->rows[i].module == function->module &&
		    standings->rows[i].wait == wait)
			return i;
	MEM_ROOM(standings->rows, standings->count, standings->capacity);
	uint32_t row = (uint32_t)standings->count++;
	standings->rows[row] = (struct standing){
		.name = function->name,
		.module = function->module,
		.wait = wait,
		.kernel = frame_is_kernel(profile, frame),
	};
	index_map_insert(&standings->map, hash, row);
	return row;
}

static uint32_t row_of_frame(struct standings *standings, const struct profile *profile, frame_id frame)
{
	function_id function = profile->frames[frame].function;
	if (standings->row_of[function] == INDEX_NONE)
		standings->row_of[function] = find_row(standings, profile, frame, NULL);
	return standings->row_of[function];
}

/* A wait is the own time of the program's function that waits; what that calls in libraries and kernel has no rows. */
static void add_sample(struct standings *standings, const struct profile *profile, const struct sample *sample)
{
	const char *wait = own_code_wait(profile, sample->stack);
	stack_id stack = wait ? own_code_stack(profile, sample->stack) : sample->stack;
	uint32_t process = process_of(standings, profile, sample->thread);
	bool leaf = true, user = false;
	standings->samples++;
	standings->total = weight_add(standings->total, sample->weight);
	for (; stack != STACK_ROOT; stack = profile->stacks[stack].parent) {
		frame_id frame = profile->stacks[stack].frame;
		bool is_wait = wait && leaf && profile->stacks[stack].parent != STACK_ROOT;
		uint32_t at = is_wait ? find_row(standings, profile, frame, wait) :
					row_of_frame(standings, profile, frame);
		struct standing *row = &standings->rows[at];
		if (leaf)
			row->self = weight_add(row->self, sample->weight);
		if (!user && !row->kernel) {
			row->user_self = weight_add(row->user_self, sample->weight);
			standings->user_total = weight_add(standings->user_total, sample->weight);
			user = true;
		}
		if (row->last_sample != standings->samples) {
			row->total = weight_add(row->total, sample->weight);
			add_share(standings, at, process, sample->weight);
		}
		row->last_sample = standings->samples;
		leaf = false;
	}
}

/* Fills what was added to an array of INDEX_NONE. */
static uint32_t *extend(uint32_t *array, size_t *capacity, size_t count)
{
	size_t old = *capacity;
	array = mem_grow(array, capacity, count, sizeof *array);
	for (size_t i = old; i < *capacity; i++)
		array[i] = INDEX_NONE;
	return array;
}

void standings_add(struct standings *standings, const struct profile *profile, value_id value,
		   const struct sample *samples, size_t count)
{
	standings->row_of = extend(standings->row_of, &standings->function_capacity, profile->function_count);
	standings->process_of = extend(standings->process_of, &standings->thread_capacity, profile->thread_count);
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
