/* Tasks of asyncio in memory that was made by hand, with what a program may do to it. */
#include "python_maker.h"

#include "runtime/python/tasks.h"

enum { STRING_TYPE = 0x5000, NUMBER_TYPE = 0x6000, TASK_BYTES = 256 };

/* As the section of 3.14 has them. */
static const uint64_t section[] = {TASK_BYTES, 136, 96, 108, 109, 128, 144, 400000, 7400, 1000, 700, 708, 716};

static struct python_tasks tasks_of_section(void)
{
	struct python_tasks tasks;
	assert_true(python_tasks_of_section((const uint8_t *)section, sizeof section, &tasks));
	return tasks;
}

static uint64_t typed(struct maker *maker, uint64_t object, uint64_t type)
{
	maker_put64(maker, object + maker->layout.string_length - 8, type);
	return object;
}

static uint64_t make_code(struct maker *maker)
{
	uint64_t code = maker_code(maker, "a.py", "f", 3);
	maker_put64(maker, code + maker->layout.code_name, typed(maker, maker_ascii(maker, "f"), STRING_TYPE));
	return code;
}

/* A task, or another future, that the next one awaits. */
static uint64_t make_task(struct maker *maker, const struct python_tasks *tasks, bool is_task, uint64_t awaited_by)
{
	uint64_t task = maker_room(maker, TASK_BYTES);
	maker->bytes[task + tasks->is_task] = is_task;
	maker_put64(maker, task + tasks->awaited_by, awaited_by);
	return task;
}

static uint64_t make_set(struct maker *maker, uint64_t member)
{
	uint16_t header = maker->layout.string_length;
	uint64_t table = maker_room(maker, 8 * 16), set = maker_room(maker, header + 64u);
	maker_put64(maker, table + 16, STRING_TYPE); /* removed */
	maker_put64(maker, table + 24, UINT64_MAX);
	maker_put64(maker, table + 5 * 16, member);
	maker_put64(maker, set + header + 16, 7);
	maker_put64(maker, set + header + 24, table);
	return set;
}

static void the_section_describes_tasks(void **state)
{
	(void)state;
	struct python_tasks tasks = tasks_of_section();
	assert_int_equal(tasks.thread_task, 708);
	assert_int_equal(tasks.name, 136);
	assert_int_equal(tasks.coroutine, 128);
	assert_int_equal(tasks.awaited_by, 96);
	assert_int_equal(tasks.current, 0);
	assert_false(python_tasks_of_section((const uint8_t *)section, sizeof section - 8, &tasks));
	for (unsigned i = 1; i <= 5; i++) {
		uint64_t words[13];
		memcpy(words, section, sizeof words);
		words[i] = TASK_BYTES;
		assert_false(python_tasks_of_section((const uint8_t *)words, sizeof words, &tasks));
	}
}

static void tasks_are_followed_to_those_that_await_them(void **state)
{
	(void)state;
	struct python_tasks tasks = tasks_of_section();
	uint64_t found[PYTHON_AWAITING_MAX];
	for (unsigned free_threaded = 0; free_threaded < 2; free_threaded++) {
		struct maker *maker = maker_layout(MAKER_LAYOUTS - 1);
		maker->layout.string_length = free_threaded ? 32 : 16;
		uint64_t outer = make_task(maker, &tasks, true, 0);
		uint64_t middle = make_task(maker, &tasks, true, make_set(maker, outer));
		maker->bytes[middle + tasks.awaited_by_is_set] = 1;
		uint64_t gathering = make_task(maker, &tasks, false, middle);
		uint64_t inner = make_task(maker, &tasks, true, gathering);
		assert_int_equal(python_tasks_awaiting(&maker->memory, &maker->layout, &tasks, inner, found), 3);
		assert_int_equal(found[0], inner);
		assert_int_equal(found[1], middle);
		assert_int_equal(found[2], outer);
	}
}

static void circles_of_tasks_end(void **state)
{
	(void)state;
	struct python_tasks tasks = tasks_of_section();
	struct maker *maker = maker_layout(MAKER_LAYOUTS - 1);
	uint64_t found[PYTHON_AWAITING_MAX];
	uint64_t task = make_task(maker, &tasks, true, 0), future = make_task(maker, &tasks, false, 0);
	maker_put64(maker, task + tasks.awaited_by, task);
	maker_put64(maker, future + tasks.awaited_by, future);
	assert_int_equal(python_tasks_awaiting(&maker->memory, &maker->layout, &tasks, task, found),
			 PYTHON_AWAITING_MAX);
	assert_int_equal(python_tasks_awaiting(&maker->memory, &maker->layout, &tasks, future, found), 1);
	assert_int_equal(python_tasks_awaiting(&maker->memory, &maker->layout, &tasks, 1ull << 40, found), 1);
}

