/* Profiles: ids, samples, filters, and merging. */
#include "profile/profile.h"
#include "unit.h"

static frame_id named(struct profile *profile, const char *name)
{
	str_id id = profile_string(profile, name, strlen(name));
	function_id function = profile_function(profile, (struct function){.name = id});
	return profile_frame(profile, (struct frame){.function = function});
}

static void equal_things_have_equal_ids(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	frame_id a = named(&p, "a"), b = named(&p, "b");
	assert_int_equal(a, named(&p, "a"));
	assert_int_not_equal(a, b);
	stack_id one = profile_stack(&p, STACK_ROOT, a), two = profile_stack(&p, one, b);
	assert_int_equal(two, profile_stack(&p, one, b));
	assert_int_not_equal(two, profile_stack(&p, STACK_ROOT, b));
	/* A path is the same stack, innermost first. */
	assert_int_equal(two, profile_path(&p, (frame_id[]){b, a}, 2));
	assert_int_equal(two, profile_path(&p, (frame_id[]){b, a}, 2));
	assert_int_equal(STACK_ROOT, profile_path(&p, NULL, 0));
	struct thread thread = {.pid = 1, .tid = 2, .comm = profile_string(&p, "x", 1)};
	assert_int_equal(profile_thread(&p, thread), profile_thread(&p, thread));
	thread.tid = 3;
	assert_int_not_equal(profile_thread(&p, thread), 1);
	profile_release(&p);
}

static void samples_of_one_stack_are_distinguished_by_thread_and_value(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	stack_id stack = profile_stack(&p, STACK_ROOT, profile_frame(&p, (struct frame){.address = 1}));
	thread_id one = profile_thread(&p, (struct thread){.pid = 1, .tid = 1});
	thread_id other = profile_thread(&p, (struct thread){.pid = 1, .tid = 2});
	for (int64_t round = 0; round < 3; round++) {
		profile_add(&p, one, stack, 0, 1);
		profile_add(&p, other, stack, 0, 10);
		profile_add(&p, one, stack, 1, 100);
		profile_add(&p, one, stack, 1, 100);
	}
	assert_int_equal(p.sample_count, 3);
	assert_int_equal(p.samples[0].weight, 3);
	assert_int_equal(p.samples[1].weight, 30);
	assert_int_equal(p.samples[2].weight, 600);
	/* As filters do: what stands at a place that was known is another one's. */
	p.samples[0] = p.samples[2];
	p.sample_count = 1;
	index_map_clear(&p.sample_map);
	profile_add(&p, other, stack, 0, 5);
	profile_add(&p, one, stack, 1, 1);
	assert_int_equal(p.sample_count, 2);
	assert_int_equal(p.samples[0].weight, 601);
	assert_int_equal(p.samples[1].weight, 5);
	profile_release(&p);
}

static void equal_samples_add_up_unless_order_is_kept(void **state)
{
	(void)state;
	for (int ordered = 0; ordered < 2; ordered++) {
		struct profile p;
		profile_init(&p);
		p.ordered = ordered;
		value_id value = profile_value(&p, "samples", "samples");
		stack_id stack = profile_stack(&p, STACK_ROOT, named(&p, "a"));
		profile_add(&p, THREAD_UNKNOWN, stack, value, 3);
		profile_add(&p, THREAD_UNKNOWN, stack, value, 4);
		assert_int_equal(p.sample_count, ordered ? 2 : 1);
		assert_int_equal(profile_total(&p, value), 7);
		profile_release(&p);
	}
}

static void sums_hold_at_the_limit_and_are_counted(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	value_id value = profile_value(&p, "samples", "samples");
	stack_id stack = profile_stack(&p, STACK_ROOT, named(&p, "a"));
	profile_add(&p, THREAD_UNKNOWN, stack, value, INT64_MAX);
	profile_add(&p, THREAD_UNKNOWN, stack, value, 1);
	assert_true(p.samples[0].weight == INT64_MAX);
	assert_int_equal(p.quality.overflows, 1);
	profile_release(&p);
}

static void sums_of_different_stacks_may_not_fit(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	value_id value = profile_value(&p, "samples", "samples"), other = profile_value(&p, "cycles", "cycles");
	stack_id stack = profile_stack(&p, STACK_ROOT, named(&p, "a"));
	assert_true(profile_sums_fit(&p, value));
	profile_add(&p, THREAD_UNKNOWN, stack, value, INT64_MAX);
	profile_add(&p, THREAD_UNKNOWN, stack, other, INT64_MAX);
	assert_true(profile_sums_fit(&p, value));
	stack = profile_stack(&p, stack, named(&p, "b"));
	profile_add(&p, THREAD_UNKNOWN, stack, value, -1);
	assert_true(profile_sums_fit(&p, value));
	stack = profile_stack(&p, stack, named(&p, "c"));
	profile_add(&p, THREAD_UNKNOWN, stack, value, 1);
	assert_false(profile_sums_fit(&p, value));
	assert_true(profile_sums_fit(&p, other));
	profile_release(&p);
}

