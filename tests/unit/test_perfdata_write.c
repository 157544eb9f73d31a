/* Written perf.data files, read again. */
#include "perfdata_build.h"

#include "event/stack_mark.h"
#include "event/tee.h"
#include "perfdata/write.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char path[64];

static int make_path(void **state)
{
	(void)state;
	snprintf(path, sizeof path, "/tmp/wick-write-XXXXXX");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	return 0;
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

#define RECORDED_TYPE                                                                                    \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER | \
	 PERF_SAMPLE_STACK_USER)

static struct perfdata_writer *open_writer_packed(bool compress)
{
	static char *const command[] = {"wick", "record", NULL};
	struct event_source sources[] = {
		{.attr = software_event(PERF_COUNT_SW_CPU_CLOCK, RECORDED_TYPE), .name = "cpu-clock:u"},
		{.attr = software_event(PERF_COUNT_SW_PAGE_FAULTS, RECORDED_TYPE), .name = "page-faults"},
	};
	sources[0].attr.sample_regs_user = 0xff0fff;
	sources[0].attr.sample_stack_user = 8192;
	struct perfdata_writer_options options = {.sources = sources,
						  .source_count = 2,
						  .command = command,
						  .hostname = "box",
						  .release = "6.1.0",
						  .machine = "x86_64",
						  .cpus = 4,
						  .compress = compress};
	struct perfdata_writer *writer = NULL;
	struct err err = {0};
	assert_int_equal(perfdata_writer_open(&writer, path, &options, &err), 0);
	return writer;
}

static struct perfdata_writer *open_writer(void)
{
	return open_writer_packed(false);
}

static void put_stack(struct perfdata_writer *writer, uint64_t time, const struct stack_frame *frames, size_t count)
{
	struct event_sample sample = {.pid = 7,
				      .tid = 8,
				      .source = 1,
				      .mode = MODE_KERNEL,
				      .ip = 0xffffffff81000010,
				      .time = time,
				      .period = 250,
				      .cpu = 3};
	perfdata_writer_stack(writer, &sample, frames, count, STACK_WHOLE);
}

/* Three samples, which may be a sum. */
static void put_added_up(struct perfdata_writer *writer, bool sum)
{
	struct stack_frame frame = {.frame.flags = TRACE_EXACT, .ip = 0x401000};
	struct event_sample sample = {.pid = 7, .tid = 8, .source = 1, .mode = MODE_USER, .ip = 0x401000};
	sample.since = 1000;
	sample.time = 4000;
	sample.count = 3;
	sample.period = 301;
	sample.sum = sum;
	perfdata_writer_stack(writer, &sample, &frame, 1, STACK_WHOLE);
}

static void finish(struct perfdata_writer *writer)
{
	struct err err = {0};
	assert_int_equal(perfdata_writer_finish(writer, &err), 0);
}

static struct perfdata *read_back(struct seen *seen)
{
	struct perfdata *data = NULL;
	struct event_sink sink = seen_sink(seen);
	assert_int_equal(perfdata_open(&data, path, NULL), 0);
	assert_int_equal(perfdata_read(data, &sink, NULL), 0);
	return data;
}

static void samples_that_were_added_up_are_told_apart_unless_they_are_a_sum(void **state)
{
	(void)state;
	for (int sum = 0; sum < 2; sum++) {
		struct perfdata_writer *writer = open_writer();
		put_added_up(writer, sum);
		finish(writer);
		struct seen seen = {0};
		struct perfdata *data = read_back(&seen);
		assert_int_equal(seen.samples, sum ? 1 : 3);
		assert_int_equal(seen.sample.time, 4000);
		assert_int_equal(seen.sample.period, sum ? 301 : 100);
		perfdata_close(data);
		seen_release(&seen);
	}
}

