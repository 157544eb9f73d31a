/* Stacks that are larger than their copies: the rest is read from memory, here from this process. */
#include "unit.h"

#include "base/mem.h"
#include "capture/members.h"
#include "capture/tails.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <asm/perf_regs.h>

enum { COPY = 4096, ALL = 64 << 10 };

struct fixture {
	uint8_t *stack; /* ends where nothing is mapped */
	uint8_t copy[COPY];
	uint64_t registers[PERF_REG_X86_IP + 1];
	struct event_sample sample;
	struct stack_needs needs;
	struct tails tails;
	struct event_sink early;
};

static int set_up(void **state)
{
	struct fixture *fixture = mem_zalloc(1, sizeof *fixture);
	uint8_t *memory = mmap(NULL, 2 * ALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	munmap(memory + ALL, ALL);
	fixture->stack = memory;
	for (size_t i = 0; i < ALL; i++)
		memory[i] = (uint8_t)(i * 7 + i / 256);
	memcpy(fixture->copy, memory, COPY);
	fixture->registers[PERF_REG_X86_SP] = (uintptr_t)memory;
	fixture->registers[PERF_REG_X86_IP] = 1;
	fixture->sample = (struct event_sample){
		.pid = getpid(),
		.tid = getpid(),
		.time = 1000,
		.user = {.abi = PERF_SAMPLE_REGS_ABI_64,
			 .mask = (1ull << (PERF_REG_X86_IP + 1)) - 1,
			 .values = fixture->registers},
		.stack = fixture->copy,
		.stack_size = COPY,
		.stack_asked = COPY,
	};
	tails_init(&fixture->tails, &fixture->needs, NULL);
	fixture->early = tails_early(&fixture->tails);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	tails_release(&fixture->tails);
	munmap(fixture->stack, ALL);
	free(fixture);
	return 0;
}

/* How much is there behind the copy of the sample when it is delivered. */
static size_t tail_of(struct fixture *fixture)
{
	sink_sample(&fixture->early, &fixture->sample);
	struct event_sample whole = tails_complete(&fixture->tails, &fixture->sample);
	if (whole.stack_tail_size)
		assert_memory_equal(whole.stack_tail, fixture->stack + COPY, whole.stack_tail_size);
	fixture->sample.time++;
	return whole.stack_tail_size;
}

static void the_rest_is_read_up_to_its_end(void **state)
{
	struct fixture *fixture = *state;
	assert_int_equal(tail_of(fixture), ALL - COPY);
	assert_int_equal(tail_of(fixture), ALL - COPY);
}

/* The kernel copies up to the first page that is not resident. */
static void copies_that_end_early_are_continued(void **state)
{
	struct fixture *fixture = *state;
	fixture->sample.stack_asked = 4 * COPY;
	assert_int_equal(madvise(fixture->stack + COPY, 2 * COPY, MADV_DONTNEED), 0);
	assert_int_equal(tail_of(fixture), ALL - COPY);
	fixture->sample.stack_size = COPY - 8; /* another engine knows where the stack ends */
	assert_int_equal(tail_of(fixture), 0);
	fixture->sample.stack_size = COPY;
	fixture->tails.last = 0;
	fixture->registers[PERF_REG_X86_SP] = (uintptr_t)fixture->stack + ALL - COPY; /* it ends with the stack */
	memcpy(fixture->copy, fixture->stack + ALL - COPY, COPY);
	assert_int_equal(tail_of(fixture), 0);
	assert_int_equal(fixture->tails.last, 0);
}

static void not_if_the_stack_has_changed(void **state)
{
	struct fixture *fixture = *state;
	fixture->stack[COPY - 1]++;
	assert_int_equal(tail_of(fixture), 0);
	assert_int_equal(fixture->tails.changed, 1);
	fixture->stack[COPY - 1]--;
	fixture->stack[0]++; /* inner frames do not matter */
	assert_int_equal(tail_of(fixture), ALL - COPY);
	/* Of small copies less is compared. */
	fixture->registers[PERF_REG_X86_SP] += COPY - 128;
	fixture->sample.stack = fixture->copy + COPY - 128;
	fixture->sample.stack_size = 128;
	fixture->stack[COPY - 100]++;
	assert_int_equal(tail_of(fixture), ALL - COPY);
	fixture->stack[COPY - 50]++;
	assert_int_equal(tail_of(fixture), 0);
}

static void not_if_no_process_has_it(void **state)
{
	struct fixture *fixture = *state;
	fixture->registers[PERF_REG_X86_SP] = (uintptr_t)fixture->stack + ALL - 8;
	assert_int_equal(tail_of(fixture), 0);
	fixture->registers[PERF_REG_X86_SP] = UINT64_MAX - 64;
	assert_int_equal(tail_of(fixture), 0);
	fixture->sample.pid = INT32_MAX;
	assert_int_equal(tail_of(fixture), 0);
}

static void only_of_members(void **state)
{
	struct fixture *fixture = *state;
	const struct target target = {0};
	const struct capture_events events = {0};
	struct members members;
	members_init(&members, &target, &events, true);
	fixture->tails.members = &members;
	assert_int_equal(tail_of(fixture), 0);
	members_add(&members, 1);
	sink_fork(&fixture->early, &(struct event_task){.pid = getpid(), .tid = getpid(), .parent_pid = 1});
	assert_false(members_has(&members, getpid(), getpid()));
	assert_int_equal(tail_of(fixture), ALL - COPY);
	members_release(&members);
}

static void each_sample_gets_its_own(void **state)
{
	struct fixture *fixture = *state;
	struct event_sample first = fixture->sample, second = fixture->sample;
	second.time = 2000;
	second.tid++;
	sink_sample(&fixture->early, &first);
	sink_sample(&fixture->early, &second);
	struct event_sample other = first;
	other.tid = 1;
	assert_int_equal(tails_complete(&fixture->tails, &other).stack_tail_size, 0);
	assert_int_equal(tails_complete(&fixture->tails, &first).stack_tail_size, ALL - COPY);
	assert_int_equal(tails_complete(&fixture->tails, &second).stack_tail_size, ALL - COPY);
	second.time++;
	assert_int_equal(tails_complete(&fixture->tails, &second).stack_tail_size, 0);
	assert_int_equal(fixture->tails.held, 0);
}

static void threads_that_need_nothing_are_left_alone(void **state)
{
	struct fixture *fixture = *state;
	struct stack_needs *needs = &fixture->needs;
	int32_t tid = fixture->sample.tid;
	assert_int_equal(stack_needs_now(needs, 0, tid), STACK_TAIL_MAX);
	assert_int_equal(stack_needs_now(needs, 0, tid), STACK_TAIL_MAX);
	assert_int_equal(stack_needs_now(needs, 0, tid), STACK_TAIL_MAX);
	assert_int_equal(stack_needs_now(needs, 0, tid), STACK_TAIL_USUAL); /* until more is known */
	assert_int_equal(stack_needs_now(needs, tid, tid), STACK_TAIL_MAX);
	for (unsigned i = 0; i < STACK_TAIL_TRIES; i++)
		stack_needs_learn(needs, tid, ALL, 0, false, true); /* whole within the copy */
	assert_int_equal(tail_of(fixture), 0);
	stack_needs_learn(needs, tid, 0, 0, true, false); /* cut */
	assert_int_equal(tail_of(fixture), ALL - COPY);
	stack_needs_learn(needs, tid, ALL, 300000, false, true);
	assert_int_equal(stack_needs_now(needs, 0, tid), 600000);
	assert_int_equal(needs->completed, 1);
	stack_needs_learn(needs, tid, ALL, 0, false, true);
	assert_true(stack_needs_now(needs, 0, tid) > 500000); /* one that is not as deep changes little */
	for (int i = 0; i < 1000; i++)
		stack_needs_learn(needs, tid, ALL, 0, false, true);
	assert_int_equal(stack_needs_now(needs, 0, tid), 0);
	stack_needs_learn(needs, tid, STACK_TAIL_MAX, STACK_TAIL_MAX, true, false);
	assert_int_equal(stack_needs_now(needs, 0, tid), STACK_TAIL_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_rest_is_read_up_to_its_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(copies_that_end_early_are_continued, set_up, tear_down),
		cmocka_unit_test_setup_teardown(not_if_the_stack_has_changed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(not_if_no_process_has_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_of_members, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_sample_gets_its_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(threads_that_need_nothing_are_left_alone, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
	return 0;
}
#endif
