/* Build IDs of mapped files. */
#include "shell.h"

#include "capture/build_ids.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char *program_path;

static int set_up(void **state)
{
	static char path[256];
	if (shell_enter(state))
		return 1;
	shell("echo 'int main(void) { return 0; }' >one.c && gcc -Wl,--build-id=0x1111 -o program one.c && "
	      "gcc -Wl,--build-id=0x2222 -o other one.c && gcc -Wl,--build-id=none -o nameless one.c");
	program_path = realpath("program", path);
	return !program_path;
}

/* A record of a mapping of the file that is there now. */
static struct event_mmap mapping_of(const char *path)
{
	struct stat status;
	assert_int_equal(stat(path, &status), 0);
	return (struct event_mmap){
		.pid = (int32_t)getpid(),
		.path = path,
		.inode = status.st_ino,
		.major = major(status.st_dev),
		.minor = minor(status.st_dev),
	};
}

static void expect_id(struct build_ids *ids, const struct event_mmap *mmap, const char *wanted)
{
	char text[BUILD_ID_TEXT];
	struct build_id id = build_ids_of(ids, mmap);
	assert_string_equal(build_id_text(&id, text), wanted);
}

static void files_are_known_by_what_they_are_now(void **state)
{
	(void)state;
	struct build_ids *ids = build_ids_new();
	struct event_mmap mmap = mapping_of(program_path);
	expect_id(ids, &mmap, "1111");
	expect_id(ids, &mmap, "1111");
	shell("cat other >program && touch -d @1000000 program"); /* the same inode */
	expect_id(ids, &mmap, "2222");
	shell("cat nameless >program && touch -d @2000000 program");
	expect_id(ids, &mmap, "");
	shell("rm program");
	expect_id(ids, &mmap, "");
	build_ids_free(ids);
}

static void another_file_of_the_same_name_is_not_taken_for_it(void **state)
{
	(void)state;
	struct build_ids *ids = build_ids_new();
	shell("cp other program");
	struct event_mmap mmap = mapping_of(program_path);
	mmap.inode++;
	expect_id(ids, &mmap, "");
	mmap.inode--;
	expect_id(ids, &mmap, "2222");
	build_ids_free(ids);
}

static void a_file_is_found_where_the_process_sees_it(void **state)
{
	(void)state;
	struct build_ids *ids = build_ids_new();
	shell("cp other program");
	struct event_mmap mmap = mapping_of(program_path);
	mmap.minor++; /* file systems have their own numbers for devices */
	expect_id(ids, &mmap, "2222");
	mmap.pid = INT32_MAX; /* no such process */
	expect_id(ids, &mmap, "");
	build_ids_free(ids);
}

static void what_was_mapped_before_the_last_look_needs_no_other(void **state)
{
	(void)state;
	struct build_ids *ids = build_ids_new();
	shell("cp other program");
	struct event_mmap mmap = mapping_of(program_path);
	mmap.time = 1;
	expect_id(ids, &mmap, "2222");
	shell("rm program");
	expect_id(ids, &mmap, "2222");
	mmap.time = UINT64_MAX; /* after the look: it may be another file that has its number */
	expect_id(ids, &mmap, "");
	mmap.time = 1;
	mmap.inode_generation++;
	expect_id(ids, &mmap, "");
	build_ids_free(ids);
}

static void what_is_no_file_has_none(void **state)
{
	(void)state;
	static const char *const paths[] = {"//anon", "[vdso]", "", "/", "/dev/null", "/memfd:x", "/nowhere"};
	struct build_ids *ids = build_ids_new();
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		struct stat status = {0};
		stat(paths[i], &status);
		struct event_mmap mmap = {.pid = (int32_t)getpid(), .path = paths[i], .inode = status.st_ino};
		expect_id(ids, &mmap, "");
	}
	build_ids_free(ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_known_by_what_they_are_now),
		cmocka_unit_test(another_file_of_the_same_name_is_not_taken_for_it),
		cmocka_unit_test(a_file_is_found_where_the_process_sees_it),
		cmocka_unit_test(what_was_mapped_before_the_last_look_needs_no_other),
		cmocka_unit_test(what_is_no_file_has_none),
	};
	return cmocka_run_group_tests(tests, set_up, shell_leave);
}
