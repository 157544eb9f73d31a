/* Records of several sources in one order of time, compared with a naive model. */
#include "unit.h"

#include "event/merge.h"

#include <stdlib.h>
#include <string.h>

enum { SOURCES = 3, RECORDS = 400, ROUNDS = 60, RUNS = 200, TIMES = 300 };

struct record {
	uint64_t time;
	unsigned source;
	bool announced, delivered;
};

/* What all sources have, by number; those from `looked` on are not seen yet. */
struct world {
	struct record records[RECORDS];
	size_t made, looked;
	size_t order[RECORDS], count; /* as delivered */
	size_t announced[RECORDS], announced_count;
	size_t waiting; /* that release() was shown */
	int fail_at; /* the delivery that fails; -1: none */
};

struct fake {
	struct world *world;
	unsigned number;
};

static void look(void *context, struct merge *merge)
{
	struct fake *fake = context;
	for (size_t i = fake->world->looked; i < fake->world->made; i++)
		if (fake->world->records[i].source == fake->number)
			merge_add(merge, fake->world->records[i].time, i);
}

static void announce(void *context, uint64_t number, const struct event_sink *early)
{
	struct world *world = ((struct fake *)context)->world;
	assert_int_equal(world->records[number].source, ((struct fake *)context)->number);
	assert_false(world->records[number].announced || world->records[number].delivered);
	world->records[number].announced = true;
	world->announced[world->announced_count++] = number;
	sink_lost(early, &(struct event_lost){.time = world->records[number].time});
}

static int deliver(void *context, uint64_t number, const struct event_sink *sink)
{
	struct world *world = ((struct fake *)context)->world;
	assert_int_equal(world->records[number].source, ((struct fake *)context)->number);
	assert_false(world->records[number].delivered);
	world->records[number].delivered = true;
	world->order[world->count++] = number;
	if (world->fail_at == (int)world->count - 1)
		return -1;
	return sink_lost(sink, &(struct event_lost){.time = world->records[number].time});
}

static int release(void *context, const struct merge *merge, const struct event_sink *sink, bool last)
{
	struct fake *fake = context;
	uint64_t number;
	(void)sink;
	for (size_t at = 0; merge_next_waiting(merge, &at, &number);) {
		assert_int_equal(fake->world->records[number].source, fake->number);
		assert_false(fake->world->records[number].delivered);
		fake->world->waiting++;
	}
	assert_true(!last || !fake->world->waiting);
	return 0;
}

static const struct source_ops announcing = {.look = look,
					     .announce = announce,
					     .deliver = deliver,
					     .release = release};
static const struct source_ops silent = {.look = look, .deliver = deliver, .release = release};

static int take(void *context, const struct event *event)
{
	assert_int_equal(event->type, EVENT_LOST);
	++*(size_t *)context;
	return 0;
}

/* --- the model: what may be delivered is searched for, one record at a time --- */

static size_t next_of_model(const struct world *world, const bool *gone, const size_t *noted, size_t noted_count,
			    uint64_t limit)
{
	size_t best = RECORDS;
	for (size_t k = 0; k < noted_count; k++) {
		const struct record *record = &world->records[noted[k]];
		if (!gone[noted[k]] && record->time <= limit &&
		    (best == RECORDS || record->time < world->records[best].time))
			best = noted[k];
	}
	return best;
}

struct model {
	size_t noted[RECORDS], noted_count; /* in the order in which sources add them */
	bool gone[RECORDS];
	uint64_t largest, limit;
	size_t count;
};

static void model_look(struct model *model, const struct world *world, size_t from)
{
	for (unsigned source = 0; source < SOURCES; source++)
		for (size_t i = from; i < world->made; i++) {
			if (world->records[i].source != source)
				continue;
			model->noted[model->noted_count++] = i;
			if (world->records[i].time > model->largest)
				model->largest = world->records[i].time;
		}
}

static void model_deliver(struct model *model, const struct world *world, bool last)
{
	size_t next;
	while ((next = next_of_model(world, model->gone, model->noted, model->noted_count,
				     last ? UINT64_MAX : model->limit)) < RECORDS) {
		assert_true(model->count < world->count);
		assert_int_equal(world->order[model->count], next);
		model->gone[next] = true;
		model->count++;
	}
	assert_int_equal(world->count, model->count);
	model->limit = model->largest;
}

