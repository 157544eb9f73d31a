/* Traces that become one profile. Frames that are texts need no files. */
#include "symbolize/rules.h"
#include "symbolize/symbolize.h"
#include "unit.h"

#include <string.h>

#define PARTS_MAX 3

struct fixture {
	struct modules modules;
	struct module_store codes;
	struct trace parts[PARTS_MAX], *traces[PARTS_MAX];
	struct profile named;
};

static int set_up(void **state)
{
	struct fixture *f = mem_zalloc(1, sizeof *f);
	modules_init(&f->modules);
	module_store_init(&f->codes, &f->modules, &(struct symbol_options){0});
	profile_init(&f->named);
	for (size_t i = 0; i < PARTS_MAX; i++) {
		trace_init(&f->parts[i]);
		f->traces[i] = &f->parts[i];
	}
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < PARTS_MAX; i++)
		trace_release(&f->parts[i]);
	profile_release(&f->named);
	module_store_release(&f->codes);
	modules_release(&f->modules);
	free(f);
	return 0;
}

/* `text` is of letters, a function each, outermost first; '?' stands for an address outside all modules. */
static void add(struct trace *part, const char *text, int64_t weight)
{
	stack_id stack = STACK_ROOT;
	for (; *text; text++) {
		const char name[] = {*text, '\0'};
		trace_frame_id frame = *text == '?' ? trace_frame(part, (struct trace_frame){.module = MODULE_NONE}) :
						      trace_text_frame(part, name);
		stack = trace_stack(part, stack, frame);
	}
	trace_add(part,
		  (struct sample){
			  .stack = stack, .value = trace_value(part, "cycles", "", 0), .weight = weight, .count = 1},
		  LABEL_SET_EMPTY);
}

static void name_all(struct fixture *f, size_t count, unsigned threads)
{
	symbolize_traces(&f->named, f->traces, count, &f->codes, &(struct symbolize_options){.threads = threads});
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

/* One frame of the kind, called from "a"; the text of both. */
static void name_kind(struct fixture *f, enum trace_kind kind, const char *path)
{
	struct trace *trace = &f->parts[0];
	struct trace_frame frame = {.kind = (uint8_t)kind, .module = MODULE_NONE, .address = 0x1000, .version = 7};
	if (kind == TRACE_TEXT)
		frame = (struct trace_frame){
			.kind = TRACE_TEXT, .module = MODULE_NONE, .address = trace_string(trace, "text")};
	if (kind == TRACE_TRUNCATED)
		frame = (struct trace_frame){.kind = TRACE_TRUNCATED, .module = MODULE_NONE};
	stack_id stack = trace_stack(trace, STACK_ROOT, trace_text_frame(trace, "a"));
	stack = trace_stack(trace, stack, trace_frame(trace, frame));
	trace_add(trace, (struct sample){.stack = stack, .value = trace_value(trace, "cycles", "", 0), .count = 1},
		  LABEL_SET_EMPTY);
	name_all(f, 1, 1);
	assert_int_equal(f->named.sample_count, 1);
	assert_int_equal(weight_of(f, path), 0);
}

static void every_kind_of_frame_has_a_rule(void **state)
{
	static const struct {
		const char *path;
		bool unresolved, late;
	} expected[TRACE_KINDS] = {
		[TRACE_NATIVE] = {"a;[unknown]", true, false},  [TRACE_KERNEL] = {"a;[unknown]", true, false},
		[TRACE_JIT] = {"a;[unknown]", true, false},     [TRACE_PYTHON] = {"a;[python frame]", false, true},
		[TRACE_JAVA] = {"a;[java frame]", false, true}, [TRACE_NODE] = {"a;[node frame]", false, true},
		[TRACE_TEXT] = {"a;text", false, false},        [TRACE_TRUNCATED] = {"a;[truncated]", false, false},
	};
	for (unsigned kind = 0; kind < TRACE_KINDS; kind++) {
		struct fixture *f = *state;
		assert_non_null(frame_rule(kind)->name);
		name_kind(f, kind, expected[kind].path);
		assert_int_equal(f->named.quality.unresolved, expected[kind].unresolved);
		assert_int_equal(f->named.quality.late, expected[kind].late);
		assert_int_equal(f->named.quality.truncated, 0);
		tear_down(state);
		set_up(state);
	}
}

/* What the outermost frame says about the stack. */
static void stacks_without_their_beginning_are_truncated(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < TRACE_KINDS; kind++) {
		struct trace_frame mapped = {.kind = (uint8_t)kind},
				   unmapped = {.kind = (uint8_t)kind, .module = MODULE_NONE};
		assert_int_equal(frame_rule_truncates(&mapped), kind == TRACE_TRUNCATED);
		assert_int_equal(frame_rule_truncates(&unmapped),
				 kind == TRACE_TRUNCATED || kind == TRACE_NATIVE || kind == TRACE_JIT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(equal_stacks_of_several_parts_are_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_profile_with_stacks_gets_more_of_them, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_outside_all_modules_is_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_callees_of_one_caller_keep_apart, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_empty_profile_stays_empty, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_kind_of_frame_has_a_rule, set_up, tear_down),
		cmocka_unit_test(stacks_without_their_beginning_are_truncated),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
