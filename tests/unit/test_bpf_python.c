/* Frames of Python that come with copied stacks: what is behind the bytes of the stack is used only if it is there. */
#include "unit.h"

#include "base/mem.h"
#include "engine/bpf_python.h"

enum { STACK_BYTES = 13, FRAMES = 2 };

static struct layout_copy *copy_of_kind(enum layout_kind kind, size_t *ret_size)
{
	const uint64_t words[FRAMES * 2] = {trace_word(TRACE_PYTHON, 0x1000, 1), 7ull << 32,
					    trace_word(TRACE_PYTHON, 0x2000, 0), 9ull << 32 | 4};
	struct layout_copy *copy = bpf_python_copy_new(STACK_BYTES, words, FRAMES * 2);
	copy->record.kind = kind;
	copy->record.key.pid = 1;
	*ret_size = bpf_python_copy_bytes(copy);
	return copy;
}

static void frames_behind_a_copy_get_their_functions(void **state)
{
	(void)state;
	static const enum layout_kind kinds[] = {LAYOUT_COPY, LAYOUT_COPY_LEFT};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct python_live live = {0};
		size_t size;
		struct layout_record *record = &copy_of_kind(kinds[i], &size)->record;
		record = bpf_python_name(&live, record, size);
		const uint64_t *words = bpf_python_copy_words((struct layout_copy *)record);
		assert_int_equal(record->python_count, FRAMES * 2);
		/* Nobody knows the process, and so its functions. What native code called still is so. */
		assert_int_equal(live.unnamed, FRAMES);
		assert_int_equal(trace_word_address(words[0]), INTERPRETED_UNKNOWN);
		assert_true(trace_word_is_exact(words[0]));
		assert_false(trace_word_is_exact(words[2]));
		assert_int_equal((uintptr_t)words % 8, 0);
		free(record);
		python_live_release(&live);
	}
}

static void frames_that_are_not_there_are_none(void **state)
{
	(void)state;
	struct python_live live = {0};
	size_t size;
	struct layout_record *record = &copy_of_kind(LAYOUT_COPY, &size)->record;
	record = bpf_python_name(&live, record, size - 1);
	assert_int_equal(record->python_count, 0);
	assert_int_equal(record->bytes, STACK_BYTES);
	assert_int_equal(live.unnamed, 0);
	free(record);
	python_live_release(&live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_behind_a_copy_get_their_functions),
		cmocka_unit_test(frames_that_are_not_there_are_none),
	};
	return cmocka_run_group_tests_name("bpf_python", tests, NULL, NULL);
}
