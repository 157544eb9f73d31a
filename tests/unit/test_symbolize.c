/* Profiles of addresses that become one with names. Frames that stand for their own text need no files. */
#include "symbolize/symbolize.h"
#include "unit.h"

#include <string.h>

#define PARTS_MAX 3

struct fixture {
	struct modules modules;
	struct module_store codes;
	struct profile parts[PARTS_MAX], *addresses[PARTS_MAX];
	struct profile named;
};

static int set_up(void **state)
{
	struct fixture *f = mem_zalloc(1, sizeof *f);
	modules_init(&f->modules);
	module_store_init(&f->codes, &f->modules, &(struct symbol_options){0});
	profile_init(&f->named);
	for (size_t i = 0; i < PARTS_MAX; i++) {
		profile_init(&f->parts[i]);
		f->addresses[i] = &f->parts[i];
	}
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < PARTS_MAX; i++)
		profile_release(&f->parts[i]);
	profile_release(&f->named);
	module_store_release(&f->codes);
	modules_release(&f->modules);
	free(f);
	return 0;
}

/* `text` is of letters, a function each, outermost first; '?' stands for an address outside all modules. */
static void add(struct profile *part, const char *text, int64_t weight)
{
	stack_id stack = STACK_ROOT;
	for (; *text; text++) {
		struct frame frame = {.kind = FRAME_NATIVE};
		if (*text == '?')
			frame.function = symbolize_module_function(part, MODULE_NONE);
		else
			frame.function =
				profile_function(part, (struct function){.name = profile_string(part, text, 1)});
		stack = profile_stack(part, stack, profile_frame(part, frame));
	}
	profile_add(part, THREAD_UNKNOWN, stack, profile_value(part, "cycles", ""), weight);
}

static void name_all(struct fixture *f, size_t count, unsigned threads)
{
	symbolize_profiles(&f->named, f->addresses, count, &f->codes, &(struct symbolize_options){.threads = threads});
}

static void put_path(struct buf *out, const struct profile *profile, stack_id stack)
{
	if (stack == STACK_ROOT)
		return;
	const struct stack *node = &profile->stacks[stack];
	put_path(out, profile, node->parent);
	if (node->parent != STACK_ROOT)
		buf_char(out, ';');
	buf_str(out, profile_text(profile, profile->functions[profile->frames[node->frame].function].name));
}

/* The weight of the stack that reads so; there must be one sample of it. */
static int64_t weight_of(const struct fixture *f, const char *path)
{
	int64_t weight = 0;
	size_t found = 0;
	for (size_t i = 0; i < f->named.sample_count; i++) {
		CLEANUP_BUF struct buf text = {0};
		put_path(&text, &f->named, f->named.samples[i].stack);
		if (text.size == strlen(path) && !memcmp(text.data, path, text.size)) {
			weight = f->named.samples[i].weight;
			found++;
		}
	}
	assert_int_equal(found, 1);
	return weight;
}

static void equal_stacks_of_several_parts_are_one(void **state)
{
	struct fixture *f = *state;
	add(&f->parts[0], "ab", 1);
	add(&f->parts[0], "ac", 2);
	add(&f->parts[1], "d", 4); /* so that ids differ */
	add(&f->parts[1], "ac", 8);
	add(&f->parts[1], "acb", 16);
	add(&f->parts[2], "ab", 32);
	name_all(f, 3, 2);
	assert_int_equal(f->named.sample_count, 4);
	assert_int_equal(weight_of(f, "a;b"), 33);
	assert_int_equal(weight_of(f, "a;c"), 10);
	assert_int_equal(weight_of(f, "a;c;b"), 16);
	assert_int_equal(weight_of(f, "d"), 4);
	assert_int_equal(f->named.stack_count, 1 + 5); /* with the root and a */
	assert_int_equal(f->named.quality.samples, 6);
}

static void a_profile_with_stacks_gets_more_of_them(void **state)
{
	struct fixture *f = *state;
	add(&f->parts[0], "ab", 1);
	add(&f->parts[1], "abc", 2);
	name_all(f, 2, 1);
	name_all(f, 2, 1);
	assert_int_equal(weight_of(f, "a;b"), 2);
	assert_int_equal(weight_of(f, "a;b;c"), 4);
	assert_int_equal(f->named.stack_count, 1 + 3);
	assert_int_equal(f->named.quality.samples, 4);
}

static void what_is_outside_all_modules_is_counted(void **state)
{
	struct fixture *f = *state;
	add(&f->parts[0], "?ab", 1);
	add(&f->parts[1], "?ab", 2);
	add(&f->parts[1], "a?", 4);
	add(&f->parts[1], "a", 8);
	name_all(f, 2, 2);
	assert_int_equal(weight_of(f, "[unknown];a;b"), 3);
	assert_int_equal(weight_of(f, "a"), 8);
	assert_int_equal(weight_of(f, "a;[unknown]"), 4);
	assert_int_equal(f->named.quality.truncated, 2); /* of them the outermost frame is not known */
	assert_int_equal(f->named.quality.unresolved, 3);
	assert_int_equal(f->named.quality.module_count, 1);
	assert_int_equal(f->named.quality.modules[0].frames, 3);
}

static void many_callees_of_one_caller_keep_apart(void **state)
{
	struct fixture *f = *state;
	char stack[4] = "xa";
	for (int i = 0; i < 26; i++) {
		stack[1] = (char)('a' + i);
		add(&f->parts[i % 2], stack, i + 1);
		add(&f->parts[1], stack, 100);
	}
	name_all(f, 2, 2);
	assert_int_equal(f->named.stack_count, 1 + 1 + 26);
	assert_int_equal(f->named.sample_count, 26);
	assert_int_equal(profile_total(&f->named, 0), 26 * 27 / 2 + 2600);
}

static void an_empty_profile_stays_empty(void **state)
{
	struct fixture *f = *state;
	name_all(f, 2, 2);
	assert_int_equal(f->named.stack_count, 1);
	assert_int_equal(f->named.sample_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(equal_stacks_of_several_parts_are_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_profile_with_stacks_gets_more_of_them, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_outside_all_modules_is_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_callees_of_one_caller_keep_apart, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_empty_profile_stays_empty, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
