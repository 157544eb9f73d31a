/* Written perf.data files, read again. */
#include "perfdata_written.h"

#include "event/stack_mark.h"
#include "event/tee.h"
#include "perfdata/write.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void samples_that_were_added_up_are_distinguished_unless_they_are_a_sum(void **state)
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

static void chains_show_that_a_stack_is_not_whole(void **state)
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
	assert_non_null(strstr(text, "cgroup 5 /a\ncgroup 5 names container=b\tpod=c\n"));
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
	put_mapping(writer, 20, 0x80000, "/lib/reported-late");
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
	assert_non_null(strstr(text, "/lib/reported-late"));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(samples_that_were_added_up_are_distinguished_unless_they_are_a_sum),
		WITH_FILE(a_file_that_is_cut_off_while_it_is_read_is_read_up_to_there),
		WITH_FILE(samples_come_back_with_their_chains),
		WITH_FILE(chains_show_that_a_stack_is_not_whole),
		WITH_FILE(other_records_come_back_as_they_were_given),
		WITH_FILE(mappings_in_which_no_sample_lies_are_left_out),
		WITH_FILE(mappings_of_long_recordings_are_all_there),
		WITH_FILE(the_header_describes_events_and_machine),
		WITH_FILE(events_without_cpu_numbers_write_none),
		cmocka_unit_test(what_all_samples_have_in_common_is_said_once),
		cmocka_unit_test(a_tee_gives_every_record_to_both),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
