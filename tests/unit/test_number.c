/* Numbers compared with printf. */
#include "unit.h"

#include "render/number.h"

#include <stdio.h>

/* What printf writes is the measure. */
static void check(double value, unsigned digits)
{
	char expected[64], actual[NUMBER_ROOM + 1];
	snprintf(expected, sizeof expected, "%.*f", (int)digits, value);
	*number_fixed(actual, number_scaled(value, digits), digits) = '\0';
	assert_string_equal(actual, expected);
}

static void fixed_numbers_round_as_printf_does(void **state)
{
	(void)state;
	/* The middle of two neighbours: exact in binary, just below, just above. */
	static const double values[] = {0,     0.05,   0.15,      0.25,    0.35,         0.45,
					0.5,   1.5,    2.5,       0.125,   1.005,        1.015,
					2.675, 99.995, 1e9 + 0.5, 1189.95, 123456789.25, 0.04999999999999999};
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		for (unsigned digits = 0; digits <= 3; digits++)
			check(values[i], digits);
}

static void fixed_numbers_round_as_printf_does_everywhere(void **state)
{
	(void)state;
	uint64_t random = 1;
	for (int i = 0; i < 200000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		/* Sixteenths are often exact ties. */
		double value = i % 2 ? (double)(random >> 44) / 16 : (double)(random >> 11) / (double)(1ull << 40);
		check(value, (unsigned)(i % 4));
	}
}

static void negative_numbers_keep_their_sign(void **state)
{
	(void)state;
	check(-1.25, 1);
	check(-12.345, 2);
	char text[NUMBER_ROOM + 1];
	*number_integer(text, INT64_MIN) = '\0';
	assert_string_equal(text, "-9223372036854775808");
}

static void large_numbers_are_held_at_the_limit(void **state)
{
	(void)state;
	check(4503599627370497.5, 0);
	check(9007199254740993.0, 0);
	assert_int_equal(number_scaled(1e30, 2), INT64_MAX);
	assert_int_equal(number_scaled(-1e30, 2), -INT64_MAX);
}

static void short_numbers_have_no_zeros_at_the_end(void **state)
{
	(void)state;
	static const struct {
		double value;
		const char *text;
	} rows[] = {{53, "53"}, {63.5, "63.5"}, {47.25, "47.25"}, {100, "100"}, {0, "0"}, {1.0004, "1"}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[NUMBER_ROOM + 1];
		*number_short(text, rows[i].value) = '\0';
		assert_string_equal(text, rows[i].text);
	}
}

static void grouped_numbers_have_commas(void **state)
{
	(void)state;
	static const struct {
		int64_t value;
		const char *text;
	} rows[] = {{0, "0"},          {999, "999"},
		    {1000, "1,000"},   {1234567, "1,234,567"},
		    {-1234, "-1,234"}, {INT64_MAX, "9,223,372,036,854,775,807"}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[NUMBER_ROOM + 1];
		*number_grouped(text, rows[i].value) = '\0';
		assert_string_equal(text, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_numbers_round_as_printf_does),
		cmocka_unit_test(fixed_numbers_round_as_printf_does_everywhere),
		cmocka_unit_test(negative_numbers_keep_their_sign),
		cmocka_unit_test(large_numbers_are_held_at_the_limit),
		cmocka_unit_test(short_numbers_have_no_zeros_at_the_end),
		cmocka_unit_test(grouped_numbers_have_commas),
	};
	return cmocka_run_group_tests_name("number", tests, NULL, NULL);
}
