/* Rows of hot functions. */
#include "profile/hot_functions.h"
#include "stacks.h"
#include "unit.h"

static void add_all(struct hot_functions *hot_functions, const struct profile *profile)
{
	hot_functions_add(hot_functions, profile, 0, profile->samples, profile->sample_count);
}

/* "name self total" of the rows in their order. */
static char *listed(const struct hot_functions *hot_functions, const struct profile *profile,
		    struct hot_functions_view view)
{
	struct buf out = {0};
	size_t count;
	uint32_t *order CLEANUP_FREE = hot_functions_order(hot_functions, profile, &view, &count);
	buf_str(&out, "");
	for (size_t i = 0; i < count; i++) {
		const struct hot_function *row = &hot_functions->rows[order[i]];
		buf_printf(&out, "%s %d %d\n", profile_text(profile, row->name),
			   (int)hot_function_self(row, view.kernel), (int)row->total);
	}
	return out.data;
}

#define EXPECT(hot_functions, profile, text, ...)                                                                  \
	do {                                                                                                       \
		char *got CLEANUP_FREE = listed(hot_functions, profile, (struct hot_functions_view){__VA_ARGS__}); \
		assert_string_equal(got, text);                                                                    \
	} while (0)

static void a_function_counts_once_for_its_total(void **state)
{
	(void)state;
	struct profile profile;
	struct hot_functions hot_functions = {0};
	profile_init(&profile);
	stacks_add(&profile, 0, "main;fib;fib;fib", 3);
	stacks_add(&profile, 0, "main;fib;leaf", 2);
	stacks_add(&profile, 0, "main", 1);
	add_all(&hot_functions, &profile);
	EXPECT(&hot_functions, &profile, "fib 3 5\nleaf 2 2\nmain 1 6\n", .kernel = true);
	EXPECT(&hot_functions, &profile, "main 1 6\nfib 3 5\nleaf 2 2\n", .kernel = true, .order = FUNCTIONS_BY_TOTAL);
	assert_int_equal(hot_functions.total, 6);
	hot_functions_release(&hot_functions);
	profile_release(&profile);
}

static void samples_add_up_until_they_are_cleared(void **state)
{
	(void)state;
	struct profile profile;
	struct hot_functions hot_functions = {0};
	profile_init(&profile);
	stacks_add(&profile, 0, "a", 1);
	add_all(&hot_functions, &profile);
	stacks_add(&profile, 0, "b;c", 4); /* the profile has grown */
	hot_functions_add(&hot_functions, &profile, 0, profile.samples + 1, 1);
	EXPECT(&hot_functions, &profile, "c 4 4\na 1 1\nb 0 4\n", .kernel = true);
	hot_functions_clear(&hot_functions);
	EXPECT(&hot_functions, &profile, "", .kernel = true);
	assert_int_equal(hot_functions.total, 0);
	hot_functions_add(&hot_functions, &profile, 7, profile.samples, 2); /* samples of another event */
	EXPECT(&hot_functions, &profile, "", .kernel = true);
	add_all(&hot_functions, &profile);
	EXPECT(&hot_functions, &profile, "c 4 4\na 1 1\nb 0 4\n", .kernel = true);
	hot_functions_release(&hot_functions);
	profile_release(&profile);
}

static void equal_names_of_two_modules_are_two_rows(void **state)
{
	(void)state;
	struct profile profile;
	struct hot_functions hot_functions = {0};
	profile_init(&profile);
	stacks_add(&profile, 0, "x`init", 1);
	stacks_add(&profile, 0, "y`init", 2);
	add_all(&hot_functions, &profile);
	EXPECT(&hot_functions, &profile, "init 2 2\ninit 1 1\n", .kernel = true);
	EXPECT(&hot_functions, &profile, "init 1 1\n", .kernel = true, .search = "X");
	EXPECT(&hot_functions, &profile, "init 2 2\ninit 1 1\n", .kernel = true, .search = "NIT");
	EXPECT(&hot_functions, &profile, "", .kernel = true, .search = "nothing");
	hot_functions_release(&hot_functions);
	profile_release(&profile);
}

