/* perf.data: the order of records, pipes, compression, folders, and files that are damaged or cut off. */
#include "perfdata_build.h"

#include "event/order.h"
#include "perfdata/window.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zstd.h>

static void expect_log(const struct buf *records, const char *log, uint64_t out_of_order)
{
	CLEANUP_BUF struct buf file = build_simple_file(records);
	struct seen seen = {0};
	struct perfdata *data;
	assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
	assert_string_equal(seen_text(&seen), log);
	assert_int_equal(perfdata_quality(data)->out_of_order, out_of_order);
	perfdata_close(data);
	seen_release(&seen);
}

static void records_of_two_buffers_come_in_order_of_time(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf records = {0};
	put_simple_sample(&records, 1, 1, 100);
	put_simple_sample(&records, 2, 1, 300);
	put_simple_comm(&records, "other", 2, 50);
	put_simple_sample(&records, 3, 2, 200);
	put_round(&records);
	put_simple_sample(&records, 4, 1, 400);
	put_simple_sample(&records, 5, 2, 250); /* may still come: the round before was not the last but one */
	put_round(&records);
	put_simple_sample(&records, 6, 2, 500);
	put_simple_sample(&records, 7, 1, 350);
	put_round(&records);
	expect_log(&records,
		   "comm other 1/2 50\nsample 1 1 100\nsample 3 2 200\nsample 5 2 250\nsample 2 1 300\nsample 7 1 350\n"
		   "sample 4 1 400\n"
		   "sample 6 2 500\n",
		   0);
}

static void records_that_come_too_late_are_delivered_and_counted(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf records = {0};
	put_simple_sample(&records, 1, 1, 100);
	put_round(&records);
	put_round(&records);
	put_simple_sample(&records, 2, 1, 50);
	expect_log(&records, "sample 1 1 100\nsample 2 1 50\n", 1);
}

static void equal_times_keep_the_order_of_the_file(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf records = {0};
	put_simple_sample(&records, 1, 1, 200);
	put_simple_sample(&records, 2, 2, 100);
	put_simple_sample(&records, 3, 3, 100);
	put_simple_sample(&records, 4, 4, 200);
	expect_log(&records, "sample 2 2 100\nsample 3 3 100\nsample 1 1 200\nsample 4 4 200\n", 0);
}

static void records_without_time_stay_with_their_neighbours(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf records = {0};
	put_simple_comm(&records, "first", 1, 0); /* as perf makes them up for what ran before */
	put_simple_sample(&records, 1, 1, 300);
	put_simple_sample(&records, 2, 2, 100);
	put_simple_comm(&records, "beside", 2, 0);
	put_simple_sample(&records, 3, 2, 200);
	put_simple_comm(&records, "all ones", 2, UINT64_MAX);
	expect_log(&records,
		   "comm first 1/1 0\nsample 2 2 100\ncomm beside 1/2 0\nsample 3 2 200\n"
		   "comm all ones 1/2 0\nsample 1 1 300\n",
		   0);
}

static void put_simple_mmap(struct buf *out, const char *path, uint32_t tid, uint64_t time)
{
	CLEANUP_BUF struct buf body = {0};
	put_pair(&body, 1, tid);
	for (uint64_t word = 1; word <= 3; word++) /* start, length, offset */
		put64(&body, word << 12);
	put_text(&body, path, 8);
	put_pair(&body, 1, tid);
	put64(&body, time);
	put_record(out, PERF_RECORD_MMAP, 0, &body);
}

static void mappings_without_time_were_there_before_the_recording(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf records = {0};
	put_simple_sample(&records, 1, 1, 300);
	put_simple_sample(&records, 2, 2, 100);
	put_simple_mmap(&records, "/bin/early", 2, 0);
	put_simple_mmap(&records, "/bin/then", 2, 200);
	expect_log(&records, "mmap /bin/early 0\nsample 2 2 100\nmmap /bin/then 200\nsample 1 1 300\n", 0);
}

