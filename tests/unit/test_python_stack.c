/* Threads and frames of CPython in memory that the test makes: whole, in circles, with pointers that lead nowhere. */
#include "python_maker.h"

#include "runtime/python/stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { TID = 4711, MAX_FRAMES = 16 };

struct stack {
	struct python_frame frames[MAX_FRAMES];
	size_t count;
	enum python_end end;
};

static struct stack stack_of(struct maker *maker, int32_t tid)
{
	struct stack stack;
	stack.count = python_stack_read(&maker->memory, &maker->layout, MAKER_RUNTIME, tid, stack.frames, MAX_FRAMES,
					&stack.end);
	return stack;
}

static bool has_shims(const struct maker *maker)
{
	return maker->layout.entry == PYTHON_ENTRY_SHIM;
}

/* A chain of three frames: `inner` was called by Python, `middle` by native code, `outer` is the first. */
static uint64_t three_frames(struct maker *maker, const uint64_t codes[3])
{
	uint64_t back = has_shims(maker) ? maker_frame(maker, 1, 0, 0, PYTHON_OWNER_SHIM) : 0;
	uint64_t outer = maker_frame(maker, codes[2], back, 2, 0);
	if (has_shims(maker))
		outer = maker_frame(maker, 1, outer, 0, PYTHON_OWNER_SHIM);
	uint64_t middle = maker_frame(maker, codes[1], outer, 20, !has_shims(maker));
	return maker_frame(maker, codes[0] | (has_shims(maker) ? 1 : 0), middle, 300, 0);
}

static void keep_seed(const struct maker *maker, const char *name)
{
	const char *folder = getenv("WICK_PYTHON_SEEDS");
	char path[512];
	if (!folder)
		return;
	snprintf(path, sizeof path, "%s/%s-%x%s", folder, name, maker->layout.version,
		 maker->layout.free_threaded ? "t" : "");
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(maker->bytes, 1, maker->used, file), maker->used);
	fclose(file);
}

static void frames_of_a_thread_are_read(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MAKER_LAYOUTS; i++) {
		struct maker *maker = maker_layout(i);
		uint64_t codes[3];
		for (unsigned n = 0; n < 3; n++) {
			codes[n] = maker_code(maker, "a.py", "f", 10 + n);
			maker_lines(maker, codes[n], "\x80\x01\x80\x02", 4);
		}
		uint64_t other = maker_thread(maker, TID + 1, 0, 0);
		uint64_t thread = maker_thread(maker, TID, three_frames(maker, codes), other);
		maker_interpreter(maker, thread, 0);
		keep_seed(maker, "frames");
		struct stack stack = stack_of(maker, TID);
		assert_int_equal(stack.end, PYTHON_END_WHOLE);
		assert_int_equal(stack.count, 3);
		static const uint32_t offsets[] = {300, 20, 2};
		for (unsigned n = 0; n < 3; n++) {
			assert_int_equal(stack.frames[n].code, codes[n]);
			assert_int_equal(stack.frames[n].offset, offsets[n]);
			assert_int_equal(stack.frames[n].first_line, 10 + n);
		}
		assert_int_equal(stack.frames[0].entry, i < 3);
		assert_true(stack.frames[1].entry);
		assert_true(stack.frames[2].entry);
		assert_int_equal(stack_of(maker, TID + 1).end, PYTHON_END_WHOLE);
		assert_int_equal(stack_of(maker, TID + 1).count, 0);
		assert_int_equal(stack_of(maker, TID + 2).end, PYTHON_END_NO_THREAD);
	}
}

