/* Writing perf.data: large records, files that do not end, disks that are full. */
#include "perfdata_written.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* A reader without memory for more than a few records must see them in order, though mappings run ahead of stacks. */
static void rounds_keep_the_order_of_time(void **state)
{
	(void)state;
	struct perfdata_writer *writer = open_writer();
	struct event_sink sink = perfdata_writer_sink(writer);
	struct stack_frame frames[64] = {0};
	enum { STEPS = 20000, AHEAD = 3000 };
	for (uint64_t time = 1; time <= STEPS; time++) {
		struct event_comm comm = {.pid = 7, .tid = 8, .time = time + AHEAD, .comm = "ahead"};
		if (time % 100 == 0)
			assert_int_equal(sink_comm(&sink, &comm), 0);
		put_stack(writer, time, frames, 64);
		perfdata_writer_settled(writer, time);
	}
	finish(writer);
	struct seen seen = {0};
	struct perfdata *data = read_back(&seen);
	assert_int_equal(seen.samples, STEPS);
	assert_int_equal(perfdata_quality(data)->out_of_order, 0);
	/* And there are rounds to keep in order. */
	unsigned rounds = 0;
	FILE *in = fopen(path, "r");
	struct file_header header;
	struct perf_event_header record;
	assert_int_equal(fread(&header, sizeof header, 1, in), 1);
	for (uint64_t at = header.data.offset; at < header.data.offset + header.data.size; at += record.size) {
		assert_int_equal(fseek(in, (long)at, SEEK_SET), 0);
		assert_int_equal(fread(&record, sizeof record, 1, in), 1);
		rounds += record.type == USER_FINISHED_ROUND;
	}
	fclose(in);
	assert_in_range(rounds, 2, STEPS);
	perfdata_close(data);
	seen_release(&seen);
}

static void compressed_records_come_back_as_they_were(void **state)
{
	(void)state;
	struct seen seen[2] = {0};
	struct stat sizes[2];
	enum { STEPS = 30000 };
	for (int packed = 0; packed < 2; packed++) {
		struct perfdata_writer *writer = open_writer_packed(packed);
		put_others(writer);
		for (uint64_t time = 1; time <= STEPS; time++) {
			/* Addresses that zstd cannot guess: batches that need several records. */
			struct stack_frame frames[8];
			for (uint64_t i = 0; i < 8; i++)
				frames[i] = (struct stack_frame){.frame.flags = TRACE_EXACT,
								 .ip = (time * 8 + i) * 0x9e3779b97f4a7c15 >> 16};
			put_stack(writer, time, frames, 8);
			perfdata_writer_settled(writer, time);
		}
		finish(writer);
		assert_int_equal(stat(path, &sizes[packed]), 0);
		struct perfdata *data = read_back(&seen[packed]);
		assert_int_equal(seen[packed].samples, STEPS);
		assert_int_equal(perfdata_quality(data)->malformed, 0);
		assert_int_equal(perfdata_quality(data)->out_of_order, 0);
		assert_false(perfdata_quality(data)->cut_off);
		perfdata_close(data);
	}
	assert_true(sizes[1].st_size < sizes[0].st_size);
	assert_string_equal(seen_text(&seen[0]), seen_text(&seen[1]));
	seen_release(&seen[0]);
	seen_release(&seen[1]);
}

static void a_stack_that_is_too_deep_for_a_record_is_cut(void **state)
{
	(void)state;
	struct perfdata_writer *writer = open_writer();
	enum { DEPTH = 20000 };
	struct stack_frame *frames = mem_zalloc(DEPTH, sizeof *frames);
	for (size_t i = 0; i < DEPTH; i++)
		frames[i] = (struct stack_frame){.frame.flags = TRACE_EXACT, .ip = i + 1};
	put_stack(writer, 1, frames, DEPTH);
	free(frames);
	finish(writer);
	struct seen seen = {0};
	struct perfdata *data = read_back(&seen);
	assert_int_equal(seen.samples, 1);
	assert_in_range(seen.sample.chain_count, 8000, 8192);
	assert_int_equal(seen.chain[1], 1);
	assert_int_equal(perfdata_quality(data)->malformed, 0);
	perfdata_close(data);
	seen_release(&seen);
}

/* As after kill -9: the header was never completed, the last record may be half there. */
static void an_unfinished_file_is_readable_up_to_its_end(void **state)
{
	(void)state;
	struct perfdata_writer *writer = open_writer();
	struct stack_frame frame = {.frame.flags = TRACE_EXACT, .ip = 0x1234};
	for (uint64_t time = 1; time <= 10; time++)
		put_stack(writer, time, &frame, 1);
	finish(writer);
	int fd = open(path, O_RDWR);
	struct file_header header;
	assert_int_equal(pread(fd, &header, sizeof header, 0), sizeof header);
	assert_int_equal(ftruncate(fd, (off_t)(header.data.offset + header.data.size - 20)), 0);
	header.data.size = 0;
	memset(header.features, 0, sizeof header.features);
	assert_int_equal(pwrite(fd, &header, sizeof header, 0), sizeof header);
	close(fd);
	struct seen seen = {0};
	struct perfdata *data = read_back(&seen);
	assert_int_equal(seen.samples, 9);
	assert_true(perfdata_quality(data)->cut_off);
	perfdata_close(data);
	seen_release(&seen);
}

static void a_full_disk_is_reported_and_leaves_the_old_file(void **state)
{
	(void)state;
	struct rlimit old, small = {.rlim_cur = 600000, .rlim_max = RLIM_INFINITY};
	struct stack_frame frames[100] = {0};
	struct err err = {0};
	struct stat status;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small.rlim_max = old.rlim_max;
	struct perfdata_writer *writer = open_writer();
	setrlimit(RLIMIT_FSIZE, &small);
	struct event_sink sink = perfdata_writer_sink(writer);
	struct event_comm comm = {.pid = 7, .tid = 8, .comm = "late"};
	assert_int_equal(sink_comm(&sink, &comm), 0);
	for (uint64_t time = 1; time <= 5000; time++)
		put_stack(writer, time, frames, 100);
	int failed = perfdata_writer_failed(writer), reported = sink_comm(&sink, &comm);
	int result = perfdata_writer_finish(writer, &err);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(failed, ERR_IO);
	assert_int_equal(reported, ERR_IO);
	assert_int_equal(result, ERR_IO);
	assert_non_null(strstr(err.text, path));
	assert_non_null(strstr(err.text, strerror(EFBIG)));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, 0);
}

static void pipes_and_no_events_are_refused(void **state)
{
	(void)state;
	struct event_source source = {.attr = software_event(PERF_COUNT_SW_CPU_CLOCK, RECORDED_TYPE), .name = "x"};
	struct perfdata_writer_options options = {.sources = &source, .source_count = 1};
	struct perfdata_writer *writer;
	struct err err = {0};
	assert_int_equal(perfdata_writer_open(&writer, "-", &options, &err), ERR_USAGE);
	assert_int_equal(perfdata_writer_open(&writer, "/nonexistent/a/b", &options, &err), ERR_OPEN);
	options.source_count = 0;
	assert_int_equal(perfdata_writer_open(&writer, path, &options, &err), ERR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(rounds_keep_the_order_of_time),
		WITH_FILE(compressed_records_come_back_as_they_were),
		WITH_FILE(a_stack_that_is_too_deep_for_a_record_is_cut),
		WITH_FILE(an_unfinished_file_is_readable_up_to_its_end),
		WITH_FILE(a_full_disk_is_reported_and_leaves_the_old_file),
		WITH_FILE(pipes_and_no_events_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
