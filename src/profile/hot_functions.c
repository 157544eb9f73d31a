/* Adds samples to rows of functions and their processes. */
#include "profile/hot_functions.h"

#include "base/hash.h"
#include "profile/match.h"
#include "profile/own_code.h"

void hot_functions_release(struct hot_functions *hot_functions)
{
	free(hot_functions->rows);
	free(hot_functions->row_of);
	free(hot_functions->processes);
	free(hot_functions->process_of);
	free(hot_functions->shares);
	index_map_release(&hot_functions->map);
	index_map_release(&hot_functions->process_map);
	index_map_release(&hot_functions->share_map);
	*hot_functions = (struct hot_functions){0};
}

void hot_functions_clear(struct hot_functions *hot_functions)
{
	for (size_t i = 0; i < hot_functions->count; i++) {
		struct hot_function *row = &hot_functions->rows[i];
		row->self = row->user_self = row->total = row->max = 0;
		row->process_count = 0;
	}
	hot_functions->share_count = 0;
	index_map_clear(&hot_functions->share_map);
	hot_functions->total = hot_functions->user_total = 0;
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

static uint32_t find_process(struct hot_functions *hot_functions, const struct profile *profile, thread_id id)
{
	const struct thread *thread = &profile->threads[id];
	/* Where no process is known, threads of one name stand for one. */
	uint64_t hash = thread->pid >= 0 ? hash_pair(1, (uint32_t)thread->pid) : hash_pair(2, thread->comm);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&hot_functions->process_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&hot_functions->process_map, &probe)) {
		struct hot_function_process *process = &hot_functions->processes[i];
		if (process->pid != thread->pid ||
		    (thread->pid < 0 && profile->threads[process->thread].comm != thread->comm))
			continue;
		if (thread->tid == thread->pid)
			process->thread = id;
		return i;
	}
	MEM_ROOM(hot_functions->processes, hot_functions->process_count, hot_functions->process_capacity);
	hot_functions->processes[hot_functions->process_count] = (struct hot_function_process){thread->pid, id};
	index_map_insert(&hot_functions->process_map, hash, (uint32_t)hot_functions->process_count);
	return (uint32_t)hot_functions->process_count++;
}

static uint32_t process_of(struct hot_functions *hot_functions, const struct profile *profile, thread_id thread)
{
	if (hot_functions->process_of[thread] == INDEX_NONE)
		hot_functions->process_of[thread] = find_process(hot_functions, profile, thread);
	return hot_functions->process_of[thread];
}

static void add_share(struct hot_functions *hot_functions, uint32_t at, uint32_t process, int64_t weight)
{
	struct hot_function *row = &hot_functions->rows[at];
	uint64_t hash = hash_pair(at, process);
	struct index_probe probe;
	uint32_t i = index_map_first(&hot_functions->share_map, hash, &probe);
	while (i != INDEX_NONE && (hot_functions->shares[i].row != at || hot_functions->shares[i].process != process))
		i = index_map_next(&hot_functions->share_map, &probe);
	if (i == INDEX_NONE) {
		i = (uint32_t)hot_functions->share_count;
		index_map_insert(&hot_functions->share_map, hash, i);
		MEM_ROOM(hot_functions->shares, hot_functions->share_count, hot_functions->share_capacity);
		hot_functions->shares[hot_functions->share_count++] =
			(struct hot_function_share){.row = at, .process = process};
		row->process_count++;
	}
	int64_t *total = &hot_functions->shares[i].total;
	*total = weight_add(*total, weight);
	if (*total > row->max || row->process_count == 1) {
		row->max = *total;
		row->process = process;
	}
}

void hot_function_process_text(struct buf *out, const struct hot_functions *hot_functions,
			       const struct profile *profile, const struct hot_function *row)
{
	if (!row->process_count)
		return;
	const struct hot_function_process *process = &hot_functions->processes[row->process];
	buf_str(out, profile_text(profile, profile->threads[process->thread].comm));
	if (process->pid >= 0)
		buf_printf(out, "%s%d", out->size ? " " : "", (int)process->pid);
	if (row->process_count > 1)
		buf_printf(out, " +%u", row->process_count - 1);
}

/* --- rows --- */

static uint32_t find_row(struct hot_functions *hot_functions, const struct profile *profile, frame_id frame,
			 const char *wait)
{
	const struct function *function = &profile->functions[profile->frames[frame].function];
	uint64_t hash = hash_pair(function->name, function->module);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&hot_functions->map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&hot_functions->map, &probe))
		if (hot_functions->rows[i].name == function->name &&
		    hot_functions->rows[i].module == function->module && hot_functions->rows[i].wait == wait)
			return i;
	MEM_ROOM(hot_functions->rows, hot_functions->count, hot_functions->capacity);
	uint32_t row = (uint32_t)hot_functions->count++;
	hot_functions->rows[row] = (struct hot_function){
		.name = function->name,
		.module = function->module,
		.wait = wait,
		.kernel = frame_is_kernel(profile, frame),
	};
	index_map_insert(&hot_functions->map, hash, row);
	return row;
}