static void set_up(struct merge *merge, struct world *world, struct fake fakes[SOURCES])
{
	*merge = (struct merge){0};
	*world = (struct world){.fail_at = -1};
	for (unsigned i = 0; i < SOURCES; i++) {
		fakes[i] = (struct fake){world, i};
		merge_add_source(merge, &(struct source){i == 1 ? &silent : &announcing, &fakes[i]});
	}
}

static void make_records(struct world *world, size_t count)
{
	for (size_t i = 0; i < count && world->made < RECORDS; i++)
		world->records[world->made++] =
			(struct record){.time = 1 + (uint64_t)(rand() % TIMES), .source = (unsigned)rand() % SOURCES};
}

static void every_record_comes_once_in_the_order_of_the_model(void **state)
{
	(void)state;
	for (unsigned run = 0; run < RUNS; run++) {
		struct merge merge;
		struct world world;
		struct fake fakes[SOURCES];
		struct model model = {0};
		size_t taken = 0;
		struct event_sink sink = {&taken, take};
		srand(run);
		set_up(&merge, &world, fakes);
		for (unsigned round = 0; round <= ROUNDS; round++) {
			bool last = round == ROUNDS;
			make_records(&world, (size_t)rand() % 12);
			model_look(&model, &world, world.looked);
			world.waiting = 0;
			assert_int_equal(merge_round(&merge, &sink, last), 0);
			world.looked = world.made;
			model_deliver(&model, &world, last);
			assert_int_equal(world.waiting, world.made - world.count);
		}
		assert_int_equal(world.count, world.made);
		assert_int_equal(taken, world.made);
		assert_int_equal(world.announced_count, 0); /* nobody listens */
		merge_release(&merge);
	}
}

static void new_records_are_announced_at_once_in_the_order_of_time(void **state)
{
	(void)state;
	struct merge merge;
	struct world world;
	struct fake fakes[SOURCES];
	size_t heard = 0, taken = 0;
	struct event_sink sink = {&taken, take};
	srand(7);
	set_up(&merge, &world, fakes);
	merge.early = (struct event_sink){&heard, take};
	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t from = world.announced_count, expected = 0;
		merge.limit_set = 0;
		make_records(&world, 6);
		for (size_t i = world.looked; i < world.made; i++)
			expected += world.records[i].source != 1;
		assert_int_equal(merge_round(&merge, &sink, false), 0);
		world.looked = world.made;
		assert_int_equal(world.announced_count - from, expected);
		for (size_t i = from + 1; i < world.announced_count; i++)
			assert_true(world.records[world.announced[i - 1]].time <=
				    world.records[world.announced[i]].time);
	}
	assert_int_equal(heard, world.announced_count);
	merge_release(&merge);
}

/* Rounds may follow fast then, and a record needs a while to get into its buffer. */
static void with_a_listener_the_limit_stays_for_a_while(void **state)
{
	(void)state;
	struct merge merge;
	struct world world;
	struct fake fakes[SOURCES];
	size_t heard = 0, taken = 0;
	struct event_sink sink = {&taken, take};
	set_up(&merge, &world, fakes);
	merge.early = (struct event_sink){&heard, take};
	assert_int_equal(merge_round(&merge, &sink, false), 0);
	merge.limit_set += 3600 * 1000000000ull; /* as if it was set just now, however slow the machine is */
	world.records[world.made++] = (struct record){.time = 10};
	assert_int_equal(merge_round(&merge, &sink, false), 0);
	world.looked = world.made;
	merge.limit_set = 0;
	assert_int_equal(merge_round(&merge, &sink, false), 0);
	assert_int_equal(taken, 0);
	assert_int_equal(merge_round(&merge, &sink, false), 0);
	assert_int_equal(taken, 1);
	merge_release(&merge);
}

static void a_failure_ends_the_round_and_is_returned(void **state)
{
	(void)state;
	struct merge merge;
	struct world world;
	struct fake fakes[SOURCES];
	size_t taken = 0;
	struct event_sink sink = {&taken, take};
	srand(3);
	set_up(&merge, &world, fakes);
	make_records(&world, 100);
	world.fail_at = 4;
	assert_int_equal(merge_round(&merge, &sink, false), 0); /* nothing is due yet */
	world.looked = world.made;
	assert_int_equal(merge_round(&merge, &sink, false), -1);
	assert_int_equal(world.count, 5);
	assert_int_equal(taken, 4);
	merge_release(&merge);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_record_comes_once_in_the_order_of_the_model),
		cmocka_unit_test(new_records_are_announced_at_once_in_the_order_of_time),
		cmocka_unit_test(with_a_listener_the_limit_stays_for_a_while),
		cmocka_unit_test(a_failure_ends_the_round_and_is_returned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
