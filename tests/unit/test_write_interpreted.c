/* Mappings that stand for functions of interpreters. */
#include "perfdata/write_interpreted.h"
#include "unit.h"

static void a_mapping_is_there_for_all_samples_that_need_it(void **state)
{
	(void)state;
	struct interpreted functions;
	interpreted_init(&functions);
	struct write_interpreted written = {.functions = &functions};
	uint32_t number = interpreted_add(&functions, "app.main", "/srv/app.py");
	struct event_mmap mmap;
	assert_true(write_interpreted_take(&written, 7, number, 100, &mmap));
	assert_int_equal(mmap.time, 100);
	assert_int_equal(mmap.pid, 7);
	assert_false(write_interpreted_take(&written, 7, number, 100, &mmap));
	assert_false(write_interpreted_take(&written, 7, number, 200, &mmap));
	/* A sample that another thread finished later, though it is older. */
	assert_true(write_interpreted_take(&written, 7, number, 50, &mmap));
	assert_int_equal(mmap.time, 50);
	assert_false(write_interpreted_take(&written, 7, number, 60, &mmap));
	/* Another process has its own; a number that was not given has none. */
	assert_true(write_interpreted_take(&written, 8, number, 70, &mmap));
	assert_false(write_interpreted_take(&written, 8, number + 1, 70, &mmap));
	assert_true(write_interpreted_take(&written, 8, INTERPRETED_UNKNOWN, 70, &mmap));
	assert_string_equal(mmap.path, INTERPRETED_UNKNOWN_PATH);
	write_interpreted_forget(&written);
	assert_true(write_interpreted_take(&written, 7, number, 300, &mmap));
	write_interpreted_release(&written);
	interpreted_release(&functions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mapping_is_there_for_all_samples_that_need_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
