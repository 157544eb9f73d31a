/* Switches, wake-ups and clocks → times that threads wait and run, on made-up records. */
#include "event/derive.h"
#include "unit.h"

#include <string.h>

#define MOST 64
#define FIRST_DERIVED 10

enum { SOURCE_SWITCH, SOURCE_WAKING, SOURCE_CLOCK, SOURCE_MINOR, SOURCE_TRACE, SOURCE_TIME, SOURCES };

struct given {
	uint32_t source;
	int32_t pid, tid;
	uint64_t time, period, first_address, waker_address;
	int32_t waker;
	size_t stack_size;
	uint8_t first_byte, tail_byte;
	bool sum;
	enum stack_end end;
};

struct world {
	struct given given[MOST];
	size_t count;
	struct derive *derive;
	struct derive_source sources[SOURCES];
	struct event_sink sink;
	struct offcpu_options offcpu;
};

static int take(void *context, const struct event *event)
{
	struct world *world = context;
	if (event->type != EVENT_SAMPLE)
		return 0;
	const struct event_sample *sample = event->sample;
	assert_true(world->count < MOST);
	world->given[world->count++] = (struct given){
		.source = sample->source,
		.pid = sample->pid,
		.tid = sample->tid,
		.time = sample->time,
		.period = sample->period,
		.first_address = sample->chain_count ? sample->chain[0] : 0,
		.waker = sample->waker ? sample->waker->tid : 0,
		.waker_address = sample->waker ? sample->waker->chain[0] : 0,
		.stack_size = sample->stack_size,
		.first_byte = sample->stack_size ? sample->stack[0] : 0,
		.tail_byte = sample->stack_tail_size ? sample->stack_tail[0] : 0,
		.sum = sample->sum,
		.end = sample->unwound ? sample->end : STACK_WHOLE,
	};
	return 0;
}

/* The raw data of both tracepoints: a state and a thread. */
struct raw {
	int64_t state;
	int32_t tid;
};

static void begin(struct world *world)
{
	world->sources[SOURCE_SWITCH].rule = DERIVE_SWITCH;
	world->sources[SOURCE_WAKING].rule = DERIVE_WAKING;
	world->sources[SOURCE_CLOCK].rule = DERIVE_CLOCK;
	world->sources[SOURCE_MINOR] = (struct derive_source){DERIVE_PAGES, .derived = DERIVED_MINOR_BYTES};
	world->sources[SOURCE_TRACE] = (struct derive_source){
		.rule = DERIVE_WEIGH, .weight = {offsetof(struct raw, state), sizeof(int64_t), true}};
	world->sources[SOURCE_TIME].rule = DERIVE_TIME;
	world->offcpu.waits = true;
	world->offcpu.prev_state = (struct trace_field){offsetof(struct raw, state), sizeof(int64_t), true};
	world->offcpu.next_pid = (struct trace_field){offsetof(struct raw, tid), sizeof(int32_t), true};
	world->offcpu.woken_pid = world->offcpu.next_pid;
	struct derive_options options = {
		.sources = world->sources,
		.source_count = SOURCES,
		.first_derived = FIRST_DERIVED,
		.page_size = 4096,
		.offcpu = world->offcpu,
	};
	struct event_sink next = {.context = world, .take = take};
	world->derive = derive_new(&options, &next);
	world->sink = derive_sink(world->derive);
	derive_begin(world->derive, 1000);
}

static void end(struct world *world)
{
	derive_free(world->derive);
}

static void give(struct world *world, uint32_t source, int32_t tid, uint64_t time, int64_t state, int32_t other)
{
	struct raw raw = {state, other};
	uint64_t chain[] = {0x1000u + (uint64_t)tid, 0x2000}, registers[] = {7};
	uint8_t stack[] = {42, 43}, tail[] = {44};
	struct event_sample sample = {
		.source = source,
		.pid = 1,
		.tid = tid,
		.time = time,
		.period = 1,
		.chain = chain,
		.chain_count = 2,
		.user = {.abi = 2, .mask = 1, .values = registers},
		.stack = stack,
		.stack_size = 2,
		.stack_tail = tail,
		.stack_tail_size = 1,
		.raw = (const uint8_t *)&raw,
		.raw_size = sizeof raw,
	};
	assert_int_equal(sink_sample(&world->sink, &sample), 0);
	memset(stack, 0, sizeof stack); /* neither must be needed any more */
	tail[0] = 0;
	memset(chain, 0, sizeof chain);
}

