/* Value types that belong together, and amounts as people read them. */
#include "profile/module.h"
#include "profile/own_code.h"
#include "profile/view.h"
#include "render/unit.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* "module`name" or "name" */
static frame_id frame(struct profile *profile, const char *text, enum frame_kind kind)
{
	const char *tick = strchr(text, '`'), *name = tick ? tick + 1 : text;
	struct function function = {
		.name = profile_string(profile, name, strlen(name)),
		.module = tick ? profile_string(profile, text, (size_t)(tick - text)) : 0,
	};
	return profile_frame(profile, (struct frame){.function = profile_function(profile, function), .kind = kind});
}

/* Names, outermost first; those that begin with '+' are the kernel's, those with '~' are functions in Python. */
static void add(struct profile *profile, const char *value, int64_t weight, const char *const *names)
{
	stack_id stack = STACK_ROOT;
	for (; *names; names++) {
		bool kernel = **names == '+', python = **names == '~';
		enum frame_kind kind = kernel ? FRAME_KERNEL : python ? FRAME_PYTHON : FRAME_NATIVE;
		frame_id id = frame(profile, *names + (kernel || python), kind);
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

static void waits_of_the_interpreter_itself_are_for_the_gil(void **state)
{
	(void)state;
	struct profile profile;
	profile_init(&profile);
	/* Debian's interpreter is stripped: the module shows whose code it is. */
	ADD(&profile, "time-sleeping", 1, "~f", "/usr/bin/python3.11`[python3.11]",
	    "pthread_cond_timedwait@@GLIBC_2.3.2", "__pthread_cond_wait_common", "+do_futex", "+schedule");
	ADD(&profile, "time-sleeping", 2, "~g", "/opt/lib/libpython3.12.so.1.0`PyEval_RestoreThread",
	    "pthread_mutex_lock", "+futex_wait");
	/* The code that takes it is part of the evaluation loop, in place of which a function in Python is. */
	ADD(&profile, "time-sleeping", 4, "~h", "___pthread_cond_clockwait64", "+futex_wait");
	/* Inside another program, and where the kernel's part is not known. */
	ADD(&profile, "time-sleeping", 8, "/opt/game`take_gil", "pthread_cond_timedwait");
	/* It got the lock, but no CPU. */
	ADD(&profile, "time-runnable", 16, "/opt/game`take_gil", "pthread_cond_timedwait");
	/* Locks of Python programs are semaphores; those of native code are its own. */
	ADD(&profile, "time-sleeping", 32, "~f", "/usr/bin/python3.11`PyThread_acquire_lock_timed", "sem_clockwait",
	    "+futex_wait");
	ADD(&profile, "time-sleeping", 64, "~f", "/usr/bin/python3.11`call", "/opt/ext.so`pop", "pthread_cond_wait",
	    "+futex_wait");
	/* Not a lock at all, or the waker's. */
	ADD(&profile, "time-sleeping", 128, "~f", "/usr/bin/python3.11`pysleep", "clock_nanosleep", "+do_nanosleep");
	ADD(&profile, "time-sleeping", 256, "~f", "sem_wait", "+futex_wait", "--", "+futex_wake", "pthread_cond_signal",
	    "/usr/bin/python3.11`drop_gil");
	value_id value = profile_view_apply(&profile, profile_view_find("wall"));
	int64_t gil = 0, lock = 0;
	for (size_t i = 0; i < profile.sample_count; i++) {
		const char *kind = own_code_wait(&profile, profile.samples[i].stack);
		gil += !strcmp(kind, "GIL") ? profile.samples[i].weight : 0;
		lock += !strcmp(kind, "lock") ? profile.samples[i].weight : 0;
	}
	assert_int_equal(gil, 1 + 2 + 4 + 8);
	assert_int_equal(lock, 32 + 64 + 256);
	assert_int_equal(weight_of(&profile, value, "[GIL];take_gil;pthread_cond_timedwait"), 8);
	assert_int_equal(weight_of(&profile, value, "[runnable];take_gil;pthread_cond_timedwait"), 16);
	profile_release(&profile);
}

static void files_of_the_interpreter_are_known_by_their_names(void **state)
{
	(void)state;
	const char *yes[] = {"python3.8", "/usr/bin/python3.11", "/a/libpython3.13t.so.1.0", "/python3.12d"};
	const char *no[] = {
		"", "python", "/usr/bin/python3", "/usr/lib/python3.11/a.so", "pythonic3.1", "libpython.so"};
	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
		assert_true(module_is_python(yes[i]));
	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		assert_false(module_is_python(no[i]));
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

static void names_show_units(void **state)
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
		cmocka_unit_test(waits_of_the_interpreter_itself_are_for_the_gil),
		cmocka_unit_test(files_of_the_interpreter_are_known_by_their_names),
		cmocka_unit_test(a_view_is_shown_by_itself_where_its_parts_come_first),
		cmocka_unit_test(deep_stacks_are_joined_too),
		cmocka_unit_test(samples_that_come_later_are_joined_one_by_one),
		cmocka_unit_test(names_show_units),
		cmocka_unit_test(amounts_have_the_unit_that_fits),
		cmocka_unit_test(a_table_has_one_unit),
	};
	return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}
