/* The screen of wick top: what is on it, and what keys change. */
#include "base/keys.h"
#include "base/text.h"
#include "render/top/top.h"
#include "render/top/top_meter.h"
#include "stacks.h"
#include "unit.h"

#include <locale.h>

struct screen {
	struct profile profile;
	struct hot_functions hot_functions;
	struct top_state state;
	struct top_content content;
	struct buf text;
	int columns, rows;
	bool colour;
};

static void add_kernel(struct profile *profile, stack_id stack, const char *name, int64_t weight)
{
	struct function function = {
		.name = profile_string(profile, name, strlen(name)),
		.module = profile_string(profile, "[kernel.kallsyms]", 17),
	};
	struct frame frame = {.function = profile_function(profile, function), .kind = FRAME_KERNEL};
	profile_add(profile, 0, profile_stack(profile, stack, profile_frame(profile, frame)), 0, weight);
}

static void build(struct screen *s)
{
	struct sample_list samples = {.items = s->profile.samples, .count = s->profile.sample_count};
	top_content_release(&s->content);
	top_content_build(&s->content, &s->state, &s->profile, profile_first_value(&s->profile), &s->hot_functions,
			  &samples);
}

static void count(struct screen *s)
{
	hot_functions_clear(&s->hot_functions);
	hot_functions_add(&s->hot_functions, &s->profile, 0, s->profile.samples, s->profile.sample_count);
	s->profile.quality.samples = (uint64_t)s->hot_functions.total;
	build(s);
}

static int start(void **state)
{
	struct screen *s = mem_zalloc(1, sizeof *s);
	setlocale(LC_CTYPE, "C.UTF-8");
	profile_init(&s->profile);
	top_state_init(&s->state);
	s->columns = 80;
	s->rows = 14;
	stacks_add(&s->profile, 0, "/bin/app`main;/bin/app`parse;/lib/libc.so.6`memcpy", 30);
	stacks_add(&s->profile, 0, "/bin/app`main;/bin/app`render;/lib/libc.so.6`memcpy", 20);
	stacks_add(&s->profile, 0, "/bin/app`main;/bin/app`render", 40);
	stacks_add(&s->profile, 0, "/bin/app`main", 1);
	add_kernel(&s->profile, s->profile.samples[2].stack, "vfs_read", 9);
	count(s);
	*state = s;
	return 0;
}

static int end(void **state)
{
	struct screen *s = *state;
	top_content_release(&s->content);
	top_state_release(&s->state);
	hot_functions_release(&s->hot_functions);
	profile_release(&s->profile);
	buf_release(&s->text);
	free(s);
	return 0;
}

static const char *draw(struct screen *s)
{
	static const double busy[] = {0, 0.5, 1};
	struct top_facts facts = {
		.title = "process 12",
		.event = "cpu-clock",
		.frequency = 99,
		.seconds = 12.4,
		.lost = 0,
		.load = {"CPUs busy", 2},
		.busy = busy,
		.busy_count = 3,
	};
	buf_clear(&s->text);
	top_draw(&s->text, &s->state, &s->content, &facts, s->columns, s->rows, s->colour);
	return s->text.data;
}

static enum top_action press(struct screen *s, uint32_t key)
{
	enum top_action action = top_key(&s->state, key, &s->content, top_page_lines(&s->state, s->rows));
	if (action == TOP_REBUILD)
		build(s);
	return action;
}

/* The line of the screen that has this text in it. */
static void expect_line(struct screen *s, const char *wanted)
{
	const char *text = draw(s);
	if (!strstr(text, wanted))
		fail_msg("no '%s' in:\n%s", wanted, text);
}

static void expect_no(struct screen *s, const char *unwanted)
{
	const char *text = draw(s);
	if (strstr(text, unwanted))
		fail_msg("'%s' in:\n%s", unwanted, text);
}

