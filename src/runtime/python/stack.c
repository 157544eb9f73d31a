/* The state of a thread is found in the lists of the runtime, then its frames are followed. */
#include "runtime/python/stack.h"

#include "base/bytes.h"

enum {
	MAX_TID = 1 << 22, /* of the kernel */
	SHIMS = 16, /* more steps than frames */
	STATES_MAX = 4, /* of one thread */
};

#define POINTER_TAGS 7ull /* low bits of a reference to an object */

struct reader {
	const struct target_memory *memory;
	const struct python_layout *layout;
	int32_t tid;
	bool bad; /* something could not be read */
};

/* 0 if it cannot be read. */
static uint64_t word_at(struct reader *reader, uint64_t address)
{
	uint64_t word;
	if (target_memory_read(reader->memory, address, &word, sizeof word))
		return word;
	reader->bad = true;
	return 0;
}

/* The thread ID of a thread state; 0: not known. */
static int32_t owner_of(struct reader *reader, uint64_t thread)
{
	const struct python_layout *layout = reader->layout;
	uint64_t native = 0, pointer = 0;
	int32_t tid = 0;
	if (layout->thread_native_id != PYTHON_NO_OFFSET &&
	    target_memory_read(reader->memory, thread + layout->thread_native_id, &native, sizeof native) &&
	    native > 0 && native <= MAX_TID)
		return (int32_t)native;
	if (!target_memory_read(reader->memory, thread + layout->thread_id, &pointer, sizeof pointer) || !pointer ||
	    !target_memory_read(reader->memory, pointer + PYTHON_PTHREAD_TID, &tid, sizeof tid))
		return 0;
	return tid > 0 && tid <= MAX_TID ? tid : 0;
}

/* Whether a state is the current one of its thread. */
static bool is_current(struct reader *reader, uint64_t runtime, uint64_t thread)
{
	const struct python_layout *layout = reader->layout;
	uint8_t status;
	if (layout->runtime_holder != PYTHON_NO_OFFSET)
		return word_at(reader, runtime + layout->runtime_holder) == thread;
	return target_memory_read(reader->memory, thread + layout->thread_status, &status, sizeof status) &&
	       status & PYTHON_STATUS_ACTIVE;
}

/* The states of the thread: one in each interpreter whose code it executes, the current one first. */
struct states {
	uint64_t items[STATES_MAX];
	size_t count;
};

static void add_state(struct reader *reader, struct states *states, uint64_t runtime, uint64_t thread)
{
	if (states->count == STATES_MAX)
		return;
	states->items[states->count++] = thread;
	if (states->count > 1 && is_current(reader, runtime, thread)) {
		states->items[states->count - 1] = states->items[0];
		states->items[0] = thread;
	}
}

/* The only state of all is taken if its thread is not known. */
static void find_states(struct reader *reader, uint64_t runtime, struct states *states)
{
	const struct python_layout *layout = reader->layout;
	uint64_t only = 0;
	unsigned count = 0, looked_at = 0;
	uint64_t interpreter = word_at(reader, runtime + layout->runtime_interpreters);
	for (; interpreter; interpreter = word_at(reader, interpreter + layout->interpreter_next)) {
		uint64_t thread = word_at(reader, interpreter + layout->interpreter_threads);
		for (; thread; thread = word_at(reader, thread + layout->thread_next)) {
			int32_t owner = owner_of(reader, thread);
			if (owner == reader->tid) {
				add_state(reader, states, runtime, thread);
				break;
			}
			count++;
			only = owner ? 0 : thread;
			if (++looked_at >= PYTHON_THREADS_MAX)
				break;
		}
		if (reader->bad || ++looked_at >= PYTHON_THREADS_MAX) {
			reader->bad = true;
			return;
		}
	}
	if (!states->count && count == 1 && only)
		states->items[states->count++] = only;
}

static uint64_t innermost_frame(struct reader *reader, uint64_t thread)
{
	const struct python_layout *layout = reader->layout;
	uint64_t frame = word_at(reader, thread + layout->thread_frame);
	if (layout->cframe_frame == PYTHON_NO_OFFSET || !frame)
		return frame;
	return word_at(reader, frame + layout->cframe_frame);
}

/* The bytes of a frame up to the last member that is read. */
static size_t frame_size(const struct python_layout *layout)
{
	size_t size = layout->frame_code + 8u;
	size_t ends[] = {
		layout->frame_back + 8u,
		layout->frame_position + (layout->position == PYTHON_POSITION_POINTER ? 8u : 4u),
		layout->frame_owner == PYTHON_NO_OFFSET ? 0 : layout->frame_owner + 1u,
		layout->free_threaded && layout->frame_bytecode != PYTHON_NO_OFFSET ? layout->frame_bytecode + 4u : 0,
	};
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (ends[i] > size)
			size = ends[i];
	return size;
}

