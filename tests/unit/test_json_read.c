/* The reader of JSON: values, escapes, and what it refuses. */
#include "base/json_read.h"
#include "unit.h"

static bool parses(const char *text)
{
	struct json_document document CLEANUP_JSON = {0};
	return json_parse(&document, text, strlen(text));
}

static void values_are_found_by_name(void **state)
{
	(void)state;
	struct json_document document CLEANUP_JSON = {0};
	static const char text[] =
		" {\"a\": {\"b\": [1, -2.5e3, \"x\", true, null]}, \"c\" : \"d\", \"c\": \"late\"}\n";
	assert_true(json_parse(&document, text, sizeof text - 1));
	assert_int_equal(json_type(&document, JSON_ROOT), JSON_OBJECT);
	json_id list = json_member(&document, json_member(&document, JSON_ROOT, "a"), "b");
	assert_int_equal(json_type(&document, list), JSON_ARRAY);
	static const char *const expected[] = {"1", "-2.5e3", "x", "true", ""};
	size_t count = 0;
	for (json_id at = json_first(&document, list); at; at = json_next(&document, at))
		assert_string_equal(json_text(&document, at), expected[count++]);
	assert_int_equal(count, 5);
	assert_string_equal(json_member_text(&document, JSON_ROOT, "c"), "d");
	json_id absent = json_member(&document, json_member(&document, list, "no"), "such");
	assert_int_equal(absent, JSON_ABSENT);
	assert_string_equal(json_member_text(&document, absent, "value"), "");
	assert_int_equal(json_first(&document, absent), JSON_ABSENT);
}

static void escapes_become_characters(void **state)
{
	(void)state;
	static const struct {
		const char *json, *text;
	} cases[] = {
		{"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
		{"\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"\"a\\u0000b\"", "a\xef\xbf\xbd"
				  "b"},
		{"\"\\ud83d\"", "\xef\xbf\xbd"},
		{"\"\\ud83d\\u0041\"", "\xef\xbf\xbd"
				       "A"},
		{"\"\\u001b[31m\"", "\033[31m"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct json_document document CLEANUP_JSON = {0};
		assert_true(json_parse(&document, cases[i].json, strlen(cases[i].json)));
		assert_string_equal(json_text(&document, JSON_ROOT), cases[i].text);
	}
}

static void what_is_no_json_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"",        " ",           "{",     "}",       "[1,]",
		"{\"a\"}", "{\"a\":}",    "{a:1}", "\"open",  "\"\\x\"",
		"\"\\u12", "\"\\u12g4\"", "01",    "-",       "1.",
		"1e",      "tru",         "nul",   "[1] [2]", "{\"a\":1,}",
		"'a'",     "\"a\nb\"",    "\"\\",  "[1",      "\xef\xbb\xbf{}",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(parses(bad[i]));
	assert_true(parses("[]"));
	assert_true(parses("{}"));
	assert_true(parses("0"));
}

/* `count` times a character, then as often another one. */
static bool parses_nested(size_t count, char open, char close)
{
	struct buf text CLEANUP_BUF = {0};
	for (size_t i = 0; i < count; i++)
		buf_char(&text, open);
	for (size_t i = 0; i < count; i++)
		buf_char(&text, close);
	return parses(text.data);
}

static void depth_and_number_of_values_are_bounded(void **state)
{
	(void)state;
	struct buf text CLEANUP_BUF = {0};
	assert_true(parses_nested(JSON_READ_DEPTH_MAX, '[', ']'));
	assert_false(parses_nested(JSON_READ_DEPTH_MAX + 1, '[', ']'));
	assert_false(parses_nested(1000000, '[', ']'));
	buf_str(&text, "[0");
	for (size_t i = 0; i < JSON_READ_VALUES_MAX; i++)
		buf_str(&text, ",0");
	buf_char(&text, ']');
	assert_false(parses(text.data));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_found_by_name),
		cmocka_unit_test(escapes_become_characters),
		cmocka_unit_test(what_is_no_json_is_refused),
		cmocka_unit_test(depth_and_number_of_values_are_bounded),
	};
	return cmocka_run_group_tests_name("json_read", tests, NULL, NULL);
}
