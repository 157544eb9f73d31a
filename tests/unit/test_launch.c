/* Which runtimes a command starts, and what is added to their options. */
#include "runtime/launch.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned find_words(const char *a, const char *b, const char *c)
{
	const char *words[] = {a, b, c, NULL};
	return launch_find((char *const *)words);
}

static void test_programs(void **state)
{
	(void)state;
	assert_int_equal(find_words("/nowhere/java", "-jar", NULL), LAUNCH_JAVA);
	assert_int_equal(find_words("/nowhere/node", NULL, NULL), LAUNCH_NODE);
	assert_int_equal(find_words("/nowhere/nodejs", NULL, NULL), LAUNCH_NODE);
	assert_int_equal(find_words("/nowhere/python3.12", "a.py", NULL), LAUNCH_PYTHON);
	assert_int_equal(find_words("/nowhere/other", "java", NULL), 0);
	assert_int_equal(find_words("env", "A=1", "/nowhere/java"), LAUNCH_JAVA);
	assert_int_equal(find_words("sh", "-c", "cd /x && exec node app.js"), LAUNCH_NODE);
	assert_int_equal(find_words("sh", "-c", "java A; node b.js"), LAUNCH_JAVA | LAUNCH_NODE);
	assert_int_equal(find_words("sh", "-c", "cat java.txt node_modules"), 0);
}

static void test_script_text(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		unsigned found;
	} rows[] = {
		{"", 0},
		{"exec java", LAUNCH_JAVA},
		{"# runs java\necho\n", 0},
		{"  # runs java", 0},
		{"exec \"$JAVA_HOME/bin/java\" -jar x", LAUNCH_JAVA},
		{"exec java-like; x.java; _java; javax", 0},
		{"a\n#node\nnode", LAUNCH_NODE},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(launch_find_in_script(rows[i].text, strlen(rows[i].text)), rows[i].found);
}

static unsigned find_script(const char *text)
{
	char path[] = "/tmp/wick-launch-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	fchmod(fd, 0700);
	close(fd);
	unsigned found = find_words(path, NULL, NULL), in_shell = find_words("sh", path, NULL);
	unlink(path);
	assert_int_equal(found, in_shell);
	return found;
}

static void test_scripts(void **state)
{
	(void)state;
	assert_int_equal(find_script("#!/usr/bin/env node\nconst java = 1\n"), LAUNCH_NODE);
	assert_int_equal(find_script("#!/bin/sh\nexec java Main\n"), LAUNCH_JAVA);
	assert_int_equal(find_script("#! /bin/bash -e\nnode x.js\n"), LAUNCH_NODE);
	assert_int_equal(find_script("#!/usr/bin/env bash\njava x\n"), LAUNCH_JAVA);
	assert_int_equal(find_script("#!/bin/sh\n# no java here\nls\n"), 0);
	assert_int_equal(find_script("#!/usr/bin/python3\njava = node\n"), LAUNCH_PYTHON);
	assert_int_equal(find_script("java"), 0);
}

static void check_merge(const char *old, const char *options, const char *expected)
{
	CLEANUP_BUF struct buf out = {0};
	assert_int_equal(launch_merge(&out, old, options), strcmp(old ? old : "", expected) != 0);
	assert_string_equal(out.data ? out.data : "", expected);
}

static void test_merge(void **state)
{
	(void)state;
	check_merge(NULL, "--a --b", "--a --b");
	check_merge("", "--a", "--a");
	check_merge("-Xmx1g", "--a --b", "-Xmx1g --a --b");
	check_merge("--b -x", "--a --b", "--b -x --a");
	check_merge("--a=1", "--a", "--a=1");
	check_merge("--ab", "--a", "--ab --a");
	/* Who switched it off meant it. */
	check_merge("-XX:-Frames", "-XX:+Frames -XX:+Other", "-XX:-Frames -XX:+Other");
}

static void test_variables(void **state)
{
	(void)state;
	assert_string_equal(launch_variable(LAUNCH_JAVA)->name, "JAVA_TOOL_OPTIONS");
	assert_string_equal(launch_variable(LAUNCH_NODE)->name, "NODE_OPTIONS");
	assert_null(launch_variable(LAUNCH_JAVA | LAUNCH_NODE));
}

static void test_accepts(void **state)
{
	(void)state;
	assert_true(launch_accepts("true", "A", "b"));
	assert_false(launch_accepts("false", "A", "b"));
	assert_false(launch_accepts("/nowhere/program", "A", "b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs), cmocka_unit_test(test_script_text), cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_merge),    cmocka_unit_test(test_variables),   cmocka_unit_test(test_accepts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
