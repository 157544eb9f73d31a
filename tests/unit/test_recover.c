/* Mappings and names of processes are read again when their records were dropped. */
#include "unit.h"

#include "base/mem.h"
#include "capture/recover.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NEVER_A_PID = 0x3fffffff };

struct fixture {
	struct recover recover;
	struct event_sink sink;
	pid_t child;
	int started[2]; /* a byte comes when the child is ready */
	unsigned mmaps, comms, forks, execs, samples;
	bool found_file;
	uint64_t time;
};

static int seen(void *context, const struct event *event)
{
	struct fixture *fixture = context;
	const struct event_mmap *mmap = event->mmap;
	switch (event->type) {
	case EVENT_MMAP:
		fixture->mmaps++;
		fixture->time = mmap->time;
		fixture->found_file |= mmap->pid == fixture->child && mmap->protection & PROT_EXEC &&
				       strstr(mmap->path, "test_recover") && mmap->offset == 0 && mmap->length == 4096;
		break;
	case EVENT_COMM:
		fixture->comms += !strcmp(event->comm->comm, "renamed");
		fixture->execs += event->comm->exec;
		fixture->time = event->comm->time;
		break;
	case EVENT_FORK:
		fixture->forks += event->task->pid == fixture->child && event->task->parent_pid == getpid();
		break;
	case EVENT_SAMPLE:
		fixture->samples++;
		break;
	default:
		break;
	}
	return 0;
}

/* A page of this program, as code and where nothing was mapped before. */
static void live_as_child(int started)
{
	int file = open("/proc/self/exe", O_RDONLY);
	prctl(PR_SET_NAME, "renamed");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (file < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED)
		_exit(1);
	(void)!write(started, "", 1);
	for (;;)
		pause();
}

static void set_up(struct fixture *fixture, bool everybody)
{
	struct recover_options options = {.everybody = everybody, .children = true};
	struct event_sink next = {.context = fixture, .take = seen};
	char byte;
	*fixture = (struct fixture){0};
	assert_int_equal(pipe(fixture->started), 0);
	fixture->child = fork();
	if (!fixture->child)
		live_as_child(fixture->started[1]);
	assert_int_equal(read(fixture->started[0], &byte, 1), 1);
	fixture->sink = recover_init(&fixture->recover, &options, &next);
}

static void tear_down(struct fixture *fixture)
{
	kill(fixture->child, SIGKILL);
	waitpid(fixture->child, NULL, 0);
	close(fixture->started[0]);
	close(fixture->started[1]);
	recover_release(&fixture->recover);
}

static void lose(struct fixture *fixture, enum event_lost_kind kind, uint64_t time)
{
	struct event_lost lost = {.kind = kind, .time = time, .count = 3};
	assert_int_equal(sink_lost(&fixture->sink, &lost), 0);
	/* On a slow machine not all is read at once. */
	while (fixture->recover.at < fixture->recover.list.count)
		assert_int_equal(recover_round(&fixture->recover, fixture->recover.round, false), 0);
}

static void name_child(struct fixture *fixture, const char *name)
{
	struct event_comm comm = {.pid = fixture->child, .tid = fixture->child, .time = 10, .comm = name};
	assert_int_equal(sink_comm(&fixture->sink, &comm), 0);
	fixture->comms = 0;
}

static void take_sample(struct fixture *fixture, int32_t pid)
{
	struct event_sample sample = {.pid = pid, .tid = pid, .time = 90};
	assert_int_equal(sink_sample(&fixture->sink, &sample), 0);
}

static void what_changed_is_reported_at_the_time_of_the_loss(void **state)
{
	(void)state;
	struct fixture fixture;
	set_up(&fixture, false);
	name_child(&fixture, "before");
	lose(&fixture, LOST_OTHERS, 50);
	assert_int_equal(fixture.comms, 1);
	assert_int_equal(fixture.execs, 0);
	assert_true(fixture.found_file);
	assert_int_equal(fixture.time, 50);
	tear_down(&fixture);
}

static void what_is_as_it_was_is_not_reported_again(void **state)
{
	(void)state;
	struct fixture fixture;
	set_up(&fixture, false);
	name_child(&fixture, "renamed");
	lose(&fixture, LOST_ANY, 50);
	assert_int_equal(fixture.comms, 0);
	assert_true(fixture.found_file);
	unsigned before = fixture.mmaps;
	fixture.recover.not_before = 0;
	lose(&fixture, LOST_OTHERS, 60);
	assert_int_equal(fixture.mmaps, before);
	tear_down(&fixture);
}

/* As when a record that is older than what was read from /proc is delivered behind it. */
static void what_older_records_show_is_read_once_more(void **state)
{
	(void)state;
	struct fixture fixture;
	struct event_mmap older = {.time = 60, .start = 4096, .length = 4096, .path = "/older"};
	set_up(&fixture, false);
	name_child(&fixture, "renamed");
	assert_int_equal(recover_round(&fixture.recover, 7, false), 0);
	lose(&fixture, LOST_OTHERS, 50);
	assert_true(fixture.found_file);
	older.pid = older.tid = fixture.child;
	assert_int_equal(sink_mmap(&fixture.sink, &older), 0);
	fixture.found_file = false;
	assert_int_equal(recover_round(&fixture.recover, 9, false), 0);
	assert_false(fixture.found_file);
	assert_int_equal(recover_round(&fixture.recover, 10, false), 0);
	assert_true(fixture.found_file);
	assert_int_equal(fixture.time, 60);
	assert_int_equal(sink_mmap(&fixture.sink, &older), 0);
	fixture.found_file = false;
	assert_int_equal(recover_round(&fixture.recover, 20, true), 0); /* only once */
	assert_false(fixture.found_file);
	tear_down(&fixture);
}

