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

static struct groups groups_of(const struct event_sample *sample)
{
	struct groups groups = {sample->interpreted, sample->interpreted + (sample->interpreted_count & ~(size_t)1), 0};
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
	if (number == INTERPRETED_UNKNOWN)
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

/*
 * Evaluations and groups are paired from the innermost one outwards. Their numbers differ where the sample came while a
 * call began or ended: then the innermost has no partner. Where the native stack is not whole, the outermost groups
 * have none. In greenlets, the outermost evaluations have none.
 */
void interpreted_merge_marked(struct stack_maker *maker, size_t first, const bool *evaluates, bool whole, bool switched)
{
	struct groups groups = groups_of(&maker->sample->event);
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
	if (maker->python == INTERPRETED_ONLY) {
		drop_native(maker);
		first = 0;
	}
	maker->frames = mem_grow(maker->frames, &maker->capacity, first + maker->merged_count, sizeof *maker->frames);
	memcpy(maker->frames + first, maker->merged, maker->merged_count * sizeof *maker->merged);
	maker->count = first + maker->merged_count;
}

/* Frames that were read after the sample was taken are used only if there are as many evaluations of them. */
static bool may_belong(const struct stack_maker *maker, const bool *evaluates, size_t count)
{
	return count_true(evaluates, count) == groups_of(&maker->sample->event).count;
}

void interpreted_merge(struct stack_maker *maker, size_t first, bool whole)
{
	size_t count = maker->count - first;
	CLEANUP_FREE bool *evaluates = mem_zalloc(count + 1, sizeof *evaluates);
	for (size_t i = 0; i < count; i++)
		evaluates[i] = is_evaluation(maker, &maker->frames[first + i].frame);
	const struct event_sample *event = &maker->sample->event;
	if (!event->interpreted_late || may_belong(maker, evaluates, count))
		interpreted_merge_marked(maker, first, evaluates, whole, has_greenlets(maker, first));
}
