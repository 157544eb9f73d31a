/* The bounds-checked cursor, against reading byte by byte, at every length that the bytes may end at. */
#include "base/cursor.h"
#include "unit.h"

static const uint8_t bytes[] = {0x80, 0x81, 0x7f, 'a', 'b', 0, 0xff, 0xfe, 0x01, 0x40, 0xc0, 0xbf, 0x7f, 'c'};

static void numbers_of_all_sizes(void **state)
{
	(void)state;
	for (size_t length = 0; length <= sizeof bytes; length++)
		for (unsigned size = 1; size <= 8; size++) {
			struct cursor cursor = cursor_over(bytes, length), copy = cursor;
			uint64_t expected = 0;
			for (unsigned i = 0; i < size && size <= length; i++)
				expected |= (uint64_t)bytes[i] << 8 * i;
			uint64_t sign = size < 8 && expected >> (8 * size - 1) ? UINT64_MAX << 8 * size : 0;
			assert_int_equal(cursor_number(&cursor, size), expected);
			assert_int_equal(cursor.bad, size > length);
			assert_ptr_equal(cursor.at, size > length ? cursor.end : bytes + size);
			assert_int_equal((uint64_t)cursor_int(&copy, size), expected | sign);
		}
}

static uint64_t naive_leb(const uint8_t *at, size_t length, bool is_signed, size_t *ret_size)
{
	uint64_t value = 0;
	for (*ret_size = 0; *ret_size < length;) {
		uint8_t byte = at[*ret_size];
		value |= (uint64_t)(byte & 0x7f) << 7 * *ret_size;
		*ret_size += 1;
		if (!(byte & 0x80))
			return is_signed && byte & 0x40 ? value | UINT64_MAX << 7 * *ret_size : value;
	}
	*ret_size = 0;
	return 0;
}

static void numbers_of_variable_size(void **state)
{
	(void)state;
	for (size_t start = 0; start < sizeof bytes; start++)
		for (size_t length = 0; length <= sizeof bytes - start; length++) {
			struct cursor first = cursor_over(bytes + start, length), second = first, third = first;
			size_t size;
			assert_int_equal(cursor_uleb(&first), naive_leb(bytes + start, length, false, &size));
			assert_int_equal((uint64_t)cursor_sleb(&second), naive_leb(bytes + start, length, true, &size));
			cursor_skip_leb(&third);
			assert_int_equal(first.bad, !size);
			assert_int_equal(second.bad, !size);
			assert_int_equal(third.bad, !size);
			assert_ptr_equal(first.at, size ? bytes + start + size : first.end);
			assert_ptr_equal(second.at, first.at);
			assert_ptr_equal(third.at, first.at);
		}
}

/* Compilers pad numbers: bits above 64 are dropped. */
static void long_numbers(void **state)
{
	(void)state;
	const uint8_t padded[] = {0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00};
	const uint8_t negative[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
	struct cursor cursor = cursor_over(padded, sizeof padded);
	assert_int_equal(cursor_uleb(&cursor), 5);
	cursor = cursor_over(negative, sizeof negative);
	assert_int_equal(cursor_sleb(&cursor), -1);
	assert_false(cursor.bad);
}

static void strings_and_bytes(void **state)
{
	(void)state;
	struct cursor cursor = cursor_at((struct span){bytes, sizeof bytes}, 3);
	uint8_t copy[3] = {9, 9, 9};
	assert_string_equal(cursor_string(&cursor), "ab");
	assert_ptr_equal(cursor_bytes(&cursor, 2), bytes + 6);
	assert_true(cursor_copy(&cursor, copy, 2));
	assert_int_equal(copy[1], 0x40);
	cursor_skip(&cursor, cursor_left(&cursor) - 1);
	assert_false(cursor.bad);
	assert_false(cursor_copy(&cursor, copy, 2));
	assert_int_equal(copy[0], 0x01);
	assert_true(cursor.bad);
	assert_null(cursor_string(&cursor));
	assert_null(cursor_bytes(&cursor, 1));
	cursor = cursor_at((struct span){bytes, sizeof bytes}, sizeof bytes - 1);
	assert_null(cursor_string(&cursor)); /* no NUL before the end */
	assert_true(cursor.bad);
	cursor = cursor_over(bytes, sizeof bytes);
	cursor_skip(&cursor, UINT64_MAX);
	assert_true(cursor.bad && cursor.at == cursor.end);
	assert_true(cursor_at((struct span){bytes, 4}, 4).bad);
	assert_true(cursor_at((struct span){bytes, 4}, UINT64_MAX).bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_all_sizes),
		cmocka_unit_test(numbers_of_variable_size),
		cmocka_unit_test(long_numbers),
		cmocka_unit_test(strings_and_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