static void functions_are_listed_by_their_own_time(void **state)
{
	struct screen *s = *state;
	assert_string_equal(draw(s),
			    " wick process 12                              cpu-clock 99 Hz · since the start\n"
			    " 1.00 CPUs busy ▁▄█  12 s · 100 samples · 0 lost · 100 % complete stacks\n"
			    "\n"
			    "     ▾Self              Total  Module        Function\n"
			    "▸  50.00 %  ███████   50.00 %  libc.so.6     memcpy\n"
			    "   40.00 %  █████▋    69.00 %  app           render\n"
			    "    9.00 %  █▎         9.00 %  [kernel]      vfs_read\n"
			    "    1.00 %  ▏        100.00 %  app           main\n"
			    "    0.00 %            30.00 %  app           parse\n"
			    "\n\n\n\n"
			    " q quit  ↑↓ move  ⏎ callers, calls  t tree  s sort  K kernel  / search  w window");
}

static void s_sorts_by_total(void **state)
{
	struct screen *s = *state;
	assert_int_equal(press(s, 's'), TOP_REBUILD);
	expect_line(s, "▾Total");
	expect_line(s, "▸   1.00 %  ▏        100.00 %");
	press(s, 's');
	expect_line(s, "▾Self");
}

static void the_selection_follows_its_function(void **state)
{
	struct screen *s = *state;
	press(s, KEY_DOWN);
	expect_line(s, "▸  40.00 %");
	stacks_add(&s->profile, 0, "/bin/app`main;/bin/app`other", 1000);
	count(s);
	expect_line(s, "▸   3.64 %"); /* render is on the third line now */
	press(s, KEY_HOME);
	stacks_add(&s->profile, 0, "/bin/app`main;/bin/app`hottest", 5000);
	count(s);
	expect_line(s, "▸  81.97 %"); /* the top stays the top */
}

static void moving_stops_at_the_ends_and_scrolls(void **state)
{
	struct screen *s = *state;
	s->rows = 8; /* no blank lines, four of five functions */
	assert_int_equal(top_page_lines(&s->state, s->rows), 4);
	press(s, 'k');
	assert_int_equal(s->state.selected, 0);
	press(s, KEY_END);
	expect_line(s, "▸   0.00 %");
	expect_no(s, "memcpy");
	press(s, 'j');
	assert_int_equal(s->state.selected, 4);
	press(s, KEY_PAGE_UP);
	press(s, KEY_PAGE_UP);
	expect_line(s, "▸  50.00 %");
}

static void enter_shows_callers_and_calls(void **state)
{
	struct screen *s = *state;
	s->rows = 20;
	press(s, KEY_DOWN);
	press(s, '\n');
	assert_int_equal(s->state.page, TOP_FUNCTION);
	expect_line(s, "  render  app  self 40.00 %  total 69.00 %\n"
		       "     Share  Callers\n"
		       "▸  69.00 %  render\n"
		       "            main\n"
		       "\n"
		       "     Total      Self  Calls\n"
		       "   69.00 %   40.00 %  render\n"
		       "   20.00 %   20.00 %  ├─ memcpy\n"
		       "    9.00 %    9.00 %  └─ vfs_read_[k]\n");
	press(s, KEY_ESCAPE);
	assert_int_equal(s->state.page, TOP_FUNCTIONS);
	expect_line(s, "▸  40.00 %");
}

static void trees_open_and_close(void **state)
{
	struct screen *s = *state;
	press(s, 't');
	expect_line(s, "▸ 100.00 %    1.00 %  main\n"
		       "   69.00 %   40.00 %  ├─ render\n"
		       "   20.00 %   20.00 %  │  ├─ memcpy\n");
	press(s, KEY_DOWN);
	press(s, KEY_LEFT);
	expect_line(s, "▸  69.00 %   40.00 %  ├─ render  … 2 more, 29.00 %\n"
		       "   30.00 %            └─ parse");
	press(s, KEY_RIGHT);
	expect_line(s, "│  ├─ memcpy");
	press(s, '\n');
	expect_no(s, "│  ├─ memcpy");
	press(s, KEY_LEFT); /* it is closed: up to its caller */
	expect_line(s, "▸ 100.00 %");
	press(s, KEY_LEFT);
	expect_no(s, "render");
	press(s, KEY_LEFT);
	assert_int_equal(s->state.page, TOP_FUNCTIONS);
}