static void samples_come_back_with_their_chains(void **state)
{
	(void)state;
	struct perfdata_writer *writer = open_writer();
	struct stack_frame frames[] = {
		{.frame.kind = TRACE_KERNEL, .frame.flags = TRACE_EXACT, .ip = 0xffffffff81000010},
		{.frame.kind = TRACE_KERNEL, .ip = 0xffffffff81000100},
		{.frame.flags = TRACE_EXACT, .ip = 0x401000},
		{.ip = 0x402000},
		{.ip = 0},
	};
	put_stack(writer, 1000, frames, 5);
	finish(writer);
	struct seen seen = {0};
	struct perfdata *data = read_back(&seen);
	assert_int_equal(seen.samples, 1);
	assert_int_equal(seen.sample.source, 1);
	assert_int_equal(seen.sample.mode, MODE_KERNEL);
	assert_int_equal(seen.sample.pid, 7);
	assert_int_equal(seen.sample.tid, 8);
	assert_int_equal(seen.sample.cpu, 3);
	assert_int_equal(seen.sample.time, 1000);
	assert_int_equal(seen.sample.period, 250);
	assert_true(seen.sample.ip == 0xffffffff81000010);
	assert_int_equal(seen.sample.stack_size, 0);
	assert_int_equal(seen.sample.user.abi, 0);
	const uint64_t expected[] = {
		(uint64_t)PERF_CONTEXT_KERNEL,
		0xffffffff81000010,
		0xffffffff81000100,
		(uint64_t)PERF_CONTEXT_USER,
		0x401000,
		0x401fff,
		0,
	};
	assert_int_equal(seen.sample.chain_count, 7);
	assert_memory_equal(seen.chain, expected, sizeof expected);
	assert_int_equal(perfdata_quality(data)->malformed, 0);
	assert_int_equal(perfdata_quality(data)->unknown_ids, 0);
	assert_false(perfdata_quality(data)->cut_off);
	perfdata_close(data);
	seen_release(&seen);
}

static int cut_file_off(void *context, const struct event *event)
{
	uint64_t *count = context;
	if (event->type == EVENT_SAMPLE && !(*count)++)
		assert_int_equal(truncate(path, 100000), 0);
	return 0;
}

/* By its owner, while root reads it. */
static void a_file_that_is_cut_off_while_it_is_read_is_read_up_to_there(void **state)
{
	(void)state;
	struct perfdata_writer *writer = open_writer();
	const struct stack_frame frames[] = {{.frame.flags = TRACE_EXACT, .ip = 0x401000}, {.ip = 0x402000}};
	for (uint64_t i = 0; i < 200000; i++)
		put_stack(writer, 1000 + i, frames, 2);
	finish(writer);
	uint64_t count = 0;
	struct perfdata *data = NULL;
	struct event_sink sink = {.context = &count, .take = cut_file_off};
	assert_int_equal(perfdata_open(&data, path, NULL), 0);
	assert_int_equal(perfdata_read(data, &sink, NULL), 0);
	assert_true(count >= 1000 && count < 200000);
	assert_true(perfdata_quality(data)->cut_off || perfdata_quality(data)->malformed);
	perfdata_close(data);
}

static void chains_tell_that_a_stack_is_not_whole(void **state)
{
	(void)state;
	struct event_sample sample = {.pid = 7, .tid = 8, .time = 5, .cpu = 1};
	const struct stack_frame user = {.frame.flags = TRACE_EXACT, .ip = 0x401000},
				 kernel = {.frame.kind = TRACE_KERNEL, .ip = 0x81000010};
	struct perfdata_writer *writer = open_writer();
	perfdata_writer_stack(writer, &sample, &user, 1, STACK_CUT);
	finish(writer);
	struct seen seen = {0};
	perfdata_close(read_back(&seen));
	assert_int_equal(seen.sample.chain_count, 3);
	assert_memory_equal(seen.chain,
			    ((const uint64_t[]){(uint64_t)PERF_CONTEXT_USER, 0x401000, stack_end_mark(STACK_CUT)}), 24);
	seen_release(&seen);
	writer = open_writer();
	perfdata_writer_stack(writer, &sample, &kernel, 1, STACK_BROKEN);
	finish(writer);
	seen = (struct seen){0};
	perfdata_close(read_back(&seen));
	assert_int_equal(seen.sample.chain_count, 4);
	assert_memory_equal(seen.chain + 2,
			    ((const uint64_t[]){(uint64_t)PERF_CONTEXT_USER, stack_end_mark(STACK_BROKEN)}), 16);
	seen_release(&seen);
}