/* A stack of "user;user2" with kernel frames below. */
static stack_id kernel_stack(struct profile *profile, stack_id stack, const char *name, enum frame_kind kind)
{
	struct function function = {
		.name = profile_string(profile, name, strlen(name)),
		.module = profile_string(profile, "[kernel.kallsyms]", 17),
	};
	struct frame frame = {.function = profile_function(profile, function), .kind = kind};
	return profile_stack(profile, stack, profile_frame(profile, frame));
}

static void without_the_kernel_its_time_is_the_callers(void **state)
{
	(void)state;
	struct profile profile;
	struct hot_functions hot_functions = {0};
	profile_init(&profile);
	stacks_add(&profile, 0, "main;read", 1);
	stack_id call = kernel_stack(&profile, profile.samples[0].stack, "vfs_read", FRAME_KERNEL);
	stack_id copy = kernel_stack(&profile, call, "copy_inlined", FRAME_INLINED);
	profile_add(&profile, 0, copy, 0, 5);
	profile_add(&profile, 0, kernel_stack(&profile, STACK_ROOT, "kthread", FRAME_KERNEL), 0, 2);
	add_all(&hot_functions, &profile);
	EXPECT(&hot_functions, &profile, "copy_inlined 5 5\nkthread 2 2\nread 1 6\nmain 0 6\nvfs_read 0 5\n",
	       .kernel = true);
	EXPECT(&hot_functions, &profile, "read 6 6\nmain 0 6\n", .kernel = false);
	assert_int_equal(hot_functions.total, 8);
	assert_int_equal(hot_functions.user_total, 6);
	hot_functions_release(&hot_functions);
	profile_release(&profile);
}

static thread_id thread(struct profile *profile, int32_t pid, int32_t tid, const char *comm)
{
	return profile_thread(profile, (struct thread){pid, tid, profile_string(profile, comm, strlen(comm))});
}

/* "name: process" of the rows, heaviest first. */
static char *processes(const struct hot_functions *hot_functions, const struct profile *profile)
{
	struct buf out = {0};
	size_t count;
	struct hot_functions_view view = {.kernel = true};
	uint32_t *order CLEANUP_FREE = hot_functions_order(hot_functions, profile, &view, &count);
	buf_str(&out, "");
	for (size_t i = 0; i < count; i++) {
		const struct hot_function *row = &hot_functions->rows[order[i]];
		struct buf process CLEANUP_BUF = {0};
		hot_function_process_text(&process, hot_functions, profile, row);
		buf_printf(&out, "%s: %s\n", profile_text(profile, row->name), process.data);
	}
	return out.data;
}

static void a_function_has_the_process_with_most_of_it(void **state)
{
	(void)state;
	struct profile profile;
	struct hot_functions hot_functions = {0};
	profile_init(&profile);
	stacks_add(&profile, thread(&profile, 10, 11, "worker"), "main;spin", 2);
	stacks_add(&profile, thread(&profile, 20, 20, "other"), "main;spin", 3);
	stacks_add(&profile, thread(&profile, 10, 10, "server"), "main;spin", 2);
	stacks_add(&profile, thread(&profile, 20, 20, "other"), "main;rest", 1);
	add_all(&hot_functions, &profile);
	char *text CLEANUP_FREE = processes(&hot_functions, &profile);
	assert_string_equal(text, "spin: server 10 +1\nrest: other 20\nmain: server 10 +1\n");
	hot_functions_clear(&hot_functions);
	hot_functions_add(&hot_functions, &profile, 0, profile.samples + 1, 1);
	char *later CLEANUP_FREE = processes(&hot_functions, &profile);
	assert_string_equal(later, "spin: other 20\nmain: other 20\n");
	hot_functions_release(&hot_functions);
	profile_release(&profile);
}

