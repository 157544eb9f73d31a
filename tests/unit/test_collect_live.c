/* Code whose names come while it is collected, and a recording that is watched. */
#include "collecting.h"

#include "collect/live_profile.h"

#include <time.h>

static void add_load(FILE *dump, uint64_t time, uint64_t address, const char *name)
{
	uint32_t head[] = {0, (uint32_t)(16 + 8 + 32 + strlen(name) + 1)}, ids[] = {1, 1};
	uint64_t place[] = {address, address, 0x40, time};
	fwrite(head, sizeof head, 1, dump);
	fwrite(&time, sizeof time, 1, dump);
	fwrite(ids, sizeof ids, 1, dump);
	fwrite(place, sizeof place, 1, dump);
	fwrite(name, strlen(name) + 1, 1, dump);
}

/* A dump that says: at 0x40000 lay "early", and from 500 on "late". */
static void write_dump(const char *path)
{
	uint32_t head[] = {0x4a695444, 1, 40, 62, 0, 1};
	uint64_t more[] = {0, 0};
	FILE *dump = fopen(path, "w");
	assert_non_null(dump);
	fwrite(head, sizeof head, 1, dump);
	fwrite(more, sizeof more, 1, dump);
	add_load(dump, 100, 0x40000, "early");
	add_load(dump, 500, 0x40000, "late");
	assert_int_equal(fclose(dump), 0);
}

static void code_at_an_address_changes_in_the_course_of_time(void **state)
{
	(void)state;
	char path[64];
	snprintf(path, sizeof path, "/tmp/jit-%d.dump", (int)getpid());
	write_dump(path);
	for (int monotonic = 0; monotonic < 2; monotonic++) {
		struct run *run = start(&(struct collect_options){.threads = 1});
		run->sources[0].attr.use_clockid = monotonic;
		run->sources[0].attr.clockid = CLOCK_MONOTONIC;
		struct event_mmap mmap = {
			.pid = run->pid, .tid = run->pid, .start = 0x90000, .length = 0x1000, .path = path};
		assert_int_equal(sink_mmap(&run->sink, &mmap), 0);
		mmap = (struct event_mmap){
			.pid = run->pid, .tid = run->pid, .start = 0x40000, .length = 0x1000, .path = "//anon"};
		assert_int_equal(sink_mmap(&run->sink, &mmap), 0);
		TAKE(run, USER_CHAIN(0x40010, MAIN), s->time = 400);
		TAKE(run, USER_CHAIN(0x40010, MAIN), s->time = 600);
		TAKE(run, USER_CHAIN(0x40010, MAIN), s->time = 450);
		finish(run);
		/* Times of another clock cannot be compared: what was there last stands for all. */
		expect(run, monotonic ? "a_b:c;main;early 20\na_b:c;main;late 10\n" : "a_b:c;main;late 30\n");
		end(run);
	}
	unlink(path);
}

static void note_kernel_name(void *context, const struct batch_sample *sample, const struct stack_frame *frames,
			     size_t count, enum stack_end end)
{
	struct run *run = context;
	struct symbol_frame found[2];
	(void)sample;
	(void)end;
	assert_int_equal(count, 1);
	struct module_code *code = module_store_get(collector_codes(run->collector), frames[0].frame.module);
	size_t known = module_code_find(code, frames[0].frame.address, frames[0].frame.version, found, 2);
	buf_printf(&run->seen, "%s;", known ? found[known - 1].name : "-");
}

static void kernel_code_may_come_while_samples_are_shown(void **state)
{
	(void)state;
	enum { ADDRESS = 0x7fff0000 };
	struct run *run = start(&(struct collect_options){.threads = 1, .each = note_kernel_name});
	struct event_mmap mmap = {.pid = -1, .kernel = true, .start = ADDRESS, .length = 0x1000, .path = "[a_module]"};
	assert_int_equal(sink_mmap(&run->sink, &mmap), 0);
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t address = ADDRESS + 0x200 * i, chain[] = {(uint64_t)PERF_CONTEXT_KERNEL, address};
		struct event_ksymbol symbol = {.address = address, .length = 0x100, .name = i ? "second" : "first"};
		assert_int_equal(sink_ksymbol(&run->sink, &symbol), 0);
		TAKE(run, chain, s->mode = MODE_KERNEL);
		collector_flush(run->collector);
	}
	finish(run);
	assert_string_equal(run->seen.data, "first;second;");
	end(run);
}

