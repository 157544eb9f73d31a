/* The call tree: order, totals, merging of frames, and filters. */
#include "unit.h"

#include "profile/calltree.h"
#include "render/render.h"

#include <stdio.h>
#include <unistd.h>

/* Adds "a;b;c" with a weight; frames get `module` and `kind`. */
static void add_stack(struct profile *p, thread_id thread, const char *path, int64_t weight, const char *module,
		      enum frame_kind kind)
{
	stack_id stack = STACK_ROOT;
	while (*path) {
		size_t length = strcspn(path, ";");
		struct function function = {
			.name = profile_string(p, path, length),
			.module = profile_string(p, module, strlen(module)),
		};
		struct frame frame = {.function = profile_function(p, function), .kind = kind};
		stack = profile_stack(p, stack, profile_frame(p, frame));
		path += length + (path[length] == ';');
	}
	profile_add(p, thread, stack, profile_value(p, "samples", "samples"), weight);
}

static void add(struct profile *p, const char *path, int64_t weight)
{
	add_stack(p, THREAD_UNKNOWN, path, weight, "", FRAME_NATIVE);
}

static void assert_folded(const struct profile *p, struct calltree_options options, const char *expected)
{
	char path[] = "/tmp/wick-test-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	struct calltree tree;
	struct outfile out;
	options.values[1] = p->differential ? 1 : PROFILE_NONE;
	calltree_build(&tree, p, &options);
	assert_int_equal(outfile_open(&out, path, NULL), 0);
	render_folded(&tree, p->values[0].decimals, &out);
	assert_int_equal(outfile_commit(&out, NULL), 0);
	calltree_release(&tree);
	char text[4096];
	FILE *file = fopen(path, "r");
	size_t size = fread(text, 1, sizeof text - 1, file);
	text[size] = '\0';
	fclose(file);
	unlink(path);
	assert_string_equal(text, expected);
}

static void lines_are_sorted_by_their_bytes(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	add(&p, "a;foo;x", 1);
	add(&p, "a;foo", 2);
	add(&p, "a;foo2", 3);
	add(&p, "a;foo-bar;y", 4);
	add(&p, "Z", 5);
	assert_folded(&p, (struct calltree_options){0}, "Z 5\na;foo 2\na;foo-bar;y 4\na;foo2 3\na;foo;x 1\n");
	profile_release(&p);
}

static void preorder_and_totals_hold(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	add(&p, "a;b;c", 1);
	add(&p, "a;d", 2);
	add(&p, "e", 4);
	add(&p, "a", 8);
	struct calltree tree;
	calltree_build(&tree, &p, &(struct calltree_options){.values = {0, PROFILE_NONE}});
	assert_int_equal(tree.count, 6);
	const char *names[] = {"all", "a", "b", "c", "d", "e"};
	const int totals[] = {15, 11, 1, 1, 2, 4}, ends[] = {6, 5, 4, 4, 5, 6}, depths[] = {0, 1, 2, 3, 2, 1};
	for (uint32_t i = 0; i < tree.count; i++) {
		assert_string_equal(tree.labels[tree.label[i]].text, names[i]);
		assert_int_equal(tree.total[0][i], totals[i]);
		assert_int_equal(tree.end[i], ends[i]);
		assert_int_equal(tree.depth[i], depths[i]);
	}
	assert_int_equal(tree.max_depth, 3);
	calltree_release(&tree);
	calltree_build(&tree, &p, &(struct calltree_options){.values = {0, PROFILE_NONE}, .order = ORDER_WIDTH});
	assert_string_equal(tree.labels[tree.label[2]].text, "d");
	calltree_release(&tree);
	profile_release(&p);
}

static void frames_of_one_name_are_one_node(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	add_stack(&p, THREAD_UNKNOWN, "a;b", 1, "/lib/x.so", FRAME_NATIVE);
	add_stack(&p, THREAD_UNKNOWN, "a;b", 2, "/lib/y.so", FRAME_NATIVE);
	assert_folded(&p, (struct calltree_options){0}, "a;b 3\n");
	assert_folded(&p, (struct calltree_options){.show_module = true}, "x.so`a;x.so`b 1\ny.so`a;y.so`b 2\n");
	profile_release(&p);
}

static void kernel_and_jit_frames_get_their_marks(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	add_stack(&p, THREAD_UNKNOWN, "k", 1, "[kernel.kallsyms]", FRAME_KERNEL);
	add_stack(&p, THREAD_UNKNOWN, "u", 2, "[unknown]", FRAME_NATIVE);
	add_stack(&p, THREAD_UNKNOWN, "j", 3, "/tmp/perf-12.map", FRAME_JIT);
	add_stack(&p, THREAD_UNKNOWN, "v", 4, "/usr/lib/debug/vmlinux", FRAME_KERNEL);
	assert_folded(&p, (struct calltree_options){.annotate_kernel = true}, "j 3\nk_[k] 1\nu 2\nv_[k] 4\n");
	assert_folded(&p, (struct calltree_options){.annotate_jit = true}, "j_[j] 3\nk 1\nu 2\nv 4\n");
	profile_release(&p);
}