static void without_the_kernel_its_time_is_the_callers(void **state)
{
	struct screen *s = *state;
	press(s, 'K');
	expect_line(s, "49.00 %");
	expect_no(s, "vfs_read");
	press(s, 't');
	expect_line(s, "69.00 %   49.00 %  ├─ render");
	expect_no(s, "vfs_read");
}

static void search_leaves_what_has_the_text(void **state)
{
	struct screen *s = *state;
	press(s, '/');
	for (const char *c = "LIBCq"; *c; c++)
		press(s, (uint32_t)*c);
	expect_line(s, "no function or module matches LIBCq");
	press(s, '\b');
	expect_line(s, " / LIBC▏");
	expect_line(s, "memcpy");
	expect_no(s, "render");
	press(s, '\n');
	assert_int_equal(press(s, 'q'), TOP_QUIT); /* a command again */
	expect_line(s, "esc show all");
	press(s, KEY_ESCAPE);
	expect_line(s, "render");
	press(s, '/');
	press(s, 0xfc);
	press(s, 0x20ac);
	press(s, 0x1f600);
	assert_string_equal(s->state.search.data, "ü€😀");
	press(s, '\b');
	press(s, '\b');
	assert_string_equal(s->state.search.data, "ü");
}

static void keys_change_what_they_say(void **state)
{
	struct screen *s = *state;
	press(s, 'p');
	press(s, 'f');
	expect_line(s, "paused  frozen");
	assert_true(s->state.paused && s->state.frozen);
	press(s, 'w');
	expect_line(s, "last 2 s");
	for (int i = 0; i < 5; i++)
		press(s, 'w');
	expect_line(s, "since the start");
	press(s, '+');
	expect_line(s, "every 0.5 s");
	for (int i = 0; i < 10; i++)
		press(s, '-');
	assert_int_equal(s->state.refresh, 10000);
	assert_int_equal(press(s, 'z'), TOP_RESET);
	assert_int_equal(press(s, 26), TOP_SUSPEND);
	press(s, 'h');
	expect_line(s, "sort by self");
	press(s, 'x');
	expect_no(s, "sort by self");
	assert_int_equal(press(s, KEY_OTHER), TOP_NOTHING);
}

static void without_samples_it_says_so(void **state)
{
	struct screen *s = *state;
	s->profile.sample_count = 0;
	s->profile.quality.samples = 0;
	count(s);
	expect_line(s, "no samples yet");
	assert_int_equal(press(s, '\n'), TOP_NOTHING);
	press(s, KEY_END);
	press(s, 't');
	draw(s);
	press(s, KEY_LEFT);
}

/* Escape sequences taken out, the widest line and the number of lines. */
static void measure(const char *text, size_t *ret_columns, size_t *ret_lines)
{
	*ret_columns = *ret_lines = 0;
	while (*text) {
		struct buf plain CLEANUP_BUF = {0};
		buf_str(&plain, "");
		for (; *text && *text != '\n'; text++) {
			if (*text == '\033')
				text += strcspn(text, "m");
			else
				buf_char(&plain, *text);
		}
		size_t columns = text_columns(plain.data, plain.size);
		*ret_columns = columns > *ret_columns ? columns : *ret_columns;
		++*ret_lines;
		text += *text == '\n';
	}
}