static void samples_without_time_come_as_they_stand(void **state)
{
	(void)state;
	struct build_event event = {.attr = software_event(0, PERF_SAMPLE_IP)};
	CLEANUP_BUF struct buf records = {0};
	for (uint64_t ip = 1; ip <= 3; ip++)
		put_words(&records, PERF_RECORD_SAMPLE, 0, ip);
	CLEANUP_BUF struct buf file = build_file(&event, 1, &records, NULL, 0);
	struct seen seen = {0};
	struct perfdata *data;
	assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
	assert_string_equal(seen_text(&seen), "sample 1 -1 0\nsample 2 -1 0\nsample 3 -1 0\n");
	perfdata_close(data);
	seen_release(&seen);
}

static void the_sink_can_stop_reading(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf records = {0};
	for (uint64_t i = 1; i <= 5; i++)
		put_simple_sample(&records, i, 1, i);
	CLEANUP_BUF struct buf file = build_simple_file(&records);
	struct seen seen = {.stop_after = 2};
	struct perfdata *data;
	assert_int_equal(read_bytes(file.data, file.size, &data, &seen), ERR_LIMIT);
	assert_int_equal(seen.samples, 2);
	perfdata_close(data);
	seen_release(&seen);
}

static void order_is_stable_for_any_times(void **state)
{
	(void)state;
	struct order order = {0};
	uint64_t random = 7, delivered = 0, place = 0;
	for (unsigned round = 0; round < 200; round++) {
		for (unsigned i = 0; i < round; i++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			order_add(&order, round * 50 + (random >> 33) % 100, place++);
		}
		order_sort(&order);
		uint64_t last_time = 0, last_place = 0;
		for (const struct order_entry *entry; (entry = order_next(&order, round * 50));) {
			assert_true(entry->time > last_time ||
				    (entry->time == last_time && entry->place >= last_place));
			assert_true(entry->time <= round * 50);
			last_time = entry->time;
			last_place = entry->place;
			delivered++;
		}
		order_compact(&order);
	}
	order_sort(&order);
	while (order_next(&order, UINT64_MAX))
		delivered++;
	assert_int_equal(delivered, place);
	order_release(&order);
}

/* --- pipes --- */

static void events_names_and_features_come_with_the_records_of_a_pipe(void **state)
{
	(void)state;
	struct perf_event_attr attr = software_event(0, SIMPLE_TYPE | PERF_SAMPLE_IDENTIFIER);
	CLEANUP_BUF struct buf pipe = {0}, feature = {0}, update = {0}, build_id = {0};
	put_pipe_header(&pipe);
	put_attr_record(&pipe, &attr, (const uint64_t[]){5, 6}, 2);
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	put_attr_record(&pipe, &attr, (const uint64_t[]){7}, 1);
	put64(&feature, FEATURE_HOSTNAME);
	put_feature_text(&feature, "box");
	put_record(&pipe, USER_FEATURE, 0, &feature); /* from here on records are not aligned */
	put64(&update, EVENT_UPDATE_NAME);
	put64(&update, 7);
	put_text(&update, "my-faults", 8);
	put_record(&pipe, USER_EVENT_UPDATE, 0, &update);
	put_pair(&build_id, 1, 0);
	buf_add(&build_id, "abcdefghijklmnopqrst", 20);
	put_text(&build_id, "/bin/x", 8);
	put_record(&pipe, USER_BUILD_ID, 0, &build_id);
	put_words(&pipe, PERF_RECORD_SAMPLE, 0, 7, 0x10, 1, 100);
	put_words(&pipe, PERF_RECORD_SAMPLE, 0, 5, 0x20, 1, 200);
	for (int through_pipe = 0; through_pipe < 2; through_pipe++) {
		struct perfdata *data;
		struct err err = {0};
		struct seen seen = {0};
		struct event_sink sink = seen_sink(&seen);
		pid_t child = -1;
		int fd = through_pipe ? pipe_of(pipe.data + 12, pipe.size - 12, &child) : file_of(pipe.data, pipe.size);
		/* A caller that looked at the first bytes of a pipe hands them over. */
		assert_int_equal(perfdata_open_fd(&data, fd, "test", pipe.data, 12, &err), 0);
		assert_int_equal(perfdata_read(data, &sink, &err), 0);
		assert_string_equal(seen_text(&seen), "sample 10 0 100\nsample 20 0 200\n");
		size_t count;
		const struct event_source *sources = perfdata_sources(data, &count);
		assert_int_equal(count, 2);
		assert_string_equal(sources[0].name, "cpu-clock");
		assert_string_equal(sources[1].name, "my-faults");
		assert_string_equal(perfdata_facts(data, &count)->text, "box");
		assert_int_equal(count, 1);
		assert_string_equal(perfdata_build_ids(data, &count)->path, "/bin/x");
		assert_false(perfdata_quality(data)->cut_off);
		perfdata_close(data);
		seen_release(&seen);
		if (child > 0)
			waitpid(child, NULL, 0);
	}
}

