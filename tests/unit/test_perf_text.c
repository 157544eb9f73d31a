/* The two kinds of lines of perf script text. */
#include "unit.h"

#include "import/perf_event.h"
#include "import/perf_frame.h"

#include <string.h>

static void event_lines_of_every_layout(void **state)
{
	(void)state;
	static const struct {
		const char *line, *comm;
		int pid, tid;
		const char *event;
		int64_t period;
	} rows[] = {
		{"java 25607 4794564.109216: 1 cycles:", "java", -1, 25607, "cycles", 1},
		{"java 12688 [002] 6544038.708352: 235 cpu-clock:", "java", -1, 12688, "cpu-clock", 235},
		{"V8 WorkerThread 25607 4794564.109216: 104345 cycles:", "V8 WorkerThread", -1, 25607, "cycles",
		 104345},
		{"java 24636/25607 [000] 4794564.109216: 1 cycles:u: ", "java", 24636, 25607, "cycles:u", 1},
		{"V8 WorkerThread 24636/25607 [000] 94564.109216: 100 cycles:", "V8 WorkerThread", 24636, 25607,
		 "cycles", 100},
		{"swapper     0/0     [001]   12.5:  99 cpu-clock:pppH: ", "swapper", -1, 0, "cpu-clock:pppH", 99},
		{"dd 30551 cpu-clock: ", "dd", -1, 30551, NULL, 1},
		{"dd 30551: cpu-clock: ", NULL, 0, 0, NULL, 0},
		{"a 1 [000] 2.0: 0 cycles: ", "a", -1, 1, "cycles", 1},
		{"a 1 [000] 2.0: cycles: ", "a", -1, 1, "cycles", 1},
		{"a 1 [000] 2.0: sched:sched_switch: prev_comm=x prev_prio=120", "a", -1, 1, NULL, 1},
		{"a 1 [000] 2.0:  7 cpu/event=0x3c,umask=0x0/: ", "a", -1, 1, "cpu/event=0x3c,umask=0x0/", 7},
		{"no numbers here at all", NULL, 0, 0, NULL, 0},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct perf_event_line event;
		bool parsed = perf_event_parse(rows[i].line, strlen(rows[i].line), &event);
		assert_int_equal(parsed, rows[i].comm != NULL);
		if (!parsed)
			continue;
		assert_int_equal(event.comm_length, strlen(rows[i].comm));
		assert_memory_equal(event.comm, rows[i].comm, event.comm_length);
		assert_int_equal(event.pid, rows[i].pid);
		assert_int_equal(event.tid, rows[i].tid);
		assert_int_equal(event.event != NULL, rows[i].event != NULL);
		if (rows[i].event) {
			assert_int_equal(event.event_length, strlen(rows[i].event));
			assert_memory_equal(event.event, rows[i].event, event.event_length);
		}
		assert_true(event.period == rows[i].period);
	}
}

static void a_period_beyond_64_bits_is_told(void **state)
{
	(void)state;
	const char *line = "a 1 [000] 2.0: 99999999999999999999 cycles: ";
	struct perf_event_line event;
	assert_true(perf_event_parse(line, strlen(line), &event));
	assert_true(event.period_overflow);
	assert_true(event.period == INT64_MAX);
}

static void lost_records_are_no_samples(void **state)
{
	(void)state;
	uint64_t lost;
	const char *line = "swapper     0 [000]  1.2: PERF_RECORD_LOST lost 12";
	assert_true(perf_event_is_record(line, strlen(line), &lost));
	assert_int_equal(lost, 12);
	line = "x 1 2.0: PERF_RECORD_COMM exec: x:1/1";
	assert_true(perf_event_is_record(line, strlen(line), &lost));
	assert_int_equal(lost, 0);
	line = "x 1 2.0: 1 cycles:";
	assert_false(perf_event_is_record(line, strlen(line), &lost));
}

struct names {
	char text[256];
	enum frame_kind kind;
};