static void put_others(struct perfdata_writer *writer)
{
	struct event_sink sink = perfdata_writer_sink(writer);
	struct event_mmap mmap = {.pid = 7,
				  .tid = 7,
				  .time = 3,
				  .start = 0x400000,
				  .length = 0x2000,
				  .offset = 0x1000,
				  .protection = PROT_READ | PROT_EXEC,
				  .path = "/bin/a file",
				  .build_id = {.size = 4, .bytes = {0xde, 0xad, 0xbe, 0xef}}};
	struct event_mmap plain = {.pid = 7,
				   .tid = 7,
				   .time = 4,
				   .start = 0x7000,
				   .length = 0x1000,
				   .major = 8,
				   .minor = 1,
				   .inode = 99,
				   .protection = PROT_READ | PROT_EXEC,
				   .path = "/lib/x.so"};
	struct event_mmap kernel = {.pid = -1,
				    .kernel = true,
				    .start = 0xffffffff81000000,
				    .length = 0x1000000,
				    .path = "[kernel.kallsyms]_text",
				    .build_id = {.size = 2, .bytes = {1, 2}}};
	struct event_comm comm = {.pid = 7, .tid = 7, .time = 2, .exec = true, .comm = "a file"};
	struct event_task fork = {.pid = 7, .tid = 8, .parent_pid = 7, .parent_tid = 7, .time = 5};
	struct event_task gone = {.pid = 7, .tid = 8, .parent_pid = 7, .parent_tid = 7, .time = 9};
	struct event_lost lost = {.time = 8, .count = 12, .source = 1};
	struct event_count count = {.pid = 7, .tid = 8, .time = 8, .value = 1ull << 40, .source = 1};
	struct event_ksymbol symbol = {
		.time = 6, .address = 0xffffffffc0000000, .length = 64, .type = 1, .name = "bpf_prog_x"};
	assert_int_equal(sink_mmap(&sink, &kernel), 0);
	assert_int_equal(sink_comm(&sink, &comm), 0);
	assert_int_equal(sink_mmap(&sink, &mmap), 0);
	assert_int_equal(sink_mmap(&sink, &plain), 0);
	assert_int_equal(sink_fork(&sink, &fork), 0);
	assert_int_equal(sink_ksymbol(&sink, &symbol), 0);
	assert_int_equal(sink_lost(&sink, &lost), 0);
	lost.kind = LOST_SAMPLES;
	lost.count = 5;
	assert_int_equal(sink_lost(&sink, &lost), 0);
	lost.kind = LOST_OTHERS;
	lost.count = 300;
	assert_int_equal(sink_lost(&sink, &lost), 0);
	assert_int_equal(sink_count(&sink, &count), 0);
	assert_int_equal(sink_exit(&sink, &gone), 0);
}

static void other_records_come_back_as_they_were_given(void **state)
{
	(void)state;
	struct perfdata_writer *writer = open_writer();
	const struct stack_frame inside[] = {{.frame.flags = TRACE_EXACT, .ip = 0x401fff}, {.ip = 0x7000 + 1}};
	put_others(writer);
	put_stack(writer, 10, inside, 2);
	finish(writer);
	struct seen seen = {0};
	struct perfdata *data = read_back(&seen);
	const char *text = seen_text(&seen);
	assert_non_null(strstr(text, "[kernel.kallsyms]_text"));
	assert_non_null(strstr(text, "/bin/a file"));
	assert_non_null(strstr(text, "bpf_prog_x"));
	assert_non_null(strstr(text, "a file"));
	assert_non_null(strstr(text, "count 7/8 1099511627776 8\n"));
	assert_int_equal(seen.lost_of[LOST_ANY], 12);
	assert_int_equal(seen.lost_of[LOST_SAMPLES], 5);
	assert_int_equal(seen.lost_of[LOST_OTHERS], 300);
	assert_int_equal(seen.lost.source, 1);
	assert_string_equal(seen.path, "/lib/x.so");
	assert_int_equal(seen.mmap.inode, 99);
	assert_int_equal(seen.mmap.time, 4);
	assert_int_equal(seen.mmap.protection, PROT_READ | PROT_EXEC);
	size_t count;
	const struct perfdata_build_id *ids = perfdata_build_ids(data, &count);
	assert_int_equal(count, 2);
	assert_string_equal(ids[0].path, "[kernel.kallsyms]");
	assert_int_equal(ids[0].build_id.size, 2);
	assert_string_equal(ids[1].path, "/bin/a file");
	assert_memory_equal(ids[1].build_id.bytes, "\xde\xad\xbe\xef", 4);
	assert_int_equal(perfdata_quality(data)->malformed, 0);
	perfdata_close(data);
	seen_release(&seen);
}

