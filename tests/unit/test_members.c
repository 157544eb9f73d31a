/* Who belongs to the target of a recording, by the records of forks, exits and executed programs. */
#include "unit.h"

#include "base/mem.h"
#include "capture/members.h"

enum { CPU_SOURCE, THREAD_SOURCE };

struct fixture {
	struct capture_event sources[2];
	struct capture_events events;
	struct members members;
	struct event_sink sink;
	unsigned taken, forks, exits;
};

static int count(void *context, const struct event *event)
{
	struct fixture *fixture = context;
	fixture->taken += event->type == EVENT_SAMPLE;
	fixture->forks += event->type == EVENT_FORK;
	fixture->exits += event->type == EVENT_EXIT;
	return 0;
}

static void set_up(struct fixture *fixture, bool threads, bool children)
{
	struct target target = {.by_thread = threads};
	*fixture = (struct fixture){.sources[CPU_SOURCE].by_cpu = true};
	fixture->events = (struct capture_events){.items = fixture->sources, .count = 2};
	members_init(&fixture->members, &target, &fixture->events, children);
	fixture->sink = members_sink(&fixture->members, &(struct event_sink){fixture, count});
}

static bool is_taken_of(struct fixture *fixture, uint32_t source, int32_t pid, int32_t tid)
{
	unsigned before = fixture->taken;
	sink_sample(&fixture->sink, &(struct event_sample){.source = source, .pid = pid, .tid = tid});
	return fixture->taken > before;
}

static bool is_taken(struct fixture *fixture, int32_t pid, int32_t tid)
{
	return is_taken_of(fixture, CPU_SOURCE, pid, tid);
}

static void forks(struct fixture *fixture, int32_t parent_pid, int32_t parent_tid, int32_t pid, int32_t tid)
{
	sink_fork(&fixture->sink,
		  &(struct event_task){.pid = pid, .tid = tid, .parent_pid = parent_pid, .parent_tid = parent_tid});
}

static void exits(struct fixture *fixture, int32_t pid, int32_t tid)
{
	sink_exit(&fixture->sink, &(struct event_task){.pid = pid, .tid = tid});
}

static void executes(struct fixture *fixture, int32_t pid)
{
	sink_comm(&fixture->sink, &(struct event_comm){.pid = pid, .tid = pid, .exec = true});
}

/* Numbers of processes that no system has. */
enum { FIRST = INT32_MAX - 1000, OTHER = FIRST + 100 };

static void children_are_members_until_they_end(void **state)
{
	struct fixture fixture;
	(void)state;
	set_up(&fixture, false, true);
	members_add(&fixture.members, FIRST);
	assert_true(is_taken(&fixture, FIRST, FIRST));
	assert_false(is_taken(&fixture, OTHER, OTHER));
	assert_true(is_taken_of(&fixture, THREAD_SOURCE, OTHER, OTHER)); /* the kernel decided already */
	forks(&fixture, FIRST, FIRST, FIRST + 1, FIRST + 1);
	forks(&fixture, FIRST + 1, FIRST + 1, FIRST + 2, FIRST + 2);
	forks(&fixture, OTHER, OTHER, OTHER + 1, OTHER + 1);
	assert_true(is_taken(&fixture, FIRST + 2, FIRST + 2));
	assert_false(is_taken(&fixture, OTHER + 1, OTHER + 1));
	exits(&fixture, FIRST + 1, FIRST + 1);
	assert_false(is_taken(&fixture, FIRST + 1, FIRST + 1));
	assert_true(is_taken(&fixture, FIRST + 2, FIRST + 2));
	forks(&fixture, FIRST + 1, FIRST + 1, FIRST + 3, FIRST + 3); /* the number is another's now */
	assert_false(is_taken(&fixture, FIRST + 3, FIRST + 3));
	assert_int_equal(fixture.forks, 4);
	assert_int_equal(fixture.exits, 1);
	members_release(&fixture.members);
}

