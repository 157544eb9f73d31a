/*
 * Bytes as the memory of a process with CPython: code objects with their strings and lines, and the frames of a thread.
 * Addresses are offsets in the input. Before the runtime stand the version, a thread ID and the address of a code
 * object (tests/unit/python_maker.h; WICK_PYTHON_SEEDS=DIRECTORY build/tests/unit/test_python_stack writes seeds).
 */
#include "harness.h"
#include "runtime/python/code.h"
#include "runtime/python/moment.h"
#include "runtime/python/stack.h"
#include "runtime/python/tasks.h"

#include <stdlib.h>
#include <string.h>

enum {
	VERSION = 0,
	TID = 4,
	CODE = 8,
	RUNTIME = 64,
	MAX_FRAMES = 32,
	MAX_READS = 200000,
	INSTRUCTIONS = 256,
	MATCH_READS = 4000,
};

struct target {
	const uint8_t *data;
	size_t size;
	unsigned reads;
};

static bool read_target(void *context, uint64_t address, void *bytes, size_t size)
{
	struct target *target = context;
	if (++target->reads > MAX_READS)
		abort(); /* something is followed without end */
	if (address > target->size || size > target->size - address)
		return false;
	memcpy(bytes, target->data + address, size);
	return true;
}

static void check_text(const char *text)
{
	size_t length = strlen(text);
	if (length > PYTHON_NAME_MAX)
		abort();
	for (size_t i = 0; i < length; i++)
		if ((uint8_t)text[i] < 0x20 || text[i] == 0x7f)
			abort();
}

static void read_code(const struct target_memory *memory, const struct python_layout *layout, uint64_t address,
		      uint32_t offset)
{
	struct python_code code;
	if (!python_code_read(memory, layout, address, &code))
		return;
	check_text(code.name);
	check_text(code.file);
	if (!code.name[0] || !code.identity || code.identity != python_code_identity(memory, layout, address))
		abort();
	if (python_code_line(&code, layout, offset) > INT32_MAX)
		abort();
	for (uint32_t at = 0; at < 64; at += 2)
		python_code_line(&code, layout, at * at);
	python_code_release(&code);
}

/* The code objects of the frames that were read, each with its members as instructions. */
struct functions {
	struct python_frame frames[MAX_FRAMES];
	size_t count;
};

static bool find_function(void *context, uint64_t next, struct python_frame *ret_frame)
{
	const struct functions *functions = context;
	for (size_t i = 0; i < functions->count; i++) {
		*ret_frame = functions->frames[i];
		if (next > ret_frame->code && next - ret_frame->code <= INSTRUCTIONS)
			return true;
	}
	return false;
}

/* The whole input is the stack of a sample. */
static void match_sample(struct target *target, const struct target_memory *memory, const struct python_layout *layout,
			 struct python_frame *frames, size_t count)
{
	struct functions functions = {.count = count};
	struct python_moment moment = {.stack = target->data, .stack_size = target->size};
	struct python_known known = {memory, layout, &functions, find_function};
	memcpy(functions.frames, frames, count * sizeof *frames);
	target->reads = 0;
	count = python_moment_match(&moment, &known, frames, count, MAX_FRAMES);
	if (count > MAX_FRAMES || (count && !frames[0].shown) || target->reads > MATCH_READS)
		abort();
}

static void read_tasks(const struct target_memory *memory, const struct python_layout *layout, uint64_t task)
{
	/* As 3.14 has them. */
	struct python_tasks tasks = {
		.awaited_by = 96, .is_task = 108, .awaited_by_is_set = 109, .name = 136, .coroutine = 128};
	uint64_t awaiting[PYTHON_AWAITING_MAX];
	size_t count = python_tasks_awaiting(memory, layout, &tasks, task, awaiting);
	if (count > PYTHON_AWAITING_MAX)
		abort();
	for (size_t i = 0; i < count; i++) {
		struct buf name = {0};
		uint64_t code = python_task_code(memory, layout, &tasks, awaiting[i]);
		if (python_task_name(memory, layout, &tasks, awaiting[i], code, &name))
			check_text(name.data);
		buf_release(&name);
	}
	python_tasks_of_version(memory, layout, RUNTIME, &tasks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct target target = {data, size, 0};
	struct target_memory memory = {&target, read_target};
	struct python_layout layout;
	struct python_frame frames[MAX_FRAMES];
	uint32_t version;
	int32_t tid;
	uint64_t code;
	enum python_end end;
	if (size < RUNTIME)
		return 0;
	memcpy(&version, data + VERSION, sizeof version);
	memcpy(&tid, data + TID, sizeof tid);
	memcpy(&code, data + CODE, sizeof code);
	if (!python_layout_of_version(version, &layout) &&
	    !python_layout_of_table(data + RUNTIME, size - RUNTIME, &layout))
		return 0;
	read_code(&memory, &layout, code, 0);
	read_tasks(&memory, &layout, code);
	size_t count = python_stack_read(&memory, &layout, RUNTIME, tid, frames, MAX_FRAMES, &end);
	if (count > MAX_FRAMES || (end == PYTHON_END_NO_THREAD && count))
		abort();
	if (end == PYTHON_END_WHOLE && count && !frames[count - 1].entry)
		abort();
	for (size_t i = 0; i < count; i++)
		read_code(&memory, &layout, frames[i].code, frames[i].offset);
	match_sample(&target, &memory, &layout, frames, count);
	return 0;
}
