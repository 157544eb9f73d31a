/* functions: tables of functions, modules, threads, processes; tree_lines: pruned trees */
#include "unit.h"

#include "profile/functions.h"
#include "render/report.h"
#include "stacks.h"

static const struct function_row *row_of(const struct function_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (strcmp(table->rows[i].name, name) == 0)
			return &table->rows[i];
	fail_msg("no row '%s'", name);
	return NULL;
}

static void assert_row(const struct function_table *table, const char *name, int64_t self, int64_t total)
{
	const struct function_row *row = row_of(table, name);
	assert_int_equal(row->self[0], self);
	assert_int_equal(row->total[0], total);
}

static void recursion_counts_once(void **state)
{
	(void)state;
	struct profile p;
	struct calltree tree;
	struct function_table table;
	profile_init(&p);
	stacks_add(&p, 0, "main;f;g;f", 5);
	stacks_add(&p, 0, "main;f;g", 3);
	stacks_add(&p, 0, "main;g;f;f;f", 2);
	stacks_add(&p, 0, "main", 1);
	stacks_add(&p, 0, "other;f", 4);
	stacks_tree(&tree, &p, ORDER_NAME);
	function_table_build(&table, &tree);
	assert_int_equal(table.count, 4);
	assert_row(&table, "main", 1, 11);
	assert_row(&table, "f", 11, 14);
	assert_row(&table, "g", 3, 10);
	assert_row(&table, "other", 0, 4);
	function_table_release(&table);
	calltree_release(&tree);
	profile_release(&p);
}

static void rows_are_sorted_as_asked(void **state)
{
	(void)state;
	struct profile p;
	struct calltree tree;
	struct function_table table;
	profile_init(&p);
	stacks_add(&p, 0, "a;b", 2);
	stacks_add(&p, 0, "a;c", 2);
	stacks_add(&p, 0, "d", 3);
	stacks_tree(&tree, &p, ORDER_NAME);
	function_table_build(&table, &tree);
	const struct {
		enum function_order order;
		const char *names;
	} cases[] = {{FUNCTIONS_BY_SELF, "dbca"}, {FUNCTIONS_BY_TOTAL, "adbc"}, {FUNCTIONS_BY_NAME, "abcd"}};
	for (size_t c = 0; c < 3; c++) {
		function_table_sort(&table, cases[c].order);
		for (size_t i = 0; i < 4; i++)
			assert_int_equal(table.rows[i].name[0], cases[c].names[i]);
	}
	function_table_release(&table);
	calltree_release(&tree);
	profile_release(&p);
}

static void modules_are_summed_over_their_functions(void **state)
{
	(void)state;
	struct profile p;
	struct calltree tree;
	struct function_table table;
	profile_init(&p);
	stacks_add(&p, 0, "app`main;/lib/libc.so`malloc;/lib/libc.so`brk", 5);
	stacks_add(&p, 0, "app`main;other`malloc", 2);
	stacks_add(&p, 0, "app`main;/lib/libc.so`qsort;app`compare", 1);
	stacks_add(&p, 0, "bare", 1);
	stacks_tree(&tree, &p, ORDER_NAME);
	function_table_modules(&table, &tree, &p);
	assert_int_equal(table.count, 4);
	assert_row(&table, "app", 1, 8);
	assert_row(&table, "libc.so", 5, 6);
	assert_row(&table, "other", 2, 2);
	assert_row(&table, "[not known]", 1, 1);
	function_table_release(&table);
	/* Two functions of one name stay two. */
	function_table_build(&table, &tree);
	assert_row(&table, "libc.so`malloc", 0, 5);
	assert_row(&table, "other`malloc", 2, 2);
	const struct function_row *row = row_of(&table, "libc.so`malloc");
	assert_int_equal(label_module_prefix(&p, row->name, row->frame), strlen("libc.so`"));
	assert_string_equal(frame_module(&p, row->frame), "libc.so");
	function_table_release(&table);
	calltree_release(&tree);
	profile_release(&p);
}

static thread_id thread(struct profile *p, const char *comm, int pid, int tid)
{
	return profile_thread(p, (struct thread){pid, tid, profile_string(p, comm, strlen(comm))});
}

static void threads_make_processes(void **state)
{
	(void)state;
	struct profile p;
	struct function_table table;
	profile_init(&p);
	stacks_add(&p, thread(&p, "worker", 10, 12), "f", 50);
	stacks_add(&p, thread(&p, "server", 10, 10), "f", 1);
	stacks_add(&p, thread(&p, "server", 20, 21), "f", 2);
	stacks_add(&p, thread(&p, "tool", -1, -1), "f", 4);
	assert_true(profile_names_threads(&p, 0));
	function_table_threads(&table, &p, 0, false);
	assert_int_equal(table.count, 4);
	assert_row(&table, "worker-10/12", 50, 50);
	assert_row(&table, "server-10/10", 1, 1);
	assert_row(&table, "server-20/21", 2, 2);
	assert_row(&table, "tool", 4, 4);
	function_table_release(&table);
	/* The first thread names the process, however little it did. */
	function_table_threads(&table, &p, 0, true);
	assert_int_equal(table.count, 3);
	assert_row(&table, "server-10", 51, 51);
	assert_row(&table, "server-20", 2, 2);
	assert_row(&table, "tool", 4, 4);
	function_table_release(&table);
	profile_release(&p);
}