static void a_pipe_without_events_is_refused(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf pipe = {0};
	put_pipe_header(&pipe);
	put_simple_sample(&pipe, 1, 1, 1);
	struct seen seen = {0};
	struct perfdata *data;
	assert_int_equal(read_bytes(pipe.data, pipe.size, &data, &seen), ERR_FORMAT);
	assert_int_equal(seen.samples, 0);
	perfdata_close(data);
	seen_release(&seen);
}

static void files_through_a_pipe_are_whole(void **state)
{
	(void)state;
	struct build_event event = {.attr = software_event(0, SIMPLE_TYPE)};
	CLEANUP_BUF struct buf records = {0}, hostname = {0};
	put_simple_sample(&records, 1, 1, 100);
	put_feature_text(&hostname, "box");
	struct build_feature feature = {FEATURE_HOSTNAME, &hostname};
	CLEANUP_BUF struct buf file = build_file(&event, 1, &records, &feature, 1);
	struct seen seen = {0};
	struct event_sink sink = seen_sink(&seen);
	struct perfdata *data;
	struct err err = {0};
	pid_t child;
	assert_int_equal(perfdata_open_fd(&data, pipe_of(file.data, file.size, &child), "test", NULL, 0, &err), 0);
	size_t count;
	assert_string_equal(perfdata_facts(data, &count)->text, "box");
	assert_int_equal(perfdata_read(data, &sink, &err), 0);
	assert_int_equal(seen.samples, 1);
	perfdata_close(data);
	seen_release(&seen);
	waitpid(child, NULL, 0);
}

/* --- records with something behind them --- */

static void payloads_behind_records_are_skipped(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf records = {0};
	put_simple_sample(&records, 1, 1, 100);
	put_words(&records, USER_AUXTRACE, 0, 300000, 0, 0, 0, 0);
	for (unsigned i = 0; i < 300000; i++)
		buf_char(&records, (char)i);
	put_simple_sample(&records, 2, 1, 200);
	put_words(&records, USER_TRACING_DATA, 0, 16);
	put64(&records, 0);
	put64(&records, 0);
	put_simple_sample(&records, 3, 1, 300);
	expect_log(&records, "sample 1 1 100\nsample 2 1 200\nsample 3 1 300\n", 0);
}

/* One zstd stream over records of `type`, `step` bytes of plain records each, so that records are cut in two. */
static void put_compressed(struct buf *out, const struct buf *plain, size_t step, uint32_t type)
{
	ZSTD_CStream *zstd = ZSTD_createCStream();
	ZSTD_initCStream(zstd, 1);
	for (size_t at = 0; at < plain->size; at += step) {
		CLEANUP_BUF struct buf body = {0};
		ZSTD_inBuffer in = {plain->data + at, plain->size - at < step ? plain->size - at : step, 0};
		ZSTD_outBuffer packed = {buf_reserve(&body, 32768), 32768, 0};
		assert_false(ZSTD_isError(ZSTD_compressStream(zstd, &packed, &in)));
		assert_int_equal(ZSTD_flushStream(zstd, &packed), 0);
		body.size = packed.pos;
		if (type == USER_COMPRESSED2) {
			CLEANUP_BUF struct buf sized = {0};
			put64(&sized, body.size);
			buf_add(&sized, body.data, body.size);
			while (sized.size % 8)
				buf_char(&sized, 0);
			put_record(out, type, 0, &sized);
		} else {
			put_record(out, type, 0, &body);
		}
	}
	ZSTD_freeCStream(zstd);
}