static void threads_of_all_interpreters_are_found(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MAKER_LAYOUTS; i++) {
		struct maker *maker = maker_layout(i);
		uint64_t code = maker_code(maker, "a.py", "f", 1);
		uint64_t frame = maker_frame(maker, code, 0, 0, 0);
		uint64_t first = maker_interpreter(maker, maker_thread(maker, TID, frame, 0), 0);
		maker_interpreter(maker, maker_thread(maker, TID + 1, 0, 0), first);
		assert_int_equal(stack_of(maker, TID).count, 1);
		assert_int_equal(stack_of(maker, TID + 1).count, 0);
		assert_int_equal(stack_of(maker, TID + 1).end, PYTHON_END_WHOLE);
	}
}

/* The interpreter that is looked at last is current. */
static void of_several_states_of_a_thread_the_current_one_is_inner(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MAKER_LAYOUTS; i++) {
		struct maker *maker = maker_layout(i);
		const struct python_layout *layout = &maker->layout;
		uint64_t codes[2] = {maker_code(maker, "a.py", "inner", 1), maker_code(maker, "a.py", "outer", 2)};
		uint64_t inner = maker_thread(maker, TID, maker_frame(maker, codes[0], 0, 0, 0), 0);
		uint64_t outer = maker_thread(maker, TID, maker_frame(maker, codes[1], 0, 0, 0), 0);
		maker_interpreter(maker, outer, maker_interpreter(maker, inner, 0));
		if (layout->runtime_holder != PYTHON_NO_OFFSET)
			maker_put64(maker, MAKER_RUNTIME + layout->runtime_holder, inner);
		else
			maker_put32(maker, inner + layout->thread_status, PYTHON_STATUS_ACTIVE);
		struct stack stack = stack_of(maker, TID);
		assert_int_equal(stack.end, PYTHON_END_WHOLE);
		assert_int_equal(stack.count, 2);
		assert_int_equal(stack.frames[0].code, codes[0]);
		assert_int_equal(stack.frames[1].code, codes[1]);
		assert_true(stack.frames[0].entry);
	}
}

static void the_only_thread_needs_no_id(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MAKER_LAYOUTS; i++) {
		struct maker *maker = maker_layout(i);
		const struct python_layout *layout = &maker->layout;
		uint64_t frame = maker_frame(maker, maker_code(maker, "a.py", "f", 1), 0, 0, 0);
		uint64_t thread = maker_thread(maker, TID, frame, 0);
		maker_interpreter(maker, thread, 0);
		assert_int_equal(stack_of(maker, TID + 1).end, PYTHON_END_NO_THREAD);
		if (layout->thread_native_id != PYTHON_NO_OFFSET)
			maker_put64(maker, thread + layout->thread_native_id, 0);
		maker_put64(maker, thread + layout->thread_id, 0x7f0000001000);
		assert_int_equal(stack_of(maker, TID).count, 1);
		maker_put64(maker, thread + layout->thread_next, maker_thread(maker, TID + 1, 0, 0));
		assert_int_equal(stack_of(maker, TID).end, PYTHON_END_NO_THREAD);
	}
}

static void frames_that_have_not_begun_have_no_offset(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MAKER_LAYOUTS; i++) {
		struct maker *maker = maker_layout(i);
		uint64_t code = maker_code(maker, "a.py", "f", 1);
		uint64_t frame = maker_frame(maker, code, 0, (uint32_t)-2, 0);
		if (maker->layout.position == PYTHON_POSITION_POINTER)
			maker_put64(maker, frame + maker->layout.frame_position,
				    code + maker->layout.code_instructions - 2);
		else
			maker_put32(maker, frame + maker->layout.frame_position, UINT32_MAX);
		maker_interpreter(maker, maker_thread(maker, TID, frame, 0), 0);
		struct stack stack = stack_of(maker, TID);
		assert_int_equal(stack.count, 1);
		assert_int_equal(stack.frames[0].offset, UINT32_MAX);
	}
}