static void a_process_ends_with_its_last_thread(void **state)
{
	struct fixture fixture;
	(void)state;
	set_up(&fixture, false, true);
	members_add(&fixture.members, FIRST);
	forks(&fixture, FIRST, FIRST, FIRST, FIRST + 1);
	exits(&fixture, FIRST, FIRST);
	assert_true(is_taken(&fixture, FIRST, FIRST + 1));
	exits(&fixture, FIRST, FIRST + 1);
	assert_false(is_taken(&fixture, FIRST, FIRST + 1));
	/* Threads of which no record came. */
	members_add(&fixture.members, OTHER);
	exits(&fixture, OTHER, OTHER + 1);
	exits(&fixture, OTHER, OTHER + 2);
	assert_true(is_taken(&fixture, OTHER, OTHER + 3));
	members_release(&fixture.members);
}

static void an_executed_program_has_one_thread(void **state)
{
	struct fixture fixture;
	(void)state;
	set_up(&fixture, false, true);
	fixture.members.awaited = FIRST;
	assert_false(is_taken(&fixture, FIRST, FIRST));
	executes(&fixture, OTHER);
	executes(&fixture, FIRST);
	assert_true(is_taken(&fixture, FIRST, FIRST));
	assert_false(is_taken(&fixture, OTHER, OTHER));
	/* The first thread ends, and another one executes a program and gets its number. */
	forks(&fixture, FIRST, FIRST, FIRST, FIRST + 1);
	exits(&fixture, FIRST, FIRST);
	executes(&fixture, FIRST);
	assert_true(is_taken(&fixture, FIRST, FIRST));
	exits(&fixture, FIRST, FIRST);
	assert_false(is_taken(&fixture, FIRST, FIRST));
	executes(&fixture, FIRST); /* awaited once only */
	assert_false(is_taken(&fixture, FIRST, FIRST));
	members_release(&fixture.members);
}

static void single_threads(void **state)
{
	struct fixture fixture;
	(void)state;
	set_up(&fixture, true, true);
	members_add(&fixture.members, FIRST + 1);
	assert_false(is_taken(&fixture, FIRST, FIRST));
	assert_true(is_taken(&fixture, FIRST, FIRST + 1));
	forks(&fixture, FIRST, FIRST, FIRST, FIRST + 2);
	forks(&fixture, FIRST, FIRST + 1, FIRST, FIRST + 3);
	assert_false(is_taken(&fixture, FIRST, FIRST + 2));
	assert_true(is_taken(&fixture, FIRST, FIRST + 3));
	exits(&fixture, FIRST, FIRST + 3);
	assert_false(is_taken(&fixture, FIRST, FIRST + 3));
	members_release(&fixture.members);
	set_up(&fixture, true, false);
	members_add(&fixture.members, FIRST + 1);
	forks(&fixture, FIRST, FIRST + 1, FIRST, FIRST + 3);
	assert_false(is_taken(&fixture, FIRST, FIRST + 3));
	members_release(&fixture.members);
}

static void many_come_and_go(void **state)
{
	struct fixture fixture;
	(void)state;
	set_up(&fixture, false, true);
	members_add(&fixture.members, 1 << 20);
	for (int32_t i = 1; i <= 10000; i++) {
		forks(&fixture, 1 << 20, 1 << 20, (1 << 20) + i, (1 << 20) + i);
		assert_true(is_taken(&fixture, (1 << 20) + i, (1 << 20) + i));
		exits(&fixture, (1 << 20) + i, (1 << 20) + i);
	}
	assert_true(is_taken(&fixture, 1 << 20, 1 << 20));
	assert_true(fixture.members.count < 1000); /* memory is that of those who live */
	members_release(&fixture.members);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_are_members_until_they_end),
		cmocka_unit_test(a_process_ends_with_its_last_thread),
		cmocka_unit_test(an_executed_program_has_one_thread),
		cmocka_unit_test(single_threads),
		cmocka_unit_test(many_come_and_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