static void compressed_records_are_read_like_others(void **state)
{
	(void)state;
	static const uint32_t types[] = {USER_COMPRESSED, USER_COMPRESSED2};
	CLEANUP_BUF struct buf plain = {0};
	struct seen wanted = {0};
	for (uint64_t i = 1; i <= 3000; i++) {
		put_simple_sample(&plain, i, 1, i);
		buf_printf(&wanted.log, "sample %llx 1 %llu\n", (unsigned long long)i, (unsigned long long)i);
	}
	for (size_t i = 0; i < 2; i++) {
		CLEANUP_BUF struct buf records = {0};
		put_compressed(&records, &plain, 1001, types[i]);
		put_round(&records);
		expect_log(&records, wanted.log.data, 0);
	}
	seen_release(&wanted);
}

static void a_damaged_compressed_record_ends_the_data(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf plain = {0}, records = {0};
	for (uint64_t i = 1; i <= 100; i++)
		put_simple_sample(&plain, i, 1, i);
	put_compressed(&records, &plain, 320, USER_COMPRESSED);
	size_t good = records.size;
	put_words(&records, USER_COMPRESSED, 0, 0x1234567812345678);
	CLEANUP_BUF struct buf file = build_simple_file(&records);
	struct seen seen = {0};
	struct perfdata *data;
	assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
	assert_int_equal(seen.samples, 100);
	assert_true(perfdata_quality(data)->cut_off);
	assert_int_equal(perfdata_quality(data)->cut_at, file.size - records.size + good);
	perfdata_close(data);
	seen_release(&seen);
}

/* --- folders --- */

static void write_member(const char *folder, const char *name, const struct buf *bytes)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes->data, bytes->size), bytes->size);
	close(fd);
}

