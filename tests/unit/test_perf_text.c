/* The two kinds of lines of perf script text. */
#include "unit.h"

#include "import/perf_frame.h"
#include "import/perf_header.h"
#include "import/perl_name.h"
#include "profile/event_name.h"
#include "profile/module.h"
#include "profile/tidy.h"

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

static void a_period_beyond_64_bits_is_reported(void **state)
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
		{"  7f12 (anonymous namespace)::f(int) (/bin/x)", "(anonymous namespace)::f", 0, 0, FRAME_NATIVE},
		{"  7f12 (java) (/bin/x)", "", 0, 0, FRAME_NATIVE},
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
		{"  7f [unknown] (/tmp/perf-12.map)", "[jit]", 0, 0, FRAME_UNKNOWN},
		{"  7f [unknown] (/x/jitted-12-3.so)", "[jit]", 0, 0, FRAME_UNKNOWN},
		{"  7f [unknown] (/x/jit-12.dump)", "[jit]", 0, 0, FRAME_UNKNOWN},
		{"  7f [unknown] (/x/perf-x.map)", "[perf-x.map]", 0, 0, FRAME_UNKNOWN},
		{"  7f f ([jit])", "f", 0, 0, FRAME_JIT},
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
		struct perf_frame_style style = {.tidy = true, .java = rows[i].java, .addresses = rows[i].addresses};
		perf_frame_functions(&frame, style, &scratch, collect, &names);
		assert_string_equal(names.text, rows[i].names);
		assert_int_equal(names.kind, rows[i].kind);
		buf_release(&scratch);
	}
}

static void names_stay_whole_unless_tidied(void **state)
{
	(void)state;
	static const struct {
		const char *line, *names;
	} rows[] = {
		{"  7f f(int, char) const+0x1 (/bin/x)", "f(int, char) const"},
		{"  7f f(int)::{lambda()#2}::operator()() const (/bin/x)", "f(int)::{lambda()#2}::operator()() const"},
		{"  7f (anonymous namespace)::f(int) (/bin/x)", "(anonymous namespace)::f(int)"},
		{"  7f Lorg/x/Y;.call(Lorg/z;)V (/tmp/perf-1.map)", "Lorg/x/Y:.call(Lorg/z:)V"},
		{"  7f RegExp:[\"'] (/tmp/perf-1.map)", "RegExp:[\"']"},
		{"  7f a->b(I)V->c (/tmp/perf-1.map)", "a;b(I)V_[i];c_[i]"},
		{"  7f x::<fn(i32) -> i32>::f (/bin/x)", "x::<fn(i32) -> i32>::f"},
		{"  7f decltype (a->b) f<int>(int) (/bin/x)", "decltype (a->b) f<int>(int)"},
		{"  7f X::operator->*(int) (/bin/x)", "X::operator->*(int)"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct perf_frame frame;
		struct names names = {0};
		struct buf scratch = {0};
		assert_true(perf_frame_split(rows[i].line, strlen(rows[i].line), &frame));
		perf_frame_functions(&frame, (struct perf_frame_style){0}, &scratch, collect, &names);
		assert_string_equal(names.text, rows[i].names);
		buf_release(&scratch);
	}
}

/* Each pair: the name, and what is left of it. */
static void only_own_parameters_are_dropped(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		{"std::function<int (int, int)>::operator()(int, int) const",
		 "std::function<int (int, int)>::operator()"},
		{"f(int)::{lambda()#1}", "f(int)::{lambda()#1}"},
		{"f(int)::{lambda()#2}::operator()() const", "f(int)::{lambda()#2}::operator()"},
		{"f()::{lambda(auto:1)#1}::operator()<int>(int) const", "f()::{lambda(auto:1)#1}::operator()<int>"},
		{"f(int)::'lambda0'(int)", "f(int)::'lambda0'(int)"},
		{"f(int)::x", "f(int)::x"},
		{"(anonymous namespace)::g(int)", "(anonymous namespace)::g"},
		{"void (anonymous namespace)::g<int>(int)", "void (anonymous namespace)::g<int>"},
		{"sort(int*, int (*)(int, int))", "sort"},
		{"C::operator()(void (*)(int)) const &", "C::operator()"},
		{"operator()", "operator()"},
		{"decltype (f({parm#1})) h<int>(int)", "decltype (f({parm#1})) h<int>"},
		{"decltype(auto) h<int>(int)", "decltype(auto) h<int>"},
		{"void (*pick<int>(int))(char)", "void (*pick<int>(int))"},
		{"X::operator->() const", "X::operator->"},
		{"X::operator<(X const&) const", "X::operator<"},
		{"bool operator< <int>(A<int> const&, A<int> const&)", "bool operator< <int>"},
		{"std::ostream& operator<< <char>(std::ostream&)", "std::ostream& operator<< <char>"},
		{"operator new[](unsigned long)", "operator new[]"},
		{"X::operator bool() const", "X::operator bool"},
		{"foo[abi:cxx11](int)", "foo[abi:cxx11]"},
		{"foo(int) [clone .constprop.0] [clone .cold]", "foo"},
		{"foo(int) (.cold)", "foo"},
		{"foo(int)@plt", "foo"},
		{"a<((1)<(2))>::b(int)", "a<((1)<(2))>::b"},
		{"foo(std::map<int", "foo"},
		{"foo<void (int", "foo<void (int"},
		{"main.(*T).m", "main.(*T).m"},
		{"main.(*T).m.func1", "main.(*T).m.func1"},
		{"<(A,B) as Foo>::bar", "<(A,B) as Foo>::bar"},
		{"foo::<fn(i32) -> i32>", "foo::<fn(i32) -> i32>"},
		{"Lorg/x/Y;.call(Lorg/z;)Ljava/lang/Object;", "Lorg/x/Y;.call"},
		{"Lorg/x/Y;.call(Lorg/z;)[I", "Lorg/x/Y;.call"},
		{"Lorg/x/Y;.call(Lorg/z", "Lorg/x/Y;.call"},
		{"Lfoo/Bar;::baz", "Lfoo/Bar;::baz"},
		{"java.lang.Object foo.Bar::baz(int)", "java.lang.Object foo.Bar::baz"},
		{"void [System] Foo::Bar(int32)[Tier1]", "void [System] Foo::Bar"},
		{"LazyCompile:*f /x (copy)/y.js:12", "LazyCompile:*f /x (copy)/y.js:12"},
		{"RegExp:^(a|b)$", "RegExp:^(a|b)$"},
		{"__x64_sys_read", "__x64_sys_read"},
		{"(", "("},
		{")(", ")"},
		{"", ""},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		size_t length = tidy_without_parameters(rows[i][0], strlen(rows[i][0]));
		if (length != strlen(rows[i][1]) || memcmp(rows[i][0], rows[i][1], length) != 0)
			fail_msg("\"%s\" becomes \"%.*s\"", rows[i][0], (int)length, rows[i][0]);
	}
	char deep[1000];
	memset(deep, '(', sizeof deep);
	deep[0] = 'f';
	assert_int_equal(tidy_without_parameters(deep, sizeof deep), sizeof deep);
}

