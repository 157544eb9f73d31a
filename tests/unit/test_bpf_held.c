/* Copies of stacks whose weight is not known yet. */
#include "unit.h"

#include "base/mem.h"
#include "engine/bpf_held.h"

static struct layout_copy *copy_of(uint32_t tid, uint32_t bytes)
{
	struct layout_copy *copy = mem_zalloc(1, offsetof(struct layout_copy, bytes) + bytes);
	copy->record.key.tid = tid;
	copy->record.bytes = bytes;
	return copy;
}

static void a_thread_has_one_copy_the_last(void **state)
{
	(void)state;
	struct bpf_held held;
	bpf_held_init(&held);
	assert_null(bpf_held_find(&held, 1));
	bpf_held_put(&held, copy_of(1, 10));
	bpf_held_put(&held, copy_of(2, 20));
	bpf_held_put(&held, copy_of(1, 30));
	assert_int_equal(bpf_held_find(&held, 1)->record.bytes, 30);
	assert_int_equal(bpf_held_find(&held, 2)->record.bytes, 20);
	bpf_held_drop(&held, 1);
	bpf_held_drop(&held, 3);
	assert_null(bpf_held_find(&held, 1));
	bpf_held_put(&held, copy_of(1, 40));
	assert_int_equal(bpf_held_find(&held, 1)->record.bytes, 40);
	bpf_held_release(&held);
}

static void beyond_the_limit_copies_lose_their_bytes(void **state)
{
	(void)state;
	struct bpf_held held;
	bpf_held_init(&held);
	held.max_bytes = 3 * offsetof(struct layout_copy, bytes) + 120;
	bpf_held_put(&held, copy_of(1, 60));
	bpf_held_put(&held, copy_of(2, 60));
	assert_int_equal(bpf_held_find(&held, 1)->record.bytes, 60);
	assert_int_equal(bpf_held_find(&held, 2)->record.bytes, 60);
	bpf_held_put(&held, copy_of(3, 60));
	assert_int_equal(bpf_held_find(&held, 3)->record.bytes, 0);
	bpf_held_drop(&held, 1);
	bpf_held_put(&held, copy_of(3, 60));
	assert_int_equal(bpf_held_find(&held, 3)->record.bytes, 60);
	bpf_held_release(&held);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_has_one_copy_the_last),
		cmocka_unit_test(beyond_the_limit_copies_lose_their_bytes),
	};
	return cmocka_run_group_tests_name("bpf_held", tests, NULL, NULL);
}