static void a_map_that_grows_while_recording_is_read_at_the_end(void **state)
{
	(void)state;
	enum { LATE = CODE + 0x110 };
	struct run *run = start(&(struct collect_options){.threads = 1, .live = true});
	TAKE(run, USER_CHAIN(LATE, MAIN));
	collector_flush(run->collector);
	usleep(20000); /* in which other names would be made ready */
	FILE *map = fopen(map_path, "a");
	assert_non_null(map);
	fprintf(map, "%x 40 late\n", CODE + 0x100);
	assert_int_equal(fclose(map), 0);
	finish(run);
	expect(run, "a_b:c;main;late 10\n");
	end(run);
}
/* The workers take their time: looks until `samples` have been counted. */
static void look(struct live *live, uint64_t now, uint64_t samples)
{
	for (int tries = 0; live_profile(live)->quality.samples < samples && tries < 100000; tries++) {
		live_update(live, now, 100);
		usleep(100);
	}
	assert_int_equal(live_profile(live)->quality.samples, samples);
}

/* NAMELESS gets a name; its memory is what `write_map` made. */
static void grow_map(void)
{
	FILE *map = fopen(map_path, "a");
	assert_non_null(map);
	fprintf(map, "%x 40 compiled_meanwhile_with_a_name_that_makes_the_file_much_longer\n", NAMELESS);
	assert_int_equal(fclose(map), 0);
}

static void code_that_is_compiled_while_watching_has_a_name(void **state)
{
	(void)state;
	struct run *run = start(&(struct collect_options){.threads = 1, .live = true, .followed = true});
	struct live *live = live_new(run->collector, &(struct symbolize_options){.threads = 1}, NULL);
	TAKE(run, USER_CHAIN(NAMELESS));
	collector_flush(run->collector);
	look(live, 1, 1);
	assert_int_equal(live_profile(live)->quality.unresolved, 1);
	grow_map();
	TAKE(run, USER_CHAIN(NAMELESS + 8));
	collector_flush(run->collector);
	look(live, 2, 2);
	assert_int_equal(live_profile(live)->quality.unresolved, 1);
	live_free(live);
	finish(run);
	expect(run, "a_b:c;compiled_meanwhile_with_a_name_that_makes_the_file_much_longer 20\n");
	end(run);
	remove_map(NULL);
	write_map(NULL);
}

static void a_recording_can_be_watched_while_it_goes_on(void **state)
{
	(void)state;
	struct run *run = start(&(struct collect_options){.threads = 2, .followed = true});
	struct live *live = live_new(run->collector, &(struct symbolize_options){.threads = 1}, NULL);
	TAKE(run, USER_CHAIN(INNER, OUTER, MAIN));
	TAKE(run, USER_CHAIN(NAMELESS, MAIN));
	collector_flush(run->collector);
	look(live, 50, 2);
	assert_int_equal(live_profile(live)->quality.unresolved, 1);
	TAKE(run, USER_CHAIN(INNER + 4, OUTER, MAIN));
	TAKE(run, USER_CHAIN(OTHER, MAIN), s->source = 1);
	collector_flush(run->collector);
	look(live, 120, 4);

	/* The same function at another place is the same stack. */
	const struct profile *profile = live_profile(live);
	assert_int_equal(profile->sample_count, 3);
	int64_t inner = 0;
	for (size_t i = 0; i < profile->sample_count; i++)
		inner = profile->samples[i].weight > inner ? profile->samples[i].weight : inner;
	assert_int_equal(inner, 20);
	assert_int_equal(profile->value_count, 2);

	struct sample_list recent = {0};
	live_since(live, 0, &recent);
	assert_int_equal(recent.count, 4);
	recent.count = 0;
	live_since(live, 50, &recent);
	assert_int_equal(recent.count, 2);
	live_update(live, 151, 100);
	recent.count = 0;
	live_since(live, 0, &recent); /* what came at 50 has been forgotten */
	assert_int_equal(recent.count, 2);

	live_reset(live);
	recent.count = 0;
	live_since(live, 0, &recent);
	assert_int_equal(recent.count + profile->sample_count, 0);
	free(recent.items);
	live_free(live);
	finish(run);
	assert_int_equal(run->profile.quality.samples, 4); /* who watches changes nothing */
	end(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_at_an_address_changes_in_the_course_of_time),
		cmocka_unit_test(kernel_code_may_come_while_samples_are_shown),
		cmocka_unit_test(a_map_that_grows_while_recording_is_read_at_the_end),
		cmocka_unit_test(code_that_is_compiled_while_watching_has_a_name),
		cmocka_unit_test(a_recording_can_be_watched_while_it_goes_on),
	};
	return cmocka_run_group_tests(tests, write_map, remove_map);
}
