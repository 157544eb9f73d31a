/* Names that are kept in the cache. */
#include "shell.h"

#include "symbol/kept_names.h"

static const struct build_id id = {4, {1, 2, 3, 4}};
static const struct names_key key = {.id = {4, {1, 2, 3, 4}}, .style = NAMES_FULL, .writer = FILE_TRUSTED};
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

static void keep(uint64_t address, const char *name, const char *inlined)
{
	struct symbol_frame frames[] = {
		{.name = inlined, .file = "a.c", .line = 7, .inlined = true},
		{.name = name, .start = address - 1},
	};
	struct name_entry entry = {address, inlined ? frames : frames + 1, inlined ? 2 : 1};
	names_keep(cache, &key, &entry, 1);
}

static void names_are_found_again(void **state)
{
	(void)state;
	struct symbol_frame frames[4];
	keep(0x20, "outer", "inner");
	keep(0x10, "first", NULL);
	keep(0x30, "outer", NULL);
	keep(0x10, "first", NULL); /* known already */
	struct names *names = names_open(cache, &key);
	assert_non_null(names);
	assert_int_equal(names_find(names, 0x10, frames, 4), 1);
	assert_string_equal(frames[0].name, "first");
	assert_int_equal(frames[0].start, 0xf);
	assert_null(frames[0].file);
	assert_int_equal(names_find(names, 0x20, frames, 4), 2);
	assert_string_equal(frames[0].name, "inner");
	assert_string_equal(frames[0].file, "a.c");
	assert_int_equal(frames[0].line, 7);
	assert_true(frames[0].inlined && !frames[1].inlined);
	assert_string_equal(frames[1].name, "outer");
	assert_int_equal(names_find(names, 0x20, frames, 1), 1);
	assert_int_equal(names_find(names, 0x30, frames, 4), 1);
	assert_int_equal(names_find(names, 0x31, frames, 4) + names_find(names, 0, frames, 4), 0);
	names_close(names);
	struct names_key other = key;
	other.style = NAMES_RAW;
	assert_null(names_open(cache, &other)); /* another style has other names */
	assert_null(names_open(NULL, &key));
}

static void names_from_files_of_other_users_are_kept_apart(void **state)
{
	(void)state;
	struct names_key theirs = key;
	struct symbol_frame frame = {.name = "forged"};
	theirs.writer = 1000;
	names_keep(cache, &theirs, &(struct name_entry){0x10, &frame, 1}, 1);
	assert_null(names_open(cache, &key));
	keep(0x10, "genuine", NULL);
	struct names *names = names_open(cache, &theirs);
	assert_int_equal(names_find(names, 0x10, &frame, 1), 1);
	assert_string_equal(frame.name, "forged");
	names_close(names);
	names = names_open(cache, &key);
	assert_int_equal(names_find(names, 0x10, &frame, 1), 1);
	assert_string_equal(frame.name, "genuine");
	names_close(names);
}

static void bytes_that_make_no_sense_are_not_used(void **state)
{
	(void)state;
	struct cache_bytes kept;
	struct names *names;
	struct symbol_frame frames[4];
	keep(0x10, "first", "inner");
	keep(0x20, "second", NULL);
	assert_true(cache_get(cache, &id, NULL, "names", &kept));
	size_t size = kept.size;
	char *bytes CLEANUP_FREE = mem_alloc(size);
	memcpy(bytes, kept.bytes, size);
	cache_bytes_release(&kept);
	for (size_t cut = 0; cut < size; cut++) {
		assert_true(cache_put(cache, &id, NULL, "names", bytes, cut));
		assert_null(names_open(cache, &key));
	}
	/* Any byte may be any other: it is refused, or what is read lies within. */
	for (size_t at = 0; at < size; at++) {
		char old = bytes[at];
		bytes[at] = (char)0xff;
		assert_true(cache_put(cache, &id, NULL, "names", bytes, size));
		names = names_open(cache, &key);
		for (uint64_t address = 0; names && address < 0x30; address++)
			for (size_t i = names_find(names, address, frames, 4); i-- > 0;)
				assert_true(strlen(frames[i].name) < size);
		names_close(names);
		bytes[at] = old;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_are_found_again, open_cache, close_cache),
		cmocka_unit_test_setup_teardown(names_from_files_of_other_users_are_kept_apart, open_cache,
						close_cache),
		cmocka_unit_test_setup_teardown(bytes_that_make_no_sense_are_not_used, open_cache, close_cache),
	};
	return cmocka_run_group_tests(tests, shell_enter, shell_leave);
}