static void assert_name(struct maker *maker, const struct python_tasks *tasks, uint64_t object, const char *wanted)
{
	CLEANUP_BUF struct buf name = {0};
	uint64_t code = make_code(maker), task = maker_room(maker, TASK_BYTES);
	maker_put64(maker, task + tasks->name, object);
	bool named = python_task_name(&maker->memory, &maker->layout, tasks, task, code, &name);
	assert_int_equal(named, wanted != NULL);
	if (wanted)
		assert_string_equal(name.data, wanted);
}

static void names_are_those_that_the_program_gave(void **state)
{
	(void)state;
	struct python_tasks tasks = tasks_of_section();
	struct maker *maker = maker_layout(MAKER_LAYOUTS - 1);
	assert_name(maker, &tasks, typed(maker, maker_ascii(maker, "fetch"), STRING_TYPE), "fetch");
	assert_name(maker, &tasks, typed(maker, maker_ascii(maker, "Task-12b"), STRING_TYPE), "Task-12b");
	assert_name(maker, &tasks, typed(maker, maker_ascii(maker, "Task-12"), STRING_TYPE), NULL);
	assert_name(maker, &tasks, typed(maker, maker_ascii(maker, "fetch"), NUMBER_TYPE), NULL);
	assert_name(maker, &tasks, 0, NULL);
}

static void a_task_has_the_code_of_its_coroutine(void **state)
{
	(void)state;
	struct python_tasks tasks = tasks_of_section();
	struct maker *maker = maker_layout(MAKER_LAYOUTS - 1);
	uint64_t task = maker_room(maker, TASK_BYTES), coroutine = maker_room(maker, TASK_BYTES);
	assert_int_equal(python_task_code(&maker->memory, &maker->layout, &tasks, task), 0);
	maker_put64(maker, task + tasks.coroutine, coroutine);
	maker_put64(maker, coroutine + maker->layout.generator_code, 0x1001); /* tagged */
	assert_int_equal(python_task_code(&maker->memory, &maker->layout, &tasks, task), 0x1000);
}

/* A dictionary with the item in the second place; the first one was removed. */
static uint64_t make_dictionary(struct maker *maker, const char *key, uint64_t value)
{
	bool newer = maker->layout.version >= 0x030b;
	size_t entry = newer ? 16 : 24, header = newer ? 32 : 40;
	uint64_t keys = maker_room(maker, header + 8 + 5 * 24), dictionary = maker_room(maker, 48);
	maker_put64(maker, dictionary + 32, keys);
	if (newer) {
		maker->bytes[keys + 9] = 3; /* 8 bytes of indices */
		maker->bytes[keys + 10] = 1; /* strings */
		maker_put64(maker, keys + 24, 2);
	} else {
		maker_put64(maker, keys + 8, 8);
		maker_put64(maker, keys + 32, 2);
	}
	maker_put64(maker, keys + header + 8 + 2 * entry - 16, maker_ascii(maker, key));
	maker_put64(maker, keys + header + 8 + 2 * entry - 8, value);
	return dictionary;
}

static void the_dictionary_of_running_tasks_is_found(void **state)
{
	(void)state;
	static const uint32_t versions[] = {0x0308, 0x0309, 0x030a, 0x030b, 0x030c, 0x030d};
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
		struct maker *maker = maker_of_version(versions[i]);
		struct python_tasks tasks;
		uint64_t current = maker_room(maker, 48), module = maker_room(maker, 64);
		uint64_t interpreter = maker_interpreter(maker, 0, 0);
		assert_false(python_tasks_of_version(&maker->memory, &maker->layout, MAKER_RUNTIME, &tasks));
		maker_put64(maker, module + 16, make_dictionary(maker, "_current_tasks", current));
		maker_put64(maker, interpreter + maker->layout.interpreter_modules,
			    make_dictionary(maker, "_asyncio", module));
		assert_true(python_tasks_of_version(&maker->memory, &maker->layout, MAKER_RUNTIME, &tasks));
		assert_int_equal(tasks.current, current);
		assert_int_equal(tasks.thread_task, PYTHON_NO_OFFSET);
		maker->layout.free_threaded = true;
		assert_false(python_tasks_of_version(&maker->memory, &maker->layout, MAKER_RUNTIME, &tasks));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_section_describes_tasks),
		cmocka_unit_test(tasks_are_followed_to_those_that_await_them),
		cmocka_unit_test(circles_of_tasks_end),
		cmocka_unit_test(names_are_those_that_the_program_gave),
		cmocka_unit_test(a_task_has_the_code_of_its_coroutine),
		cmocka_unit_test(the_dictionary_of_running_tasks_is_found),
	};
	return cmocka_run_group_tests_name("python_tasks", tests, NULL, NULL);
}
