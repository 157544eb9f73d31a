/* What is advised about stacks that end early and samples that were lost. */
#include "collect/advice.h"
#include "unit.h"

#include <string.h>

static void expect(struct advice_facts facts, const char *part)
{
	CLEANUP_BUF struct buf said = {0};
	buf_str(&said, "");
	advice_on_truncated(&said, &facts);
	if (!part)
		assert_int_equal(said.size, 0);
	else if (!strstr(said.data, part))
		fail_msg("\"%s\" is not in \"%s\"", part, said.data);
}

static void what_is_whole_needs_no_advice(void **state)
{
	(void)state;
	expect((struct advice_facts){.stack_bytes = 8192}, NULL);
}

static void copies_can_be_made_larger_up_to_a_limit(void **state)
{
	(void)state;
	struct advice_facts facts = {.ends[STACK_CUT] = 1, .stack_bytes = 8192};
	expect(facts, "--call-graph dwarf,65528");
	facts.by_wick = true;
	expect(facts, "--stack-size 63488");
	facts.stack_bytes = 63488;
	expect(facts, "larger than the largest stack copy (");
	facts.stack_bytes = 0; /* in perf.data of wick, which has no copies */
	expect(facts, "larger than their copies: record as root");
	expect((struct advice_facts){.ends[STACK_CUT] = 1, .stack_bytes = 65528}, "largest stack copy of perf");
}

static void all_reasons_are_given_the_commonest_first(void **state)
{
	(void)state;
	struct advice_facts facts = {.ends = {[STACK_WHOLE] = 100, [STACK_BROKEN] = 40}};
	expect(facts, "in code without frame pointers: record with --call-graph dwarf");
	facts.by_wick = true;
	expect(facts, "in code without unwind tables or frame pointers, or in code that was changing its stack");
	facts.broken = (struct advice_broken){.modules = {"libfoo.so", "[jit]"}, .count = 2, .remedy = ""};
	expect(facts, "or frame pointers (libfoo.so, [jit]), or in code");
	facts.broken.remedy = "start java with -X";
	expect(facts, "in code without unwind tables or frame pointers (libfoo.so, [jit]): start java with -X");
	facts.ends[STACK_CUT] = 159;
	facts.ends[STACK_ABSENT] = 1;
	facts.stack_bytes = 16384;
	expect(facts, "80 % stack copies were too small: record with --stack-size 63488; "
		      "20 % in code without unwind tables or frame pointers (libfoo.so, [jit]): start java with -X; "
		      "<1 % stack memory was not resident");
	facts = (struct advice_facts){.ends = {[STACK_DEEP] = 3, [STACK_FOREIGN] = 1}};
	expect(facts, "75 % deeper than the call chain limit");
	expect(facts, "; 25 % recorded on another architecture");
	facts = (struct advice_facts){.ends = {[STACK_UNSEEN] = 3, [STACK_DEEP] = 1}};
	expect(facts, "deeper than the call chain limit");
}

static void expect_runtime(const char *path, enum runtime_kind kind, const char *advice)
{
	CLEANUP_BUF struct buf text = {0};
	struct runtime runtime = runtime_of_path(path);
	assert_int_equal(runtime.kind, kind);
	if (kind == RUNTIME_PYTHON)
		runtime_python_advice(&text, runtime);
	else
		runtime_jit_advice(&text, kind, 12, "/tmp/perf-12.map", false);
	buf_char(&text, '\0');
	if (advice ? !strstr(text.data, advice) : text.size != 1)
		fail_msg("%s: \"%s\"", path, text.data);
}

