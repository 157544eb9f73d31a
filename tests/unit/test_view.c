/* Value types that belong together, and amounts as people read them. */
#include "profile/view.h"
#include "render/unit.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static frame_id frame(struct profile *profile, const char *name, enum frame_kind kind)
{
	function_id function =
		profile_function(profile, (struct function){.name = profile_string(profile, name, strlen(name))});
	return profile_frame(profile, (struct frame){.function = function, .kind = kind});
}

/* Names, outermost first; those that begin with '+' are the kernel's. */
static void add(struct profile *profile, const char *value, int64_t weight, const char *const *names)
{
	stack_id stack = STACK_ROOT;
	for (; *names; names++) {
		bool kernel = **names == '+';
		frame_id id = frame(profile, *names + kernel, kernel ? FRAME_KERNEL : FRAME_NATIVE);
		stack = profile_stack(profile, stack, id);
	}
	value_id id = profile_value(profile, value, profile_unit_of(value));
	profile_add(profile, THREAD_UNKNOWN, stack, id, weight);
	profile->values[id].samples++;
	if (profile->values[id].first_seen == UINT64_MAX)
		profile->values[id].first_seen = profile->value_count;
}
#define ADD(profile, value, weight, ...) add(profile, value, weight, (const char *const[]){__VA_ARGS__, NULL})

/* The weight of the stack that reads so, outermost first, separated by ';'; -1 when there is none. */
static int64_t weight_of(const struct profile *profile, value_id value, const char *text)
{
	for (size_t i = 0; i < profile->sample_count; i++) {
		CLEANUP_BUF struct buf line = {0};
		buf_str(&line, "");
		for (stack_id at = profile->samples[i].stack; at != STACK_ROOT; at = profile->stacks[at].parent) {
			function_id function = profile->frames[profile->stacks[at].frame].function;
			CLEANUP_BUF struct buf inner = line;
			line = (struct buf){0};
			buf_str(&line, profile_text(profile, profile->functions[function].name));
			if (inner.size)
				buf_char(&line, ';');
			buf_add(&line, inner.data, inner.size);
		}
		if (profile->samples[i].value == value && !strcmp(line.data, text))
			return profile->samples[i].weight;
	}
	return -1;
}

static void parts_become_one_with_a_frame_each(void **state)
{
	(void)state;
	struct profile profile;
	profile_init(&profile);
	ADD(&profile, "cpu-clock", 9, "main");
	ADD(&profile, "time-sleeping", 300, "main", "nap", "+do_nanosleep", "+schedule", "+__schedule");
	ADD(&profile, "time-sleeping", 200, "main", "contend", "+do_futex", "+futex_do_wait", "+schedule");
	ADD(&profile, "time-disk", 50, "main", "load", "+io_schedule", "+schedule");
	ADD(&profile, "time-disk", 60, "main", "load", "+rwsem_down_read_slowpath", "+schedule");
	ADD(&profile, "time-runnable", 7, "main", "+schedule");
	ADD(&profile, "time-sleeping", 5, "mutex_lock_and_read", "+pipe_read");
	ADD(&profile, "time-sleeping", 6, "main", "__lll_lock_wait"); /* the kernel's part is not known */
	ADD(&profile, "time-sleeping", 8, "main", "+pipe_read", "--", "+futex_wait"); /* the waker's lock */
	value_id value = profile_view_apply(&profile, profile_view_find("offcpu"));
	assert_string_equal(profile_text(&profile, profile.values[value].name), "offcpu");
	assert_string_equal(profile_text(&profile, profile.values[value].unit), "ns");
	assert_int_equal(profile.values[value].samples, 8);
	assert_int_equal(weight_of(&profile, value, "[sleeping];main;nap;do_nanosleep"), 300);
	assert_int_equal(weight_of(&profile, value, "[lock];main;contend;do_futex;futex_do_wait"), 200);
	assert_int_equal(weight_of(&profile, value, "[disk];main;load;io_schedule"), 50);
	assert_int_equal(weight_of(&profile, value, "[lock];main;load;rwsem_down_read_slowpath"), 60);
	assert_int_equal(weight_of(&profile, value, "[runnable];main"), 7);
	assert_int_equal(weight_of(&profile, value, "[sleeping];mutex_lock_and_read;pipe_read"), 5);
	assert_int_equal(weight_of(&profile, value, "[lock];main;__lll_lock_wait"), 6);
	assert_int_equal(weight_of(&profile, value, "[sleeping];main;pipe_read;--;futex_wait"), 8);
	assert_int_equal(profile_total(&profile, value), 636);
	profile_keep_value(&profile, value);
	assert_int_equal(profile.quality.samples, 8);
	assert_int_equal(profile.quality.filtered, 1);
	profile_release(&profile);
}

