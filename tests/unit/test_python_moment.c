/*
 * Frames of a thread in memory that the test makes, and samples that were taken before: what their registers and stacks
 * show of the frames.
 */
#include "python_maker.h"

#include "base/buf.h"
#include "runtime/python/instructions.h"
#include "runtime/python/moment.h"

enum { FIRST_SHARED = 3, MAX_FRAMES = 16, MAX_WORDS = 1024, CODE_BYTES = 64, CALLED = 20 };

/* Functions a, b, c… of which the instructions are known. */
enum { A, B, C, D, FUNCTIONS };

struct world {
	struct maker *maker;
	uint64_t codes[FUNCTIONS];
	struct python_frame frames[MAX_FRAMES];
	size_t count;
	uint64_t registers[2], stack[MAX_WORDS];
	size_t stack_words;
};

static uint64_t bytecode(const struct world *world, int function)
{
	const struct python_layout *layout = &world->maker->layout;
	return world->codes[function] +
	       (layout->code_instructions == PYTHON_NO_OFFSET ? 400 : layout->code_instructions);
}

/* The address of the instruction that follows the one at `offset`. */
static uint64_t after(const struct world *world, int function, uint32_t offset)
{
	return bytecode(world, function) + offset + 2;
}

static bool find(void *context, uint64_t next, struct python_frame *ret_frame)
{
	const struct world *world = context;
	for (int i = 0; i < FUNCTIONS; i++) {
		if (next <= bytecode(world, i) || next > bytecode(world, i) + CODE_BYTES)
			continue;
		*ret_frame = (struct python_frame){.code = world->codes[i],
						   .offset = (uint32_t)(next - bytecode(world, i) - 2),
						   .first_line = 10u + (uint32_t)i};
		return true;
	}
	return false;
}

static void begin(struct world *world, unsigned layout)
{
	*world = (struct world){.maker = maker_layout(layout)};
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		world->codes[i] = maker_code(world->maker, "a.py", "f", 10 + i);
}

static bool has_shims(const struct world *world)
{
	return world->maker->layout.entry == PYTHON_ENTRY_SHIM;
}

/* A frame that Python called, or, with `native`, native code. */
static uint64_t call(struct world *world, int function, uint64_t back, bool native)
{
	uint8_t owner = native && !has_shims(world);
	if (native && has_shims(world))
		back = maker_frame(world->maker, 1, back, 0, PYTHON_OWNER_SHIM);
	return maker_frame(world->maker, world->codes[function], back, CALLED, owner);
}

/* The frames of the thread now. */
static void read_frames(struct world *world, uint64_t innermost)
{
	enum python_end end;
	world->count = python_stack_follow(&world->maker->memory, &world->maker->layout, innermost, world->frames,
					   MAX_FRAMES, &end);
	assert_int_equal(end, PYTHON_END_WHOLE);
}

static void push(struct world *world, uint64_t word)
{
	assert_true(world->stack_words < MAX_WORDS);
	world->stack[world->stack_words++] = word;
}

static void match(struct world *world)
{
	struct python_moment moment = {world->registers, 2, (const uint8_t *)world->stack,
				       world->stack_words * sizeof *world->stack};
	struct python_known known = {&world->maker->memory, &world->maker->layout, world, find};
	world->count = python_moment_match(&moment, &known, world->frames, world->count, MAX_FRAMES);
}

/* Innermost first: letters of functions, '?' for what is not known; in lower case if doubtful, '|' behind an entry. */
static void expect(const struct world *world, const char *wanted)
{
	CLEANUP_BUF struct buf text = {0};
	for (size_t i = 0; i < world->count; i++) {
		const struct python_frame *frame = &world->frames[i];
		char letter = '?';
		for (int k = 0; k < FUNCTIONS; k++)
			if (frame->code == world->codes[k])
				letter = (char)((frame->doubtful ? 'a' : 'A') + k);
		buf_char(&text, letter);
		if (frame->entry && world->maker->layout.entry != PYTHON_ENTRY_EACH)
			buf_char(&text, '|');
		assert_int_equal(frame->shown, i == 0);
	}
	buf_char(&text, '\0');
	assert_string_equal(text.data, wanted);
}

