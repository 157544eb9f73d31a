/* Processes and cgroups by what people call them. */
#include "unit.h"

#include "base/mem.h"
#include "capture/find.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t start_child(const char *name)
{
	int ready[2];
	char go;
	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_NAME, name);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)!write(ready[1], "", 1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &go, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static bool has(const struct pid_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == pid)
			return true;
	return false;
}

/* Whether `pid` is found by these names and user. */
static bool finds(pid_t pid, const char *const *names, const uid_t *user)
{
	struct pid_list list = {0};
	find_processes(&list, &(struct find_filter){.names = names, .user = user});
	bool found = has(&list, pid);
	pid_list_release(&list);
	return found;
}

static void descendants_are_found_and_nobody_else(void **state)
{
	(void)state;
	int ready[2];
	pid_t grandchild, other = start_child("wick-other");
	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		pid_t own = start_child(") R 1\n(");
		(void)!write(ready[1], &own, sizeof own);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &grandchild, sizeof grandchild), sizeof grandchild);
	struct pid_list list = {.items = mem_alloc(sizeof(int32_t)), .count = 1, .capacity = 1};
	list.items[0] = child;
	find_descendants(&list);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.items[1], grandchild);
	list.items[0] = grandchild; /* one that is listed is not added again */
	list.items[1] = child;
	find_descendants(&list);
	assert_int_equal(list.count, 2);
	list.items[0] = getpid();
	list.count = 1;
	find_descendants(&list);
	assert_true(has(&list, child) && has(&list, grandchild) && has(&list, other));
	pid_list_release(&list);
	close(ready[0]);
	close(ready[1]);
	end_child(child);
	end_child(other);
}

static void processes_are_found_by_patterns_for_their_name(void **state)
{
	(void)state;
	pid_t child = start_child("wick-find-a");
	assert_true(finds(child, (const char *const[]){"wick-find-a", NULL}, NULL));
	assert_true(finds(child, (const char *const[]){"nobody", "wick-*-?", NULL}, NULL));
	assert_false(finds(child, (const char *const[]){"wick-find", NULL}, NULL)); /* all of the name */
	assert_false(finds(child, (const char *const[]){"nobody", NULL}, NULL));
	end_child(child);
}

static void the_name_of_the_program_counts_too(void **state)
{
	(void)state;
	pid_t child = start_child("other");
	assert_true(finds(child, (const char *const[]){"test_find", NULL}, NULL)); /* without its folders */
	end_child(child);
}

static void this_process_is_never_found(void **state)
{
	(void)state;
	assert_false(finds(getpid(), (const char *const[]){"*", NULL}, NULL));
	assert_false(finds(getpid(), NULL, NULL));
}

static void a_user_narrows_names_down(void **state)
{
	(void)state;
	uid_t own = geteuid(), other = own + 12345;
	pid_t child = start_child("wick-find-b");
	assert_true(finds(child, (const char *const[]){"wick-find-b", NULL}, &own));
	assert_true(finds(child, NULL, &own));
	assert_false(finds(child, (const char *const[]){"wick-find-b", NULL}, &other));
	end_child(child);
}

static void a_cgroup_that_is_not_there_is_an_error(void **state)
{
	(void)state;
	struct err err = {0};
	assert_int_equal(find_cgroup("/no/such/group", &err), ERR_SYSTEM);
	assert_non_null(strstr(err.text, "/no/such/group"));
	assert_int_equal(find_cgroup("/tmp", &err), ERR_SYSTEM); /* a folder, but no cgroup */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descendants_are_found_and_nobody_else),
		cmocka_unit_test(processes_are_found_by_patterns_for_their_name),
		cmocka_unit_test(the_name_of_the_program_counts_too),
		cmocka_unit_test(this_process_is_never_found),
		cmocka_unit_test(a_user_narrows_names_down),
		cmocka_unit_test(a_cgroup_that_is_not_there_is_an_error),
	};
	return cmocka_run_group_tests_name("find", tests, NULL, NULL);
}