static void leave(struct world *world, int32_t tid, uint64_t time, int64_t state)
{
	give(world, SOURCE_SWITCH, tid, time, state, 0);
}

static void record(struct world *world, int32_t tid, uint64_t time, bool out, bool preempted)
{
	struct event_switch change = {.pid = 1, .tid = tid, .time = time, .out = out, .preempted = preempted};
	assert_int_equal(sink_switch(&world->sink, &change), 0);
}

static void assert_given(const struct world *world, size_t at, enum derived_event event, int32_t tid, uint64_t time,
			 uint64_t period)
{
	assert_true(at < world->count);
	assert_int_equal(world->given[at].source, FIRST_DERIVED + event);
	assert_int_equal(world->given[at].tid, tid);
	assert_int_equal(world->given[at].time, time);
	assert_int_equal(world->given[at].period, period);
}

static void a_wait_has_the_stack_and_the_state_that_its_thread_left_the_CPU_with(void **state)
{
	(void)state;
	struct world world = {0};
	begin(&world);
	leave(&world, 5, 2000, 1);
	record(&world, 5, 2001, true, false);
	assert_int_equal(world.count, 0);
	record(&world, 5, 2700, false, false);
	assert_int_equal(world.count, 1);
	assert_given(&world, 0, DERIVED_SLEEPING, 5, 2700, 700);
	assert_int_equal(world.given[0].pid, 1);
	assert_int_equal(world.given[0].first_address, 0x1005);
	assert_int_equal(world.given[0].stack_size, 2);
	assert_int_equal(world.given[0].tail_byte, 44);
	assert_int_equal(world.given[0].first_byte, 42);
	leave(&world, 5, 3000, 2);
	record(&world, 5, 3010, false, false);
	assert_given(&world, 1, DERIVED_DISK, 5, 3010, 10);
	leave(&world, 5, 4000, 0x100); /* preempted */
	record(&world, 5, 4020, false, false);
	assert_given(&world, 2, DERIVED_RUNNABLE, 5, 4020, 20);
	leave(&world, 5, 5000, 0x82); /* a kernel thread without work */
	record(&world, 5, 5030, false, false);
	assert_given(&world, 3, DERIVED_SLEEPING, 5, 5030, 30);
	assert_int_equal(derive_counts(world.derive).waits, 4);
	end(&world);
}

static void from_the_wake_up_on_a_thread_waits_for_a_CPU(void **state)
{
	(void)state;
	struct world world = {0};
	begin(&world);
	give(&world, SOURCE_WAKING, 6, 1500, 0, 5); /* runs: nothing to wake up */
	leave(&world, 5, 2000, 1);
	give(&world, SOURCE_WAKING, 6, 2600, 0, 5);
	give(&world, SOURCE_WAKING, 6, 2650, 0, 5); /* is awake already */
	give(&world, SOURCE_WAKING, 6, 2650, 0, 99); /* nobody knows it */
	record(&world, 5, 2700, false, false);
	assert_int_equal(world.count, 2);
	assert_given(&world, 0, DERIVED_SLEEPING, 5, 2600, 600);
	assert_given(&world, 1, DERIVED_RUNNABLE, 5, 2700, 100);
	assert_int_equal(world.given[1].first_address, 0x1005);
	end(&world);
}

static void who_ends_a_wait_is_reported_when_asked_for(void **state)
{
	(void)state;
	struct world world = {.offcpu = {.wakers = true}};
	begin(&world);
	leave(&world, 5, 2000, 1);
	give(&world, SOURCE_WAKING, 6, 2600, 0, 5);
	give(&world, SOURCE_WAKING, 7, 2650, 0, 5); /* too late */
	record(&world, 5, 2700, false, false);
	leave(&world, 5, 2800, 1);
	record(&world, 5, 2900, false, false); /* nobody was seen */
	assert_int_equal(world.count, 3);
	assert_int_equal(world.given[0].waker, 6);
	assert_int_equal(world.given[0].waker_address, 0x1006);
	assert_int_equal(world.given[1].waker, 6);
	assert_int_equal(world.given[2].waker, 0);
	end(&world);
}

