/* Keys from bytes of a terminal. */
#include "base/keys.h"
#include "unit.h"

#include <string.h>

static struct keys keys_of(const char *bytes)
{
	struct keys keys = {0};
	keys_add(&keys, bytes, strlen(bytes));
	return keys;
}

static void expect(struct keys *keys, uint32_t wanted)
{
	uint32_t key = 0;
	assert_true(keys_next(keys, false, &key));
	assert_int_equal(key, wanted);
}

static void expect_nothing(struct keys *keys)
{
	uint32_t key;
	assert_false(keys_next(keys, false, &key));
}

static void letters_are_themselves(void **state)
{
	(void)state;
	struct keys keys = keys_of("q\r\x7f/é");
	expect(&keys, 'q');
	expect(&keys, '\n');
	expect(&keys, '\b');
	expect(&keys, '/');
	expect(&keys, 0xe9);
	expect_nothing(&keys);
}

static void sequences_are_keys(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		uint32_t key;
	} rows[] = {
		{"\033[A", KEY_UP},          {"\033OB", KEY_DOWN},       {"\033[C", KEY_RIGHT}, {"\033[D", KEY_LEFT},
		{"\033[5~", KEY_PAGE_UP},    {"\033[6~", KEY_PAGE_DOWN}, {"\033[H", KEY_HOME},  {"\033[4~", KEY_END},
		{"\033[1;5A", KEY_UP},       {"\033[3;2~", KEY_DELETE},  {"\033OM", '\n'},      {"\033[24~", KEY_OTHER},
		{"\033[<0;1;2M", KEY_OTHER}, {"\033[200~", KEY_OTHER},   {"\033[~", KEY_OTHER},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct keys keys = keys_of(rows[i].bytes);
		expect(&keys, rows[i].key);
		expect_nothing(&keys);
		assert_int_equal(keys.count, 0);
	}
}

static void sequences_may_come_in_pieces(void **state)
{
	(void)state;
	static const char bytes[] = "\033[1;5Bx\033OA\xe2\x96\x88";
	static const uint32_t wanted[] = {KEY_DOWN, 'x', KEY_UP, 0x2588};
	struct keys keys = {0};
	size_t got = 0;
	for (size_t i = 0; i < sizeof bytes - 1; i++) {
		uint32_t key;
		keys_add(&keys, bytes + i, 1);
		while (keys_next(&keys, false, &key))
			assert_int_equal(key, wanted[got++]);
	}
	assert_int_equal(got, 4);
}

static void an_escape_alone_is_one_when_nothing_follows(void **state)
{
	(void)state;
	struct keys keys = keys_of("\033");
	uint32_t key = 0;
	expect_nothing(&keys);
	assert_true(keys_next(&keys, true, &key));
	assert_int_equal(key, KEY_ESCAPE);
	keys = keys_of("\033\033[A");
	expect(&keys, KEY_ESCAPE);
	expect(&keys, KEY_UP);
	keys = keys_of("\033q");
	expect(&keys, KEY_ESCAPE);
	expect(&keys, 'q');
	keys = keys_of("\033[1"); /* a beginning without an end */
	assert_true(keys_next(&keys, true, &key));
	assert_int_equal(key, KEY_OTHER);
	expect_nothing(&keys);
}

static void any_bytes_end_in_keys(void **state)
{
	(void)state;
	uint32_t random = 1, key;
	struct keys keys = {0};
	size_t got = 0;
	for (int i = 0; i < 200000; i++) {
		static const char likely[] = "\033[O0123456789;~A\xc3\xff";
		random = random * 1664525 + 1013904223;
		char byte = random >> 30 ? likely[(random >> 8) % (sizeof likely - 1)] : (char)(random >> 16);
		keys_add(&keys, &byte, 1);
		while (keys_next(&keys, false, &key))
			got++;
		assert_true(keys_room(&keys) > 0);
	}
	assert_true(got > 10000);
	while (keys_next(&keys, true, &key))
		;
	assert_int_equal(keys.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_are_themselves),
		cmocka_unit_test(sequences_are_keys),
		cmocka_unit_test(sequences_may_come_in_pieces),
		cmocka_unit_test(an_escape_alone_is_one_when_nothing_follows),
		cmocka_unit_test(any_bytes_end_in_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