static void files_of_a_folder_are_merged_by_time(void **state)
{
	(void)state;
	char folder[] = "/tmp/wick-test-XXXXXX";
	assert_non_null(mkdtemp(folder));
	CLEANUP_BUF struct buf records = {0}, first = {0}, second = {0};
	put_simple_comm(&records, "early", 1, 0);
	CLEANUP_BUF struct buf file = build_simple_file(&records);
	/* Neighbours are swapped, as nested interrupts do it, also across the pieces in which a file is read. */
	for (uint64_t i = 0; i < 60000; i++) {
		uint64_t place = i == 0 || i == 59999 ? i : ((i + 1) ^ 1) - 1;
		put_simple_sample(&first, 1, 1, 10 + 2 * place);
		put_simple_sample(&second, 2, 2, 11 + 2 * place);
	}
	write_member(folder, "data", &file);
	write_member(folder, "data.0", &first);
	write_member(folder, "data.1", &second);
	struct seen seen = {0};
	struct event_sink sink = seen_sink(&seen);
	struct perfdata *data;
	struct err err = {0};
	assert_int_equal(perfdata_open(&data, folder, &err), 0);
	assert_int_equal(perfdata_read(data, &sink, &err), 0);
	assert_int_equal(seen.samples, 120000);
	assert_int_equal(perfdata_quality(data)->out_of_order, 0);
	assert_memory_equal(seen_text(&seen), "comm early 1/1 0\nsample 1 1 10\nsample 2 2 11\nsample 1 1 12\n", 59);
	perfdata_close(data);
	seen_release(&seen);
	char command[64];
	snprintf(command, sizeof command, "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

/* --- damage --- */

static struct buf mixed_file(void)
{
	CLEANUP_BUF struct buf records = {0}, plain = {0};
	struct build_event event = {.attr = software_event(0, SIMPLE_TYPE)};
	put_simple_comm(&records, "program", 1, 0);
	for (uint64_t i = 1; i <= 4; i++) {
		put_simple_sample(&records, i, 1, 100 + i);
		put_simple_sample(&plain, i, 2, 200 + i);
	}
	put_round(&records);
	put_compressed(&records, &plain, 50, USER_COMPRESSED2);
	put_words(&records, USER_AUXTRACE, 0, 16, 0, 0, 0, 0);
	put64(&records, 0);
	put64(&records, 0);
	put_simple_sample(&records, 9, 1, 300);
	return build_file(&event, 1, &records, NULL, 0);
}

static void a_file_cut_at_any_byte_gives_what_is_before_the_cut(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf file = mixed_file();
	struct file_header header;
	memcpy(&header, file.data, sizeof header);
	unsigned before = 0;
	for (size_t size = 0; size <= file.size; size++) {
		struct seen seen = {0};
		struct perfdata *data;
		int result = read_bytes(file.data, size, &data, &seen);
		assert_true(seen.samples >= before);
		before = seen.samples;
		if (size < header.data.offset) {
			assert_int_equal(result, ERR_FORMAT);
		} else {
			assert_int_equal(result, 0);
			assert_int_equal(perfdata_quality(data)->cut_off, size < file.size);
			if (size < file.size)
				assert_int_equal(perfdata_quality(data)->cut_at, size);
		}
		perfdata_close(data);
		seen_release(&seen);
	}
	assert_int_equal(before, 9);
}

static void a_recording_that_did_not_end_is_read_to_the_end_of_the_file(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf file = mixed_file();
	uint64_t none = 0;
	memcpy(file.data + offsetof(struct file_header, data.size), &none, sizeof none);
	struct seen seen = {0};
	struct perfdata *data;
	assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
	assert_int_equal(seen.samples, 9);
	assert_true(perfdata_quality(data)->cut_off);
	perfdata_close(data);
	seen_release(&seen);
}

static void garbage_ends_the_data(void **state)
{
	(void)state;
	static const uint64_t garbage[] = {0, 0x0007000000000009, 0xffffffffffffffff, 0x0010000000000000};
	for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
		CLEANUP_BUF struct buf records = {0};
		put_simple_sample(&records, 1, 1, 100);
		put64(&records, garbage[i]);
		put64(&records, 0);
		put_simple_sample(&records, 2, 1, 200);
		CLEANUP_BUF struct buf file = build_simple_file(&records);
		struct seen seen = {0};
		struct perfdata *data;
		assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
		assert_string_equal(seen_text(&seen), "sample 1 1 100\n");
		assert_true(perfdata_quality(data)->cut_off);
		assert_int_equal(perfdata_quality(data)->cut_at, file.size - records.size + 32);
		perfdata_close(data);
		seen_release(&seen);
	}
}

static void any_damaged_byte_is_survived(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf file = mixed_file();
	for (size_t at = 0; at < file.size; at++) {
		for (unsigned flip = 1; flip < 256; flip = flip * 4 + 1) {
			file.data[at] = (char)(file.data[at] ^ (char)flip);
			struct seen seen = {0};
			struct perfdata *data;
			read_bytes(file.data, file.size, &data, &seen);
			assert_true(seen.samples <
				    10000); /* damaged zstd bytes may repeat records, within a block of 128 KB */
			perfdata_close(data);
			seen_release(&seen);
			file.data[at] = (char)(file.data[at] ^ (char)flip);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_two_buffers_come_in_order_of_time),
		cmocka_unit_test(records_that_come_too_late_are_delivered_and_counted),
		cmocka_unit_test(equal_times_keep_the_order_of_the_file),
		cmocka_unit_test(records_without_time_stay_with_their_neighbours),
		cmocka_unit_test(mappings_without_time_were_there_before_the_recording),
		cmocka_unit_test(samples_without_time_come_as_they_stand),
		cmocka_unit_test(the_sink_can_stop_reading),
		cmocka_unit_test(order_is_stable_for_any_times),
		cmocka_unit_test(events_names_and_features_come_with_the_records_of_a_pipe),
		cmocka_unit_test(a_pipe_without_events_is_refused),
		cmocka_unit_test(files_through_a_pipe_are_whole),
		cmocka_unit_test(payloads_behind_records_are_skipped),
		cmocka_unit_test(compressed_records_are_read_like_others),
		cmocka_unit_test(a_damaged_compressed_record_ends_the_data),
		cmocka_unit_test(files_of_a_folder_are_merged_by_time),
		cmocka_unit_test(a_file_cut_at_any_byte_gives_what_is_before_the_cut),
		cmocka_unit_test(a_recording_that_did_not_end_is_read_to_the_end_of_the_file),
		cmocka_unit_test(garbage_ends_the_data),
		cmocka_unit_test(any_damaged_byte_is_survived),
	};
	return cmocka_run_group_tests_name("perfdata_order", tests, NULL, NULL);
}
