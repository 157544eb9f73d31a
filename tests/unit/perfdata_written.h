/* Writes perf.data files and reads them again. */
#ifndef WICK_TESTS_PERFDATA_WRITTEN_H
#define WICK_TESTS_PERFDATA_WRITTEN_H

#include "perfdata_build.h"

#include "event/stack_mark.h"
#include "perfdata/write.h"

#include <sys/mman.h>

static char path[64];

static inline int make_path(void **state)
{
	(void)state;
	snprintf(path, sizeof path, "/tmp/wick-write-XXXXXX");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	return 0;
}

static inline int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

#define RECORDED_TYPE                                                                                    \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER | \
	 PERF_SAMPLE_STACK_USER)

static inline struct perfdata_writer *open_writer_packed(bool compress)
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

static inline struct perfdata_writer *open_writer(void)
{
	return open_writer_packed(false);
}

static inline void put_stack(struct perfdata_writer *writer, uint64_t time, const struct stack_frame *frames,
			     size_t count)
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
static inline void put_added_up(struct perfdata_writer *writer, bool sum)
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

static inline void finish(struct perfdata_writer *writer)
{
	struct err err = {0};
	assert_int_equal(perfdata_writer_finish(writer, &err), 0);
}

static inline struct perfdata *read_back(struct seen *seen)
{
	struct perfdata *data = NULL;
	struct event_sink sink = seen_sink(seen);
	assert_int_equal(perfdata_open(&data, path, NULL), 0);
	assert_int_equal(perfdata_read(data, &sink, NULL), 0);
	return data;
}
#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, make_path, remove_path)

static inline void put_others(struct perfdata_writer *writer)
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
	struct event_cgroup cgroup = {.id = 5, .path = "/a"}, names = {.id = 5, .names = "container=b\tpod=c"};
	assert_int_equal(sink_mmap(&sink, &kernel), 0);
	assert_int_equal(sink_comm(&sink, &comm), 0);
	assert_int_equal(sink_mmap(&sink, &mmap), 0);
	assert_int_equal(sink_mmap(&sink, &plain), 0);
	assert_int_equal(sink_fork(&sink, &fork), 0);
	assert_int_equal(sink_ksymbol(&sink, &symbol), 0);
	assert_int_equal(sink_cgroup(&sink, &cgroup), 0);
	assert_int_equal(sink_cgroup(&sink, &names), 0);
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

#endif
