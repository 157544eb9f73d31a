/* The writer of JSON: names, separators, layouts and numbers. */
#include "base/json.h"
#include "unit.h"

#include <math.h>

static void members_are_separated(void **state)
{
	(void)state;
	struct buf text CLEANUP_BUF = {0};
	struct json json = {.out = &text};
	json_object(&json, NULL, &json_inline);
	json_string(&json, "text", "a \"b\"\n");
	json_string(&json, "none", NULL);
	json_known(&json, "unknown", "");
	json_uint(&json, "large", UINT64_MAX);
	json_int(&json, "small", INT64_MIN);
	json_bool(&json, "yes", true);
	json_strings(&json, "list", (const char *const[]){"x", "y", NULL});
	json_strings(&json, "empty", (const char *const[]){NULL});
	json_end(&json);
	assert_string_equal(text.data, "{\"text\": \"a \\\"b\\\"\\n\", \"none\": null, \"unknown\": null, "
				       "\"large\": 18446744073709551615, \"small\": -9223372036854775808, "
				       "\"yes\": true, \"list\": [\"x\", \"y\"], \"empty\": []}");
}

static void layouts_break_lines(void **state)
{
	(void)state;
	struct buf text CLEANUP_BUF = {0};
	struct json json = {.out = &text};
	json_object(&json, NULL, &json_lines);
	json_array(&json, "rows", &json_lines);
	for (int i = 0; i < 2; i++) {
		json_object(&json, NULL, &json_inline);
		json_int(&json, "a", i);
		json_separate(&json, ",\n ");
		json_int(&json, "b", i);
		json_int(&json, "c", i);
		json_end(&json);
	}
	json_end(&json);
	json_array(&json, "none", &json_lines);
	json_end(&json);
	json_end(&json);
	assert_string_equal(text.data, "{\n\"rows\": [\n{\"a\": 0,\n \"b\": 0, \"c\": 0},\n{\"a\": 1,\n \"b\": 1, "
				       "\"c\": 1}\n],\n\"none\": [\n]\n}");
}

static void compact_text_has_no_spaces(void **state)
{
	(void)state;
	struct buf text CLEANUP_BUF = {0};
	struct json json = {.out = &text};
	json_object(&json, NULL, &json_compact);
	json_int(&json, "a", 1);
	json_array(&json, "b", &json_compact);
	json_string(&json, NULL, "x");
	json_array(&json, NULL, &json_compact);
	json_end(&json);
	json_end(&json);
	json_object(&json, "c", &json_inline);
	json_null(&json, "d");
	json_end(&json);
	json_end(&json);
	assert_string_equal(text.data, "{\"a\":1,\"b\":[\"x\",[]],\"c\":{\"d\": null}}");
}

/* Long lists are written in parts. */
static void the_buffer_may_be_emptied(void **state)
{
	(void)state;
	struct buf text CLEANUP_BUF = {0};
	struct json json = {.out = &text};
	json_array(&json, NULL, &json_inline);
	json_int(&json, NULL, 1);
	buf_clear(&text);
	json_int(&json, NULL, 2);
	json_end(&json);
	assert_string_equal(text.data, ", 2]");
}

static void numbers_are_short(void **state)
{
	(void)state;
	const struct {
		double value;
		unsigned digits;
		const char *text;
	} cases[] = {{1.5, 4, "1.5"},        {2, 4, "2"},      {100, 0, "100"},       {-0.00001, 4, "0"},
		     {1.0 / 3, 4, "0.3333"}, {NAN, 4, "null"}, {INFINITY, 0, "null"}, {0, 2, "0"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf text CLEANUP_BUF = {0};
		struct json json = {.out = &text};
		json_number(&json, NULL, cases[i].value, cases[i].digits);
		assert_string_equal(text.data, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_separated),      cmocka_unit_test(layouts_break_lines),
		cmocka_unit_test(compact_text_has_no_spaces), cmocka_unit_test(the_buffer_may_be_emptied),
		cmocka_unit_test(numbers_are_short),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
