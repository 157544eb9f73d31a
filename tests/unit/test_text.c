/* Numbers, escapes and UTF-8. */
#include "unit.h"

#include "base/text.h"

#include <locale.h>

#define FFFD "\xef\xbf\xbd"

static struct buf out;

static const char *result(void)
{
	return out.data ? out.data : "";
}

static int release_out(void **state)
{
	(void)state;
	buf_release(&out);
	return 0;
}

static void numbers_are_grouped(void **state)
{
	(void)state;
	static const struct {
		int64_t value;
		const char *text;
	} rows[] = {
		{0, "0"},
		{7, "7"},
		{999, "999"},
		{1000, "1,000"},
		{-1234567, "-1,234,567"},
		{INT64_MAX, "9,223,372,036,854,775,807"},
		{INT64_MIN, "-9,223,372,036,854,775,808"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		buf_release(&out);
		text_grouped(&out, rows[i].value);
		assert_string_equal(result(), rows[i].text);
	}
}

static void counts_have_their_noun(void **state)
{
	(void)state;
	static const struct {
		uint64_t count;
		const char *text;
	} rows[] = {{0, "0 samples"}, {1, "1 sample"}, {2, "2 samples"}, {1234, "1,234 samples"}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		buf_release(&out);
		text_count(&out, rows[i].count, "sample", "samples");
		assert_string_equal(result(), rows[i].text);
	}
}

/* Each byte at each place of a longer text, so that every way through the words is taken. */
static void plain_text_ends_at_the_first_byte_to_escape(void **state)
{
	(void)state;
	char text[24];
	for (unsigned byte = 0; byte < 256; byte++) {
		bool plain = byte >= ' ' && byte < 0x7f && (!byte || !strchr("\"&'<>\\", (int)byte));
		for (size_t at = 0; at < sizeof text; at++) {
			memset(text, 'x', sizeof text);
			text[at] = (char)byte;
			assert_int_equal(text_plain(text, sizeof text), plain ? sizeof text : at);
		}
	}
}

static void bytes_have_a_unit(void **state)
{
	(void)state;
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{0, "0 B"},
		{999, "999 B"},
		{1000, "1.0 KB"},
		{1536, "1.5 KB"},
		{99949, "99.9 KB"},
		{99951, "100 KB"},
		{999949, "1000 KB"},
		{999950, "1.0 MB"},
		{614000000, "614 MB"},
		{UINT64_MAX, "18.4 EB"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		buf_release(&out);
		text_bytes(&out, rows[i].bytes);
		assert_string_equal(result(), rows[i].text);
	}
}

static void decimals_lose_trailing_zeros(void **state)
{
	(void)state;
	static const struct {
		int64_t value;
		unsigned decimals;
		const char *plain, *grouped;
	} rows[] = {
		{125, 1, "12.5", "12.5"},
		{1200, 2, "12", "12"},
		{5, 3, "0.005", "0.005"},
		{-5, 3, "-0.005", "-0.005"},
		{123456789, 2, "1234567.89", "1,234,567.89"},
		{1050, 3, "1.05", "1.05"},
		{0, 4, "0", "0"},
		{7, 21, "0.000000000000000000007", "0.000000000000000000007"},
		{INT64_MIN, 0, "-9223372036854775808", "-9,223,372,036,854,775,808"},
		{INT64_MIN, 18, "-9.223372036854775808", "-9.223372036854775808"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		buf_release(&out);
		text_decimal(&out, rows[i].value, rows[i].decimals);
		assert_string_equal(result(), rows[i].plain);
		buf_release(&out);
		text_decimal_grouped(&out, rows[i].value, rows[i].decimals);
		assert_string_equal(result(), rows[i].grouped);
	}
}

static void utf8_is_decoded(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t count, length;
		uint32_t code_point;
	} rows[] = {
		{"a", 1, 1, 'a'},
		{"\0", 1, 1, 0},
		{"\xc3\xa9", 2, 2, 0xe9},
		{"\xe2\x82\xac", 3, 3, 0x20ac},
		{"\xf0\x9f\x94\xa5", 4, 4, 0x1f525},
		{"\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff},
		{FFFD, 3, 3, 0xfffd},
		{"\xc3", 1, 1, 0xfffd}, /* cut */
		{"\xe2\x82", 2, 1, 0xfffd},
		{"\xc3(", 2, 1, 0xfffd}, /* no continuation */
		{"\x80", 1, 1, 0xfffd}, /* stray */
		{"\xff", 1, 1, 0xfffd},
		{"\xc0\x80", 2, 1, 0xfffd}, /* overlong */
		{"\xe0\x80\x80", 3, 1, 0xfffd},
		{"\xf0\x80\x80\x80", 4, 1, 0xfffd},
		{"\xed\xa0\x80", 3, 1, 0xfffd}, /* surrogate */
		{"\xf4\x90\x80\x80", 4, 1, 0xfffd}, /* beyond U+10FFFF */
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint32_t code_point = 1;
		assert_int_equal(text_utf8(rows[i].bytes, rows[i].count, &code_point), rows[i].length);
		assert_int_equal(code_point, rows[i].code_point);
	}
}

struct escape {
	const char *bytes;
	size_t count;
	const char *text;
};
#define BYTES(literal) literal, sizeof(literal) - 1

static void check_escapes(void (*escape)(struct buf *, const char *, size_t), const struct escape *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		buf_release(&out);
		escape(&out, rows[i].bytes, rows[i].count);
		assert_string_equal(result(), rows[i].text);
	}
}

static void xml_is_escaped(void **state)
{
	(void)state;
	static const struct escape rows[] = {
		{BYTES(""), ""},
		{BYTES("plain"), "plain"},
		{BYTES("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;"},
		{BYTES("a\tb\nc\r"), "a&#9;b&#10;c&#13;"},
		{BYTES("a\0b\x1b[31m"), "a" FFFD "b" FFFD "[31m"},
		{BYTES("\xef\xbf\xbe"), FFFD}, /* U+FFFE */
		{BYTES("h\xc3\xa9 \xc3"), "h\xc3\xa9 " FFFD},
	};
	check_escapes(text_xml, rows, sizeof rows / sizeof *rows);
}

static void json_is_escaped(void **state)
{
	(void)state;
	static const struct escape rows[] = {
		{BYTES(""), "\"\""},
		{BYTES("a\"b\\c"), "\"a\\\"b\\\\c\""},
		{BYTES("a\tb\nc\rd\0e\x7f"), "\"a\\tb\\nc\\rd\\u0000e\\u007f\""},
		{BYTES("]]></script>&"), "\"]]\\u003e\\u003c/script\\u003e\\u0026\""},
		{BYTES("\xe2\x80\xa8"), "\"\\u2028\""},
		{BYTES("\xc3\xa9\xff"), "\"\xc3\xa9" FFFD "\""},
	};
	check_escapes(text_json, rows, sizeof rows / sizeof *rows);
}

static void names_stay_in_their_line_and_frame(void **state)
{
	(void)state;
	char line[] = "a;b\nc\x1b[1m\x7f\xc3\xa4", frame[] = "a;b\nc";
	text_one_line(line, strlen(line));
	assert_string_equal(line, "a;b c [1m \xc3\xa4");
	text_one_frame(frame, strlen(frame));
	assert_string_equal(frame, "a:b c");
}

static void csv_is_quoted_when_it_must_be(void **state)
{
	(void)state;
	static const struct escape rows[] = {
		{BYTES(""), ""},
		{BYTES("plain name"), "plain name"},
		{BYTES("a,b"), "\"a,b\""},
		{BYTES("say \"x\""), "\"say \"\"x\"\"\""},
		{BYTES("two\nlines"), "two" FFFD "lines"},
		{BYTES("=cmd()"), "\"'=cmd()\""},
		{BYTES("-[NSString length]"), "\"'-[NSString length]\""},
		{BYTES("a=b"), "a=b"},
		{BYTES(" lead"), "\" lead\""},
		{BYTES("\xff\0"), FFFD FFFD},
	};
	check_escapes(text_csv, rows, sizeof rows / sizeof *rows);
}

static void names_cannot_drive_the_terminal(void **state)
{
	(void)state;
	static const struct escape rows[] = {
		{BYTES("plain \xc3\xa9"), "plain \xc3\xa9"},
		{BYTES("\x1b[2J"), FFFD "[2J"},
		{BYTES("a\nb\x7f"), "a" FFFD "b" FFFD},
		{BYTES("\xc2\x9b"), FFFD}, /* the C1 control that starts a sequence too */
		{BYTES("\xe2\x80\xae"), FFFD}, /* right-to-left override */
		{BYTES("\xe2"), FFFD},
	};
	check_escapes(text_terminal, rows, sizeof rows / sizeof *rows);
}

static void columns_are_counted(void **state)
{
	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	assert_int_equal(text_columns("abc", 3), 3);
	assert_int_equal(text_columns("h\xc3\xa9", 3), 2);
	assert_int_equal(text_columns("e\xcc\x81", 3), 1); /* combining accent */
	assert_int_equal(text_columns("\xe6\xbc\xa2", 3), 2); /* a wide character */
	assert_int_equal(text_columns("\xff\xfe", 2), 2);
	assert_int_equal(text_columns("", 0), 0);
}

static void distances_count_slips(void **state)
{
	(void)state;
	assert_int_equal(text_distance("", ""), 0);
	assert_int_equal(text_distance("fold", "fold"), 0);
	assert_int_equal(text_distance("", "fold"), 4);
	assert_int_equal(text_distance("fold", ""), 4);
	assert_int_equal(text_distance("fld", "fold"), 1);
	assert_int_equal(text_distance("foold", "fold"), 1);
	assert_int_equal(text_distance("fpld", "fold"), 1);
	assert_int_equal(text_distance("flod", "fold"), 1); /* a swap is one slip */
	assert_int_equal(text_distance("ca", "abc"), 3);
	assert_int_equal(text_distance("kitten", "sitting"), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(numbers_are_grouped, release_out),
		cmocka_unit_test_teardown(counts_have_their_noun, release_out),
		cmocka_unit_test(plain_text_ends_at_the_first_byte_to_escape),
		cmocka_unit_test_teardown(bytes_have_a_unit, release_out),
		cmocka_unit_test_teardown(decimals_lose_trailing_zeros, release_out),
		cmocka_unit_test(utf8_is_decoded),
		cmocka_unit_test_teardown(xml_is_escaped, release_out),
		cmocka_unit_test_teardown(json_is_escaped, release_out),
		cmocka_unit_test_teardown(names_stay_in_their_line_and_frame, release_out),
		cmocka_unit_test_teardown(csv_is_quoted_when_it_must_be, release_out),
		cmocka_unit_test_teardown(names_cannot_drive_the_terminal, release_out),
		cmocka_unit_test(columns_are_counted),
		cmocka_unit_test(distances_count_slips),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