static void runtimes_are_asked_for_names_by_their_own_options(void **state)
{
	(void)state;
	expect_runtime("/usr/bin/node", RUNTIME_NODE, "node --perf-basic-prof");
	expect_runtime("/usr/lib/x86_64-linux-gnu/libnode.so.108", RUNTIME_NODE, "node --perf-basic-prof");
	expect_runtime("/usr/lib/jvm/lib/server/libjvm.so", RUNTIME_JAVA,
		       "java -XX:+PreserveFramePointer, and run jcmd 12 Compiler.perfmap");
	expect_runtime("/usr/lib/dotnet/libcoreclr.so", RUNTIME_DOTNET, "DOTNET_PerfMapEnabled=1");
	expect_runtime("/usr/lib/erlang/erts/bin/beam.smp", RUNTIME_ERLANG, "+JPperf map");
	expect_runtime("/usr/bin/nodemon", RUNTIME_NONE, "no /tmp/perf-12.map");
	expect_runtime("/usr/bin/python3.12", RUNTIME_PYTHON, "python3.12 -X perf");
	expect_runtime("/x/libpython3.13.so.1.0", RUNTIME_PYTHON, "python3.13 -X perf");
	expect_runtime("/usr/bin/python3.11", RUNTIME_PYTHON, NULL);
	expect_runtime("/usr/bin/python2.7", RUNTIME_PYTHON, NULL);
	expect_runtime("/usr/bin/python3", RUNTIME_NONE, "");
	CLEANUP_BUF struct buf text = {0};
	runtime_jit_advice(&text, RUNTIME_JAVA, 12, "", true);
	assert_non_null(strstr(text.data, "run jcmd 12 Compiler.perfmap again"));
	buf_clear(&text);
	runtime_jit_advice(&text, RUNTIME_NODE, 12, "", true);
	assert_int_equal(text.size, 0);
	assert_string_equal(runtime_stack_advice(RUNTIME_JAVA), "start java with -XX:+PreserveFramePointer");
	assert_string_equal(runtime_stack_advice(RUNTIME_NODE), "");
}

static void another_stack_is_not_in_the_copy(void **state)
{
	(void)state;
	struct advice_facts facts = {.ends = {[STACK_CUT] = 2, [STACK_OTHER] = 3, [STACK_BROKEN] = 1}, .by_wick = true};
	expect(facts, "BPF engine");
	facts.ends[STACK_CUT] = 4;
	expect(facts, "larger than their copies");
	facts.by_engine = true; /* which is not to be recommended once more */
	expect(facts, "record longer");
}

static void expect_lost(struct advice_facts facts, const char *part, bool there)
{
	CLEANUP_BUF struct buf text = {0};
	advice_on_lost(&text, &facts);
	if (!strstr(text.data, part) == there)
		fail_msg("\"%s\" and \"%s\"", text.data, part);
}

static void events_reported_each_time_have_no_rate_to_lower(void **state)
{
	(void)state;
	expect_lost((struct advice_facts){0}, "-m 16M", true);
	expect_lost((struct advice_facts){.by_wick = true}, "-F 99", true);
	expect_lost((struct advice_facts){.by_wick = true, .each = true}, "-F", false);
}

static void a_lower_rate_is_lower_than_the_one_there_was(void **state)
{
	(void)state;
	expect_lost((struct advice_facts){.by_wick = true, .frequency = 4000}, "(-F 99)", true);
	expect_lost((struct advice_facts){.by_wick = true, .frequency = 99}, "(-F 49)", true);
	expect_lost((struct advice_facts){.by_wick = true, .frequency = 1}, "(-F 1)", true);
}

static void lost_mappings_are_not_a_matter_of_the_rate(void **state)
{
	(void)state;
	for (int by_wick = 0; by_wick < 2; by_wick++) {
		CLEANUP_BUF struct buf text = {0};
		struct advice_facts facts = {.by_wick = by_wick, .frequency = 99};
		advice_on_lost_records(&text, &facts);
		assert_null(strstr(text.data, "-F"));
		assert_null(strstr(text.data, "fewer samples"));
		assert_non_null(strstr(text.data, by_wick ? "read again from /proc" : "-m 16M"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_whole_needs_no_advice),
		cmocka_unit_test(copies_can_be_made_larger_up_to_a_limit),
		cmocka_unit_test(all_reasons_are_given_the_commonest_first),
		cmocka_unit_test(runtimes_are_asked_for_names_by_their_own_options),
		cmocka_unit_test(another_stack_is_not_in_the_copy),
		cmocka_unit_test(events_reported_each_time_have_no_rate_to_lower),
		cmocka_unit_test(a_lower_rate_is_lower_than_the_one_there_was),
		cmocka_unit_test(lost_mappings_are_not_a_matter_of_the_rate),
	};
	return cmocka_run_group_tests_name("advice", tests, NULL, NULL);
}
