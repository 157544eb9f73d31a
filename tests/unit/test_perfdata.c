/* perf.data: what is in the other records and in the header. */
#include "perfdata_build.h"

#include "perfdata/attr_name.h"

/* --- which event --- */

static void check_two_events(uint64_t id_field)
{
	const uint64_t first_ids[] = {5, 6}, second_ids[] = {7};
	struct build_event events[] = {
		{software_event(PERF_COUNT_SW_CPU_CLOCK, SIMPLE_TYPE | id_field), first_ids, 2},
		{software_event(PERF_COUNT_SW_PAGE_FAULTS, SIMPLE_TYPE | id_field | PERF_SAMPLE_ADDR), second_ids, 1},
	};
	/* Without IDENTIFIER all events must have their id at the same place. */
	if (id_field == PERF_SAMPLE_ID)
		events[0].attr.sample_type |= PERF_SAMPLE_ADDR;
	CLEANUP_BUF struct buf records = {0};
	if (id_field == PERF_SAMPLE_IDENTIFIER) {
		put_words(&records, PERF_RECORD_SAMPLE, 0, 6, 0x10, 1, 100);
		put_words(&records, PERF_RECORD_SAMPLE, 0, 7, 0x20, 1, 200, 0xadd);
	} else {
		put_words(&records, PERF_RECORD_SAMPLE, 0, 0x10, 1, 100, 0, 6);
		put_words(&records, PERF_RECORD_SAMPLE, 0, 0x20, 1, 200, 0xadd, 7);
	}
	CLEANUP_BUF struct buf file = build_file(events, 2, &records, NULL, 0);
	struct seen seen = {0};
	struct perfdata *data;
	assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
	assert_string_equal(seen_text(&seen), "sample 10 0 100\nsample 20 0 200\n");
	assert_int_equal(seen.sample.source, 1);
	assert_int_equal(seen.sample.address, 0xadd);
	perfdata_close(data);
	seen_release(&seen);
}

static void several_events_are_distinguished_by_their_ids(void **state)
{
	(void)state;
	check_two_events(PERF_SAMPLE_IDENTIFIER);
	check_two_events(PERF_SAMPLE_ID);
}

static void samples_of_unknown_events_are_counted(void **state)
{
	(void)state;
	const uint64_t ids[] = {5, 6};
	struct build_event events[] = {
		{software_event(0, SIMPLE_TYPE | PERF_SAMPLE_IDENTIFIER), ids, 1},
		{software_event(2, SIMPLE_TYPE | PERF_SAMPLE_IDENTIFIER), ids + 1, 1},
	};
	CLEANUP_BUF struct buf records = {0};
	put_words(&records, PERF_RECORD_SAMPLE, 0, 77, 0x10, 1, 100);
	CLEANUP_BUF struct buf file = build_file(events, 2, &records, NULL, 0);
	struct seen seen = {0};
	struct perfdata *data;
	assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
	assert_string_equal(seen_text(&seen), "sample 10 0 100\n");
	assert_int_equal(perfdata_quality(data)->unknown_ids, 1);
	perfdata_close(data);
	seen_release(&seen);
}