static uint32_t row_of_frame(struct hot_functions *hot_functions, const struct profile *profile, frame_id frame)
{
	function_id function = profile->frames[frame].function;
	if (hot_functions->row_of[function] == INDEX_NONE)
		hot_functions->row_of[function] = find_row(hot_functions, profile, frame, NULL);
	return hot_functions->row_of[function];
}

/* A wait is the own time of the program's function that waits; what that calls in libraries and kernel has no rows. */
static void add_sample(struct hot_functions *hot_functions, const struct profile *profile, const struct sample *sample)
{
	const char *wait = own_code_wait(profile, sample->stack);
	stack_id stack = wait ? own_code_stack(profile, sample->stack) : sample->stack;
	uint32_t process = process_of(hot_functions, profile, sample->thread);
	bool leaf = true, user = false;
	hot_functions->samples++;
	hot_functions->total = weight_add(hot_functions->total, sample->weight);
	for (; stack != STACK_ROOT; stack = profile->stacks[stack].parent) {
		frame_id frame = profile->stacks[stack].frame;
		bool is_wait = wait && leaf && profile->stacks[stack].parent != STACK_ROOT;
		uint32_t at = is_wait ? find_row(hot_functions, profile, frame, wait) :
					row_of_frame(hot_functions, profile, frame);
		struct hot_function *row = &hot_functions->rows[at];
		if (leaf)
			row->self = weight_add(row->self, sample->weight);
		if (!user && !row->kernel) {
			row->user_self = weight_add(row->user_self, sample->weight);
			hot_functions->user_total = weight_add(hot_functions->user_total, sample->weight);
			user = true;
		}
		if (row->last_sample != hot_functions->samples) {
			row->total = weight_add(row->total, sample->weight);
			add_share(hot_functions, at, process, sample->weight);
		}
		row->last_sample = hot_functions->samples;
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

void hot_functions_add(struct hot_functions *hot_functions, const struct profile *profile, value_id value,
		       const struct sample *samples, size_t count)
{
	hot_functions->row_of =
		extend(hot_functions->row_of, &hot_functions->function_capacity, profile->function_count);
	hot_functions->process_of =
		extend(hot_functions->process_of, &hot_functions->thread_capacity, profile->thread_count);
	for (size_t i = 0; i < count; i++)
		if (samples[i].value == value)
			add_sample(hot_functions, profile, &samples[i]);
}

struct ordering {
	const struct hot_functions *hot_functions;
	const struct profile *profile;
	const struct hot_functions_view *view;
};

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct ordering *ordering = context;
	const struct hot_function *a = &ordering->hot_functions->rows[*(const uint32_t *)left];
	const struct hot_function *b = &ordering->hot_functions->rows[*(const uint32_t *)right];
	bool kernel = ordering->view->kernel;
	const int64_t keys[2][2] = {{hot_function_self(a, kernel), hot_function_self(b, kernel)}, {a->total, b->total}};
	for (int k = 0; k < 2; k++) {
		const int64_t *key = keys[ordering->view->order == FUNCTIONS_BY_TOTAL ? 1 - k : k];
		if (key[0] != key[1])
			return key[0] > key[1] ? -1 : 1;
	}
	return strcmp(profile_text(ordering->profile, a->name), profile_text(ordering->profile, b->name));
}

static bool wanted(const struct ordering *ordering, const struct hot_function *row)
{
	const char *search = ordering->view->search;
	if (!row->total || (row->kernel && !ordering->view->kernel))
		return false;
	return !search || !*search || match_part(search, profile_text(ordering->profile, row->name)) ||
	       strcasestr(profile_text(ordering->profile, row->module), search);
}

uint32_t *hot_functions_order(const struct hot_functions *hot_functions, const struct profile *profile,
			      const struct hot_functions_view *view, size_t *ret_count)
{
	struct ordering ordering = {hot_functions, profile, view};
	uint32_t *order = mem_alloc((hot_functions->count + 1) * sizeof *order);
	size_t count = 0;
	for (size_t i = 0; i < hot_functions->count; i++)
		if (wanted(&ordering, &hot_functions->rows[i]))
			order[count++] = (uint32_t)i;
	qsort_r(order, count, sizeof *order, compare_rows, &ordering);
	*ret_count = count;
	return order;
}