static void collect(void *context, const char *name, size_t length, enum frame_kind kind)
{
	struct names *names = context;
	if (names->text[0])
		strcat(names->text, ";");
	strncat(names->text, name, length);
	names->kind = kind;
}

static void stack_lines_are_tidied(void **state)
{
	(void)state;
	static const struct {
		const char *line, *names;
		bool java, addresses;
		enum frame_kind kind;
	} rows[] = {
		{"\tffffffff8103ce3b native_safe_halt+0x6 ([kernel.kallsyms])", "native_safe_halt", 0, 0, FRAME_KERNEL},
		{"  7f12 main (/bin/x)", "main", 0, 0, FRAME_NATIVE},
		{"  7f12 f(int, char) (/bin/x)", "f", 0, 0, FRAME_NATIVE},
		{"  7f12 (anonymous namespace)::f(int) (/bin/x)", "", 0, 0, FRAME_NATIVE},
		{"  7f12 n::(anonymous namespace)::f(int) (/bin/x)", "n::(anonymous namespace)::f", 0, 0, FRAME_NATIVE},
		{"  7f12 net/http.(*Client).Do (/bin/x)", "net/http.(*Client).Do", 0, 0, FRAME_NATIVE},
		{"  7f12 [unknown] (/usr/lib/libfoo.so)", "[libfoo.so]", 0, 0, FRAME_UNKNOWN},
		{"  7f12 [unknown] (/usr/lib/libfoo.so)", "[libfoo.so <7f12>]", 0, 1, FRAME_UNKNOWN},
		{"  7f12 [unknown] ([unknown])", "[unknown]", 0, 0, FRAME_UNKNOWN},
		{"  7f12 f;g (/bin/x)", "f:g", 0, 0, FRAME_NATIVE},
		{"  13a80 RegExp:[&<>\"\'] (/tmp/perf-7539.map)", "RegExp:[&<>]", 0, 0, FRAME_JIT},
		{"  7f Lorg/x/Y;.call(Lorg/z;)V (/tmp/perf-1.map)", "org/x/Y:.call", 1, 0, FRAME_JIT},
		{"  7f Lorg/x/Y;.call(Lorg/z;)V (/tmp/perf-1.map)", "Lorg/x/Y:.call", 0, 0, FRAME_JIT},
		{"  7f a->b->c (/tmp/perf-1.map)", "a;b_[i];c_[i]", 0, 0, FRAME_INLINED},
		{"  7f X::operator->() const+0x1 (/bin/x)", "X::operator->", 0, 0, FRAME_NATIVE},
		{"  7f small+0x2 (inlined)", "small", 0, 0, FRAME_INLINED},
		{"  7f f+0x2 (/tmp/x (deleted))", "f", 0, 0, FRAME_NATIVE},
		{"  7f [unknown] (/memfd:x (deleted))", "[memfd:x]", 0, 0, FRAME_UNKNOWN},
		{"  7f12 (/bin/x)", "2", 0, 0, FRAME_NATIVE},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct perf_frame frame;
		struct names names = {0};
		struct buf scratch = {0};
		assert_true(perf_frame_split(rows[i].line, strlen(rows[i].line), &frame));
		struct perf_frame_style style = {.java = rows[i].java, .addresses = rows[i].addresses};
		perf_frame_functions(&frame, style, &scratch, collect, &names);
		assert_string_equal(names.text, rows[i].names);
		assert_int_equal(names.kind, rows[i].kind);
		buf_release(&scratch);
	}
}

static void other_lines_are_no_stack_lines(void **state)
{
	(void)state;
	const char *const lines[] = {"", "   ", "\tTHIS_IS_A_WEIRD_LINE", "  (", "  )", " (x)", "  a (", "a(b)"};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct perf_frame frame;
		assert_false(perf_frame_split(lines[i], strlen(lines[i]), &frame));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(event_lines_of_every_layout),    cmocka_unit_test(a_period_beyond_64_bits_is_told),
		cmocka_unit_test(lost_records_are_no_samples),    cmocka_unit_test(stack_lines_are_tidied),
		cmocka_unit_test(other_lines_are_no_stack_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
