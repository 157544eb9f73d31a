/* The cache on disk: entries, damage, limits, and files of other users. */
#include "shell.h"

#include "object/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const struct build_id first = {4, {1, 2, 3, 4}}, second = {4, {5, 6, 7, 8}};

static struct cache *cache;

static int open_cache(void **state)
{
	(void)state;
	cache = cache_open("cache", 100000);
	return !cache;
}

static int close_cache(void **state)
{
	(void)state;
	cache_close(cache);
	return system("rm -rf cache");
}

static bool has(const struct build_id *id, const char *kind, const char *text)
{
	struct cache_bytes bytes;
	if (!cache_get(cache, id, NULL, kind, &bytes))
		return false;
	assert_int_equal((uintptr_t)bytes.bytes % 64, 0);
	bool same = bytes.size == strlen(text) && !memcmp(bytes.bytes, text, bytes.size);
	assert_true(same);
	cache_bytes_release(&bytes);
	return true;
}

static bool put(const struct build_id *id, const char *kind, const char *text)
{
	return cache_put(cache, id, NULL, kind, text, strlen(text));
}

static void what_is_put_is_found_again(void **state)
{
	(void)state;
	assert_false(has(&first, "unwind", "table"));
	assert_true(put(&first, "unwind", "table"));
	assert_true(put(&first, "symbols", "names"));
	assert_true(put(&second, "unwind", ""));
	assert_true(has(&first, "unwind", "table"));
	assert_true(has(&first, "symbols", "names"));
	assert_true(has(&second, "unwind", ""));
	assert_false(has(&second, "symbols", ""));
	assert_true(put(&first, "unwind", "another table"));
	assert_true(has(&first, "unwind", "another table"));
	const struct build_id none = {0};
	assert_false(put(&none, "unwind", "x"));
	assert_false(has(&none, "unwind", "x"));
	cache_close(cache);
	cache = cache_open("cache", 100000);
	assert_true(has(&first, "symbols", "names"));
}

static void no_cache_is_an_empty_one(void **state)
{
	(void)state;
	struct cache_bytes bytes;
	assert_false(cache_put(NULL, &first, NULL, "unwind", "x", 1));
	assert_false(cache_get(NULL, &first, NULL, "unwind", &bytes));
	cache_close(NULL);
}

static void damaged_entries_are_not_used(void **state)
{
	(void)state;
	assert_true(put(&first, "unwind", "a table of some length"));
	struct buf bytes = shell_file("cache/01020304.unwind.wick");
	for (size_t i = 0; i < bytes.size; i++) {
		/* What is reserved at the end of the header says nothing yet. */
		if (i >= 96 && i < 128)
			continue;
		FILE *file = fopen("cache/01020304.unwind.wick", "we");
		bytes.data[i] ^= 4;
		fwrite(bytes.data, 1, bytes.size, file);
		bytes.data[i] ^= 4;
		fclose(file);
		assert_false(has(&first, "unwind", ""));
		assert_int_not_equal(access("cache/01020304.unwind.wick", F_OK), 0);
	}
	for (size_t size = 0; size < bytes.size; size++) {
		FILE *file = fopen("cache/01020304.unwind.wick", "we");
		fwrite(bytes.data, 1, size, file);
		fclose(file);
		assert_false(has(&first, "unwind", ""));
	}
	/* An entry under another name. */
	FILE *file = fopen("cache/05060708.unwind.wick", "we");
	fwrite(bytes.data, 1, bytes.size, file);
	fclose(file);
	assert_false(has(&second, "unwind", ""));
	assert_true(put(&first, "unwind", "new"));
	assert_true(has(&first, "unwind", "new"));
	buf_release(&bytes);
}

static uint64_t bytes_kept(void)
{
	struct buf text = shell_output("find cache -type f -printf '%s\\n' | awk '{ s += $1 } END { print s + 0 }'");
	uint64_t total = strtoull(text.data, NULL, 10);
	buf_release(&text);
	return total;
}