static void decimals_rescale_exactly(void **state)
{
	(void)state;
	struct profile a, b;
	profile_init(&a);
	profile_init(&b);
	value_id va = profile_value(&a, "samples", "samples"), vb = profile_value(&b, "samples", "samples");
	profile_add(&a, THREAD_UNKNOWN, profile_stack(&a, STACK_ROOT, named(&a, "f")), va, 3);
	profile_set_decimals(&b, vb, 2);
	profile_add(&b, THREAD_UNKNOWN, profile_stack(&b, STACK_ROOT, named(&b, "f")), vb, 125); /* 1.25 */
	profile_merge(&a, &b);
	assert_int_equal(a.values[va].decimals, 2);
	assert_int_equal(profile_total(&a, va), 425);
	assert_int_equal(a.sample_count, 1);
	profile_release(&a);
	profile_release(&b);
}

static void merging_translates_every_id(void **state)
{
	(void)state;
	struct profile a, b;
	profile_init(&a);
	profile_init(&b);
	named(&a, "only in a"); /* so that ids differ */
	str_id module = profile_string(&b, "libx.so", 7);
	function_id function =
		profile_function(&b, (struct function){.name = profile_string(&b, "f", 1), .module = module});
	frame_id frame = profile_frame(&b, (struct frame){.function = function, .kind = FRAME_JIT, .line = 7});
	thread_id thread =
		profile_thread(&b, (struct thread){.pid = 5, .tid = 6, .comm = profile_string(&b, "java", 4)});
	value_id value = profile_value(&b, "cycles", "");
	b.values[value].samples = 2;
	profile_add(&b, thread, profile_stack(&b, STACK_ROOT, frame), value, 9);
	b.quality.lost = 4;
	b.quality.lost_records = 6;
	b.quality.lost_records_advice = profile_string(&b, "look again", 10);
	quality_unresolved(&b.quality, module, 11);
	profile_merge(&a, &b);
	assert_int_equal(a.sample_count, 1);
	const struct sample *sample = &a.samples[0];
	assert_string_equal(profile_text(&a, a.threads[sample->thread].comm), "java");
	const struct frame *merged = &a.frames[a.stacks[sample->stack].frame];
	assert_int_equal(merged->kind, FRAME_JIT);
	assert_int_equal(merged->line, 7);
	assert_string_equal(profile_text(&a, a.functions[merged->function].module), "libx.so");
	assert_string_equal(profile_text(&a, a.values[sample->value].name), "cycles");
	assert_int_equal(a.values[sample->value].samples, 2);
	assert_int_equal(a.quality.lost, 4);
	assert_int_equal(a.quality.lost_records, 6);
	assert_string_equal(profile_text(&a, a.quality.lost_records_advice), "look again");
	assert_int_equal(a.quality.module_count, 1);
	assert_string_equal(profile_text(&a, a.quality.modules[0].module), "libx.so");
	profile_release(&a);
	profile_release(&b);
}

static void keeping_one_event_counts_the_others(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	value_id cycles = profile_value(&p, "cycles", ""), other = profile_value(&p, "faults", ""),
		 nameless = profile_value(&p, "", "");
	stack_id stack = profile_stack(&p, STACK_ROOT, named(&p, "a"));
	p.values[cycles].samples = 2;
	p.values[other].samples = 5;
	p.values[nameless].samples = 1;
	profile_add(&p, THREAD_UNKNOWN, stack, cycles, 20);
	profile_add(&p, THREAD_UNKNOWN, stack, other, 50);
	profile_add(&p, THREAD_UNKNOWN, stack, nameless, 1);
	profile_keep_value(&p, cycles);
	assert_int_equal(profile_total(&p, cycles), 21);
	assert_int_equal(p.sample_count, 1);
	assert_int_equal(p.quality.samples, 3);
	assert_int_equal(p.quality.filtered, 5);
	profile_release(&p);
}

static void the_quality_line_shows_what_is_not_zero(void **state)
{
	(void)state;
	struct strpool strings;
	strpool_init(&strings);
	struct quality quality = {.samples = 12345, .lost = 1, .unresolved = 3};
	quality_unresolved(&quality, strpool_add(&strings, "/usr/lib/libfoo.so", 18), 3);
	struct buf line = {0};
	quality_line(&quality, &strings, &line);
	assert_string_equal(line.data, "12,345 samples · 1 lost · 3 samples with unresolved frames, most in libfoo.so");
	buf_clear(&line);
	quality_release(&quality);
	quality = (struct quality){.samples = 2, .lost_records = 6501};
	quality.lost_records_advice = strpool_add(&strings, "look again", 10);
	quality_line(&quality, &strings, &line);
	assert_string_equal(line.data, "2 samples · 6,501 mapping and task records lost");
	buf_clear(&line);
	quality_advice(&quality, &strings, QUALITY_ADVICE_MAX, &line);
	assert_string_equal(line.data, "6,501 mapping and task records lost: look again\n");
	buf_release(&line);
	quality_release(&quality);
	strpool_release(&strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_of_one_stack_are_distinguished_by_thread_and_value),
		cmocka_unit_test(equal_things_have_equal_ids),
		cmocka_unit_test(equal_samples_add_up_unless_order_is_kept),
		cmocka_unit_test(sums_hold_at_the_limit_and_are_counted),
		cmocka_unit_test(sums_of_different_stacks_may_not_fit),
		cmocka_unit_test(decimals_rescale_exactly),
		cmocka_unit_test(merging_translates_every_id),
		cmocka_unit_test(keeping_one_event_counts_the_others),
		cmocka_unit_test(the_quality_line_shows_what_is_not_zero),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