static void a_switch_reports_the_thread_that_comes_too(void **state)
{
	(void)state;
	struct world world = {0};
	begin(&world);
	leave(&world, 5, 2000, 1);
	give(&world, SOURCE_SWITCH, 6, 2500, 1, 5); /* 6 leaves, 5 comes: no other record is needed */
	assert_int_equal(world.count, 1);
	assert_given(&world, 0, DERIVED_SLEEPING, 5, 2500, 500);
	record(&world, 5, 2501, false, false);
	assert_int_equal(world.count, 1);
	end(&world);
}

static void records_of_switches_alone_show_the_time(void **state)
{
	(void)state;
	struct world world = {0};
	begin(&world);
	record(&world, 5, 2000, true, false);
	record(&world, 5, 2300, false, false);
	record(&world, 5, 2400, true, true);
	record(&world, 5, 2450, false, false);
	assert_int_equal(world.count, 2);
	assert_given(&world, 0, DERIVED_SLEEPING, 5, 2300, 300);
	assert_given(&world, 1, DERIVED_RUNNABLE, 5, 2450, 50);
	assert_int_equal(world.given[0].first_address, 0);
	assert_int_equal(derive_counts(world.derive).without_stack, 2);
	end(&world);
}

static void shorter_and_longer_waits_are_left_out_and_counted(void **state)
{
	(void)state;
	struct world world = {.offcpu = {.min_block = 100, .max_block = 1000}};
	begin(&world);
	static const uint64_t durations[] = {99, 100, 1000, 1001};
	uint64_t time = 2000;
	for (size_t i = 0; i < 4; i++) {
		leave(&world, 5, time, 1);
		time += durations[i];
		record(&world, 5, time, false, false);
	}
	assert_int_equal(world.count, 2);
	assert_int_equal(world.given[0].period, 100);
	assert_int_equal(world.given[1].period, 1000);
	assert_int_equal(derive_counts(world.derive).skipped, 2);
	end(&world);
}

static void stacks_that_are_kept_take_no_more_memory_than_allowed(void **state)
{
	(void)state;
	struct world world = {.offcpu = {.held_max = 40}};
	begin(&world);
	leave(&world, 5, 2000, 1);
	leave(&world, 6, 2000, 1);
	record(&world, 5, 2100, false, false);
	record(&world, 6, 2100, false, false);
	assert_int_equal(world.given[0].stack_size, 2);
	assert_int_equal(world.given[1].stack_size, 0);
	assert_int_equal(world.given[1].first_address, 0x1006);
	assert_int_equal(derive_counts(world.derive).cut, 1);
	end(&world);
}

/* Of one thread, with everything that can happen to it. */
static void the_times_of_a_thread_add_up(void **state)
{
	(void)state;
	struct world world = {.offcpu = {.running = true, .unseen = true}};
	begin(&world);
	give(&world, SOURCE_CLOCK, 5, 1400, 0, 0); /* ran since the beginning */
	assert_given(&world, 0, DERIVED_RUNNING, 5, 1400, 400);
	leave(&world, 5, 1500, 1);
	give(&world, SOURCE_WAKING, 6, 1700, 0, 5);
	record(&world, 5, 1800, false, false);
	give(&world, SOURCE_CLOCK, 5, 1950, 0, 0);
	assert_given(&world, 3, DERIVED_RUNNING, 5, 1950, 100 + 150);
	struct event_comm comm = {.pid = 1, .tid = 8, .comm = "sleeper"};
	assert_int_equal(sink_comm(&world.sink, &comm), 0);
	struct event_task task = {.pid = 1, .tid = 9, .parent_pid = 1, .parent_tid = 5, .time = 2000};
	assert_int_equal(sink_fork(&world.sink, &task), 0);
	record(&world, 9, 2050, false, false);
	task.time = 2200;
	assert_int_equal(sink_exit(&world.sink, &task), 0);
	give(&world, SOURCE_SWITCH, 9, 2210, 0x20, 0); /* its very last */
	assert_int_equal(derive_finish(world.derive, 3000), 0);
	uint64_t sums[10] = {0};
	for (size_t i = 0; i < world.count; i++)
		sums[world.given[i].tid] += world.given[i].period;
	assert_int_equal(sums[5], 2000);
	assert_int_equal(sums[8], 2000); /* never ran: only its name is known */
	assert_int_equal(sums[9], 210);
	end(&world);
}

