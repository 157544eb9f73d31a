/* The table of profile types: what every row must have, and what is made of the rows. */
#include "profile/types.h"
#include "unit.h"

#include <string.h>

static void rows_are_complete(void **state)
{
	(void)state;
	assert_true(profile_type_count <= 32); /* bits of a set */
	for (size_t i = 0; i < profile_type_count; i++) {
		const struct profile_type *type = &profile_types[i];
		assert_non_null(type->name);
		assert_non_null(type->help);
		/* What neither shows its event as it is nor has a view would never be shown. */
		assert_true(type->views[0].name || type->needs & (TYPE_CLOCK_KEPT | TYPE_EACH_EVENT));
		for (size_t k = 0; k < i; k++) {
			assert_string_not_equal(type->name, profile_types[k].name);
			if (profile_types[k].other_name)
				assert_string_not_equal(type->name, profile_types[k].other_name);
		}
	}
}

static void views_are_complete(void **state)
{
	(void)state;
	for (const struct profile_view *view = NULL; (view = profile_view_next(view));) {
		assert_non_null(view->title);
		assert_non_null(view->unit);
		assert_non_null(view->background);
		assert_non_null(view->load);
		assert_non_null(view->parts[0].value);
		for (const struct profile_view *other = view; (other = profile_view_next(other));)
			assert_string_not_equal(view->name, other->name);
	}
}

/* An event that is derived for nobody would be recorded and never shown. */
static void each_derived_event_is_part_of_a_view(void **state)
{
	(void)state;
	for (int event = 0; event < DERIVED_EVENTS; event++) {
		size_t found = 0;
		for (const struct profile_view *view = NULL; (view = profile_view_next(view));)
			for (size_t i = 0; i < VIEW_PARTS_MAX && view->parts[i].value; i++)
				found += !strcmp(view->parts[i].value, derived_name(event));
		assert_true(found);
	}
}

static void sets_are_parsed(void **state)
{
	(void)state;
	struct err err = {0};
	unsigned types = 0;
	assert_int_equal(profile_types_parse("cpu", &types, &err), 0);
	assert_int_equal(types, PROFILE_TYPES_DEFAULT);
	assert_int_equal(profile_types_needs(types), TYPE_CLOCK | TYPE_CLOCK_KEPT);
	assert_int_equal(profile_types_parse("offcpu,mem", &types, &err), 0);
	assert_int_equal(types, 1 | 2 | 8);
	assert_true(profile_types_needs(types) & TYPE_SWITCHES);
	assert_false(profile_types_needs(types) & TYPE_RUN_TIME);
	const char *const wrong[] = {"", "cp", "cpux", "cpu,", ",cpu", "cpu,off", NULL};
	for (size_t i = 0; wrong[i]; i++)
		assert_int_equal(profile_types_parse(wrong[i], &types, &err), ERR_USAGE);
	assert_int_equal(types, 1 | 2 | 8); /* untouched by failures */
	assert_string_equal(err_text(&err), "--type must be cpu, offcpu, wall, faults (or mem) or trace, not 'off'");
}

static void lists_name_types(void **state)
{
	(void)state;
	struct buf text CLEANUP_BUF = {0};
	profile_types_list(&text, TYPE_CLOCK | TYPE_EACH_EVENT);
	assert_string_equal(text.data, "cpu, wall or trace");
	buf_clear(&text);
	profile_types_list(&text, TYPE_RUN_TIME);
	assert_string_equal(text.data, "wall");
}

static void labels_are_frames(void **state)
{
	(void)state;
	assert_null(part_label_text(PART_NONE));
	assert_string_equal(part_label_text(PART_LOCK), "[lock]");
	assert_string_equal(part_label_time("[lock]"), "lock");
	assert_null(part_label_time("lock"));
	assert_null(part_label_time("[minor]")); /* counts, and is no time */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_complete),
		cmocka_unit_test(views_are_complete),
		cmocka_unit_test(each_derived_event_is_part_of_a_view),
		cmocka_unit_test(sets_are_parsed),
		cmocka_unit_test(lists_name_types),
		cmocka_unit_test(labels_are_frames),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