static void modules_show_kernel_and_jit(void **state)
{
	(void)state;
	static const struct {
		const char *module;
		enum frame_kind kind;
	} rows[] = {
		{"[kernel.kallsyms]", FRAME_KERNEL},
		{"[kernel.kallsyms]_[k]", FRAME_KERNEL},
		{"[kernel.vmlinux]_text", FRAME_KERNEL},
		{"[guest.kernel.kallsyms]", FRAME_KERNEL},
		{"[guest.kernel.kallsyms.12]", FRAME_KERNEL},
		{"[vmlinux-5.4.14-x]", FRAME_KERNEL},
		{"[nf_conntrack]", FRAME_KERNEL},
		{"/lib/modules/4.3.0/build/vmlinux", FRAME_KERNEL},
		{"/usr/lib/debug/boot/vmlinux-6.1.0-13-amd64", FRAME_KERNEL},
		{"/lib/modules/6.1/kernel/fs/ext4/ext4.ko", FRAME_KERNEL},
		{"/lib/modules/6.1/kernel/fs/ext4/ext4.ko.xz", FRAME_KERNEL},
		{"bpf_prog_6deef7357e7b4530_sd_fw_egress", FRAME_KERNEL},
		{"/home/me/app.kotlin/x", FRAME_NATIVE},
		{"/opt/vmlinux/bin/tool", FRAME_NATIVE},
		{"[vdso]", FRAME_NATIVE},
		{"[heap]", FRAME_NATIVE},
		{"[stack:12]", FRAME_NATIVE},
		{"[unknown]", FRAME_NATIVE},
		{"[anon:glibc: malloc]", FRAME_NATIVE},
		{"[anon:jit-cache]", FRAME_JIT},
		{"/tmp/perf-12.map", FRAME_JIT},
		{"/tmp/jitted-12-3.so", FRAME_JIT},
		{"/root/.debug/jit/java-jit-20240101/jitted-12-3.so", FRAME_JIT},
		{"/tmp/jit-12.dump", FRAME_JIT},
		{"//anon", FRAME_JIT},
		{"/usr/lib/perf-tools.map", FRAME_NATIVE},
		{"/usr/lib/libjit-12.so", FRAME_NATIVE},
		{"inlined", FRAME_INLINED},
		{"", FRAME_NATIVE},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (module_kind(rows[i].module, strlen(rows[i].module)) != rows[i].kind)
			fail_msg("%s is not %s", rows[i].module, frame_kind_name(rows[i].kind));
}

static void modifiers_make_no_other_event(void **state)
{
	(void)state;
	static const char *const same[] = {"cycles",      "cycles:u",         "cycles:P",         "cycles:ppp",
					   "cpu/cycles/", "cpu_core/cycles/", "cpu_atom/cycles/u"};
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		assert_true(event_is_same(same[i], "cycles"));
	static const char *const others[] = {"cycles:x",
					     "instructions:u",
					     "sched:sched_switch",
					     "cpu/event=0x3c/",
					     "imc/cycles/",
					     "cycles:",
					     "probe:u",
					     ""};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_false(event_is_same(others[i], "cycles"));
	assert_false(event_is_same("probe:u", "probe:k"));
	assert_true(event_is_same("sched:sched_switch:u", "sched:sched_switch"));
}

/* What the script does to names, errors included: it is compared with the script itself in tests/conformance. */
static void the_script_has_rules_of_its_own(void **state)
{
	(void)state;
	static const struct {
		const char *line, *name;
		size_t part;
		bool java;
	} rows[] = {
		{"  7f std::function<int (int)>::operator()(int) (/x)", "std::function<int ", 0, 0},
		{"  7f n::(anonymous namespace)::f(int) (/x)", "n::(anonymous namespace)::f", 0, 0},
		{"  7f f+0x2 (/tmp/x (deleted))", "f+0x2 ", 0, 0},
		{"  7f f ([vdso])", "f_[k]", 0, 0},
		{"  7f f ([vmlinux-5.4.14-x])", "f_[k]", 0, 0},
		{"  7f f (/boot/vmlinux-5.4)", "f", 0, 0},
		{"  7f f (/tmp/jitted-1-2.so)", "f", 0, 0},
		{"  7f f (/tmp/perf-12.map)", "f_[j]", 0, 0},
		{"  7f f_[j] (/tmp/perf-12.map)", "f_[j]", 0, 0},
		{"  7f f ([kernel.kallsyms])", "f_[i]", 1, 0},
		{"  7f La/b;.c(I)V (/x)", "a/b:.c", 0, 1},
		{"  7f [unknown] ()", "[ <7f>]", 0, 0},
		{"  7f [unknown] ([unknown])", "[unknown <7f>]", 0, 0},
	};
	struct import_perl perl = {.kernel = true, .jit = true};
	struct import_options options = {.perl = &perl, .addresses = true};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct perf_frame frame;
		struct buf name = {0};
		assert_true(perf_frame_split_perl(rows[i].line, strlen(rows[i].line), &frame));
		perl_name(&name, &frame, frame.symbol, frame.symbol_length, rows[i].part, &options, rows[i].java);
		buf_char(&name, '\0');
		assert_string_equal(name.data, rows[i].name);
		buf_release(&name);
	}
}