/* Where the bytecode is that the frame runs. */
static uint64_t bytecode_of(struct reader *reader, const uint8_t *frame, uint64_t code)
{
	const struct python_layout *layout = reader->layout;
	uint64_t own = code + layout->code_instructions;
	if (!layout->free_threaded || layout->frame_bytecode == PYTHON_NO_OFFSET)
		return own;
	uint32_t number = bytes_load32(frame + layout->frame_bytecode);
	if (!number)
		return own;
	uint64_t copies = word_at(reader, code + layout->code_bytecodes);
	if (!copies || number >= word_at(reader, copies))
		return own;
	return word_at(reader, copies + 8 + 8ull * number);
}

static uint32_t offset_of(struct reader *reader, const uint8_t *frame, uint64_t code)
{
	const uint8_t *position = frame + reader->layout->frame_position;
	switch (reader->layout->position) {
	case PYTHON_POSITION_BYTES:
		return bytes_load32(position);
	case PYTHON_POSITION_UNITS:
		/* -1 before the first instruction, also in bytes. */
		return bytes_load32(position) > INT32_MAX ? UINT32_MAX : bytes_load32(position) * 2;
	default: {
		uint64_t offset = bytes_load64(position) - bytecode_of(reader, frame, code);
		return offset > INT32_MAX ? UINT32_MAX : (uint32_t)offset;
	}
	}
}

static bool read_frame(struct reader *reader, uint64_t address, const uint8_t *bytes, struct python_frame *frame)
{
	const struct python_layout *layout = reader->layout;
	uint64_t code = bytes_load64(bytes + layout->frame_code) & ~POINTER_TAGS;
	*frame = (struct python_frame){
		.address = address,
		.code = code,
		.entry = layout->entry == PYTHON_ENTRY_EACH,
	};
	if (layout->entry == PYTHON_ENTRY_FLAG)
		frame->entry = bytes[layout->frame_owner];
	if (!code || !target_memory_read(reader->memory, code + layout->code_first_line, &frame->first_line,
					 sizeof frame->first_line))
		return false;
	frame->offset = offset_of(reader, bytes, code);
	return !reader->bad;
}

static size_t read_frames(struct reader *reader, uint64_t address, struct python_frame *frames, size_t max,
			  enum python_end *ret_end)
{
	const struct python_layout *layout = reader->layout;
	uint8_t bytes[PYTHON_FRAME_BYTES];
	size_t size = frame_size(layout), count = 0;
	*ret_end = PYTHON_END_BROKEN;
	if (size > sizeof bytes)
		return 0;
	for (size_t steps = 0; address; steps++) {
		if (steps > 2 * max + SHIMS || !target_memory_read(reader->memory, address, bytes, size))
			return count;
		if (layout->entry == PYTHON_ENTRY_SHIM && bytes[layout->frame_owner] == PYTHON_OWNER_SHIM) {
			if (count)
				frames[count - 1].entry = true;
		} else if (count == max || !read_frame(reader, address, bytes, &frames[count])) {
			return count;
		} else {
			count++;
		}
		address = bytes_load64(bytes + layout->frame_back);
	}
	if (count)
		frames[count - 1].entry = true;
	*ret_end = PYTHON_END_WHOLE;
	return count;
}

size_t python_stack_read(const struct target_memory *memory, const struct python_layout *layout, uint64_t runtime,
			 int32_t tid, struct python_frame *frames, size_t max, enum python_end *ret_end)
{
	struct reader reader = {.memory = memory, .layout = layout, .tid = tid};
	struct states states = {.count = 0};
	size_t count = 0;
	find_states(&reader, runtime, &states);
	*ret_end = reader.bad ? PYTHON_END_BROKEN : states.count ? PYTHON_END_WHOLE : PYTHON_END_NO_THREAD;
	for (size_t i = 0; i < states.count && *ret_end == PYTHON_END_WHOLE; i++) {
		uint64_t frame = innermost_frame(&reader, states.items[i]);
		if (reader.bad)
			*ret_end = PYTHON_END_BROKEN;
		else
			count += read_frames(&reader, frame, frames + count, max - count, ret_end);
	}
	return count;
}

size_t python_stack_follow(const struct target_memory *memory, const struct python_layout *layout, uint64_t frame,
			   struct python_frame *frames, size_t max, enum python_end *ret_end)
{
	struct reader reader = {.memory = memory, .layout = layout};
	return read_frames(&reader, frame, frames, max, ret_end);
}