static void those_not_used_for_longest_go(void **state)
{
	(void)state;
	static char big[20000];
	struct timespec old[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
	assert_false(cache_put(cache, &first, NULL, "unwind", big, sizeof big * 2)); /* more than a quarter */
	for (uint8_t i = 0; i < 20; i++) {
		struct build_id id = {1, {i}};
		char name[32];
		assert_true(cache_put(cache, &id, NULL, "unwind", big, sizeof big));
		snprintf(name, sizeof name, "cache/%02x.unwind.wick", i);
		old[0].tv_sec = old[1].tv_sec = 1000000 + i;
		if (i != 3)
			utimensat(AT_FDCWD, name, old, 0);
	}
	assert_true(bytes_kept() <= 100000);
	struct cache_bytes bytes;
	struct build_id used = {1, {3}}, oldest = {1, {0}}, newest = {1, {19}};
	assert_false(cache_get(cache, &oldest, NULL, "unwind", &bytes));
	assert_true(cache_get(cache, &used, NULL, "unwind", &bytes));
	cache_bytes_release(&bytes);
	assert_true(cache_get(cache, &newest, NULL, "unwind", &bytes));
	cache_bytes_release(&bytes);
	/* Reading is using. */
	struct stat status;
	assert_int_equal(stat("cache/13.unwind.wick", &status), 0);
	assert_true(status.st_mtim.tv_sec > 2000000);
}

/* Two files with the same build-id, and one that has changed since. */
static void an_entry_belongs_to_one_file(void **state)
{
	(void)state;
	const struct file_identity genuine = {.device = 1, .inode = 2, .size = 3, .changed = 4, .changed_ns = 5};
	struct file_identity forged = genuine, changed = genuine;
	struct cache_bytes bytes;
	forged.inode = 7;
	changed.changed_ns++;
	assert_true(cache_put(cache, &first, &forged, "unwind", "forged", 6));
	assert_false(cache_get(cache, &first, &genuine, "unwind", &bytes));
	assert_false(cache_get(cache, &first, NULL, "unwind", &bytes));
	assert_true(cache_put(cache, &first, &genuine, "unwind", "genuine", 7));
	assert_true(cache_get(cache, &first, &forged, "unwind", &bytes));
	assert_memory_equal(bytes.bytes, "forged", 6);
	cache_bytes_release(&bytes);
	assert_true(cache_get(cache, &first, &genuine, "unwind", &bytes));
	assert_memory_equal(bytes.bytes, "genuine", 7);
	cache_bytes_release(&bytes);
	assert_false(cache_get(cache, &first, &changed, "unwind", &bytes));
}

static void files_need_no_build_id(void **state)
{
	(void)state;
	const struct build_id none = {0};
	const struct file_identity file = {.device = 1, .inode = 2, .size = 3};
	struct file_identity other = file;
	struct cache_bytes bytes;
	other.inode++;
	assert_true(cache_put(cache, &none, &file, "unwind", "rows", 4));
	assert_true(cache_get(cache, &none, &file, "unwind", &bytes));
	assert_memory_equal(bytes.bytes, "rows", 4);
	cache_bytes_release(&bytes);
	assert_false(cache_get(cache, &none, &other, "unwind", &bytes));
	assert_false(cache_put(cache, &none, NULL, "unwind", "rows", 4));
}

/* Whatever else is in the directory stays, however full it is. */
static void files_of_others_stay(void **state)
{
	(void)state;
	static char big[20000];
	shell("for i in 1 2 3; do truncate -s 100000 cache/data$i cache/0$i.unwind.wick; done");
	shell("touch -d '2 days ago' cache/*; mkdir cache/.wick-new-directory");
	for (uint8_t i = 0x10; i < 0x20; i++)
		assert_true(cache_put(cache, &(struct build_id){1, {i}}, NULL, "unwind", big, sizeof big));
	struct buf left = shell_output("ls cache | grep -c -e data -e '0[123].unwind'");
	assert_string_equal(left.data, "6\n");
	buf_release(&left);
	left = shell_output("ls cache/1*.wick | wc -l");
	assert_true(atoi(left.data) <= 5);
	buf_release(&left);
}

static void left_over_temporaries_go(void **state)
{
	(void)state;
	shell("touch -d '2 days ago' cache/.wick-new-1-1; touch cache/.wick-new-2-2");
	assert_true(put(&first, "unwind", "x"));
	assert_int_not_equal(access("cache/.wick-new-1-1", F_OK), 0);
	assert_int_equal(access("cache/.wick-new-2-2", F_OK), 0);
}

/* Eight processes write and read the same entries: what is read is whole. */
static void parallel_runs_share_it(void **state)
{
	(void)state;
	pid_t children[8];
	for (int i = 0; i < 8; i++) {
		children[i] = fork();
		if (children[i])
			continue;
		static char text[5000];
		bool fine = true;
		for (int round = 0; round < 50; round++) {
			struct cache_bytes bytes;
			memset(text, 'a' + (i + round) % 26, sizeof text);
			fine &= cache_put(cache, &first, NULL, "unwind", text, sizeof text);
			if (!cache_get(cache, &first, NULL, "unwind", &bytes))
				continue;
			const char *read = bytes.bytes;
			for (size_t at = 1; at < bytes.size; at++)
				fine &= read[at] == read[0];
			fine &= bytes.size == sizeof text;
			cache_bytes_release(&bytes);
		}
		_exit(!fine);
	}
	for (int i = 0; i < 8; i++) {
		int status;
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
	struct cache_bytes bytes;
	assert_true(cache_get(cache, &first, NULL, "unwind", &bytes));
	cache_bytes_release(&bytes);
}

static bool opens(const char *folder)
{
	struct cache *opened = cache_open(folder, 1000);
	cache_close(opened);
	return opened;
}

static void the_folder_is_the_users(void **state)
{
	(void)state;
	char path[4096], folder[4000];
	assert_non_null(getcwd(folder, sizeof folder));
	snprintf(path, sizeof path, "%s/x/d/g", folder);
	setenv("XDG_CACHE_HOME", path, 1);
	assert_true(opens(NULL));
	assert_int_equal(access("x/d/g/wick", F_OK), 0);
	unsetenv("XDG_CACHE_HOME");
	snprintf(path, sizeof path, "%s/home", folder);
	setenv("HOME", path, 1);
	mkdir("home", 0700);
	assert_true(opens(NULL));
	assert_int_equal(access("home/.cache/wick", F_OK), 0);
	/* One that others may write is no place for it. */
	assert_int_equal(mkdir("open", 0777), 0);
	assert_int_equal(chmod("open", 0777), 0);
	assert_false(opens("open"));
	assert_false(opens("open/below"));
	fclose(fopen("file", "we"));
	assert_false(opens("file"));
	assert_false(opens("file/below"));
	if (geteuid()) {
		assert_false(opens("/usr/lib"));
		unsetenv("HOME");
		assert_false(opens(NULL));
	}
}

/* What another user owns leads root nowhere. */
static void links_of_others_are_not_followed(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	shell("mkdir -p target user/.cache user/own; ln -s ../../target user/.cache/wick; ln -s target link;"
	      "ln -s loop loop; chown -hR nobody user");
	assert_true(opens("target"));
	assert_true(opens("link")); /* root's own */
	assert_false(opens("loop"));
	assert_false(opens("user/.cache/wick"));
	assert_false(opens("user/own/below"));
	assert_int_not_equal(access("user/own/below", F_OK), 0);
	shell("mkdir sticky; chmod 1777 sticky; ln -s ../target sticky/wick; chown -h nobody sticky/wick");
	assert_false(opens("sticky/wick"));
	shell("rm sticky/wick; ln -s ../target sticky/wick");
	assert_true(opens("sticky/wick"));
	/* A home of another user: nothing is created in it. */
	char path[4096], folder[4000];
	assert_non_null(getcwd(folder, sizeof folder));
	snprintf(path, sizeof path, "%s/user", folder);
	setenv("HOME", path, 1);
	shell("rm user/.cache/wick");
	bool was_there = access("/var/cache/wick", F_OK) == 0;
	opens(NULL);
	assert_int_not_equal(access("user/.cache/wick", F_OK), 0);
	if (!was_there)
		rmdir("/var/cache/wick");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_put_is_found_again, open_cache, close_cache),
		cmocka_unit_test(no_cache_is_an_empty_one),
		cmocka_unit_test_setup_teardown(damaged_entries_are_not_used, open_cache, close_cache),
		cmocka_unit_test_setup_teardown(those_not_used_for_longest_go, open_cache, close_cache),
		cmocka_unit_test_setup_teardown(an_entry_belongs_to_one_file, open_cache, close_cache),
		cmocka_unit_test_setup_teardown(files_need_no_build_id, open_cache, close_cache),
		cmocka_unit_test_setup_teardown(files_of_others_stay, open_cache, close_cache),
		cmocka_unit_test_setup_teardown(left_over_temporaries_go, open_cache, close_cache),
		cmocka_unit_test_setup_teardown(parallel_runs_share_it, open_cache, close_cache),
		cmocka_unit_test(the_folder_is_the_users),
		cmocka_unit_test(links_of_others_are_not_followed),
	};
	return cmocka_run_group_tests(tests, shell_enter, shell_leave);
}