static void put_mapping(struct perfdata_writer *writer, uint64_t time, uint64_t start, const char *file)
{
	struct event_sink sink = perfdata_writer_sink(writer);
	struct event_mmap mmap = {.pid = 7,
				  .tid = 7,
				  .time = time,
				  .start = start,
				  .length = 0x2000,
				  .protection = PROT_READ | PROT_EXEC,
				  .path = file,
				  .build_id = {.size = 1, .bytes = {7}}};
	assert_int_equal(sink_mmap(&sink, &mmap), 0);
}

static void put_leaf(struct perfdata_writer *writer, uint64_t time, uint64_t ip)
{
	put_stack(writer, time, &(struct stack_frame){.frame.flags = TRACE_EXACT, .ip = ip}, 1);
}

static void mappings_in_which_no_sample_lies_are_left_out(void **state)
{
	(void)state;
	struct perfdata_writer *writer = open_writer();
	put_mapping(writer, 0, 0x10000, "/lib/before-recording");
	put_mapping(writer, 5, 0x20000, "/lib/never-seen");
	put_mapping(writer, 6, 0x30000, "/lib/first-byte");
	put_mapping(writer, 7, 0x40000, "/lib/last-byte");
	put_mapping(writer, 8, 0x50000, "/lib/ends-before");
	put_mapping(writer, 9, 0x60000, "/tmp/jit-7.dump");
	put_mapping(writer, 10, 0x70000, "/lib/returned-to-its-end");
	put_mapping(writer, 11, 0x72000, "/lib/begins-where-a-call-returns");
	put_leaf(writer, 100, 0x30000);
	put_leaf(writer, 101, 0x41fff);
	put_leaf(writer, 102, 0x52000);
	put_stack(writer, 103, &(struct stack_frame){.ip = 0x72000}, 1);
	put_leaf(writer, 104, 0x80000);
	put_mapping(writer, 20, 0x80000, "/lib/told-late");
	put_leaf(writer, 50, 0x11000); /* older than what is in the file already */
	finish(writer);
	struct seen seen = {0};
	struct perfdata *data = read_back(&seen);
	const char *text = seen_text(&seen), *before = strstr(text, "/lib/before-recording");
	assert_non_null(before);
	assert_true(before < strstr(text, "sample")); /* though it comes last */
	assert_null(strstr(text, "/lib/never-seen"));
	assert_non_null(strstr(text, "/lib/first-byte"));
	assert_non_null(strstr(text, "/lib/last-byte"));
	assert_null(strstr(text, "/lib/ends-before"));
	assert_non_null(strstr(text, "/tmp/jit-7.dump"));
	assert_non_null(strstr(text, "/lib/returned-to-its-end"));
	assert_null(strstr(text, "/lib/begins-where-a-call-returns"));
	assert_non_null(strstr(text, "/lib/told-late"));
	assert_int_equal(perfdata_quality(data)->out_of_order, 0);
	size_t count;
	perfdata_build_ids(data, &count);
	assert_int_equal(count, 6); /* of those that are there */
	perfdata_close(data);
	seen_release(&seen);
}