static void copies_of_the_bytecode_count_from_their_start(void **state)
{
	(void)state;
	struct maker *maker = maker_layout(MAKER_LAYOUTS - 1);
	const struct python_layout *layout = &maker->layout;
	uint64_t code = maker_code(maker, "a.py", "f", 1);
	uint64_t copies = maker_room(maker, 3 * 8), copy = maker_room(maker, 64);
	uint64_t frame = maker_frame(maker, code, 0, 0, 0);
	maker_put64(maker, copies, 2);
	maker_put64(maker, copies + 8, code + layout->code_instructions);
	maker_put64(maker, copies + 16, copy);
	maker_put64(maker, code + layout->code_bytecodes, copies);
	maker_put32(maker, frame + layout->frame_bytecode, 1);
	maker_put64(maker, frame + layout->frame_position, copy + 12);
	maker_interpreter(maker, maker_thread(maker, TID, frame, 0), 0);
	keep_seed(maker, "copies");
	assert_int_equal(stack_of(maker, TID).frames[0].offset, 12);
	maker_put32(maker, frame + layout->frame_bytecode, 2); /* there is none */
	assert_int_not_equal(stack_of(maker, TID).frames[0].offset, 12);
	maker_put64(maker, frame + layout->frame_position, code + layout->code_instructions + 8);
	maker_put32(maker, frame + layout->frame_bytecode, 0);
	assert_int_equal(stack_of(maker, TID).frames[0].offset, 8);
}

static void circles_end(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MAKER_LAYOUTS; i++) {
		struct maker *maker = maker_layout(i);
		const struct python_layout *layout = &maker->layout;
		uint64_t code = maker_code(maker, "a.py", "f", 1);
		uint64_t frame = maker_frame(maker, code, 0, 0, 0);
		uint64_t thread = maker_thread(maker, TID, frame, 0);
		uint64_t interpreter = maker_interpreter(maker, thread, 0);
		maker_put64(maker, frame + layout->frame_back, frame);
		assert_int_equal(stack_of(maker, TID).end, PYTHON_END_BROKEN);
		assert_int_equal(stack_of(maker, TID).count, MAX_FRAMES);
		if (has_shims(maker)) {
			maker->bytes[frame + layout->frame_owner] = PYTHON_OWNER_SHIM;
			assert_int_equal(stack_of(maker, TID).end, PYTHON_END_BROKEN);
			assert_int_equal(stack_of(maker, TID).count, 0);
		}
		maker_put64(maker, thread + layout->thread_next, thread);
		keep_seed(maker, "circles");
		assert_int_equal(stack_of(maker, TID + 1).end, PYTHON_END_BROKEN);
		maker_put64(maker, thread + layout->thread_next, 0);
		maker_put64(maker, interpreter + layout->interpreter_next, interpreter);
		assert_int_equal(stack_of(maker, TID + 1).end, PYTHON_END_BROKEN);
		maker_put64(maker, interpreter + layout->interpreter_threads, 0);
		assert_int_equal(stack_of(maker, TID + 1).end, PYTHON_END_BROKEN);
	}
}

/* The stack after a pointer was replaced by one that leads nowhere. */
static struct stack with_wild(struct maker *maker, uint64_t where)
{
	uint64_t was;
	memcpy(&was, maker->bytes + where, sizeof was);
	maker_put64(maker, where, 0xdead0000dead0000ull);
	struct stack stack = stack_of(maker, TID);
	maker_put64(maker, where, was);
	return stack;
}