static void a_wait_that_has_not_ended_counts(void **state)
{
	(void)state;
	struct world world = {0};
	begin(&world);
	leave(&world, 5, 2000, 1);
	assert_int_equal(derive_finish(world.derive, 2900), 0);
	assert_int_equal(world.count, 1);
	assert_given(&world, 0, DERIVED_SLEEPING, 5, 2900, 900);
	end(&world);
}

/* Threads 5 and 6 waited already; where thread 5 waits is known. */
static void a_wait_before_the_recording_has_the_stack_it_was_found_with(void **state)
{
	(void)state;
	struct world world = {.offcpu = {.unseen = true}};
	begin(&world);
	uint64_t chain[] = {0x3000};
	struct event_sample sample = {.pid = 1, .tid = 5, .chain = chain, .chain_count = 1};
	struct event_comm comm = {.pid = 1, .tid = 6, .comm = "sleeper"};
	assert_int_equal(sink_asleep(&world.sink, &sample), 0);
	assert_int_equal(sink_comm(&world.sink, &comm), 0);
	chain[0] = 0;
	record(&world, 5, 2000, false, false);
	assert_int_equal(derive_finish(world.derive, 3000), 0);
	assert_int_equal(world.count, 2);
	assert_given(&world, 0, DERIVED_SLEEPING, 5, 2000, 1000);
	assert_int_equal(world.given[0].first_address, 0x3000);
	assert_int_equal(world.given[0].end, STACK_WHOLE);
	assert_given(&world, 1, DERIVED_SLEEPING, 6, 3000, 2000);
	assert_int_equal(world.given[1].end, STACK_UNSEEN);
	end(&world);
}

static void the_idle_task_and_the_recorder_are_left_out(void **state)
{
	(void)state;
	struct world world = {.offcpu = {.except_pid = 1}};
	begin(&world);
	leave(&world, 5, 2000, 1);
	record(&world, 5, 2900, false, false);
	leave(&world, 0, 3000, 0); /* the idle task */
	record(&world, 0, 3900, false, false);
	assert_int_equal(derive_finish(world.derive, 5000), 0);
	assert_int_equal(world.count, 0);
	end(&world);
}

static void page_faults_show_bytes(void **state)
{
	(void)state;
	struct world world = {0};
	begin(&world);
	struct event_sample sample = {.source = SOURCE_MINOR, .pid = 1, .tid = 5, .time = 2000, .period = 1};
	assert_int_equal(sink_sample(&world.sink, &sample), 0);
	sample.data_page_size = 2 << 20;
	assert_int_equal(sink_sample(&world.sink, &sample), 0);
	assert_int_equal(world.count, 4);
	assert_int_equal(world.given[0].source, SOURCE_MINOR);
	assert_int_equal(world.given[0].period, 1);
	assert_given(&world, 1, DERIVED_MINOR_BYTES, 5, 2000, 4096);
	assert_given(&world, 3, DERIVED_MINOR_BYTES, 5, 2000, 2 << 20);
	sample.count = sample.period = 7; /* added up in the kernel */
	sample.data_page_size = 0;
	assert_int_equal(sink_sample(&world.sink, &sample), 0);
	assert_int_equal(world.given[4].period, 7);
	assert_given(&world, 5, DERIVED_MINOR_BYTES, 5, 2000, 7 * 4096);
	end(&world);
}

static void a_field_of_a_tracepoint_is_its_weight(void **state)
{
	(void)state;
	struct world world = {0};
	begin(&world);
	give(&world, SOURCE_TRACE, 5, 2000, 4096, 0);
	give(&world, SOURCE_TRACE, 5, 2001, -9, 0);
	give(&world, SOURCE_TRACE, 5, 2002, 0, 0);
	assert_int_equal(world.count, 1);
	assert_int_equal(world.given[0].source, SOURCE_TRACE);
	assert_int_equal(world.given[0].period, 4096);
	end(&world);
}

