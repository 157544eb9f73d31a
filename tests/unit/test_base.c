/* mem, buf, err, hash, index_map, strpool, parallel, term */
#include "unit.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/index_map.h"
#include "base/parallel.h"
#include "base/strpool.h"
#include "base/term.h"

#include <pty.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void leave_with_9(size_t wanted, uint64_t limit)
{
	(void)wanted;
	_exit(limit ? 4 : 9);
}

/* Runs `act` in a child; its exit code. */
static int in_child(void (*act)(void))
{
	pid_t child = fork();
	if (!child) {
		mem_on_exhausted(leave_with_9);
		act();
		_exit(0);
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* volatile: the compiler must not see that these sizes are absurd */
static volatile size_t huge = SIZE_MAX / 2;

static void overflow_product(void)
{
	free(mem_realloc(NULL, huge, 16));
}

static void overflow_buffer(void)
{
	struct buf buf = {0};
	buf_str(&buf, "text");
	buf_reserve(&buf, SIZE_MAX - 2);
}

static void do_nothing(void)
{
}

static void sizes_that_overflow_call_the_handler(void **state)
{
	(void)state;
	assert_int_equal(in_child(do_nothing), 0);
	assert_int_equal(in_child(overflow_product), 9);
	assert_int_equal(in_child(overflow_buffer), 9);
}

#define LIMIT (400u << 20) /* sanitizers keep some memory that was freed */

static void allocate_small_pieces(void)
{
	mem_set_limit(LIMIT);
	for (size_t size = 0; size < 2ull * LIMIT; size += 1000)
		memset(mem_alloc(1000), 1, 1000);
}

static void allocate_in_thread(void *context, unsigned worker)
{
	(void)context;
	(void)worker;
	allocate_small_pieces();
}

static void allocate_in_threads(void)
{
	parallel_run(4, allocate_in_thread, NULL);
}

static void grow_an_array(void)
{
	uint64_t *items = NULL;
	size_t count = 0, capacity = 0;
	mem_set_limit(LIMIT);
	while (count < 2ull * LIMIT / sizeof *items) {
		MEM_ROOM(items, count, capacity);
		items[count] = count;
		count++;
	}
}

static void allocate_at_once(void)
{
	mem_set_limit(LIMIT);
	free(mem_alloc(2ull * LIMIT));
}

static void free_what_was_allocated(void)
{
	mem_set_limit(LIMIT);
	for (int i = 0; i < 4000; i++) {
		char *piece = mem_alloc(1 << 20);
		memset(piece, i, 1 << 20);
		free(piece);
	}
}

static void stay_below(void)
{
	mem_set_limit(LIMIT);
	bool fits = mem_has_room(1 << 20) && !mem_has_room(LIMIT) && !mem_is_short();
	char *pieces[LIMIT >> 22];
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
		pieces[i] = memset(mem_alloc(2 << 20), 1, 2 << 20);
	fits = fits && mem_is_short();
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
		free(pieces[i]);
	_exit(fits ? 0 : 1);
}

static uint64_t limit_of_test(void)
{
	return LIMIT;
}

static void allocate_without_setting_a_limit(void)
{
	mem_limit_usually(limit_of_test);
	for (size_t size = 0; size < 2ull * LIMIT; size += 1000)
		memset(mem_alloc(1000), 1, 1000);
}

static void a_limit_bounds_what_is_allocated_and_not_freed(void **state)
{
	(void)state;
	assert_int_equal(in_child(allocate_small_pieces), 4);
	assert_int_equal(in_child(allocate_in_threads), 4);
	assert_int_equal(in_child(grow_an_array), 4);
	assert_int_equal(in_child(allocate_at_once), 4);
	assert_int_equal(in_child(allocate_without_setting_a_limit), 4);
	assert_int_equal(in_child(free_what_was_allocated), 0);
	assert_int_equal(in_child(stay_below), 0);
}

static void arrays_grow_and_keep_their_items(void **state)
{
	(void)state;
	int *items = NULL;
	size_t count = 0, capacity = 0;
	for (int i = 0; i < 1000; i++) {
		MEM_ROOM(items, count, capacity);
		items[count++] = i;
	}
	assert_true(capacity >= 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(items[i], i);
	free(items);
}

static void arena_pieces_are_aligned_and_apart(void **state)
{
	(void)state;
	struct arena arena = {0};
	char *last = NULL;
	for (size_t i = 1; i < 3000; i++) {
		size_t align = (size_t)1 << i % 7;
		char *piece = arena_alloc(&arena, i, align);
		assert_int_equal((uintptr_t)piece % align, 0);
		memset(piece, (int)i, i);
		if (last)
			assert_int_equal((unsigned char)last[0], (i - 1) & 0xff);
		last = piece;
	}
	assert_string_equal(arena_copy(&arena, "name and more", 4), "name");
	assert_string_equal(arena_copy(&arena, NULL, 0), "");
	arena_release(&arena);
	assert_null(arena.head);
}

static void buffers_hold_what_was_added(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf buf = {0};
	buf_printf(&buf, "%s %d", "text", 5);
	buf_char(&buf, ';');
	buf_uint(&buf, UINT64_MAX);
	buf_char(&buf, ';');
	buf_int(&buf, INT64_MIN);
	assert_string_equal(buf.data, "text 5;18446744073709551615;-9223372036854775808");
	buf_clear(&buf);
	assert_string_equal(buf.data, "");
	buf_add(&buf, "a\0b", 3);
	assert_int_equal(buf.size, 3);
	assert_memory_equal(buf.data, "a\0b", 4);
}

static void failures_have_words(void **state)
{
	(void)state;
	struct err err = {0};
	assert_int_equal(err_set(NULL, ERR_IO, "lost"), ERR_IO);
	assert_int_equal(err_set(&err, ERR_OPEN, "cannot open %s", "x"), ERR_OPEN);
	assert_string_equal(err_text(&err), "cannot open x");
	err.text[0] = '\0';
	assert_string_equal(err_text(&err), err_name(ERR_OPEN));
	assert_string_equal(err_name(12345), "unknown failure");
	/* longer than the struct holds: cut, not overrun */
	char long_text[2000];
	memset(long_text, 'x', sizeof long_text - 1);
	long_text[sizeof long_text - 1] = '\0';
	err_set(&err, ERR_IO, "%s", long_text);
	assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static void hashes_see_every_byte(void **state)
{
	(void)state;
	char bytes[70] = {0};
	for (size_t count = 1; count < sizeof bytes; count++) {
		uint64_t zero = hash_bytes(bytes, count);
		assert_true(zero != hash_bytes(bytes, count - 1));
		/* Of 1 to 3 bytes the middle one stands for itself, so all positions are seen. */
		for (size_t at = 0; at < count; at++) {
			bytes[at] = 1;
			assert_true(hash_bytes(bytes, count) != zero);
			bytes[at] = 0;
		}
	}
	assert_true(hash_pair(1, 2) != hash_pair(2, 1));
}

static void index_maps_find_all_candidates(void **state)
{
	(void)state;
	struct index_map map = {0};
	struct index_probe probe;
	assert_int_equal(index_map_first(&map, 5, &probe), INDEX_NONE);
	for (uint32_t i = 0; i < 5000; i++)
		index_map_insert(&map, hash_u64(i / 2), i); /* two of each hash */
	for (uint32_t key = 0; key < 2500; key++) {
		unsigned found = 0;
		uint32_t i = index_map_first(&map, hash_u64(key), &probe);
		for (; i != INDEX_NONE; i = index_map_next(&map, &probe))
			found += i / 2 == key;
		assert_int_equal(found, 2);
	}
	index_map_clear(&map);
	assert_int_equal(index_map_first(&map, hash_u64(1), &probe), INDEX_NONE);
	index_map_release(&map);
}

static void equal_strings_have_equal_ids(void **state)
{
	(void)state;
	struct strpool pool;
	strpool_init(&pool);
	assert_int_equal(strpool_add(&pool, "", 0), 0);
	str_id main_id = strpool_add(&pool, "main", 4), nul_id = strpool_add(&pool, "a\0b", 3);
	assert_int_equal(strpool_add(&pool, "main()", 4), main_id);
	assert_int_equal(strpool_add(&pool, "a\0b", 3), nul_id);
	assert_true(strpool_add(&pool, "a\0c", 3) != nul_id);
	assert_int_equal(strpool_find(&pool, "main", 4), main_id);
	assert_int_equal(strpool_find(&pool, "mai", 3), INDEX_NONE);
	for (unsigned i = 0; i < 20000; i++) {
		char name[16];
		int length = snprintf(name, sizeof name, "f%u", i);
		strpool_add(&pool, name, (size_t)length);
	}
	assert_string_equal(strpool_text(&pool, main_id), "main");
	assert_int_equal(strpool_length(&pool, nul_id), 3);
	assert_int_equal(strpool_find(&pool, "f19999", 6), strpool_add(&pool, "f19999", 6));
	strpool_release(&pool);
}

static void count_worker(void *context, unsigned worker)
{
	_Atomic unsigned *calls = context;
	atomic_fetch_add(&calls[worker], 1);
}

static void every_worker_runs_once(void **state)
{
	(void)state;
	_Atomic unsigned calls[16] = {0};
	parallel_run(0, count_worker, calls);
	assert_int_equal(calls[0], 0);
	parallel_run(16, count_worker, calls);
	for (size_t i = 0; i < 16; i++)
		assert_int_equal(calls[i], 1);
	assert_true(parallel_cores() >= 1);
}

static void terminals_are_not_assumed(void **state)
{
	(void)state;
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	unsetenv("COLUMNS");
	assert_int_equal(term_width(ends[1], 77), 77);
	setenv("COLUMNS", "132", 1);
	assert_int_equal(term_width(ends[1], 77), 132);
	setenv("COLUMNS", "wide", 1);
	assert_int_equal(term_width(ends[1], 77), 77);
	setenv("TERM", "xterm", 1);
	assert_false(term_colour(ends[1]));
	close(ends[0]);
	close(ends[1]);
	/* Nothing to draw on: reporting must still be harmless. */
	progress_add(NULL, 5);
	progress_free(NULL);
}

static void report_progress(void)
{
	struct progress *progress = progress_new("reading", "B", 4000000);
	/* The line is for work that lasts: wait until it is due, however slow the machine. */
	for (int i = 0; i < 8; i++) {
		usleep(100000);
		progress_add(progress, 250000);
	}
	progress_free(progress);
}

/* What `act` writes to standard error when that is a terminal of `columns`. */
static void on_terminal(void (*act)(void), unsigned short columns, char *ret_seen, size_t size)
{
	struct winsize window = {.ws_row = 24, .ws_col = columns};
	int terminal;
	pid_t child = forkpty(&terminal, NULL, NULL, &window);
	assert_true(child >= 0);
	if (!child) {
		unsetenv("COLUMNS");
		setenv("TERM", "xterm", 1);
		act();
		_exit(0);
	}
	size_t seen = 0;
	for (ssize_t got; (got = read(terminal, ret_seen + seen, size - 1 - seen)) > 0; seen += (size_t)got)
		;
	ret_seen[seen] = '\0';
	int status;
	waitpid(child, &status, 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(terminal);
}

static void progress_shows_part_amount_rate_and_time(void **state)
{
	(void)state;
	char seen[8192];
	on_terminal(report_progress, 100, seen, sizeof seen);
	assert_non_null(strstr(seen, "reading ["));
	assert_non_null(strstr(seen, "50%  2.0 MB of 4.0 MB, "));
	assert_non_null(strstr(seen, "B/s, "));
	assert_non_null(strstr(seen, " s left"));
	/* The line is cleared at the end, and nothing went to a next one. */
	assert_string_equal(seen + strlen(seen) - 4, "\r\033[K");
	assert_null(strchr(seen, '\n'));
	/* A narrow terminal gets a line that fits: between two carriage returns. */
	on_terminal(report_progress, 30, seen, sizeof seen);
	for (char *line = strtok(seen, "\r"); line; line = strtok(NULL, "\r"))
		assert_true(strcspn(line, "\033") < 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_that_overflow_call_the_handler),
		cmocka_unit_test(a_limit_bounds_what_is_allocated_and_not_freed),
		cmocka_unit_test(arrays_grow_and_keep_their_items),
		cmocka_unit_test(arena_pieces_are_aligned_and_apart),
		cmocka_unit_test(buffers_hold_what_was_added),
		cmocka_unit_test(failures_have_words),
		cmocka_unit_test(hashes_see_every_byte),
		cmocka_unit_test(index_maps_find_all_candidates),
		cmocka_unit_test(equal_strings_have_equal_ids),
		cmocka_unit_test(every_worker_runs_once),
		cmocka_unit_test(terminals_are_not_assumed),
		cmocka_unit_test(progress_shows_part_amount_rate_and_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