static void names_are_made_of_attributes(void **state)
{
	(void)state;
	static const struct {
		struct perf_event_attr attr;
		const char *pmu, *name;
	} cases[] = {
		{{.type = PERF_TYPE_HARDWARE, .config = 0}, NULL, "cycles"},
		{{.type = PERF_TYPE_HARDWARE, .config = 1, .exclude_kernel = 1, .exclude_hv = 1},
		 NULL,
		 "instructions:u"},
		{{.type = PERF_TYPE_HARDWARE, .config = 0, .exclude_user = 1, .exclude_hv = 1, .precise_ip = 2},
		 NULL,
		 "cycles:kpp"},
		{{.type = PERF_TYPE_HARDWARE, .config = 0x400000000}, NULL, "cycles"},
		{{.type = PERF_TYPE_HARDWARE, .config = 99}, NULL, "hardware:0x63"},
		{{.type = PERF_TYPE_SOFTWARE, .config = 0}, NULL, "cpu-clock"},
		{{.type = PERF_TYPE_SOFTWARE, .config = 2}, NULL, "page-faults"},
		{{.type = PERF_TYPE_SOFTWARE, .config = 11}, NULL, "cgroup-switches"},
		{{.type = PERF_TYPE_HW_CACHE, .config = 0x10000}, NULL, "L1-dcache-load-misses"},
		{{.type = PERF_TYPE_HW_CACHE, .config = 0x102}, NULL, "LLC-stores"},
		{{.type = PERF_TYPE_HW_CACHE, .config = 0x60000}, NULL, "cache:0x60000"},
		{{.type = PERF_TYPE_RAW, .config = 0x1c2}, NULL, "r1c2"},
		{{.type = PERF_TYPE_TRACEPOINT, .config = 316}, NULL, "tracepoint:316"},
		{{.type = PERF_TYPE_BREAKPOINT, .bp_addr = 0x1000, .bp_type = 3}, NULL, "mem:0x1000:rw"},
		{{.type = 9, .config = 4}, "msr", "msr/config=0x4/"},
		{{.type = 77, .config = 4}, NULL, "type77:0x4"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CLEANUP_BUF struct buf name = {0};
		event_name(&name, &cases[i].attr, cases[i].pmu);
		assert_string_equal(name.data, cases[i].name);
	}
}

/* --- other records --- */

static void trailers_with_any_set_of_fields(void **state)
{
	(void)state;
	static const uint64_t fields[] = {PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
					  PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,  PERF_SAMPLE_IDENTIFIER};
	for (unsigned set = 0; set < 64; set++) {
		CLEANUP_BUF struct buf records = {0}, body = {0}, earlier = {0};
		uint64_t type = 0;
		put_pair(&body, 55, 66);
		put_pair(&earlier, 1, 2);
		put_text(&earlier, "earlier", 8);
		for (unsigned i = 0; i < 6; i++) {
			if (!(set >> i & 1))
				continue;
			type |= fields[i];
			put64(&body, value_of(i));
			put64(&earlier, fields[i] == PERF_SAMPLE_TIME ? 1 : value_of(i));
		}
		put_record(&records, PERF_RECORD_SWITCH_CPU_WIDE, MISC_SWITCH_OUT | MISC_SWITCH_OUT_PREEMPT, &body);
		put_record(&records, PERF_RECORD_COMM, 0, &earlier);
		struct build_event event = {.attr = software_event(0, type | PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD)};
		CLEANUP_BUF struct buf file = build_file(&event, 1, &records, NULL, 0);
		struct seen seen = {0};
		struct perfdata *data;
		assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
		assert_true(seen.change.out && seen.change.preempted);
		assert_memory_equal(seen_text(&seen), set & 2 ? "comm earlier" : "switch out", 10);
		assert_int_equal(seen.change.other_pid, 55);
		assert_int_equal(seen.change.other_tid, 66);
		assert_int_equal(seen.change.tid, set & 1 ? (int32_t)(value_of(0) >> 32) : -1);
		assert_int_equal(seen.change.time, set & 2 ? value_of(1) : 0);
		assert_int_equal(seen.change.cpu, set & 16 ? (uint32_t)value_of(4) : UINT32_MAX);
		perfdata_close(data);
		seen_release(&seen);
	}
}

static void put_mmap2(struct buf *out, bool build_id, bool marked, const char *path)
{
	CLEANUP_BUF struct buf body = {0};
	put_pair(&body, 3, 4);
	put64(&body, 0x400000);
	put64(&body, 0x2000);
	put64(&body, 0x1000);
	if (build_id) {
		put32(&body, 20);
		buf_add(&body, "abcdefghijklmnopqrst", 20);
	} else {
		put_pair(&body, 8, 1);
		put64(&body, 1234);
		put64(&body, 5);
	}
	put_pair(&body, 5, 2);
	put_text(&body, path, 8);
	put_pair(&body, 3, 4);
	put64(&body, 50);
	put_record(out, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | (marked ? MISC_MMAP_BUILD_ID : 0), &body);
}

static void mappings_with_inode_or_build_id(void **state)
{
	(void)state;
	static const struct {
		bool build_id, marked;
	} cases[] = {{false, false}, {true, true}, {false, true}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bool build_id = cases[i].build_id;
		CLEANUP_BUF struct buf records = {0};
		put_mmap2(&records, build_id, cases[i].marked, "/bin/program");
		CLEANUP_BUF struct buf file = build_simple_file(&records);
		struct seen seen = {0};
		struct perfdata *data;
		assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
		assert_string_equal(seen.path, "/bin/program");
		assert_true(seen.mmap.start == 0x400000 && seen.mmap.length == 0x2000 && seen.mmap.offset == 0x1000);
		assert_true(seen.mmap.protection == 5 && seen.mmap.flags == 2 && seen.mmap.time == 50 &&
			    !seen.mmap.kernel);
		assert_int_equal(seen.mmap.build_id.size, build_id ? 20 : 0);
		assert_int_equal(seen.mmap.inode, build_id ? 0 : 1234);
		if (build_id)
			assert_memory_equal(seen.mmap.build_id.bytes, "abcdefghijklmnopqrst", 20);
		else
			assert_true(seen.mmap.major == 8 && seen.mmap.minor == 1 && seen.mmap.inode_generation == 5);
		perfdata_close(data);
		seen_release(&seen);
	}
}

static void put_text_record(struct buf *out, uint32_t type, const uint64_t *words, size_t count, const char *text)
{
	CLEANUP_BUF struct buf body = {0};
	buf_add(&body, words, count * 8);
	put_text(&body, text, 8);
	put64(&body, 9ull << 32 | 1); /* tid */
	put64(&body, 60); /* time */
	put_record(out, type, 0, &body);
}

static void all_other_records(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf records = {0};
	put_text_record(&records, PERF_RECORD_MMAP, (const uint64_t[]){(uint32_t)-1, 1, 2, 3}, 4,
			"[kernel.kallsyms]_text");
	put_text_record(&records, PERF_RECORD_KSYMBOL, (const uint64_t[]){0xabc, 0x1000100000040}, 2, "bpf_prog_1");
	put_text_record(&records, PERF_RECORD_CGROUP, (const uint64_t[]){42}, 1, "/user.slice");
	put_text_record(&records, PERF_RECORD_CGROUP, (const uint64_t[]){42}, 1, "container=web1");
	uint64_t trailer = 9ull << 32 | 1;
	put_words(&records, PERF_RECORD_FORK, 0, 1ull << 32 | 7, 9ull << 32 | 8, 59, trailer, 60);
	put_words(&records, PERF_RECORD_EXIT, 0, 1ull << 32 | 7, 9ull << 32 | 8, 59, trailer, 60);
	put_words(&records, PERF_RECORD_NAMESPACES, 0, 8ull << 32 | 7, 2, 1, 2, 3, 4, trailer, 60);
	put_words(&records, PERF_RECORD_THROTTLE, 0, 59, 1, 1, trailer, 60);
	put_words(&records, PERF_RECORD_UNTHROTTLE, 0, 59, 1, 1, trailer, 60);
	put_words(&records, PERF_RECORD_SWITCH, 0, trailer, 60);
	put_words(&records, PERF_RECORD_LOST, 0, 0, 17, trailer, 60);
	put_words(&records, PERF_RECORD_READ, 0, 8ull << 32 | 7, 123456, trailer, 60);
	put_words(&records, PERF_RECORD_BPF_EVENT, 0, 1, 2, trailer, 60);
	put_words(&records, PERF_RECORD_AUX, 0, 1, 2, 3, trailer, 60);
	put_words(&records, 40, 0, 1, 2);
	put_words(&records, 40000, 1, 1, 2); /* simpleperf: 0x10018 bytes */
	for (unsigned i = 0; i < 0x10000; i++)
		buf_char(&records, 'x');
	put_simple_comm(&records, "last", 1, 61);
	CLEANUP_BUF struct buf file = build_simple_file(&records);
	struct seen seen = {0};
	struct perfdata *data;
	assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
	assert_string_equal(seen_text(&seen), "mmap [kernel.kallsyms]_text 60\n"
					      "ksymbol bpf_prog_1 abc+40 type 1 gone 60\n"
					      "cgroup 42 /user.slice\n"
					      "cgroup 42 names container=web1\n"
					      "fork 7/8 of 1/9 60\n"
					      "exit 7/8 60\n"
					      "switch in 1/9 other -1/-1 60\n"
					      "count 7/8 123456 60\n"
					      "comm last 1/1 61\n"
					      "lost 17\n");
	const struct perfdata_quality *quality = perfdata_quality(data);
	assert_int_equal(quality->records, 17);
	assert_int_equal(quality->unknown_records, 2);
	assert_int_equal(quality->aux_records, 1);
	assert_int_equal(quality->malformed, 0);
	assert_false(quality->cut_off);
	perfdata_close(data);
	seen_release(&seen);
}

static void texts_without_end_are_malformed(void **state)
{
	(void)state;
	static const uint32_t types[] = {PERF_RECORD_MMAP, PERF_RECORD_MMAP2, PERF_RECORD_COMM, PERF_RECORD_CGROUP,
					 PERF_RECORD_KSYMBOL};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		for (size_t words = 0; words < 14; words++) {
			uint64_t body[14];
			memset(body, 'x', sizeof body);
			CLEANUP_BUF struct buf records = {0};
			put_word_array(&records, types[i], 0, body, words);
			CLEANUP_BUF struct buf file = build_simple_file(&records);
			struct seen seen = {0};
			struct perfdata *data;
			assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
			assert_string_equal(seen_text(&seen), "");
			assert_int_equal(perfdata_quality(data)->malformed, 1);
			perfdata_close(data);
			seen_release(&seen);
		}
	}
}

