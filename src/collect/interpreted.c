/* Merges the frames of an interpreter with the native stack of the same sample. */
#include "collect/interpreted.h"

#include <string.h>

static bool is_evaluation(struct stack_maker *maker, const struct trace_frame *frame)
{
	if (frame->kind != TRACE_NATIVE || frame->module == MODULE_NONE)
		return false;
	const struct python_image *image = module_code_python(stack_maker_code(maker, frame->module));
	return image && python_image_evaluates(image, frame->address);
}

/* The functions that are left, in groups: one for each frame of the evaluation loop. */
struct groups {
	const uint64_t *at, *end;
	size_t count;
};

static struct groups groups_of(const uint64_t *words, size_t count)
{
	struct groups groups = {words, words + (count & ~(size_t)1), 0};
	for (const uint64_t *at = groups.at; at < groups.end; at += 2)
		groups.count += trace_word_is_exact(*at) || at + 2 == groups.end;
	return groups;
}

static void append(struct stack_maker *maker, struct stack_frame frame)
{
	MEM_ROOM(maker->merged, maker->merged_count, maker->merged_capacity);
	maker->merged[maker->merged_count++] = frame;
}

/* A function of an interpreter as a frame: its number (runtime/interpreted.h), and the line in it. */
static struct stack_frame frame_of(struct stack_maker *maker, uint32_t number, uint32_t line)
{
	uint64_t address = interpreted_address(number, line);
	struct stack_frame frame = {
		.frame = {.kind = TRACE_PYTHON, .module = MODULE_NONE, .address = number, .version = line},
		.unwound = true,
		.ip = address,
		.offset = address,
	};
	if (maker->identify)
		frame.id = maker->identify(maker->identify_context, &frame.frame);
	return frame;
}

bool interpreted_frame_at(struct stack_maker *maker, const char *path, uint64_t address, struct stack_frame *ret_frame)
{
	uint32_t number = interpreted_add_path(&maker->codes->interpreted, path);
	if (number == INTERPRETED_UNKNOWN && strcmp(path, INTERPRETED_UNKNOWN_PATH) != 0)
		return false;
	*ret_frame = frame_of(maker, number, interpreted_line(address));
	return true;
}

static void append_function(struct stack_maker *maker, const uint64_t words[2])
{
	append(maker, frame_of(maker, (uint32_t)trace_word_address(words[0]), (uint32_t)words[1]));
}

/* The functions up to the one that native code called. */
static void append_group(struct stack_maker *maker, struct groups *groups)
{
	bool last = false;
	for (; groups->at < groups->end && !last; groups->at += 2) {
		last = trace_word_is_exact(*groups->at);
		append_function(maker, groups->at);
	}
	groups->count -= groups->count != 0;
}

static size_t count_true(const bool *values, size_t count)
{
	size_t found = 0;
	for (size_t i = 0; i < count; i++)
		found += values[i];
	return found;
}

static void drop_native(struct stack_maker *maker)
{
	size_t kept = 0;
	for (size_t i = 0; i < maker->merged_count; i++)
		if (maker->merged[i].frame.kind == TRACE_PYTHON)
			maker->merged[kept++] = maker->merged[i];
	maker->merged_count = kept;
}

/* Greenlets share the outer part of the native stack, but have frames of Python only since their own first function. */
static bool has_greenlets(struct stack_maker *maker, size_t first)
{
	for (size_t i = first; i < maker->count; i++) {
		const struct trace_frame *frame = &maker->frames[i].frame;
		if (frame->kind == TRACE_NATIVE && frame->module != MODULE_NONE &&
		    strstr(code_path(stack_maker_code(maker, frame->module)), "/_greenlet."))
			return true;
	}
	return false;
}

/* The merged frames become those of the sample. */
static void use_merged(struct stack_maker *maker, size_t first)
{
	if (maker->python == INTERPRETED_ONLY) {
		drop_native(maker);
		first = 0;
	}
	maker->frames = mem_grow(maker->frames, &maker->capacity, first + maker->merged_count, sizeof *maker->frames);
	memcpy(maker->frames + first, maker->merged, maker->merged_count * sizeof *maker->merged);
	maker->count = first + maker->merged_count;
}