static void active_frames_are_those_of_the_sample(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MAKER_LAYOUTS; i++) {
		struct world world;
		begin(&world, i);
		uint64_t a = call(&world, A, 0, true), b = call(&world, B, a, false);
		read_frames(&world, b);
		push(&world, 1);
		push(&world, after(&world, B, 6));
		world.registers[1] = b;
		push(&world, after(&world, A, CALLED));
		push(&world, a);
		match(&world);
		expect(&world, i < FIRST_SHARED ? "BA" : "BA|");
		assert_int_equal(world.frames[0].offset, 6); /* that of the sample */
		assert_int_equal(world.frames[1].offset, CALLED);
	}
}

static void functions_that_were_called_later_are_dropped(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MAKER_LAYOUTS; i++) {
		struct world world;
		begin(&world, i);
		uint64_t a = call(&world, A, 0, true), b = call(&world, B, a, false);
		uint64_t c = call(&world, C, b, true), d = call(&world, D, c, false);
		read_frames(&world, d);
		world.registers[0] = after(&world, B, 6);
		push(&world, b);
		match(&world);
		expect(&world, i < FIRST_SHARED ? "BA" : "BA|");
	}
}

/* From 3.11 on, their frames are left in memory. */
static void functions_that_have_returned_are_found(void **state)
{
	(void)state;
	for (unsigned i = FIRST_SHARED; i < MAKER_LAYOUTS; i++) {
		struct world world;
		begin(&world, i);
		uint64_t a = call(&world, A, 0, true), b = call(&world, B, a, false);
		uint64_t c = call(&world, C, b, true), d = call(&world, D, c, false);
		read_frames(&world, b);
		world.registers[0] = d;
		push(&world, after(&world, D, 6));
		match(&world);
		expect(&world, "dc|ba|");
		/* The evaluation in which the caller waits is on the stack: it is sure. */
		read_frames(&world, b);
		push(&world, after(&world, B, CALLED));
		push(&world, b);
		match(&world);
		expect(&world, "dc|BA|");
		assert_int_equal(world.frames[0].offset, 6);
	}
}

/* Before, the stack has an evaluation of each. */
static void functions_that_have_returned_are_on_the_stack(void **state)
{
	(void)state;
	for (unsigned i = 0; i < FIRST_SHARED; i++) {
		struct world world;
		begin(&world, i);
		uint64_t a = call(&world, A, 0, true);
		read_frames(&world, a);
		world.registers[0] = after(&world, C, 6);
		push(&world, after(&world, C, 6));
		push(&world, after(&world, B, 8));
		push(&world, after(&world, A, 10));
		push(&world, a);
		match(&world);
		expect(&world, "cbA");
		assert_int_equal(world.frames[2].offset, 10);
	}
}

static void callers_may_not_be_known(void **state)
{
	(void)state;
	for (unsigned i = FIRST_SHARED; i < MAKER_LAYOUTS; i++) {
		struct world world;
		begin(&world, i);
		uint64_t a = call(&world, A, 0, true), b = call(&world, B, a, true), c = call(&world, C, b, false);
		read_frames(&world, c);
		world.registers[0] = after(&world, D, 6);
		match(&world);
		expect(&world, "d?|a|");
	}
}

/* A word that was left on the stack by somebody who has returned comes before those of the sample. */
static void words_that_are_left_do_not_hide_what_is_sure(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MAKER_LAYOUTS; i++) {
		struct world world;
		begin(&world, i);
		uint64_t a = call(&world, A, 0, true), b = call(&world, B, a, false);
		read_frames(&world, b);
		push(&world, after(&world, D, 6));
		for (int k = 0; k < 600; k++)
			push(&world, 0);
		push(&world, after(&world, B, 8));
		push(&world, b);
		match(&world);
		expect(&world, i < FIRST_SHARED ? "dBA" : "d?|BA|");
		assert_int_equal(world.frames[i < FIRST_SHARED ? 1 : 2].offset, 8);
	}
}

static void the_first_instruction_shows_nothing(void **state)
{
	(void)state;
	struct world world;
	begin(&world, 0);
	read_frames(&world, call(&world, A, 0, true));
	world.registers[0] = bytecode(&world, A);
	push(&world, world.frames[0].address);
	match(&world);
	assert_int_equal(world.count, 0);
}

