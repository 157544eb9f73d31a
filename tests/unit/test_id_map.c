/* Positions of elements by their ids, against a naive model. */
#include "base/id_map.h"
#include "unit.h"

enum { IDS = 500 };

static void ids_have_the_position_at_which_they_were_added(void **state)
{
	(void)state;
	struct id_map map = {0};
	int32_t added[IDS];
	uint32_t count = 0, random = 1;
	assert_int_equal(id_map_find(&map, 7), INDEX_NONE);
	for (int round = 0; round < 3000; round++) {
		random = random * 1103515245 + 12345;
		int32_t id = (int32_t)(random >> 8 & 1023) - 3; /* -1 is an id too */
		uint32_t at = 0;
		while (at < count && added[at] != id)
			at++;
		assert_int_equal(id_map_find(&map, id), at < count ? at : INDEX_NONE);
		if (at < count)
			continue;
		if (count == IDS) {
			id_map_clear(&map);
			count = 0;
		}
		added[count++] = id;
		id_map_add(&map, id);
	}
	assert_true(count > 0);
	id_map_release(&map);
	assert_int_equal(id_map_find(&map, added[0]), INDEX_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_have_the_position_at_which_they_were_added),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
