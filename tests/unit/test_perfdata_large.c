/* perf.data: more data than fits into memory. */
#include "perfdata_build.h"

#include "perfdata/window.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define STACK_BYTES 8192
#define RUN 600 /* samples of 8 KB in a run: more than the smallest ring holds */

static void put_stack_sample(struct buf *out, uint64_t ip, uint64_t time)
{
	CLEANUP_BUF struct buf body = {0};
	put64(&body, ip);
	put64(&body, 1);
	put64(&body, time);
	put64(&body, STACK_BYTES);
	for (unsigned i = 0; i < STACK_BYTES / 8; i++)
		put64(&body, ip * 1000003 + i);
	put64(&body, STACK_BYTES);
	put_record(out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &body);
}

struct stack_check {
	uint64_t samples, last_time;
};

static int check_stack(void *context, const struct event *event)
{
	struct stack_check *check = context;
	const struct event_sample *sample = event->sample;
	assert_int_equal(event->type, EVENT_SAMPLE);
	check->samples++;
	assert_true(sample->time > check->last_time);
	check->last_time = sample->time;
	assert_int_equal(sample->stack_size, STACK_BYTES);
	assert_int_equal((uintptr_t)sample->stack % 8, 0);
	const uint64_t *words = (const uint64_t *)sample->stack;
	for (unsigned i = 0; i < STACK_BYTES / 8; i++)
		assert_int_equal(words[i], sample->ip * 1000003 + i);
	return 0;
}

/* Runs of several buffers with interleaved times. */
static void put_runs(struct buf *out, unsigned runs)
{
	for (unsigned run = 0; run < runs; run++)
		for (unsigned i = 0; i < RUN; i++)
			put_stack_sample(out, run * 10000 + i, 1 + i * runs + run);
}

static void read_stacks(int fd)
{
	struct perfdata *data;
	struct err err = {0};
	struct stack_check check = {0};
	struct event_sink sink = {.context = &check, .take = check_stack};
	assert_int_equal(perfdata_open_fd(&data, fd, "test", NULL, 0, &err), 0);
	assert_int_equal(perfdata_read(data, &sink, &err), 0);
	assert_int_equal(check.samples, 8 * RUN);
	assert_int_equal(perfdata_quality(data)->malformed, 0);
	perfdata_close(data);
}

static void rounds_larger_than_memory_are_read_again_from_the_file(void **state)
{
	(void)state;
	struct build_event event = {.attr = software_event(0, SIMPLE_TYPE | PERF_SAMPLE_STACK_USER)};
	CLEANUP_BUF struct buf records = {0};
	put_runs(&records, 8); /* 39 MB */
	CLEANUP_BUF struct buf file = build_file(&event, 1, &records, NULL, 0);
	read_stacks(file_of(file.data, file.size));
}

static void rounds_larger_than_memory_are_kept_for_pipes(void **state)
{
	(void)state;
	struct perf_event_attr attr = software_event(0, SIMPLE_TYPE | PERF_SAMPLE_STACK_USER);
	CLEANUP_BUF struct buf pipe = {0}, feature = {0};
	put_pipe_header(&pipe);
	put_attr_record(&pipe, &attr, NULL, 0);
	put64(&feature, FEATURE_HOSTNAME);
	put_feature_text(&feature, "box");
	put_record(&pipe, USER_FEATURE, 0, &feature);
	assert_int_equal(pipe.size % 8, 4); /* the sink gets aligned words nevertheless */
	put_runs(&pipe, 8);
	pid_t child;
	read_stacks(pipe_of(pipe.data, pipe.size, &child));
	waitpid(child, NULL, 0);
}