static void lost_samples_are_no_reason_to_look(void **state)
{
	(void)state;
	struct fixture fixture;
	set_up(&fixture, false);
	name_child(&fixture, "before");
	lose(&fixture, LOST_SAMPLES, 50);
	take_sample(&fixture, getpid());
	assert_int_equal(fixture.comms + fixture.mmaps, 0);
	tear_down(&fixture);
}

static void looks_are_not_repeated_at_once(void **state)
{
	(void)state;
	struct fixture fixture;
	set_up(&fixture, false);
	lose(&fixture, LOST_OTHERS, 50); /* nobody is known yet */
	name_child(&fixture, "before");
	fixture.recover.not_before = UINT64_MAX;
	lose(&fixture, LOST_OTHERS, 60);
	assert_int_equal(recover_round(&fixture.recover, 1, false), 0);
	assert_int_equal(fixture.comms, 0);
	assert_int_equal(recover_round(&fixture.recover, 1, true), 0); /* it is the last chance */
	assert_int_equal(fixture.comms, 1);
	assert_int_equal(recover_round(&fixture.recover, 1, true), 0);
	assert_int_equal(fixture.comms, 1);
	tear_down(&fixture);
}

static void a_child_that_no_record_reports_is_found(void **state)
{
	(void)state;
	struct fixture fixture;
	set_up(&fixture, false);
	struct event_comm self = {.pid = getpid(), .tid = getpid(), .time = 10, .comm = "renamed"};
	assert_int_equal(sink_comm(&fixture.sink, &self), 0);
	fixture.comms = 0;
	lose(&fixture, LOST_OTHERS, 50);
	assert_int_equal(fixture.forks, 1);
	assert_int_equal(fixture.execs, 1); /* nothing is left of an older process with its number */
	assert_true(fixture.comms > 0);
	assert_true(fixture.found_file);
	tear_down(&fixture);
}

static void a_sample_of_an_unknown_process_is_enough(void **state)
{
	(void)state;
	struct fixture fixture;
	set_up(&fixture, false);
	lose(&fixture, LOST_OTHERS, 50);
	assert_false(fixture.found_file);
	take_sample(&fixture, fixture.child);
	assert_int_equal(fixture.forks, 1);
	assert_int_equal(fixture.comms, 1);
	assert_true(fixture.found_file);
	assert_int_equal(fixture.time, 90);
	unsigned before = fixture.mmaps;
	take_sample(&fixture, fixture.child);
	take_sample(&fixture, NEVER_A_PID);
	take_sample(&fixture, NEVER_A_PID);
	assert_int_equal(fixture.mmaps, before);
	assert_int_equal(fixture.samples, 4);
	tear_down(&fixture);
}

static void few_unknown_processes_are_read_at_once(void **state)
{
	(void)state;
	struct fixture fixture;
	set_up(&fixture, false);
	lose(&fixture, LOST_OTHERS, 50);
	fixture.recover.unknown_until = UINT64_MAX;
	fixture.recover.unknown_left = 1;
	take_sample(&fixture, NEVER_A_PID);
	take_sample(&fixture, fixture.child);
	assert_int_equal(fixture.mmaps + fixture.comms, 0);
	tear_down(&fixture);
}

static void of_a_whole_system_all_are_read(void **state)
{
	(void)state;
	struct fixture fixture;
	set_up(&fixture, true);
	lose(&fixture, LOST_OTHERS, 50);
	assert_true(fixture.found_file);
	assert_true(fixture.comms > 0);
	assert_int_equal(fixture.forks, 0);
	tear_down(&fixture);
}

static void who_ends_is_forgotten(void **state)
{
	(void)state;
	struct fixture fixture;
	set_up(&fixture, false);
	for (int32_t i = 0; i < 100000; i++) {
		struct event_task task = {.pid = 1000000 + i, .tid = 1000000 + i, .parent_pid = 1, .parent_tid = 1};
		assert_int_equal(sink_fork(&fixture.sink, &task), 0);
		assert_int_equal(sink_exit(&fixture.sink, &task), 0);
	}
	assert_true(fixture.recover.count < 1000);
	tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_changed_is_reported_at_the_time_of_the_loss),
		cmocka_unit_test(what_is_as_it_was_is_not_reported_again),
		cmocka_unit_test(what_older_records_show_is_read_once_more),
		cmocka_unit_test(lost_samples_are_no_reason_to_look),
		cmocka_unit_test(looks_are_not_repeated_at_once),
		cmocka_unit_test(a_child_that_no_record_reports_is_found),
		cmocka_unit_test(a_sample_of_an_unknown_process_is_enough),
		cmocka_unit_test(few_unknown_processes_are_read_at_once),
		cmocka_unit_test(of_a_whole_system_all_are_read),
		cmocka_unit_test(who_ends_is_forgotten),
	};
	return cmocka_run_group_tests_name("recover", tests, NULL, NULL);
}
