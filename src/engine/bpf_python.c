/* Translates the layout of an interpreter for the programs in the kernel. */
#include "engine/bpf_python.h"

#include "base/clock.h"
#include "base/mem.h"
#include "event/event.h"

#include <string.h>

#define FRESH_NS 1000000u

_Static_assert((int)PYTHON_ENTRY_SHIM == LAYOUT_ENTRY_SHIM && (int)PYTHON_ENTRY_FLAG == LAYOUT_ENTRY_FLAG,
	       "the same numbers");
_Static_assert((int)PYTHON_POSITION_POINTER == LAYOUT_POSITION_POINTER &&
		       (int)PYTHON_POSITION_UNITS == LAYOUT_POSITION_UNITS,
	       "the same numbers");
_Static_assert(PYTHON_TASK_LINE == LAYOUT_TASK_LINE && PYTHON_AWAITING_MAX * 2 <= LAYOUT_TASK_WORDS,
	       "the same numbers");
_Static_assert(PYTHON_NO_OFFSET == LAYOUT_NO_OFFSET && PYTHON_EVAL_MAX == LAYOUT_EVAL_MAX, "the same numbers");

_Static_assert((int)GIL_HELD == LAYOUT_GIL_HELD && (int)GIL_RELEASED == LAYOUT_GIL_RELEASED &&
		       (int)GIL_NONE == LAYOUT_GIL_NONE,
	       "the same numbers");

/* Bytes of a frame up to the end of the last member that is read. */
static uint16_t frame_bytes(const struct python_layout *layout)
{
	uint16_t last = layout->frame_code, owner = layout->frame_owner, bytecode = layout->frame_bytecode;
	last = layout->frame_back > last ? layout->frame_back : last;
	last = layout->frame_position > last ? layout->frame_position : last;
	last = (uint16_t)(last + sizeof(uint64_t));
	if (bytecode != PYTHON_NO_OFFSET && bytecode + sizeof(uint32_t) > last)
		last = (uint16_t)(bytecode + sizeof(uint32_t));
	return owner != PYTHON_NO_OFFSET && owner >= last ? (uint16_t)(owner + 1) : last;
}

struct layout_python bpf_python_layout(const struct python_image *image, uint64_t bias,
				       const struct python_tasks *tasks)
{
	const struct python_layout *from = &image->layout;
	struct layout_python to = {
		.runtime = image->runtime + bias,
		.runtime_interpreters = from->runtime_interpreters,
		.interpreter_next = from->interpreter_next,
		.interpreter_threads = from->interpreter_threads,
		.interpreter_gil = from->interpreter_gil,
		.runtime_holder = from->runtime_holder,
		.thread_status = from->thread_status,
		.thread_interpreter = from->thread_interpreter,
		.thread_next = from->thread_next,
		.thread_id = from->thread_id,
		.thread_frame = from->thread_frame,
		.cframe_frame = from->cframe_frame,
		.cframe_previous = from->cframe_previous,
		.frame_code = from->frame_code,
		.frame_back = from->frame_back,
		.frame_position = from->frame_position,
		.frame_owner = from->frame_owner,
		.frame_bytecode = from->frame_bytecode,
		.frame_bytes = frame_bytes(from),
		.code_first_line = from->code_first_line,
		.code_instructions = from->code_instructions,
		.code_bytecodes = from->code_bytecodes,
		.entry = from->entry,
		.position = from->position,
		.free_threaded = from->free_threaded,
		.current_tasks = tasks ? tasks->current : 0,
		.tasks_first = tasks ? tasks->first : 0,
		.thread_task = tasks ? tasks->thread_task : LAYOUT_NO_OFFSET,
	};
	for (size_t i = 0; i < image->eval_count; i++)
		to.eval[i] =
			(struct layout_range){image->eval[i].start + bias, image->eval[i].end - image->eval[i].start};
	return to;
}

static size_t words_behind(uint32_t bytes)
{
	return (offsetof(struct layout_copy, bytes) + bytes + 7) & ~(size_t)7;
}

static size_t words_at(const struct layout_copy *copy)
{
	return words_behind(copy->record.bytes);
}

const uint64_t *bpf_python_copy_words(const struct layout_copy *copy)
{
	return (const uint64_t *)((const char *)copy + words_at(copy));
}

size_t bpf_python_copy_bytes(const struct layout_copy *copy)
{
	return copy->record.python_count ? words_at(copy) + copy->record.python_count * sizeof(uint64_t) :
					   offsetof(struct layout_copy, bytes) + copy->record.bytes;
}

struct layout_copy *bpf_python_copy_new(uint32_t bytes, const uint64_t *words, uint32_t count)
{
	struct layout_copy *copy = mem_zalloc(1, words_behind(bytes) + count * sizeof *words);
	copy->record.bytes = bytes;
	copy->record.python_count = count;
	if (count)
		memcpy((char *)copy + words_at(copy), words, count * sizeof *words);
	return copy;
}

/*
 * The thread has continued since its sample. What it executes a moment later is mostly the same; what is later still
 * would be another stack, so that the evaluation loop is shown instead.
 */
static bool is_fresh(const struct layout_record *record)
{
	return record->kind == LAYOUT_COPY_LEFT || clock_now() - record->time < FRESH_NS;
}

static struct layout_record *read_frames(struct python_live *live, struct layout_record *record)
{
	if (!is_fresh(record))
		return record;
	uint64_t words[LAYOUT_PYTHON_MAX * 2];
	record->python_count = (uint32_t)python_live_read(live, (int32_t)record->key.pid, (int32_t)record->key.tid,
							  words, LAYOUT_PYTHON_MAX * 2);
	if (!record->python_count)
		return record;
	record->python_late = 1;
	struct layout_copy *copy = mem_realloc(record, 1, bpf_python_copy_bytes((struct layout_copy *)record));
	memcpy((char *)copy + words_at(copy), words, copy->record.python_count * sizeof *words);
	return &copy->record;
}

/* Words behind those of a record. */
static size_t room_behind(const struct python_live *live)
{
	return live->wants_tasks ? LAYOUT_TASK_WORDS : 0;
}

size_t bpf_python_room(const struct python_live *live)
{
	return room_behind(live) * sizeof(uint64_t);
}

/* A copy that came with frames. */
static struct layout_record *name_copy(struct python_live *live, struct layout_record *record, size_t size)
{
	struct layout_copy *copy = (struct layout_copy *)record;
	if (bpf_python_copy_bytes(copy) > size)
		record->python_count = 0;
	else
		record->python_count =
			(uint32_t)python_live_name(live, (int32_t)record->key.pid, record->key.generation,
						   (uint64_t *)((char *)copy + words_at(copy)), record->python_count,
						   record->python_count + room_behind(live));
	return record;
}

struct layout_record *bpf_python_name(struct python_live *live, struct layout_record *record, size_t size)
{
	uint64_t *words = (uint64_t *)(record + 1);
	size_t first = (size_t)record->kernel_count + record->user_count, count = record->python_count;
	if (record->kind == LAYOUT_COPY || record->kind == LAYOUT_COPY_LEFT)
		return count ? name_copy(live, record, size) : read_frames(live, record);
	if (record->kind != LAYOUT_STACK && record->kind != LAYOUT_NEW_STACK)
		return record;
	if (sizeof *record + (first + count) * sizeof *words > size)
		record->python_count = 0;
	else if (count)
		record->python_count = (uint32_t)python_live_name(live, (int32_t)record->key.pid,
								  record->key.generation, words + first, count,
								  count + room_behind(live));
	return record;
}