static thread_id thread(struct profile *p, const char *comm, int pid, int tid)
{
	return profile_thread(p,
			      (struct thread){.pid = pid, .tid = tid, .comm = profile_string(p, comm, strlen(comm))});
}

static void threads_are_outermost_frames(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	add_stack(&p, thread(&p, "java", 1, 2), "a", 1, "", FRAME_NATIVE);
	add_stack(&p, thread(&p, "java", -1, 3), "a", 2, "", FRAME_NATIVE);
	assert_folded(&p, (struct calltree_options){0}, "a 3\n");
	assert_folded(&p, (struct calltree_options){.thread_label = THREAD_LABEL_COMM}, "java;a 3\n");
	assert_folded(&p, (struct calltree_options){.thread_label = THREAD_LABEL_PID}, "java-1;a 1\njava-?;a 2\n");
	assert_folded(&p, (struct calltree_options){.thread_label = THREAD_LABEL_TID}, "java-1/2;a 1\njava-?/3;a 2\n");
	profile_release(&p);
}

static void pool_threads_merge_but_versions_do_not(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	const char *names[] = {"worker-1", "worker-22", "python2", "python3", "io1", "io2", "io3", "alone-7"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		add_stack(&p, thread(&p, names[i], 1, (int)i), "a", 1, "", FRAME_NATIVE);
	struct calltree_options options = {.thread_label = THREAD_LABEL_COMM, .merge_threads = true};
	assert_folded(&p, options, "alone-7;a 1\nio*;a 3\npython2;a 1\npython3;a 1\nworker-*;a 2\n");
	profile_release(&p);
}

/* Adds a sample of a thread, with one label. */
static void add_labeled(struct profile *p, const char *key, const char *value, int64_t weight)
{
	struct label label = {profile_string(p, key, strlen(key)), profile_string(p, value, strlen(value))};
	add_stack(p, thread(p, "t", 1, 1), "a", 0, "", FRAME_NATIVE);
	struct sample sample = p->samples[0];
	sample.weight = weight;
	profile_add_labeled(p, sample, profile_label_set(p, &label, 1));
}

static void values_of_a_label_can_be_the_outermost_frames(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	add_labeled(&p, "cpu", "3", 1);
	add_labeled(&p, "cpu", "12", 2);
	add_labeled(&p, "cpu", "1000", 4);
	add_labeled(&p, "cpu", "3", 8);
	add_labeled(&p, "cgroup", "/pod-1", 16);
	add_labeled(&p, "cgroup", "/pod-2", 32); /* no pool of threads */
	add_labeled(&p, "cgroup", "/a;b c", 64);
	struct calltree_options options = {.thread_label = THREAD_LABEL_COMM, .merge_threads = true, .label = "cpu"};
	assert_folded(&p, options, "003;a 9\n012;a 2\n1000;a 4\nunknown;a 112\n");
	options.label = "cgroup";
	assert_folded(&p, options, "/a:b c;a 64\n/pod-1;a 16\n/pod-2;a 32\nunknown;a 15\n");
	options.reverse = true;
	assert_folded(&p, options, "a;/a:b c 64\na;/pod-1 16\na;/pod-2 32\na;unknown 15\n");
	options = (struct calltree_options){.label = "no such key"};
	assert_folded(&p, options, "unknown;a 127\n");
	options.label = NULL;
	assert_folded(&p, options, "a 127\n");
	profile_release(&p);
}

static void reversed_stacks_start_at_the_leaf(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	add_stack(&p, thread(&p, "t", 1, 1), "a;b;c", 1, "", FRAME_NATIVE);
	add_stack(&p, thread(&p, "t", 1, 1), "x;c", 2, "", FRAME_NATIVE);
	assert_folded(&p, (struct calltree_options){.reverse = true, .thread_label = THREAD_LABEL_COMM},
		      "c;b;a;t 1\nc;x;t 2\n");
	profile_release(&p);
}

static void stacks_can_start_at_a_function(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	add_stack(&p, thread(&p, "t", 1, 1), "a;b;c", 1, "", FRAME_NATIVE);
	add_stack(&p, thread(&p, "t", 1, 1), "x;c", 2, "", FRAME_NATIVE);
	add_stack(&p, thread(&p, "t", 1, 1), "b;x;b;z", 4, "", FRAME_NATIVE);
	const char *names[] = {"b", NULL};
	struct calltree_options skip = {.thread_label = THREAD_LABEL_COMM, .skip_after = names};
	assert_folded(&p, skip, "b;c 1\nb;z 4\nt;x;c 2\n");
	struct calltree_options base = {.thread_label = THREAD_LABEL_COMM, .base = names};
	assert_folded(&p, base, "b;c 1\nb;z 4\n");
	base.reverse = true;
	assert_folded(&p, base, "c;b 1\nz;b 4\n");
	struct calltree tree;
	base.values[1] = PROFILE_NONE;
	calltree_build(&tree, &p, &base);
	assert_int_equal(tree.left_out, 1);
	calltree_release(&tree);
	profile_release(&p);
}

static void time_order_joins_only_neighbours(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	p.ordered = true;
	add(&p, "a;b", 1);
	add(&p, "a;b", 1);
	add(&p, "a;c", 1);
	add(&p, "a;b", 1);
	add(&p, "z", 1);
	struct calltree tree;
	calltree_build(&tree, &p, &(struct calltree_options){.values = {0, PROFILE_NONE}, .order = ORDER_INPUT});
	const char *names[] = {"all", "a", "b", "c", "b", "z"};
	const int totals[] = {5, 4, 2, 1, 1, 1};
	assert_int_equal(tree.count, 6);
	for (uint32_t i = 0; i < tree.count; i++) {
		assert_string_equal(tree.labels[tree.label[i]].text, names[i]);
		assert_int_equal(tree.total[0][i], totals[i]);
	}
	calltree_release(&tree);
	profile_release(&p);
}

static void two_values_stand_side_by_side(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	p.differential = true;
	value_id before = profile_value(&p, "before", "samples"), after = profile_value(&p, "after", "samples");
	stack_id stack = profile_stack(
		&p, STACK_ROOT,
		profile_frame(&p, (struct frame){.function = profile_function(
							 &p, (struct function){.name = profile_string(&p, "f", 1)})}));
	profile_add(&p, THREAD_UNKNOWN, stack, before, 3);
	profile_add(&p, THREAD_UNKNOWN, stack, after, 0);
	assert_folded(&p, (struct calltree_options){0}, "f 3 0\n");
	profile_release(&p);
}

static void inlined_frames_can_be_left_out(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	stack_id stack = STACK_ROOT;
	const char *names[] = {"main", "small", "leaf"};
	for (int i = 0; i < 3; i++)
		stack = profile_stack(
			&p, stack,
			profile_frame(
				&p,
				(struct frame){.function = profile_function(
						       &p, (struct function){.name = profile_string(&p, names[i],
												    strlen(names[i]))}),
					       .kind = i == 1 ? FRAME_INLINED : FRAME_NATIVE}));
	profile_add(&p, THREAD_UNKNOWN, stack, profile_value(&p, "samples", "samples"), 1);
	assert_folded(&p, (struct calltree_options){.hide_inlined = true}, "main;leaf 1\n");
	profile_release(&p);
}

static void the_frame_of_a_label_does_not_depend_on_the_order(void **state)
{
	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		struct profile p;
		profile_init(&p);
		add_stack(&p, THREAD_UNKNOWN, "f", 1, turn ? "lib" : "", turn ? FRAME_NATIVE : FRAME_INLINED);
		add_stack(&p, THREAD_UNKNOWN, "f", 1, "", FRAME_NATIVE);
		add_stack(&p, THREAD_UNKNOWN, "f", 1, turn ? "" : "lib", turn ? FRAME_INLINED : FRAME_NATIVE);
		struct calltree tree;
		calltree_build(&tree, &p, &(struct calltree_options){.values = {0, PROFILE_NONE}});
		assert_int_equal(tree.count, 2);
		const struct frame *frame = &p.frames[tree.labels[tree.label[1]].frame];
		assert_int_equal(frame->kind, FRAME_NATIVE);
		assert_string_equal(profile_text(&p, p.functions[frame->function].module), "lib");
		calltree_release(&tree);
		profile_release(&p);
	}
}

