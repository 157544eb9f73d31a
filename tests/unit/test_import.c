/* Inputs in text form: folded stacks and perf script. */
#include "unit.h"

#include "base/buf.h"
#include "import/import.h"

#include <stdio.h>
#include <unistd.h>

static int read_bytes(struct profile *profile, const char *bytes, size_t size, struct import_options options,
		      struct import_report *report, struct err *err)
{
	char path[] = "/tmp/wick-test-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
	int result = import_file(profile, path, &options, report, err);
	unlink(path);
	return result;
}

static int read_text(struct profile *profile, const char *text, struct import_report *report, struct err *err)
{
	return read_bytes(profile, text, strlen(text), (struct import_options){0}, report, err);
}

/* The weight of one folded stack without threads. */
static int64_t weight_of(const struct profile *p, const char *path, value_id value)
{
	int64_t weight = -1;
	for (size_t i = 0; i < p->sample_count; i++) {
		CLEANUP_BUF struct buf text = {0};
		for (stack_id s = p->samples[i].stack; s != STACK_ROOT; s = p->stacks[s].parent) {
			CLEANUP_BUF struct buf inner = text;
			const struct function *function = &p->functions[p->frames[p->stacks[s].frame].function];
			text = (struct buf){0};
			buf_printf(&text, "%s%s%s", profile_text(p, function->name), inner.size ? ";" : "",
				   inner.size ? inner.data : "");
		}
		if (p->samples[i].value == value && text.data && strcmp(text.data, path) == 0)
			weight = p->samples[i].weight;
	}
	return weight;
}

static void folded_lines_add_up(void **state)
{
	(void)state;
	struct profile p;
	struct import_report report = {0};
	struct err err = {0};
	profile_init(&p);
	assert_int_equal(read_text(&p, "a;b;c 1\na;b 2\r\na;b;c 4\nx y;z 8\na;bb 16\n; 3\n", &report, &err), 0);
	assert_int_equal(weight_of(&p, "a;b;c", 0), 5);
	assert_int_equal(weight_of(&p, "a;b", 0), 2);
	assert_int_equal(weight_of(&p, "a;bb", 0), 16);
	assert_int_equal(weight_of(&p, "x y;z", 0), 8);
	assert_int_equal(report.bad_lines, 0);
	assert_int_equal(profile_total(&p, 0), 34);
	profile_release(&p);
}

static void fractions_are_exact(void **state)
{
	(void)state;
	struct profile p;
	struct import_report report = {0};
	profile_init(&p);
	assert_int_equal(read_text(&p, "a 0.1\na 0.2\nb 3\nc 1.25\nd 0.0000000015\n", &report, NULL), 0);
	assert_int_equal(p.values[0].decimals, 9);
	assert_int_equal(weight_of(&p, "a", 0), 300000000);
	assert_int_equal(weight_of(&p, "b", 0), 3000000000);
	assert_int_equal(weight_of(&p, "d", 0), 2); /* rounded at the ninth decimal */
	profile_release(&p);
}

static void bad_lines_are_counted_and_placed(void **state)
{
	(void)state;
	struct profile p;
	struct import_report report = {0};
	profile_init(&p);
	assert_int_equal(read_text(&p, "a 1\nno count\nb -5\nc 99999999999999999999\nd 2\n", &report, NULL), 0);
	assert_int_equal(report.bad_lines, 3);
	assert_non_null(strstr(report.first_bad, ":2: no count at the end of the line"));
	assert_int_equal(profile_total(&p, 0), 3);
	assert_int_equal(p.quality.bad_lines, 3);
	profile_release(&p);
}

static void two_columns_are_before_and_after(void **state)
{
	(void)state;
	struct profile p;
	struct import_report report = {0};
	profile_init(&p);
	assert_int_equal(read_text(&p, "a;b 1 2\na;c 0 5\n", &report, NULL), 0);
	assert_true(p.differential);
	assert_int_equal(weight_of(&p, "a;b", 0), 1);
	assert_int_equal(weight_of(&p, "a;c", 1), 5);
	profile_release(&p);
	/* A number at the end of some names does not make it two columns. */
	profile_init(&p);
	assert_int_equal(read_text(&p, "a;thread 1 2\na;c 5\n", &report, NULL), 0);
	assert_false(p.differential);
	assert_int_equal(weight_of(&p, "a;thread 1", 0), 2);
	profile_release(&p);
}