/* A mapping behind the end of a round would be too late; and so many would be slow to look through. */
static void mappings_of_long_recordings_are_all_there(void **state)
{
	(void)state;
	enum { MANY = 3000, STEPS = 5000 };
	struct stack_frame frames[64] = {0};
	for (int rounds = 0; rounds < 2; rounds++) {
		struct perfdata_writer *writer = open_writer();
		put_mapping(writer, 1, 0x10000, "/lib/early");
		for (uint64_t i = 1; i <= MANY && !rounds; i++)
			put_mapping(writer, i, i << 20, "/lib/many");
		for (uint64_t time = 1; time <= STEPS && rounds; time++) {
			put_stack(writer, time, frames, 64);
			perfdata_writer_settled(writer, time);
		}
		put_mapping(writer, 2 * STEPS, 0x20000, "/lib/late");
		put_leaf(writer, 3 * STEPS, 0x10000);
		finish(writer);
		struct seen seen = {0};
		struct perfdata *data = read_back(&seen);
		assert_non_null(strstr(seen_text(&seen), "/lib/early"));
		assert_non_null(strstr(seen_text(&seen), "/lib/late"));
		assert_int_equal(perfdata_quality(data)->out_of_order, 0);
		perfdata_close(data);
		seen_release(&seen);
	}
}

static const char *fact(struct perfdata *data, const char *name)
{
	size_t count;
	const struct perfdata_fact *facts = perfdata_facts(data, &count);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(facts[i].name, name))
			return facts[i].text;
	return "";
}

static void the_header_describes_events_and_machine(void **state)
{
	(void)state;
	struct perfdata_writer *writer = open_writer();
	put_stack(writer, 1000, NULL, 0);
	finish(writer);
	struct seen seen = {0};
	struct perfdata *data = read_back(&seen);
	size_t count;
	const struct event_source *sources = perfdata_sources(data, &count);
	assert_int_equal(count, 2);
	assert_string_equal(sources[0].name, "cpu-clock:u");
	assert_string_equal(sources[1].name, "page-faults");
	assert_int_equal(sources[0].attr.sample_regs_user, 0);
	assert_int_equal(sources[0].attr.sample_stack_user, 0);
	assert_false(sources[0].attr.sample_type & PERF_SAMPLE_STACK_USER);
	assert_string_equal(fact(data, "hostname"), "box");
	assert_string_equal(fact(data, "os release"), "6.1.0");
	assert_string_equal(fact(data, "nrcpus online"), "4");
	assert_string_equal(fact(data, "cmdline"), "wick record");
	assert_string_equal(perfdata_arch(data), "x86_64");
	perfdata_close(data);
	seen_release(&seen);
}

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

static void a_full_disk_is_told_and_leaves_the_old_file(void **state)
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
	int failed = perfdata_writer_failed(writer), told = sink_comm(&sink, &comm);
	int result = perfdata_writer_finish(writer, &err);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(failed, ERR_IO);
	assert_int_equal(told, ERR_IO);
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

static void events_without_cpu_numbers_write_none(void **state)
{
	(void)state;
	struct event_source source = {.attr = software_event(PERF_COUNT_SW_CPU_CLOCK, SIMPLE_TYPE), .name = "x"};
	struct perfdata_writer_options options = {.sources = &source, .source_count = 1};
	struct event_sample sample = {.pid = 7, .tid = 8, .time = 5, .cpu = UINT32_MAX};
	struct perfdata_writer *writer;
	assert_int_equal(perfdata_writer_open(&writer, path, &options, NULL), 0);
	perfdata_writer_stack(writer, &sample, NULL, 0, STACK_WHOLE);
	finish(writer);
	struct seen seen = {0};
	perfdata_close(read_back(&seen));
	assert_int_equal(seen.sample.cpu, UINT32_MAX);
	assert_int_equal(seen.sample.period, 1);
	seen_release(&seen);
}

