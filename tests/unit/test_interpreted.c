/* Merging of interpreted frames with native stacks, and functions of interpreters by number and path. */
#include "collect/interpreted.h"

#include "unit.h"

#include <string.h>

enum { NATIVE = 100 }; /* address of the first native frame */

/* A stack_maker with `count` native frames, and a sample with words. */
struct fixture {
	struct stack_maker maker;
	struct batch_sample sample;
	struct module_store codes;
};

static void begin(struct fixture *fixture, size_t count, const uint64_t *words, size_t word_count)
{
	*fixture = (struct fixture){.sample.event = {.interpreted = words, .interpreted_count = word_count}};
	fixture->maker.sample = &fixture->sample;
	fixture->maker.codes = &fixture->codes;
	interpreted_init(&fixture->codes.interpreted);
	for (size_t i = 0; i < count; i++) {
		MEM_ROOM(fixture->maker.frames, fixture->maker.count, fixture->maker.capacity);
		fixture->maker.frames[fixture->maker.count++] =
			(struct stack_frame){.frame = {.kind = TRACE_NATIVE, .address = NATIVE + i}};
	}
}

/* Innermost first: numbers of native frames as they are, functions as pN:line. */
static void expect(struct fixture *fixture, const char *wanted)
{
	CLEANUP_BUF struct buf text = {0};
	for (size_t i = 0; i < fixture->maker.count; i++) {
		const struct trace_frame *frame = &fixture->maker.frames[i].frame;
		if (frame->kind == TRACE_PYTHON)
			buf_printf(&text, "p%d:%u ", (int)frame->address, frame->version);
		else
			buf_printf(&text, "%d ", (int)frame->address - NATIVE);
	}
	buf_char(&text, '\0');
	assert_string_equal(text.data, wanted);
	free(fixture->maker.frames);
	free(fixture->maker.merged);
	interpreted_release(&fixture->codes.interpreted);
}

#define P(number, line, entry) trace_word(TRACE_PYTHON, number, entry), line
#define BEGIN(fixture, count, ...)              \
	const uint64_t words[] = {__VA_ARGS__}; \
	begin(&(fixture), count, words, sizeof words / sizeof *words)

static void each_evaluation_is_replaced_by_its_functions(void **state)
{
	(void)state;
	struct fixture fixture;
	const bool evaluates[] = {false, true, false, true, false};
	/* native 0, evaluation of p1 called by p2, native 2, evaluation of p3, main */
	BEGIN(fixture, 5, P(1, 10, 0), P(2, 20, 1), P(3, 30, 1));
	interpreted_merge_marked(&fixture.maker, 0, evaluates, true, false);
	expect(&fixture, "0 p1:10 p2:20 2 p3:30 4 ");
}

static void the_last_group_needs_no_mark(void **state)
{
	(void)state;
	struct fixture fixture;
	const bool evaluates[] = {true, false};
	BEGIN(fixture, 2, P(1, 1, 0), P(2, 2, 0));
	interpreted_merge_marked(&fixture.maker, 0, evaluates, true, false);
	expect(&fixture, "p1:1 p2:2 1 ");
}

static void an_evaluation_that_begins_is_dropped(void **state)
{
	(void)state;
	struct fixture fixture;
	const bool evaluates[] = {true, false, true, false};
	BEGIN(fixture, 4, P(1, 1, 1));
	interpreted_merge_marked(&fixture.maker, 0, evaluates, true, false);
	expect(&fixture, "1 p1:1 3 ");
}

static void outer_evaluations_of_greenlets_are_dropped(void **state)
{
	(void)state;
	struct fixture fixture;
	const bool evaluates[] = {false, true, false, true, false, true, false};
	BEGIN(fixture, 7, P(1, 1, 1));
	interpreted_merge_marked(&fixture.maker, 0, evaluates, true, true);
	expect(&fixture, "0 p1:1 2 4 6 ");
}