static void a_wait_is_the_time_of_the_function_that_waits(void **state)
{
	(void)state;
	struct profile profile;
	struct hot_functions hot_functions = {0};
	profile_init(&profile);
	stacks_add(&profile, 0, "[lock];/opt/a`main;/opt/a`pop;/lib/libc.so.6`pthread_cond_wait", 5);
	stacks_add(&profile, 0, "[sleeping];/opt/a`main;/opt/a`pop;/lib/libc.so.6`nanosleep", 2);
	stacks_add(&profile, 0, "[running];/opt/a`main;/lib/libc.so.6`memcpy", 1);
	add_all(&hot_functions, &profile);
	EXPECT(&hot_functions, &profile,
	       "pop 5 5\npop 2 2\nmemcpy 1 1\nmain 0 8\n[lock] 0 5\n[sleeping] 0 2\n[running] 0 1\n", .kernel = true);
	size_t count;
	uint32_t *order CLEANUP_FREE =
		hot_functions_order(&hot_functions, &profile, &(struct hot_functions_view){.kernel = true}, &count);
	assert_string_equal(hot_functions.rows[order[0]].wait, "lock");
	assert_string_equal(hot_functions.rows[order[1]].wait, "sleeping");
	assert_null(hot_functions.rows[order[3]].wait);
	hot_functions_release(&hot_functions);
	profile_release(&profile);
}

/* Functions in Python are those of files with sources in Python. */
static void add_python(struct profile *profile, const char *stack, int64_t weight)
{
	stacks_add(profile, 0, stack, weight);
	for (size_t i = 0; i < profile->frame_count; i++) {
		const char *module = profile_text(profile, profile->functions[profile->frames[i].function].module);
		if (strstr(module, ".py"))
			profile->frames[i].kind = FRAME_PYTHON;
	}
}

#define PYTHON_THREAD \
	"[lock];/usr/lib/libc.so.6`start_thread;/usr/bin/python3.11`run;/usr/lib/python3.11/threading.py`run;"

static void a_wait_in_python_is_that_of_a_function_in_python(void **state)
{
	(void)state;
	struct profile profile;
	struct hot_functions hot_functions = {0};
	profile_init(&profile);
	add_python(&profile,
		   PYTHON_THREAD "/srv/app.py`work;/usr/lib/python3.11/queue.py`get;/usr/bin/python3.11`lock;"
				 "/usr/lib/libc.so.6`sem_wait",
		   7);
	add_python(&profile,
		   PYTHON_THREAD
		   "/usr/lib/python3/dist-packages/urllib3/a.py`connect;/usr/lib/python3.11/socket.py`recv",
		   5);
	add_python(&profile, PYTHON_THREAD "/usr/lib/python3.11/concurrent/thread.py`pool;/usr/bin/python3.11`lock", 3);
	/* Without functions in Python the interpreter is a program like others. */
	stacks_add(&profile, 0, "[sleeping];/usr/bin/python3.11`main;/usr/bin/python3.11`nap;/lib/libc.so.6`nanosleep",
		   2);
	add_all(&hot_functions, &profile);
	size_t count;
	uint32_t *order CLEANUP_FREE =
		hot_functions_order(&hot_functions, &profile, &(struct hot_functions_view){.kernel = true}, &count);
	const char *names[] = {"work", "connect", "pool", "nap"};
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(profile_text(&profile, hot_functions.rows[order[i]].name), names[i]);
	hot_functions_release(&hot_functions);
	profile_release(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_counts_once_for_its_total),
		cmocka_unit_test(samples_add_up_until_they_are_cleared),
		cmocka_unit_test(equal_names_of_two_modules_are_two_rows),
		cmocka_unit_test(without_the_kernel_its_time_is_the_callers),
		cmocka_unit_test(a_function_has_the_process_with_most_of_it),
		cmocka_unit_test(a_wait_is_the_time_of_the_function_that_waits),
		cmocka_unit_test(a_wait_in_python_is_that_of_a_function_in_python),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