static void samples_know_thread_event_and_quality(void **state)
{
	(void)state;
	const char *text = "# cmdline : perf record\n"
			   "java 7/8 [000] 1.0: 10 cycles: \n\t1 leaf (/lib/a.so)\n\t2 [unknown] ([unknown])\n\n"
			   "java 7/8 [000] 1.1: 20 faults: \n\t1 leaf (/lib/a.so)\n\n"
			   "x 0 [000] 1.2: PERF_RECORD_LOST lost 12\n"
			   "java 7/8 [000] 1.2: 30 cycles: \n\t1 leaf (/lib/a.so)\n\t2 [unknown] ([unknown])\n\n"
			   "java 7/8 [000] 1.3: 40 cycles: \n\t1 cut (/lib/a.so)\n\t2 mai";
	struct profile p;
	struct import_report report = {0};
	profile_init(&p);
	assert_int_equal(read_text(&p, text, &report, NULL), 0);
	value_id first = profile_first_value(&p);
	assert_string_equal(profile_text(&p, p.values[first].name), "cycles");
	assert_int_equal(weight_of(&p, "[unknown];leaf", first), 40);
	assert_int_equal(p.values[first].samples, 2);
	assert_int_equal(p.quality.samples, 3);
	assert_int_equal(p.quality.truncated, 2);
	assert_int_equal(p.quality.unresolved, 2);
	assert_int_equal(p.quality.lost, 12);
	assert_int_equal(report.cut_stacks, 1);
	assert_non_null(strstr(report.first_cut, ":14"));
	assert_int_equal(p.threads[1].pid, 7);
	assert_int_equal(p.threads[1].tid, 8);
	profile_release(&p);
}

/* No empty line has to end the last stack, only its last line must be whole. */
static void the_last_stack_counts_when_it_is_whole(void **state)
{
	(void)state;
	static const struct {
		const char *end;
		bool counts;
	} rows[] = {
		{"\t1 f (/x)\n\t2 main (/x)\n\n", true},
		{"\t1 f (/x)\n\t2 main (/x)\n", true},
		{"\t1 f (/x)\n\t2 main (/x)\r\n", true},
		{"\t1 f (/x)\n\t2 main (/x)", true},
		{"\t1 f (/x)\n\t2 main (/x", false},
		{"\t1 f (/x)\n\t2 mai", false},
		{"\t1 f (/x)\n\t", false},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct profile p;
		struct import_report report = {0};
		struct buf text CLEANUP_BUF = {0};
		profile_init(&p);
		buf_printf(&text, "a 1 1.0: 1 cycles: \n\t1 g (/x)\n\na 1 1.1: 1 cycles: \n%s", rows[i].end);
		assert_int_equal(read_text(&p, text.data, &report, NULL), 0);
		assert_int_equal(p.quality.samples, rows[i].counts ? 2 : 1);
		assert_int_equal(report.cut_stacks, !rows[i].counts);
		assert_int_equal(weight_of(&p, "main;f", 0), rows[i].counts ? 1 : -1);
		profile_release(&p);
	}
}

static void events_join_by_their_base(void **state)
{
	(void)state;
	const char *text = "a 1 1.0: 1 cycles:u: \n\t1 f (/x)\n\na 1 1.1: 2 cycles: \n\t1 f (/x)\n\n"
			   "a 1 1.2: 4 faults:u: \n\t1 f (/x)\n\na 1 1.3: 8 cycles:P:  1 f (/x)\n";
	struct profile p;
	struct import_report report = {0};
	profile_init(&p);
	assert_int_equal(read_text(&p, text, &report, NULL), 0);
	value_id first = profile_first_value(&p);
	profile_join_event(&p, first);
	profile_keep_value(&p, first);
	assert_string_equal(profile_text(&p, p.values[first].name), "cycles");
	assert_int_equal(weight_of(&p, "f", first), 11);
	assert_int_equal(p.sample_count, 1);
	assert_int_equal(p.quality.samples, 3);
	assert_int_equal(p.quality.filtered, 1);
	profile_release(&p);
}

static void the_script_is_followed_line_by_line(void **state)
{
	(void)state;
	/* no empty line: frames add up; another event: nothing happens; the end of the file: the stack is lost */
	const char *text = "ab 1/2 1.0: 3 cycles: \n\t1 f (/x)\ncd 1/2 1.0: 5 cycles: \n\t2 g (/x)\n\n"
			   "ab 1/2 1.0: 7 cycles: \n\t1 f (/x)\ncd 1/2 1.0: 9 faults: \n\t2 h (/x)\n\n"
			   "ab 1/2 1.0: 1 cycles: \n\t1 f (/x)\n";
	struct profile p;
	struct import_report report = {0};
	struct import_perl perl = {0};
	profile_init(&p);
	assert_int_equal(read_bytes(&p, text, strlen(text), (struct import_options){.perl = &perl}, &report, NULL), 0);
	value_id first = profile_first_value(&p);
	assert_int_equal(weight_of(&p, "g;f", first), 5);
	assert_int_equal(weight_of(&p, "h;f", first), 7);
	assert_int_equal(weight_of(&p, "f", first), -1);
	assert_int_equal(report.cut_stacks, 1);
	profile_keep_value(&p, first);
	assert_int_equal(p.quality.samples, 2);
	assert_int_equal(p.quality.filtered, 1);
	profile_release(&p);
}