static void a_function_that_is_about_to_be_evaluated_is_innermost(void **state)
{
	(void)state;
	struct fixture fixture;
	const bool evaluates[] = {false, true, false};
	BEGIN(fixture, 3, P(1, 1, 1), P(2, 2, 1));
	interpreted_merge_marked(&fixture.maker, 0, evaluates, true, false);
	expect(&fixture, "p1:1 0 p2:2 2 ");
}

static void functions_reach_further_than_a_truncated_native_stack(void **state)
{
	(void)state;
	struct fixture fixture;
	const bool evaluates[] = {false, true};
	BEGIN(fixture, 2, P(1, 1, 1), P(2, 2, 0), P(3, 3, 1));
	interpreted_merge_marked(&fixture.maker, 0, evaluates, false, false);
	expect(&fixture, "0 p1:1 p2:2 p3:3 ");
}

static void frames_of_the_kernel_stay_in_front(void **state)
{
	(void)state;
	struct fixture fixture;
	const bool evaluates[] = {true, false};
	BEGIN(fixture, 4, P(1, 1, 1));
	interpreted_merge_marked(&fixture.maker, 2, evaluates, true, false);
	expect(&fixture, "0 1 p1:1 3 ");
}

static void only_functions_are_kept_on_request(void **state)
{
	(void)state;
	struct fixture fixture;
	const bool evaluates[] = {false, true, false};
	BEGIN(fixture, 4, P(1, 1, 0), P(2, 2, 1));
	fixture.maker.python = INTERPRETED_ONLY;
	interpreted_merge_marked(&fixture.maker, 1, evaluates, true, false);
	expect(&fixture, "p1:1 p2:2 ");
}

#define DOUBTFUL(number, line, entry) trace_word(TRACE_PYTHON, number, entry), (line) | TRACE_WORD_DOUBTFUL
#define SHOWN(number, line, entry) trace_word(TRACE_PYTHON, number, entry), (line) | TRACE_WORD_SHOWN
#define BOTH(number, line, entry) \
	trace_word(TRACE_PYTHON, number, entry), (line) | TRACE_WORD_SHOWN | TRACE_WORD_DOUBTFUL

static void late_functions_that_fit_are_used(void **state)
{
	(void)state;
	struct fixture fixture;
	const bool evaluates[] = {true, false, true};
	BEGIN(fixture, 3, BOTH(1, 1, 0), DOUBTFUL(2, 2, 1), P(3, 3, 1));
	interpreted_merge_late(&fixture.maker, 0, evaluates, true, false);
	expect(&fixture, "p1:1 p2:2 1 p3:3 ");
}

static void doubtful_functions_are_dropped_if_the_others_fit(void **state)
{
	(void)state;
	struct fixture fixture;
	const bool evaluates[] = {false, true, false};
	BEGIN(fixture, 3, BOTH(1, 1, 1), P(2, 2, 0), P(3, 3, 1));
	interpreted_merge_late(&fixture.maker, 0, evaluates, true, false);
	expect(&fixture, "0 p2:2 p3:3 2 ");
}

/* The thread was in three evaluations, and is in two: the outermost is the same. */
static void of_late_functions_the_outermost_are_used(void **state)
{
	(void)state;
	struct fixture fixture;
	const bool evaluates[] = {true, false, true, true, false};
	BEGIN(fixture, 5, SHOWN(1, 1, 0), P(2, 2, 1), P(3, 3, 1));
	interpreted_merge_late(&fixture.maker, 0, evaluates, true, false);
	expect(&fixture, "p1:1 p0:0 1 p0:0 p3:3 4 ");
}

static void too_many_late_functions_are_not_known(void **state)
{
	(void)state;
	struct fixture fixture;
	const bool evaluates[] = {false, true, false};
	BEGIN(fixture, 3, P(1, 1, 1), P(2, 2, 1), P(3, 3, 1));
	interpreted_merge_late(&fixture.maker, 0, evaluates, true, false);
	expect(&fixture, "0 p0:0 2 ");
}