static void a_very_deep_stack_is_no_problem(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	str_id name = profile_string(&p, "f", 1);
	frame_id frame =
		profile_frame(&p, (struct frame){.function = profile_function(&p, (struct function){.name = name})});
	stack_id stack = STACK_ROOT;
	for (int i = 0; i < 1000000; i++)
		stack = profile_stack(&p, stack, frame);
	profile_add(&p, THREAD_UNKNOWN, stack, profile_value(&p, "samples", "samples"), 1);
	struct calltree tree;
	calltree_build(&tree, &p, &(struct calltree_options){.values = {0, PROFILE_NONE}});
	assert_int_equal(tree.max_depth, 1000000);
	assert_int_equal(tree.total[0][1], 1);
	calltree_release(&tree);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_sorted_by_their_bytes),
		cmocka_unit_test(preorder_and_totals_hold),
		cmocka_unit_test(frames_of_one_name_are_one_node),
		cmocka_unit_test(kernel_and_jit_frames_get_their_marks),
		cmocka_unit_test(threads_are_outermost_frames),
		cmocka_unit_test(pool_threads_merge_but_versions_do_not),
		cmocka_unit_test(values_of_a_label_can_be_the_outermost_frames),
		cmocka_unit_test(reversed_stacks_start_at_the_leaf),
		cmocka_unit_test(stacks_can_start_at_a_function),
		cmocka_unit_test(time_order_joins_only_neighbours),
		cmocka_unit_test(two_values_stand_side_by_side),
		cmocka_unit_test(inlined_frames_can_be_left_out),
		cmocka_unit_test(the_frame_of_a_label_does_not_depend_on_the_order),
		cmocka_unit_test(a_very_deep_stack_is_no_problem),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