static void lost_samples_are_not_counted_twice(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf records = {0};
	put_words(&records, PERF_RECORD_LOST, 0, 0, 10, 1, 50);
	put_words(&records, PERF_RECORD_LOST_SAMPLES, 0, 3, 1, 60); /* by the kernel: others */
	put_words(&records, PERF_RECORD_LOST_SAMPLES, 0, 12, 1, 0); /* perf's sum at the end, with the 10 in it */
	put_words(&records, PERF_RECORD_LOST_SAMPLES, MISC_LOST_SAMPLES_BPF, 100, 1, 0); /* filtered on purpose */
	CLEANUP_BUF struct buf file = build_simple_file(&records);
	struct seen seen = {0};
	struct perfdata *data;
	assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
	assert_int_equal(seen.lost_total, 10 + 3 + 2);
	perfdata_close(data);
	seen_release(&seen);
}

/* perf writes the sums of all events: those of the dummy event are no samples. */
static void lost_mappings_are_distinguished_from_lost_samples(void **state)
{
	(void)state;
	const uint64_t clock_id[] = {11}, dummy_id[] = {22};
	uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME;
	struct build_event events[] = {
		{software_event(PERF_COUNT_SW_CPU_CLOCK, type), clock_id, 1},
		{software_event(PERF_COUNT_SW_DUMMY, type), dummy_id, 1},
	};
	CLEANUP_BUF struct buf records = {0};
	put_words(&records, PERF_RECORD_LOST, 0, 11, 100, 50, 11); /* 11 wrote next, whoever lost something */
	put_words(&records, PERF_RECORD_LOST, MISC_LOST_OTHERS, 0, 7, 51, 11); /* by wick */
	put_words(&records, PERF_RECORD_LOST_SAMPLES, 0, 3, 0, 11);
	put_words(&records, PERF_RECORD_LOST_SAMPLES, 0, 95, 0, 22);
	CLEANUP_BUF struct buf file = build_file(events, 2, &records, NULL, 0);
	struct seen seen = {0};
	struct perfdata *data;
	assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
	assert_int_equal(seen.lost_of[LOST_SAMPLES], 3);
	assert_int_equal(seen.lost_of[LOST_OTHERS], 95 + 7);
	assert_int_equal(seen.lost_of[LOST_ANY], 2); /* what no sum has */
	perfdata_close(data);
	seen_release(&seen);
}