/*
 * Evaluations and groups are paired from the innermost one outwards. Their numbers differ where the sample came while a
 * call began or ended: then the innermost has no partner. Where the native stack is not whole, the outermost groups
 * have none. In greenlets, the outermost evaluations have none.
 */
void interpreted_merge_marked(struct stack_maker *maker, size_t first, const bool *evaluates, bool whole, bool switched)
{
	struct groups groups = groups_of(maker->sample->event.interpreted, maker->sample->event.interpreted_count);
	size_t count = maker->count - first, evaluations = count_true(evaluates, count);
	size_t alone = evaluations > groups.count && !switched ? evaluations - groups.count : 0;
	maker->merged_count = 0;
	while (whole && groups.count > evaluations)
		append_group(maker, &groups);
	for (size_t i = 0; i < count; i++) {
		if (!evaluates[i])
			append(maker, maker->frames[first + i]);
		else if (alone)
			alone--;
		else
			append_group(maker, &groups);
	}
	while (groups.at < groups.end)
		append_group(maker, &groups);
	use_merged(maker, first);
}

/* The outermost evaluations are those of the groups. Of the others, the innermost function may be known. */
static void merge_outer(struct stack_maker *maker, size_t first, const bool *evaluates, struct groups groups,
			const uint64_t *innermost)
{
	size_t count = maker->count - first, left = count_true(evaluates, count);
	maker->merged_count = 0;
	for (size_t i = 0; i < count; i++) {
		if (!evaluates[i]) {
			append(maker, maker->frames[first + i]);
		} else if (left-- > groups.count) {
			if (innermost)
				append_function(maker, innermost);
			innermost = NULL;
			append(maker, frame_of(maker, INTERPRETED_UNKNOWN, 0));
		} else {
			append_group(maker, &groups);
		}
	}
	use_merged(maker, first);
}

/* Those that do not fit: as many of the outermost as may be the same, and the innermost function. */
static void merge_unfit(struct stack_maker *maker, size_t first, const bool *evaluates, size_t evaluations)
{
	const struct event_sample *sample = &maker->sample->event;
	const uint64_t *words = sample->interpreted;
	size_t count = sample->interpreted_count & ~(size_t)1, at = 0;
	while (at < count && words[at + 1] & TRACE_WORD_DOUBTFUL)
		at += 2;
	struct groups groups = groups_of(words + at, count - at);
	if (groups.count != evaluations) {
		/* What is outside of the innermost evaluation is there for longer. */
		while (at < count && !trace_word_is_exact(words[at]))
			at += 2;
		groups = at + 2 < count ? groups_of(words + at + 2, count - at - 2) : (struct groups){0};
	}
	if (groups.count > evaluations)
		groups = (struct groups){0};
	merge_outer(maker, first, evaluates, groups, count && words[1] & TRACE_WORD_SHOWN ? words : NULL);
}

void interpreted_merge_late(struct stack_maker *maker, size_t first, const bool *evaluates, bool whole, bool switched)
{
	const struct event_sample *sample = &maker->sample->event;
	size_t evaluations = count_true(evaluates, maker->count - first);
	size_t groups = groups_of(sample->interpreted, sample->interpreted_count).count;
	if (evaluations == groups || (switched && evaluations > groups))
		interpreted_merge_marked(maker, first, evaluates, whole, switched);
	else if (evaluations)
		merge_unfit(maker, first, evaluates, evaluations);
}

void interpreted_merge(struct stack_maker *maker, size_t first, bool whole)
{
	size_t count = maker->count - first;
	CLEANUP_FREE bool *evaluates = mem_zalloc(count + 1, sizeof *evaluates);
	for (size_t i = 0; i < count; i++)
		evaluates[i] = is_evaluation(maker, &maker->frames[first + i].frame);
	bool switched = has_greenlets(maker, first);
	if (maker->sample->event.interpreted_late)
		interpreted_merge_late(maker, first, evaluates, whole, switched);
	else
		interpreted_merge_marked(maker, first, evaluates, whole, switched);
}