static void times_that_were_added_up_in_the_kernel_go_to_the_event_of_their_state(void **state)
{
	(void)state;
	struct world world = {0};
	begin(&world);
	struct event_sample sample = {.source = SOURCE_TIME, .pid = 1, .tid = 2, .period = 5000, .count = 3};
	for (uint64_t doing = 0; doing <= THREAD_STATES; doing++) {
		sample.raw = (const uint8_t *)&doing;
		sample.raw_size = sizeof doing;
		assert_int_equal(sink_sample(&world.sink, &sample), 0);
	}
	sample.raw_size = 4;
	assert_int_equal(sink_sample(&world.sink, &sample), 0);
	assert_int_equal(world.count, THREAD_STATES); /* what is no state is none */
	for (uint32_t doing = 0; doing < THREAD_STATES; doing++) {
		assert_int_equal(world.given[doing].source, FIRST_DERIVED + DERIVED_RUNNING + doing);
		assert_int_equal(world.given[doing].period, 5000);
		assert_true(world.given[doing].sum);
	}
	end(&world);
}

static void fields_are_found_in_format_files_and_read(void **state)
{
	(void)state;
	static const char format[] = "name: sched_switch\nID: 372\nformat:\n"
				     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
				     "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				     "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				     "\tfield:__data_loc char[] name;\toffset:28;\tsize:4;\tsigned:0;\n"
				     "\tfield:unsigned char flags;\toffset:3;\tsize:1;\tsigned:0;\n"
				     "print fmt: \"prev_pid=%d\"\n";
	struct trace_field field;
	assert_true(trace_field_find(format, "prev_pid", &field));
	assert_int_equal(field.offset, 24);
	assert_int_equal(field.size, 4);
	assert_true(field.is_signed);
	assert_true(trace_field_find(format, "flags", &field));
	assert_false(field.is_signed);
	static const char *const none[] = {"prev_comm", "pid", "name", "prev_comm[16]", "nothing", ""};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		assert_false(trace_field_find(format, none[i], &field));
	assert_false(trace_field_find("", "x", &field));
	assert_false(trace_field_find("field:int x;\toffset:;", "x", &field));
	const uint8_t raw[] = {0xfe, 0xff, 0xff, 0xff};
	struct event_sample sample = {.raw = raw, .raw_size = 4};
	int64_t value;
	assert_true(trace_field_read(&(struct trace_field){0, 4, true}, &sample, &value));
	assert_int_equal(value, -2);
	assert_true(trace_field_read(&(struct trace_field){0, 4, false}, &sample, &value));
	assert_int_equal(value, 0xfffffffe);
	assert_true(trace_field_read(&(struct trace_field){0, 1, false}, &sample, &value));
	assert_int_equal(value, 0xfe);
	assert_false(trace_field_read(&(struct trace_field){1, 4, true}, &sample, &value));
	assert_false(trace_field_read(&(struct trace_field){UINT32_MAX, 4, true}, &sample, &value));
	assert_false(trace_field_read(&(struct trace_field){0}, &sample, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_has_the_stack_and_the_state_that_its_thread_left_the_CPU_with),
		cmocka_unit_test(from_the_wake_up_on_a_thread_waits_for_a_CPU),
		cmocka_unit_test(who_ends_a_wait_is_reported_when_asked_for),
		cmocka_unit_test(a_switch_reports_the_thread_that_comes_too),
		cmocka_unit_test(records_of_switches_alone_show_the_time),
		cmocka_unit_test(shorter_and_longer_waits_are_left_out_and_counted),
		cmocka_unit_test(stacks_that_are_kept_take_no_more_memory_than_allowed),
		cmocka_unit_test(the_times_of_a_thread_add_up),
		cmocka_unit_test(a_wait_that_has_not_ended_counts),
		cmocka_unit_test(a_wait_before_the_recording_has_the_stack_it_was_found_with),
		cmocka_unit_test(the_idle_task_and_the_recorder_are_left_out),
		cmocka_unit_test(page_faults_show_bytes),
		cmocka_unit_test(a_field_of_a_tracepoint_is_its_weight),
		cmocka_unit_test(times_that_were_added_up_in_the_kernel_go_to_the_event_of_their_state),
		cmocka_unit_test(fields_are_found_in_format_files_and_read),
	};
	return cmocka_run_group_tests_name("offcpu", tests, NULL, NULL);
}