static void the_script_reads_event_lines_its_own_way(void **state)
{
	(void)state;
	static const struct {
		const char *line, *comm, *event;
		int tid;
	} rows[] = {
		{"java 12/13 [000] 1.0: 5 cycles:u: ", "java", "cycles:u", 13},
		{"a 1/2 [000] 2.0: 0 cycles: ", "a 1/2 [000] 2.0:", "cycles", 0},
		{"foo: 12 cycles:", "foo:", "cycles", 12},
		{"x1 12 ", "x1", NULL, 12},
		{"  java 12 1.0: cycles:", NULL, NULL, 0},
		{"a 12 1.0: cycles:", NULL, NULL, 0},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct perf_event_line event;
		assert_int_equal(perf_event_parse_perl(rows[i].line, strlen(rows[i].line), &event),
				 rows[i].comm != NULL);
		if (!rows[i].comm)
			continue;
		assert_int_equal(event.comm_length, strlen(rows[i].comm));
		assert_memory_equal(event.comm, rows[i].comm, event.comm_length);
		assert_int_equal(event.tid, rows[i].tid);
		assert_int_equal(event.event_length, rows[i].event ? strlen(rows[i].event) : 0);
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
		cmocka_unit_test(event_lines_of_every_layout),
		cmocka_unit_test(a_period_beyond_64_bits_is_reported),
		cmocka_unit_test(lost_records_are_no_samples),
		cmocka_unit_test(stack_lines_are_tidied),
		cmocka_unit_test(names_stay_whole_unless_tidied),
		cmocka_unit_test(only_own_parameters_are_dropped),
		cmocka_unit_test(modules_show_kernel_and_jit),
		cmocka_unit_test(modifiers_make_no_other_event),
		cmocka_unit_test(the_script_has_rules_of_its_own),
		cmocka_unit_test(the_script_reads_event_lines_its_own_way),
		cmocka_unit_test(other_lines_are_no_stack_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