/* --- the header --- */

static const char *fact_of(const struct perfdata *data, const char *name)
{
	size_t count;
	const struct perfdata_fact *facts = perfdata_facts(data, &count);
	for (size_t i = 0; i < count; i++)
		if (strcmp(facts[i].name, name) == 0)
			return facts[i].text;
	return "(none)";
}

static void put_build_id(struct buf *out, uint16_t misc, const char *path)
{
	CLEANUP_BUF struct buf body = {0};
	put32(&body, (uint32_t)-1);
	buf_add(&body, "0123456789abcdefghij", 20);
	put32(&body, 16);
	put_text(&body, path, 64);
	put_record(out, 0, misc, &body);
}

static void header_features(void **state)
{
	(void)state;
	const uint64_t ids[] = {31};
	struct build_event events[] = {
		{software_event(0, SIMPLE_TYPE), ids, 1},
		{software_event(2, SIMPLE_TYPE), NULL, 0},
	};
	CLEANUP_BUF struct buf build_ids = {0}, hostname = {0}, arch = {0}, cpus = {0}, memory = {0}, command = {0};
	CLEANUP_BUF struct buf names = {0}, times = {0}, damaged = {0}, unknown = {0}, records = {0};
	put_build_id(&build_ids, MISC_BUILD_ID_SIZE | PERF_RECORD_MISC_USER, "/bin/short");
	put_build_id(&build_ids, PERF_RECORD_MISC_KERNEL, "[kernel.kallsyms]");
	put_feature_text(&hostname, "box");
	put_feature_text(&arch, "x86_64");
	put_pair(&cpus, 8, 6);
	put64(&memory, 1024);
	put32(&command, 2);
	put_feature_text(&command, "perf");
	put_feature_text(&command, "record");
	put_pair(&names, 1, sizeof(struct perf_event_attr));
	buf_add(&names, &events[0].attr, sizeof events[0].attr);
	put32(&names, 1);
	put_feature_text(&names, "my-clock");
	put64(&names, 31);
	put64(&times, 1500000000);
	put64(&times, 3750000000);
	put32(&damaged, 1000000); /* more texts than there are bytes */
	put64(&unknown, 1);
	const struct build_feature features[] = {
		{FEATURE_BUILD_ID, &build_ids}, {FEATURE_HOSTNAME, &hostname},
		{FEATURE_ARCH, &arch},          {FEATURE_NRCPUS, &cpus},
		{FEATURE_TOTAL_MEM, &memory},   {FEATURE_CMDLINE, &command},
		{FEATURE_EVENT_DESC, &names},   {FEATURE_NUMA_TOPOLOGY, &damaged},
		{FEATURE_SAMPLE_TIME, &times},  {200, &unknown},
	};
	put_simple_sample(&records, 1, 1, 1);
	CLEANUP_BUF struct buf file = build_file(events, 2, &records, features, sizeof features / sizeof *features);
	struct seen seen = {0};
	struct perfdata *data;
	assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
	assert_string_equal(fact_of(data, "hostname"), "box");
	assert_string_equal(perfdata_arch(data), "x86_64");
	assert_string_equal(fact_of(data, "nrcpus online"), "6");
	assert_string_equal(fact_of(data, "nrcpus avail"), "8");
	assert_string_equal(fact_of(data, "total memory"), "1024 kB");
	assert_string_equal(fact_of(data, "cmdline"), "perf record");
	assert_string_equal(fact_of(data, "sample duration"), "2250.000 ms");
	size_t count;
	const struct event_source *sources = perfdata_sources(data, &count);
	assert_int_equal(count, 2);
	assert_string_equal(sources[0].name, "my-clock");
	assert_string_equal(sources[1].name, "page-faults");
	const struct perfdata_build_id *found = perfdata_build_ids(data, &count);
	assert_int_equal(count, 2);
	assert_string_equal(found[0].path, "/bin/short");
	assert_int_equal(found[0].build_id.size, 16);
	assert_int_equal(found[1].build_id.size, 20);
	assert_false(perfdata_quality(data)->cut_off);
	perfdata_close(data);
	seen_release(&seen);
}