/* What is written of one sample of an event beside one that has none. */
static void write_alone(uint64_t event, uint64_t frequency, bool steady, struct seen *seen)
{
	struct event_source sources[] = {
		{.attr = software_event(event, RECORDED_TYPE), .name = "alone"},
		{.attr = software_event(PERF_COUNT_SW_DUMMY, RECORDED_TYPE), .name = "dummy:u"},
	};
	sources[0].attr.freq = 1;
	sources[0].attr.sample_freq = frequency;
	struct perfdata_writer_options options = {.sources = sources, .source_count = 2, .steady_clocks = steady};
	struct perfdata_writer *writer = NULL;
	assert_int_equal(perfdata_writer_open(&writer, path, &options, NULL), 0);
	struct event_sample sample = {
		.pid = 7, .tid = 8, .cpu = 3, .mode = MODE_USER, .ip = 0x401000, .time = 5, .period = 4000000};
	struct stack_frame frames[] = {{.frame.flags = TRACE_EXACT, .ip = 0x401000}, {.ip = 0x402000}};
	perfdata_writer_stack(writer, &sample, frames, 2, STACK_WHOLE);
	put_others(writer);
	finish(writer);
	struct perfdata *data = read_back(seen);
	size_t count;
	const struct event_source *source = perfdata_sources(data, &count);
	assert_int_equal(count, 1);
	assert_string_equal(source->name, "alone");
	assert_false(source->attr.sample_type & PERF_SAMPLE_IDENTIFIER);
	assert_int_equal(perfdata_quality(data)->malformed + perfdata_quality(data)->unknown_ids, 0);
	assert_int_equal(seen->samples, 1);
	assert_int_equal(seen->sample.pid, 7);
	assert_int_equal(seen->sample.time, 5);
	assert_int_equal(seen->sample.cpu, 3);
	assert_int_equal(seen->sample.chain_count, 2); /* without a word on whose they are: user space's */
	perfdata_close(data);
}

static void what_all_samples_have_in_common_is_said_once(void **state)
{
	(void)state;
	struct seen clock = {0}, other = {0}, unsteady = {0};
	write_alone(PERF_COUNT_SW_CPU_CLOCK, 999, true, &clock);
	assert_int_equal(clock.sample.period, 1001001); /* what the kernel makes of the frequency */
	write_alone(PERF_COUNT_SW_PAGE_FAULTS, 999, true, &other);
	assert_int_equal(other.sample.period, 4000000);
	write_alone(PERF_COUNT_SW_CPU_CLOCK, 999, false, &unsteady);
	assert_int_equal(unsteady.sample.period, 4000000);
	seen_release(&clock);
	seen_release(&other);
	seen_release(&unsteady);
}

static void a_tee_gives_every_record_to_both(void **state)
{
	(void)state;
	struct seen first = {0}, second = {0};
	struct event_tee tee = {seen_sink(&first), seen_sink(&second)};
	struct event_sink sink = event_tee_sink(&tee);
	struct event_comm comm = {.pid = 7, .tid = 7, .comm = "name"};
	struct event_lost lost = {.count = 3};
	assert_int_equal(sink_comm(&sink, &comm), 0);
	assert_int_equal(sink_lost(&sink, &lost), 0);
	assert_non_null(strstr(seen_text(&first), "name"));
	assert_non_null(strstr(seen_text(&second), "name"));
	assert_int_equal(first.lost_total, 3);
	assert_int_equal(second.lost_total, 3);
	tee.second = (struct event_sink){0};
	assert_int_equal(sink_lost(&sink, &lost), 0);
	assert_int_equal(first.lost_total, 6);
	assert_int_equal(second.lost_total, 3);
	seen_release(&first);
	seen_release(&second);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, make_path, remove_path)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(samples_that_were_added_up_are_told_apart_unless_they_are_a_sum),
		WITH_FILE(a_file_that_is_cut_off_while_it_is_read_is_read_up_to_there),
		WITH_FILE(samples_come_back_with_their_chains),
		WITH_FILE(chains_tell_that_a_stack_is_not_whole),
		WITH_FILE(other_records_come_back_as_they_were_given),
		WITH_FILE(mappings_in_which_no_sample_lies_are_left_out),
		WITH_FILE(mappings_of_long_recordings_are_all_there),
		WITH_FILE(the_header_describes_events_and_machine),
		WITH_FILE(rounds_keep_the_order_of_time),
		WITH_FILE(compressed_records_come_back_as_they_were),
		WITH_FILE(a_stack_that_is_too_deep_for_a_record_is_cut),
		WITH_FILE(an_unfinished_file_is_readable_up_to_its_end),
		WITH_FILE(a_full_disk_is_told_and_leaves_the_old_file),
		WITH_FILE(pipes_and_no_events_are_refused),
		WITH_FILE(events_without_cpu_numbers_write_none),
		cmocka_unit_test(what_all_samples_have_in_common_is_said_once),
		cmocka_unit_test(a_tee_gives_every_record_to_both),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