static void every_screen_is_fitted(void **state)
{
	struct screen *s = *state;
	stacks_add(&s->profile, 0, "main;a_function_whose_name_is_much_longer_than_any_screen_that_it_is_shown_on", 70);
	stacks_add(&s->profile, 0, "main;\033[2J\x9b\x01 control;日本語の名前日本語の名前日本語の名前日本語の名前", 60);
	count(s);
	for (s->columns = 1; s->columns < 140; s->columns++) {
		for (s->rows = 1; s->rows < 30; s->rows += 3) {
			size_t columns, lines;
			s->colour = s->rows % 2;
			s->state.help = s->rows % 5 == 0;
			const char *text = draw(s);
			measure(text, &columns, &lines);
			if (columns > (size_t)s->columns || lines > (size_t)s->rows)
				fail_msg("%zu columns and %zu lines on %d, %d:\n%s", columns, lines, s->columns,
					 s->rows, text);
			assert_true(s->colour || !strchr(text, '\033'));
			assert_null(strstr(text, "\033[2J"));
		}
	}
}

/* Samples of two busy CPUs at 99 Hz that are read four times a second, on a screen that is refreshed once a second. */
static void the_load_is_of_the_time_that_was_read(void **state)
{
	(void)state;
	static const uint64_t second = 1000000000, read[] = {750, 2000, 2750, 4000};
	struct top_meter meter = {.until = 0};
	double before = 0;
	for (size_t i = 0; i < sizeof read / sizeof *read; i++) {
		double cpu_seconds = 2 * ((double)read[i] / 1000 - before);
		before = (double)read[i] / 1000;
		assert_float_equal(
			top_meter_add(&meter, cpu_seconds, read[i] * (second / 1000), read[i] * (second / 1000)), 2,
			1e-9);
	}
	/* Nothing was read since: the figure stays, and what came nevertheless counts the next time. */
	assert_float_equal(top_meter_add(&meter, 0.25, 4 * second, 4 * second), 2, 1e-9);
	assert_float_equal(top_meter_add(&meter, 0.25, 5 * second, 5 * second), 0.5, 1e-9);
	/* 100 samples at 99 Hz in a second are no more than one CPU. */
	meter.max = 1;
	assert_float_equal(top_meter_add(&meter, 100.0 / 99, 6 * second, 6 * second), 1, 1e-9);
}

/* At the start samples arrive one by one, before the first counts are read: one busy CPU is no more than that. */
static void the_first_load_is_not_too_high(void **state)
{
	(void)state;
	static const uint64_t ms = 1000000;
	struct top_meter meter = {.until = 1000 * ms};
	assert_float_equal(top_meter_add(&meter, 0.25, 0, 1250 * ms), 1, 1e-9); /* nothing was read yet */
	assert_float_equal(top_meter_add(&meter, 0.25, 1010 * ms, 1500 * ms), 1, 1e-9);
	assert_float_equal(top_meter_add(&meter, 0.25, 1750 * ms, 1750 * ms), 1, 1e-9);
	/* A refresh right after that */
	assert_float_equal(top_meter_add(&meter, 0.2, 1760 * ms, 1950 * ms), 1, 1e-9);
	assert_float_equal(top_meter_add(&meter, 0.05, 2000 * ms, 2000 * ms), 1, 1e-9);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
	const struct CMUnitTest tests[] = {
		TEST(functions_are_listed_by_their_own_time),
		TEST(s_sorts_by_total),
		TEST(the_selection_follows_its_function),
		TEST(moving_stops_at_the_ends_and_scrolls),
		TEST(enter_shows_callers_and_calls),
		TEST(trees_open_and_close),
		TEST(without_the_kernel_its_time_is_the_callers),
		TEST(search_leaves_what_has_the_text),
		TEST(keys_change_what_they_say),
		TEST(without_samples_it_says_so),
		TEST(every_screen_is_fitted),
		cmocka_unit_test(the_load_is_of_the_time_that_was_read),
		cmocka_unit_test(the_first_load_is_not_too_high),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