static int open_result(const void *bytes, size_t size, struct err *err)
{
	struct perfdata *data = NULL;
	int result = perfdata_open_fd(&data, file_of(bytes, size), "some.data", NULL, 0, err);
	if (result == 0)
		perfdata_close(data);
	return result;
}

static void files_that_cannot_be_read_are_refused_with_a_reason(void **state)
{
	(void)state;
	struct err err = {0};
	char bytes[104] = "2ELIFREP";
	assert_int_equal(open_result(bytes, sizeof bytes, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "big-endian"));
	memcpy(bytes, "PERFFILE", 8);
	assert_int_equal(open_result(bytes, sizeof bytes, &err), ERR_UNSUPPORTED);
	memcpy(bytes, "PERFILE2", 8);
	assert_int_equal(open_result(bytes, sizeof bytes, &err), ERR_FORMAT);
	assert_int_equal(open_result("some text", 9, &err), ERR_FORMAT);
	assert_non_null(strstr(err.text, "some.data"));
	assert_int_equal(open_result("", 0, &err), ERR_FORMAT);
	struct perfdata *data = NULL;
	assert_int_equal(perfdata_open(&data, "/nonexistent/perf.data", &err), ERR_OPEN);
	assert_true(perfdata_is("PERFILE2", 8) && perfdata_is("2ELIFREP....", 12));
	assert_false(perfdata_is("PERFILE2", 7) || perfdata_is("perf.data", 9));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_events_are_distinguished_by_their_ids),
		cmocka_unit_test(samples_of_unknown_events_are_counted),
		cmocka_unit_test(names_are_made_of_attributes),
		cmocka_unit_test(trailers_with_any_set_of_fields),
		cmocka_unit_test(mappings_with_inode_or_build_id),
		cmocka_unit_test(all_other_records),
		cmocka_unit_test(texts_without_end_are_malformed),
		cmocka_unit_test(lost_samples_are_not_counted_twice),
		cmocka_unit_test(lost_mappings_are_distinguished_from_lost_samples),
		cmocka_unit_test(header_features),
		cmocka_unit_test(files_that_cannot_be_read_are_refused_with_a_reason),
	};
	return cmocka_run_group_tests_name("perfdata", tests, NULL, NULL);
}