static void a_frame_that_is_overwritten_is_not_followed(void **state)
{
	(void)state;
	struct world world;
	begin(&world, FIRST_SHARED);
	uint64_t a = call(&world, A, 0, true), b = call(&world, B, a, false);
	read_frames(&world, a);
	world.registers[0] = after(&world, B, 6);
	push(&world, b);
	maker_put64(world.maker, b + world.maker->layout.frame_back, b); /* a circle */
	match(&world);
	expect(&world, "b?|");
}

/* --- the parts --- */

static void instructions_belong_to_the_last_code_object_there(void **state)
{
	(void)state;
	struct python_instructions instructions = {0};
	python_instructions_set(&instructions, 100, 120, 0);
	python_instructions_set(&instructions, 200, 220, 1);
	python_instructions_set(&instructions, 150, 150, 2); /* empty */
	assert_int_equal(python_instructions_before(&instructions, 100), PYTHON_NO_CODE);
	assert_int_equal(python_instructions_before(&instructions, 101), 0);
	assert_int_equal(python_instructions_before(&instructions, 120), 0);
	assert_int_equal(python_instructions_before(&instructions, 121), PYTHON_NO_CODE);
	assert_int_equal(python_instructions_before(&instructions, 220), 1);
	assert_int_equal(python_instructions_before(&instructions, 0), PYTHON_NO_CODE);
	python_instructions_set(&instructions, 110, 210, 3);
	assert_int_equal(instructions.count, 1);
	assert_int_equal(python_instructions_before(&instructions, 105), PYTHON_NO_CODE);
	assert_int_equal(python_instructions_before(&instructions, 210), 3);
	python_instructions_set(&instructions, 50, 60, 4);
	python_instructions_set(&instructions, 300, 310, 5);
	assert_int_equal(python_instructions_before(&instructions, 60), 4);
	assert_int_equal(python_instructions_before(&instructions, 310), 5);
	python_instructions_release(&instructions);
}

struct counted {
	unsigned reads;
	size_t size;
};

static bool read_counted(void *context, uint64_t address, void *bytes, size_t size)
{
	struct counted *counted = context;
	counted->reads++;
	if (address > counted->size || size > counted->size - address)
		return false;
	for (size_t i = 0; i < size; i++)
		((uint8_t *)bytes)[i] = (uint8_t)((address + i) / 16);
	return true;
}

static void pages_are_read_once(void **state)
{
	(void)state;
	struct counted counted = {.size = (size_t)MEMORY_PAGE_BYTES * 20 + 100};
	struct target_memory memory = {&counted, read_counted};
	struct memory_pages pages = {.memory = &memory};
	uint8_t byte, bytes[32];
	for (uint64_t at = 4096; at < 2 * 4096; at += 32) {
		assert_true(memory_pages_read(&pages, at, &byte, 1));
		assert_int_equal(byte, (uint8_t)(at / 16));
	}
	assert_int_equal(counted.reads, 1);
	/* across pages, on the last one, which is not whole, and behind it */
	assert_true(memory_pages_read(&pages, 2 * 4096 - 16, bytes, sizeof bytes));
	assert_int_equal(bytes[31], (uint8_t)(2 * 4096 / 16));
	assert_true(memory_pages_read(&pages, counted.size - 1, &byte, 1));
	assert_false(memory_pages_read(&pages, counted.size, &byte, 1));
	/* More than there is room for. */
	for (uint64_t page = 1; page < 20; page++) {
		assert_true(memory_pages_read(&pages, page * 4096 + 16, &byte, 1));
		assert_int_equal(byte, (uint8_t)(page * 256 + 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(active_frames_are_those_of_the_sample),
		cmocka_unit_test(functions_that_were_called_later_are_dropped),
		cmocka_unit_test(functions_that_have_returned_are_found),
		cmocka_unit_test(functions_that_have_returned_are_on_the_stack),
		cmocka_unit_test(callers_may_not_be_known),
		cmocka_unit_test(words_that_are_left_do_not_hide_what_is_sure),
		cmocka_unit_test(the_first_instruction_shows_nothing),
		cmocka_unit_test(a_frame_that_is_overwritten_is_not_followed),
		cmocka_unit_test(instructions_belong_to_the_last_code_object_there),
		cmocka_unit_test(pages_are_read_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