static void source_lines_belong_to_the_frame_above(void **state)
{
	(void)state;
	const char *text = "a 1 1.0: 1 cycles: \n\t1 f+0x2 (/bin/a)\n  x.c:12\n\t2 main (/bin/a)\n  libc.so[27b25]\n\n";
	struct profile p;
	struct import_report report = {0};
	profile_init(&p);
	assert_int_equal(read_text(&p, text, &report, NULL), 0);
	assert_int_equal(report.bad_lines, 0);
	const struct frame *leaf = &p.frames[p.stacks[p.samples[0].stack].frame];
	assert_int_equal(leaf->line, 12);
	assert_string_equal(profile_text(&p, p.functions[leaf->function].file), "x.c");
	profile_release(&p);
}

/* Enough text for several blocks: any number of threads must give the same sums and the same line numbers. */
static void threads_do_not_change_the_result(void **state)
{
	(void)state;
	struct buf text = {0};
	for (int i = 0; i < 60000; i++) {
		buf_printf(&text, "t%d %d/%d [000] %d.0: %d cycles: \n\t%x f%d+0x1 (/lib/a.so)\n\t2 main (/bin/x)\n\n",
			   i % 3, i % 5 + 1, i % 7 + 1, i, i % 10 + 1, i % 50, i % 50);
		if (i == 50000)
			buf_str(&text, "what is this\n\n");
	}
	char first[256] = "";
	int64_t total = 0;
	size_t samples = 0;
	for (unsigned threads = 1; threads <= 8; threads *= 2) {
		struct profile p;
		struct import_report report = {0};
		profile_init(&p);
		assert_int_equal(read_bytes(&p, text.data, text.size, (struct import_options){.threads = threads},
					    &report, NULL),
				 0);
		const char *place = strchr(report.first_bad, ':');
		assert_non_null(place);
		if (threads == 1) {
			strcpy(first, place);
			total = profile_total(&p, 0);
			samples = p.sample_count;
		}
		assert_string_equal(place, first);
		assert_true(strncmp(place, ":200005:", 8) == 0);
		assert_int_equal(profile_total(&p, profile_first_value(&p)), total);
		assert_int_equal(p.sample_count, samples);
		assert_int_equal(p.quality.samples, 60000);
		profile_release(&p);
	}
	buf_release(&text);
}

static void rubbish_is_refused_with_a_reason(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t size;
		int code;
		const char *says;
	} rows[] = {
		{"", 0, ERR_EMPTY, "empty"},
		{"PERFILE2\0\0", 10, ERR_FORMAT, "perf.data"},
		{"\177ELF\2\1\1\0", 8, ERR_FORMAT, "program"},
		{"\0\1\2\3\0\n\0\n", 8, ERR_FORMAT, "binary"},
		{"hello\nworld\n", 12, ERR_FORMAT, "no line is"},
		{"\x1f\x8b\x08\0\0\0\0\0\0\0", 10, ERR_FORMAT, "gzip"},
		{"a 1 1.0: 1 cycles: \n\tff f (x)\n\tff", 33, ERR_EMPTY, "no stack could be read"},
		{"a 1 1.0: 1 cycles: \n\tff f (x)\n\tff g (y", 39, ERR_EMPTY, "no stack could be read"},
		{"a 1 1.0: 1 cycles:", 18, ERR_EMPTY, "ends within its only stack"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct profile p;
		struct import_report report = {0};
		struct err err = {0};
		profile_init(&p);
		assert_int_equal(read_bytes(&p, rows[i].bytes, rows[i].size, (struct import_options){0}, &report, &err),
				 rows[i].code);
		if (!strstr(err.text, rows[i].says))
			fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].says);
		profile_release(&p);
	}
}

static void a_huge_line_is_one_deep_stack(void **state)
{
	(void)state;
	struct buf text = {0};
	for (int i = 0; i < 2000000; i++)
		buf_str(&text, "abcd;");
	buf_str(&text, "leaf 7\nsmall 1\n");
	struct profile p;
	struct import_report report = {0};
	profile_init(&p);
	assert_int_equal(read_bytes(&p, text.data, text.size, (struct import_options){.threads = 2}, &report, NULL), 0);
	assert_int_equal(profile_total(&p, 0), 8);
	assert_int_equal(p.stack_count, 2000000 + 3);
	buf_release(&text);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded_lines_add_up),
		cmocka_unit_test(fractions_are_exact),
		cmocka_unit_test(bad_lines_are_counted_and_placed),
		cmocka_unit_test(two_columns_are_before_and_after),
		cmocka_unit_test(samples_know_thread_event_and_quality),
		cmocka_unit_test(the_last_stack_counts_when_it_is_whole),
		cmocka_unit_test(events_join_by_their_base),
		cmocka_unit_test(the_script_is_followed_line_by_line),
		cmocka_unit_test(source_lines_belong_to_the_frame_above),
		cmocka_unit_test(threads_do_not_change_the_result),
		cmocka_unit_test(rubbish_is_refused_with_a_reason),
		cmocka_unit_test(a_huge_line_is_one_deep_stack),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