static void windows_give_back_what_left_the_memory(void **state)
{
	(void)state;
	struct window window;
	window_init(&window, -1, 0, 1);
	window.waiting = 0;
	const uint64_t total = 3 << 20;
	while (window.end < total) {
		size_t room;
		uint8_t *out = window_room(&window, &room);
		for (size_t i = 0; i < room; i++)
			out[i] = (uint8_t)((window.end + i) * 2654435761u >> 24);
		window_filled(&window, room);
	}
	assert_true(window.size < total);
	uint8_t piece[1000];
	for (uint64_t at = 0; at + sizeof piece <= total; at += 777) {
		assert_true(window_copy(&window, at, sizeof piece, piece));
		for (size_t i = 0; i < sizeof piece; i++)
			assert_int_equal(piece[i], (uint8_t)((at + i) * 2654435761u >> 24));
	}
	assert_false(window_copy(&window, window.end - 1, 2, piece));
	window_release(&window);
}

#define LARGE (96ull << 20) /* has a pager, where there are two cores */
#define MARKS (1ull << 20)

/* Reads through a large file, mostly holes, and reads something at its beginning again and again. */
static void large_files_are_read_while_their_pages_come_and_go(void **state)
{
	(void)state;
	int fd = window_temporary();
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)LARGE), 0);
	for (uint64_t at = 0; at < LARGE; at += MARKS)
		assert_int_equal(pwrite(fd, &at, sizeof at, (off_t)at), sizeof at);
	struct window window;
	window_init(&window, fd, 0, 1);
	window_map(&window);
	assert_non_null(window.map);
	uint64_t found, marks = 0;
	while (window_advance(&window, LARGE)) {
		uint64_t at = window.end - (128u << 10);
		window_done(&window, at);
		window_touch(&window, 128u << 10);
		assert_true(window_copy(&window, at, sizeof found, &found));
		assert_int_equal(found, at % MARKS ? 0 : at);
		marks += found == at;
		assert_true(window_copy(&window, MARKS, sizeof found, &found) || window.end <= MARKS);
	}
	assert_int_equal(marks, LARGE / MARKS);
	assert_true(window_copy(&window, LARGE / 2, sizeof found, &found));
	assert_int_equal(found, LARGE / 2);
	window_rest(&window);
	assert_true(window_copy(&window, LARGE - MARKS, sizeof found, &found));
	assert_int_equal(found, LARGE - MARKS);
	window_release(&window);
	close(fd);
}

static size_t mapped_file_megabytes(void)
{
	char line[256];
	size_t kilobytes = 0;
	FILE *file = fopen("/proc/self/status", "re");
	assert_non_null(file);
	while (fgets(line, sizeof line, file))
		if (sscanf(line, "RssFile: %zu kB", &kilobytes) == 1)
			break;
	fclose(file);
	return kilobytes >> 10;
}

#define STRIDE (64u << 10) /* what the kernel maps for one look */

/* Workers unwind stacks where they lie in the file, some time after the reader went on. */
static void what_is_looked_at_late_does_not_fill_the_memory(void **state)
{
	(void)state;
	const uint64_t size = 320ull << 20, late = 100ull << 20;
	cpu_set_t cores, one;
	assert_int_equal(sched_getaffinity(0, sizeof cores, &cores), 0);
	int cpu = 0;
	while (!CPU_ISSET(cpu, &cores))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0); /* without a pager, who comes when he can */
	int fd = window_temporary();
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	struct window window;
	window_init(&window, fd, 0, 1);
	window_map(&window);
	assert_non_null(window.map);
	assert_null(window.pager);
	size_t before = mapped_file_megabytes();
	uint64_t sum = 0;
	while (window_advance(&window, size)) {
		window_done(&window, window.end - (128u << 10));
		window_touch(&window, 128u << 10);
		for (uint64_t at = window.end - (128u << 10); at >= late && at < window.end; at += STRIDE)
			sum += window.map[at] + window.map[at - late];
	}
	assert_int_equal(sum, 0);
	assert_in_range(mapped_file_megabytes() - before, 0, 100);
	window_release(&window);
	close(fd);
	assert_int_equal(sched_setaffinity(0, sizeof cores, &cores), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_larger_than_memory_are_read_again_from_the_file),
		cmocka_unit_test(rounds_larger_than_memory_are_kept_for_pipes),
		cmocka_unit_test(windows_give_back_what_left_the_memory),
		cmocka_unit_test(large_files_are_read_while_their_pages_come_and_go),
		cmocka_unit_test(what_is_looked_at_late_does_not_fill_the_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
