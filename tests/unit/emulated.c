/*
 * Linked into the unit tests of a cross build, which run under qemu: leaves out the tests whose names are in
 * WICK_NOT_RUN, separated by spaces (from emulated.txt, by tests/run). A name that no test has is a failure.
 */
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TESTS_MAX = 256 };

int __real__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
				   CMFixtureFunction set_up, CMFixtureFunction tear_down);
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
				   CMFixtureFunction set_up, CMFixtureFunction tear_down);

static bool is_listed(const char *list, const char *name)
{
	size_t size = strlen(name);
	for (const char *at = list; (at = strstr(at, name)); at += size)
		if ((at == list || at[-1] == ' ') && (!at[size] || at[size] == ' '))
			return true;
	return false;
}

static size_t count_words(const char *list)
{
	size_t count = 0;
	for (const char *at = list; *at; at++)
		count += *at != ' ' && (at == list || at[-1] == ' ');
	return count;
}

int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
				   CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
	struct CMUnitTest kept[TESTS_MAX];
	const char *list = getenv("WICK_NOT_RUN");
	size_t taken = 0;
	list = list ? list : "";
	for (size_t i = 0; i < count && taken < TESTS_MAX; i++)
		if (!is_listed(list, tests[i].name))
			kept[taken++] = tests[i];
	if (taken + count_words(list) != count) {
		printf("# of %zu tests %zu are left, without '%s'\n", count, taken, list);
		return EXIT_FAILURE;
	}
	return __real__cmocka_run_group_tests(name, kept, taken, set_up, tear_down);
}