static void a_view_is_shown_by_itself_where_its_parts_come_first(void **state)
{
	(void)state;
	struct profile profile;
	profile_init(&profile);
	assert_null(profile_view_default(&profile));
	ADD(&profile, "time-sleeping", 1, "main");
	assert_string_equal(profile_view_default(&profile)->name, "offcpu");
	ADD(&profile, "time-running", 1, "main");
	assert_string_equal(profile_view_default(&profile)->name, "wall");
	assert_false(profile_view_has(&profile, profile_view_find("faults")));
	profile_release(&profile);

	profile_init(&profile);
	ADD(&profile, "minor-faults:u", 1, "main"); /* somebody else's recording: shown as it is */
	assert_null(profile_view_default(&profile));
	assert_true(profile_view_has(&profile, profile_view_find("mem")));
	ADD(&profile, "minor-fault-bytes", 4096, "main");
	assert_string_equal(profile_view_default(&profile)->name, "faults");
	profile_release(&profile);
}

static void deep_stacks_are_joined_too(void **state)
{
	(void)state;
	struct profile profile;
	profile_init(&profile);
	stack_id stack = STACK_ROOT;
	frame_id recursion = frame(&profile, "recursion", FRAME_NATIVE);
	for (int i = 0; i < 200000; i++)
		stack = profile_stack(&profile, stack, recursion);
	profile_add(&profile, THREAD_UNKNOWN, stack, profile_value(&profile, "time-disk", "ns"), 3);
	value_id value = profile_view_apply(&profile, profile_view_find("offcpu"));
	size_t depth = 0;
	for (stack_id at = profile.samples[0].stack; at != STACK_ROOT; at = profile.stacks[at].parent)
		depth++;
	assert_int_equal(depth, 200001);
	assert_int_equal(profile_total(&profile, value), 3);
	profile_release(&profile);
}

static void samples_that_come_later_are_joined_one_by_one(void **state)
{
	(void)state;
	struct profile profile;
	profile_init(&profile);
	struct profile_viewer *viewer = profile_viewer_new(&profile, profile_view_find("offcpu"));
	value_id value = profile_value(&profile, "offcpu", "ns");
	ADD(&profile, "time-sleeping", 300, "main", "nap", "+schedule");
	assert_true(profile_viewer_move(viewer, &profile.samples[0]));
	ADD(&profile, "time-sleeping", 20, "main", "contend", "+futex_do_wait");
	ADD(&profile, "cycles", 1, "main");
	assert_true(profile_viewer_move(viewer, &profile.samples[1]));
	assert_false(profile_viewer_move(viewer, &profile.samples[2]));
	ADD(&profile, "time-sleeping", 4, "main", "nap", "listen");
	assert_true(profile_viewer_move(viewer, &profile.samples[3]));
	assert_true(profile_viewer_move(viewer, &profile.samples[3])); /* it was moved already */
	assert_int_equal(weight_of(&profile, value, "[sleeping];main;nap"), 300);
	assert_int_equal(weight_of(&profile, value, "[lock];main;contend;futex_do_wait"), 20);
	assert_int_equal(weight_of(&profile, value, "[sleeping];main;nap;listen"), 4);
	profile_viewer_free(viewer);
	profile_release(&profile);
}

static void names_tell_units(void **state)
{
	(void)state;
	assert_string_equal(profile_unit_of("time-runnable"), "ns");
	assert_string_equal(profile_unit_of("offcpu-time"), "ns");
	assert_string_equal(profile_unit_of("major-fault-bytes"), "bytes");
	assert_string_equal(profile_unit_of("minor-faults"), "");
	assert_string_equal(profile_unit_of("cycles"), "");
}

static void amounts_have_the_unit_that_fits(void **state)
{
	(void)state;
	static const struct {
		const char *unit;
		double value;
		const char *text; /* NULL: as it is */
	} rows[] = {
		{"ns", 999, NULL},
		{"ns", 1000, "1.00 µs"},
		{"ns", 300100421, "300.10 ms"},
		{"ns", 4e12, "4000.00 s"},
		{"bytes", 1023, NULL},
		{"bytes", 592 * 1024.0, "592.00 KiB"},
		{"bytes", 0x1p31, "2.00 GiB"},
		{"samples", 1e9, NULL},
		{"ns", -5e6, "-5.00 ms"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct buf text CLEANUP_BUF = {0};
		assert_int_equal(unit_amount(&text, rows[i].unit, rows[i].value), rows[i].text != NULL);
		if (rows[i].text)
			assert_string_equal(text.data, rows[i].text);
	}
}

static void a_table_has_one_unit(void **state)
{
	(void)state;
	assert_null(unit_scale("samples", 1e9).name);
	assert_string_equal(unit_scale("ns", 9999).name, "ns");
	assert_string_equal(unit_scale("ns", 1.4e9).name, "ms");
	assert_string_equal(unit_scale("ns", 1.4e10).name, "s");
	assert_string_equal(unit_scale("bytes", 600000).name, "KiB");
	assert_int_equal(unit_scale("bytes", 100).digits, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_become_one_with_a_frame_each),
		cmocka_unit_test(a_view_is_shown_by_itself_where_its_parts_come_first),
		cmocka_unit_test(deep_stacks_are_joined_too),
		cmocka_unit_test(samples_that_come_later_are_joined_one_by_one),
		cmocka_unit_test(names_tell_units),
		cmocka_unit_test(amounts_have_the_unit_that_fits),
		cmocka_unit_test(a_table_has_one_unit),
	};
	return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}