/* Other greenlets have the outermost evaluation. */
static void late_functions_of_greenlets_are_innermost(void **state)
{
	(void)state;
	struct fixture fixture;
	const bool evaluates[] = {true, false, true};
	BEGIN(fixture, 3, SHOWN(1, 1, 1));
	interpreted_merge_late(&fixture.maker, 0, evaluates, true, true);
	expect(&fixture, "p1:1 1 ");
}

static void without_evaluations_late_functions_are_of_another_moment(void **state)
{
	(void)state;
	struct fixture fixture;
	const bool evaluates[] = {false, false};
	BEGIN(fixture, 2, SHOWN(1, 1, 1));
	interpreted_merge_late(&fixture.maker, 0, evaluates, true, false);
	expect(&fixture, "0 1 ");
}

static void functions_have_one_number_each(void **state)
{
	(void)state;
	struct interpreted functions;
	struct interpreted_function found;
	interpreted_init(&functions);
	uint32_t first = interpreted_add(&functions, "a.f", "a.py"),
		 second = interpreted_add(&functions, "a.f", "b.py");
	assert_int_not_equal(first, second);
	assert_int_equal(interpreted_add(&functions, "a.f", "a.py"), first);
	assert_true(interpreted_get(&functions, second, &found));
	assert_string_equal(found.file, "b.py");
	assert_false(interpreted_get(&functions, INTERPRETED_UNKNOWN, &found));
	assert_false(interpreted_get(&functions, second + 1, &found));
	interpreted_release(&functions);
}

static void paths_of_mappings_lead_back_to_functions(void **state)
{
	(void)state;
	struct interpreted functions;
	struct interpreted_function found;
	CLEANUP_BUF struct buf path = {0};
	interpreted_init(&functions);
	interpreted_write_path(&path, &(struct interpreted_function){"m.f (x)", "/a (b)/m.py"});
	uint32_t number = interpreted_add(&functions, "m.f", "/m.py");
	CLEANUP_BUF struct buf simple = {0};
	interpreted_write_path(&simple, &(struct interpreted_function){"m.f", "/m.py"});
	assert_int_equal(interpreted_add_path(&functions, simple.data), number);
	/* Where name and file both have parentheses the border is a guess, but nothing breaks. */
	assert_true(interpreted_get(&functions, interpreted_add_path(&functions, path.data), &found));
	static const char *const others[] = {
		"", "[python] ", "[python] f", "[python] f)", "/usr/bin/python3", "[python] f (x"};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_int_equal(interpreted_add_path(&functions, others[i]), INTERPRETED_UNKNOWN);
	interpreted_release(&functions);
}

static void lines_survive_the_byte_before_an_address(void **state)
{
	(void)state;
	for (uint32_t line = 0; line < 70000; line += 997)
		for (uint64_t less = 0; less <= 2; less++)
			assert_int_equal(interpreted_line(interpreted_address(7, line) - less), line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_evaluation_is_replaced_by_its_functions),
		cmocka_unit_test(the_last_group_needs_no_mark),
		cmocka_unit_test(an_evaluation_that_begins_is_dropped),
		cmocka_unit_test(outer_evaluations_of_greenlets_are_dropped),
		cmocka_unit_test(a_function_that_is_about_to_be_evaluated_is_innermost),
		cmocka_unit_test(functions_reach_further_than_a_truncated_native_stack),
		cmocka_unit_test(frames_of_the_kernel_stay_in_front),
		cmocka_unit_test(only_functions_are_kept_on_request),
		cmocka_unit_test(late_functions_that_fit_are_used),
		cmocka_unit_test(doubtful_functions_are_dropped_if_the_others_fit),
		cmocka_unit_test(of_late_functions_the_outermost_are_used),
		cmocka_unit_test(too_many_late_functions_are_not_known),
		cmocka_unit_test(late_functions_of_greenlets_are_innermost),
		cmocka_unit_test(without_evaluations_late_functions_are_of_another_moment),
		cmocka_unit_test(functions_have_one_number_each),
		cmocka_unit_test(paths_of_mappings_lead_back_to_functions),
		cmocka_unit_test(lines_survive_the_byte_before_an_address),
	};
	return cmocka_run_group_tests_name("interpreted", tests, NULL, NULL);
}