static void without_threads_the_outermost_frames_stand(void **state)
{
	(void)state;
	struct profile p;
	struct calltree tree;
	struct function_table table;
	profile_init(&p);
	stacks_add(&p, 0, "java;main;f", 3);
	stacks_add(&p, 0, "java;gc", 2);
	stacks_add(&p, 0, "perf;java", 1);
	assert_false(profile_names_threads(&p, 0));
	stacks_tree(&tree, &p, ORDER_NAME);
	function_table_outermost(&table, &tree);
	assert_int_equal(table.count, 2);
	assert_row(&table, "java", 5, 5);
	assert_row(&table, "perf", 1, 1);
	function_table_release(&table);
	calltree_release(&tree);
	profile_release(&p);
}

struct expected_line {
	const char *name; /* NULL: a remainder */
	unsigned level;
	bool chained, last;
	uint64_t hidden;
	int64_t weight;
};

static void assert_lines(const struct profile *profile, struct tree_pruning pruning, const struct expected_line *want,
			 size_t count)
{
	struct calltree tree;
	struct tree_lines lines;
	stacks_tree(&tree, profile, ORDER_WIDTH);
	tree_lines_build(&lines, &tree, &pruning);
	assert_int_equal(lines.count, count);
	for (size_t i = 0; i < lines.count; i++) {
		const struct tree_line *line = &lines.lines[i];
		assert_int_equal(line->remainder, want[i].name == NULL);
		if (want[i].name)
			assert_string_equal(tree.labels[tree.label[line->node]].text, want[i].name);
		assert_int_equal(line->level, want[i].level);
		assert_int_equal(line->chained, want[i].chained);
		assert_int_equal(line->last, want[i].last);
		assert_int_equal(line->hidden, want[i].hidden);
		assert_int_equal(line->weight, want[i].weight);
	}
	tree_lines_release(&lines);
	calltree_release(&tree);
}
#define ASSERT_LINES(profile, pruning, want) assert_lines(profile, pruning, want, sizeof(want) / sizeof *(want))

static void only_forks_indent_and_small_branches_are_counted(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	stacks_add(&p, 0, "main;run;big", 89);
	stacks_add(&p, 0, "main;run;mid;leaf", 7);
	stacks_add(&p, 0, "main;run;mid;tiny", 1);
	stacks_add(&p, 0, "main;run;s1", 1);
	stacks_add(&p, 0, "main;run;s2", 1);
	stacks_add(&p, 0, "z", 1);
	const struct expected_line want[] = {
		{"main", 1, false, false, 0, 99}, {"run", 1, true, false, 0, 99}, {"big", 2, false, false, 0, 89},
		{"mid", 2, false, false, 1, 8},   {"leaf", 2, true, false, 0, 7}, {NULL, 2, false, true, 2, 2},
		{NULL, 1, false, true, 1, 1},
	};
	struct tree_pruning pruning = {.min_percent = 2};
	ASSERT_LINES(&p, pruning, want);
	profile_release(&p);
}

static void trees_are_cut_by_depth_and_number(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	stacks_add(&p, 0, "a;b;c;d", 3);
	stacks_add(&p, 0, "a;x", 2);
	stacks_add(&p, 0, "a;y", 1);
	const struct expected_line shallow[] = {
		{"a", 0, false, true, 0, 6},
		{"b", 1, false, false, 1, 3},
		{"x", 1, false, false, 0, 2},
		{"y", 1, false, true, 0, 1},
	};
	struct tree_pruning by_depth = {.max_depth = 2};
	ASSERT_LINES(&p, by_depth, shallow);
	const struct expected_line narrow[] = {
		{"a", 0, false, true, 2, 6},
		{"b", 0, true, true, 0, 3},
		{"c", 0, true, true, 0, 3},
		{"d", 0, true, true, 0, 3},
	};
	struct tree_pruning by_number = {.limit = 1};
	ASSERT_LINES(&p, by_number, narrow);
	profile_release(&p);
}

static void very_deep_stacks_are_walked_without_recursion(void **state)
{
	(void)state;
	struct profile p;
	struct calltree tree;
	struct tree_lines lines;
	struct function_table table;
	profile_init(&p);
	stack_id stack = STACK_ROOT;
	frame_id frame = profile_frame(
		&p, (struct frame){.function = profile_function(
					   &p, (struct function){.name = profile_string(&p, "deep", 4)})});
	for (int i = 0; i < 1000000; i++)
		stack = profile_stack(&p, stack, frame);
	profile_add(&p, 0, stack, profile_value(&p, "samples", "samples"), 7);
	stacks_tree(&tree, &p, ORDER_WIDTH);
	function_table_build(&table, &tree);
	assert_int_equal(table.count, 1);
	assert_row(&table, "deep", 7, 7);
	tree_lines_build(&lines, &tree, &(struct tree_pruning){0});
	assert_int_equal(lines.count, 1000000);
	assert_int_equal(lines.max_level, 0);
	tree_lines_release(&lines);
	function_table_release(&table);
	calltree_release(&tree);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(rows_are_sorted_as_asked),
		cmocka_unit_test(modules_are_summed_over_their_functions),
		cmocka_unit_test(threads_make_processes),
		cmocka_unit_test(without_threads_the_outermost_frames_stand),
		cmocka_unit_test(only_forks_indent_and_small_branches_are_counted),
		cmocka_unit_test(trees_are_cut_by_depth_and_number),
		cmocka_unit_test(very_deep_stacks_are_walked_without_recursion),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
