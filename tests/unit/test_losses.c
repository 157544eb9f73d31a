/* What the kernel dropped, separated by what it counts for each event. */
#include "unit.h"

#include "base/mem.h"
#include "capture/losses.h"

#include <string.h>
#include <unistd.h>

/* Pipes in the place of perf events: what a read() of each gives is written before. */
struct fixture {
	struct losses losses;
	int clock[2], tracking[2];
	struct event_sink sink;
	uint64_t lost[LOST_OTHERS + 1], time;
	int answer;
};

static int take(void *context, const struct event *event)
{
	struct fixture *fixture = context;
	const struct event_lost *lost = event->lost;
	assert_int_equal(event->type, EVENT_LOST);
	fixture->lost[lost->kind] += lost->count;
	fixture->time = lost->time;
	return fixture->answer;
}

static void set_up(struct fixture *fixture, bool samples, bool others, bool counted)
{
	*fixture = (struct fixture){.sink = {.take = take}};
	fixture->sink.context = fixture;
	assert_int_equal(pipe(fixture->clock), 0);
	assert_int_equal(pipe(fixture->tracking), 0);
	losses_init(&fixture->losses, 2, counted);
	if (samples)
		losses_add(&fixture->losses, 1, fixture->clock[0], true);
	if (others)
		losses_add(&fixture->losses, 1, fixture->tracking[0], false);
}

static void tear_down(struct fixture *fixture)
{
	for (int i = 0; i < 2; i++) {
		close(fixture->clock[i]);
		close(fixture->tracking[i]);
	}
	losses_release(&fixture->losses);
}

/* The next read() of an event gives that. */
static void counts(const int event[2], uint64_t lost)
{
	const uint64_t answer[2] = {77, lost};
	assert_int_equal(write(event[1], answer, sizeof answer), sizeof answer);
}

static void record(struct fixture *fixture, uint64_t dropped)
{
	assert_int_equal(losses_record(&fixture->losses, 1, 50, dropped, &fixture->sink), 0);
	assert_int_equal(fixture->time, 50);
}

static void expect(const struct fixture *fixture, uint64_t samples, uint64_t others, uint64_t any)
{
	assert_int_equal(fixture->lost[LOST_SAMPLES], samples);
	assert_int_equal(fixture->lost[LOST_OTHERS], others);
	assert_int_equal(fixture->lost[LOST_ANY], any);
}

static void a_ring_of_one_kind_needs_no_counts(void **state)
{
	(void)state;
	struct fixture fixture;
	set_up(&fixture, false, true, false);
	record(&fixture, 6501);
	expect(&fixture, 0, 6501, 0);
	tear_down(&fixture);
	set_up(&fixture, true, false, false);
	record(&fixture, 9);
	expect(&fixture, 9, 0, 0);
	tear_down(&fixture);
}

static void without_counts_a_ring_of_both_does_not_show_it(void **state)
{
	(void)state;
	struct fixture fixture;
	set_up(&fixture, true, true, false);
	record(&fixture, 12);
	assert_int_equal(losses_last(&fixture.losses, 60, &fixture.sink), 0);
	expect(&fixture, 0, 0, 12);
	tear_down(&fixture);
}

static void what_the_tracking_event_lost_are_no_samples(void **state)
{
	(void)state;
	struct fixture fixture;
	set_up(&fixture, true, true, true);
	counts(fixture.tracking, 8);
	counts(fixture.clock, 2);
	record(&fixture, 10);
	expect(&fixture, 2, 8, 0);
	counts(fixture.tracking, 8);
	counts(fixture.clock, 7);
	record(&fixture, 5);
	expect(&fixture, 7, 8, 0);
	tear_down(&fixture);
}

/* The record comes later, and has what was counted already. */
static void a_full_ring_is_reason_enough_to_look(void **state)
{
	(void)state;
	struct fixture fixture;
	set_up(&fixture, true, true, true);
	counts(fixture.tracking, 50);
	counts(fixture.clock, 0);
	assert_int_equal(losses_check(&fixture.losses, 1, 40, &fixture.sink), 0);
	expect(&fixture, 0, 50, 0);
	assert_int_equal(fixture.time, 40);
	counts(fixture.tracking, 50);
	counts(fixture.clock, 20);
	record(&fixture, 70);
	expect(&fixture, 20, 50, 0);
	counts(fixture.tracking, 55);
	counts(fixture.clock, 21);
	assert_int_equal(losses_last(&fixture.losses, 70, &fixture.sink), 0);
	expect(&fixture, 21, 55, 0);
	assert_int_equal(fixture.time, 70);
	tear_down(&fixture);
	set_up(&fixture, true, true, false); /* no counts */
	assert_int_equal(losses_check(&fixture.losses, 1, 40, &fixture.sink), 0);
	expect(&fixture, 0, 0, 0);
	tear_down(&fixture);
}

static void a_sink_can_stop(void **state)
{
	(void)state;
	struct fixture fixture;
	set_up(&fixture, true, true, true);
	fixture.answer = -5;
	counts(fixture.tracking, 1);
	counts(fixture.clock, 2);
	assert_int_equal(losses_record(&fixture.losses, 1, 50, 3, &fixture.sink), -5);
	expect(&fixture, 0, 1, 0);
	losses_clear(&fixture.losses);
	assert_int_equal(fixture.losses.event_count, 0);
	tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_of_one_kind_needs_no_counts),
		cmocka_unit_test(without_counts_a_ring_of_both_does_not_show_it),
		cmocka_unit_test(what_the_tracking_event_lost_are_no_samples),
		cmocka_unit_test(a_full_ring_is_reason_enough_to_look),
		cmocka_unit_test(a_sink_can_stop),
	};
	return cmocka_run_group_tests_name("losses", tests, NULL, NULL);
}
