/* What is advised about stacks that end early and samples that were lost. */
#include "event/advice.h"
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
	expect((struct advice_facts){.ends[STACK_CUT] = 1, .stack_bytes = 65528}, "largest stack copy of perf");
}

static void the_commonest_end_decides(void **state)
{
	(void)state;
	struct advice_facts facts = {.ends = {[STACK_CUT] = 2, [STACK_DEEP] = 3, [STACK_BROKEN] = 1}};
	expect(facts, "perf_event_max_stack");
	facts.ends[STACK_BROKEN] = 9;
	expect(facts, "--call-graph dwarf");
	facts.by_wick = true;
	expect(facts, "without unwind tables");
	facts.ends[STACK_ABSENT] = 10;
	expect(facts, "swapped out");
}

static void expect_lost(struct advice_facts facts, const char *part, bool there)
{
	CLEANUP_BUF struct buf text = {0};
	advice_on_lost(&text, &facts);
	if (!strstr(text.data, part) == there)
		fail_msg("\"%s\" and \"%s\"", text.data, part);
}

static void events_told_each_time_have_no_rate_to_lower(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_whole_needs_no_advice),
		cmocka_unit_test(copies_can_be_made_larger_up_to_a_limit),
		cmocka_unit_test(the_commonest_end_decides),
		cmocka_unit_test(events_told_each_time_have_no_rate_to_lower),
		cmocka_unit_test(a_lower_rate_is_lower_than_the_one_there_was),
	};
	return cmocka_run_group_tests_name("advice", tests, NULL, NULL);
}