static void wild_pointers_end_the_stack(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MAKER_LAYOUTS; i++) {
		struct maker *maker = maker_layout(i);
		const struct python_layout *layout = &maker->layout;
		uint64_t code = maker_code(maker, "a.py", "f", 1);
		uint64_t outer = maker_frame(maker, code, 0, 0, 0), inner = maker_frame(maker, code, outer, 0, 0);
		uint64_t thread = maker_thread(maker, TID, inner, 0);
		uint64_t interpreter = maker_interpreter(maker, thread, 0);
		const struct {
			uint64_t where;
			size_t count;
		} places[] = {
			{MAKER_RUNTIME + layout->runtime_interpreters, 0},
			{interpreter + layout->interpreter_threads, 0},
			{thread + layout->thread_frame, 0},
			{inner + layout->frame_code, 0},
			{inner + layout->frame_back, 1},
			{outer + layout->frame_code, 1},
			{outer + layout->frame_back, 2},
		};
		for (size_t n = 0; n < COUNT(places); n++) {
			struct stack stack = with_wild(maker, places[n].where);
			assert_int_equal(stack.end, PYTHON_END_BROKEN);
			assert_int_equal(stack.count, places[n].count);
		}
		assert_int_equal(stack_of(maker, TID).end, PYTHON_END_WHOLE);
		maker_put64(maker, MAKER_RUNTIME + layout->runtime_interpreters, 0);
		assert_int_equal(stack_of(maker, TID).end, PYTHON_END_NO_THREAD);
	}
}

static void frames_beyond_the_room_are_counted_as_broken(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MAKER_LAYOUTS; i++) {
		struct maker *maker = maker_layout(i);
		uint64_t code = maker_code(maker, "a.py", "f", 1), frame = 0;
		for (unsigned n = 0; n < MAX_FRAMES; n++) {
			if (has_shims(maker))
				frame = maker_frame(maker, 0, frame, 0, PYTHON_OWNER_SHIM);
			frame = maker_frame(maker, code, frame, 0, 0);
		}
		uint64_t thread = maker_thread(maker, TID, frame, 0);
		maker_interpreter(maker, thread, 0);
		assert_int_equal(stack_of(maker, TID).end, PYTHON_END_WHOLE);
		assert_int_equal(stack_of(maker, TID).count, MAX_FRAMES);
		struct python_frame some[MAX_FRAMES - 1];
		enum python_end end;
		assert_int_equal(
			python_stack_read(&maker->memory, &maker->layout, MAKER_RUNTIME, TID, some, COUNT(some), &end),
			COUNT(some));
		assert_int_equal(end, PYTHON_END_BROKEN);
	}
}

/* --- memory --- */

static void memory_of_a_process_is_read_whole_or_not(void **state)
{
	(void)state;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(pages, MAP_FAILED);
	munmap(pages + 2 * page, page);
	memset(pages, 0x5a, 2 * page);
	int32_t pid = getpid();
	struct target_memory memory = {&pid, process_memory_read};
	uint8_t *copy = malloc(3 * page);
	assert_true(target_memory_read(&memory, (uintptr_t)pages, copy, 2 * page));
	assert_memory_equal(copy, pages, 2 * page);
	assert_false(target_memory_read(&memory, (uintptr_t)pages + 1, copy, 2 * page));
	assert_false(target_memory_read(&memory, (uintptr_t)pages + 2 * page, copy, 1));
	assert_false(target_memory_read(&memory, 0, copy, 8));
	assert_false(target_memory_read(&memory, UINT64_MAX - 7, copy, 8));
	assert_false(target_memory_read(&memory, UINT64_MAX - 7, copy, 16));
	pid = -1;
	assert_false(target_memory_read(&memory, (uintptr_t)pages, copy, 8));
	free(copy);
	munmap(pages, 2 * page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_a_thread_are_read),
		cmocka_unit_test(threads_of_all_interpreters_are_found),
		cmocka_unit_test(of_several_states_of_a_thread_the_current_one_is_inner),
		cmocka_unit_test(the_only_thread_needs_no_id),
		cmocka_unit_test(frames_that_have_not_begun_have_no_offset),
		cmocka_unit_test(copies_of_the_bytecode_count_from_their_start),
		cmocka_unit_test(circles_end),
		cmocka_unit_test(wild_pointers_end_the_stack),
		cmocka_unit_test(frames_beyond_the_room_are_counted_as_broken),
		cmocka_unit_test(memory_of_a_process_is_read_whole_or_not),
	};
	return cmocka_run_group_tests_name("python_stack", tests, NULL, NULL);
}
