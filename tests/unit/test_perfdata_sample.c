/* perf.data: what is in a sample. */
#include "perfdata_build.h"

#define USER_MASK 0xff0fffull
#define INTERRUPT_MASK 0x3ull

/* Writes a sample by the kernel's rules, with values that identify the field. */
static void put_full_sample(struct buf *out, const struct perf_event_attr *attr)
{
	CLEANUP_BUF struct buf body = {0};
	uint64_t type = attr->sample_type;
	static const unsigned first[] = {16, 0, 1, 2, 3, 6, 9, 7, 8}; /* IDENTIFIER, IP, TID, TIME, …, CPU, PERIOD */
	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		if (type >> first[i] & 1)
			put64(&body, value_of(first[i]));
	if (type & PERF_SAMPLE_READ)
		put64(&body, value_of(4));
	if (type & PERF_SAMPLE_CALLCHAIN) {
		put64(&body, 3);
		put64(&body, PERF_CONTEXT_USER);
		put64(&body, 0x1000);
		put64(&body, 0x2000);
	}
	if (type & PERF_SAMPLE_RAW) {
		put32(&body, 12);
		buf_add(&body, "raw bytes!!!", 12);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		put64(&body, 2);
		if (attr->branch_sample_type & BRANCH_HW_INDEX)
			put64(&body, 7);
		for (uint64_t i = 0; i < 6; i++)
			put64(&body, 100 + i);
		for (uint64_t i = 0; i < 2 && attr->branch_sample_type & BRANCH_COUNTERS; i++)
			put64(&body, 200 + i);
	}
	if (type & PERF_SAMPLE_REGS_USER) {
		put64(&body, PERF_SAMPLE_REGS_ABI_64);
		for (int i = 0; i < __builtin_popcountll(USER_MASK); i++)
			put64(&body, 300 + (uint64_t)i);
	}
	if (type & PERF_SAMPLE_STACK_USER) {
		put64(&body, 32);
		buf_add(&body, "0123456789abcdef0123456789ABCDEF", 32);
		put64(&body, 24);
	}
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		put64(&body, 0x0003000200000001);
	if (type & PERF_SAMPLE_DATA_SRC)
		put64(&body, value_of(15));
	if (type & PERF_SAMPLE_TRANSACTION)
		put64(&body, value_of(17));
	if (type & PERF_SAMPLE_REGS_INTR) {
		put64(&body, PERF_SAMPLE_REGS_ABI_32);
		put64(&body, 400);
		put64(&body, 401);
	}
	static const unsigned last[] = {19, 21, 22, 23}; /* PHYS_ADDR, CGROUP, DATA_PAGE_SIZE, CODE_PAGE_SIZE */
	for (size_t i = 0; i < sizeof last / sizeof *last; i++)
		if (type >> last[i] & 1)
			put64(&body, value_of(last[i]));
	if (type & PERF_SAMPLE_AUX) {
		put64(&body, 8);
		put64(&body, 0);
	}
	put_record(out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL | MISC_EXACT_IP, &body);
}

static uint64_t expected(uint64_t type, unsigned field, uint64_t otherwise)
{
	return type >> field & 1 ? value_of(field) : otherwise;
}

static void check_fixed_fields(const struct event_sample *sample, uint64_t type)
{
	assert_int_equal(sample->mode, MODE_KERNEL);
	assert_true(sample->exact_ip);
	assert_int_equal(sample->ip, expected(type, 0, 0));
	assert_int_equal(sample->pid, (int32_t)expected(type, 1, (uint64_t)-1));
	assert_int_equal(sample->tid, (int32_t)(expected(type, 1, (uint64_t)-1) >> 32));
	assert_int_equal(sample->time, expected(type, 2, 0));
	assert_int_equal(sample->address, expected(type, 3, 0));
	assert_int_equal(sample->id, expected(type, 6, expected(type, 16, 0)));
	assert_int_equal(sample->stream_id, expected(type, 9, 0));
	assert_int_equal(sample->cpu, (uint32_t)expected(type, 7, UINT32_MAX));
	if (!(type & PERF_SAMPLE_READ))
		assert_int_equal(sample->period, expected(type, 8, 1));
	assert_int_equal(sample->data_source, expected(type, 15, 0));
	assert_int_equal(sample->transaction, expected(type, 17, 0));
	assert_int_equal(sample->physical_address, expected(type, 19, 0));
	assert_int_equal(sample->cgroup, expected(type, 21, 0));
	assert_int_equal(sample->data_page_size, expected(type, 22, 0));
	assert_int_equal(sample->code_page_size, expected(type, 23, 0));
	if (type & PERF_SAMPLE_WEIGHT_STRUCT) {
		assert_int_equal(sample->weight, 1);
		assert_int_equal(sample->instruction_latency, 2);
		assert_int_equal(sample->retire_latency, 3);
	} else {
		assert_int_equal(sample->weight, type & PERF_SAMPLE_WEIGHT ? 0x0003000200000001 : 0);
	}
}

static void check_variable_fields(const struct seen *seen, const struct perf_event_attr *attr)
{
	const struct event_sample *sample = &seen->sample;
	uint64_t type = attr->sample_type;
	assert_int_equal(sample->chain_count, type & PERF_SAMPLE_CALLCHAIN ? 3 : 0);
	if (type & PERF_SAMPLE_CALLCHAIN)
		assert_true(seen->chain[0] == PERF_CONTEXT_USER && seen->chain[2] == 0x2000);
	assert_int_equal(sample->raw_size, type & PERF_SAMPLE_RAW ? 12 : 0);
	if (type & PERF_SAMPLE_RAW)
		assert_memory_equal(seen->raw, "raw bytes!!!", 12);
	assert_int_equal(sample->branch_count, type & PERF_SAMPLE_BRANCH_STACK ? 2 : 0);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		assert_true(seen->branches[0].from == 100 && seen->branches[1].to == 104);
	bool counters = type & PERF_SAMPLE_BRANCH_STACK && attr->branch_sample_type & BRANCH_COUNTERS;
	assert_int_equal(sample->branch_counters != NULL, counters);
	if (counters)
		assert_int_equal(seen->counters[1], 201);
	assert_int_equal(sample->user.abi, type & PERF_SAMPLE_REGS_USER ? PERF_SAMPLE_REGS_ABI_64 : 0);
	if (type & PERF_SAMPLE_REGS_USER)
		assert_true(sample->user.mask == USER_MASK && seen->registers[0] == 300 && seen->registers[19] == 319);
	assert_int_equal(sample->interrupt.abi, type & PERF_SAMPLE_REGS_INTR ? PERF_SAMPLE_REGS_ABI_32 : 0);
	if (type & PERF_SAMPLE_REGS_INTR)
		assert_int_equal(seen->interrupt[1], 401);
	assert_int_equal(sample->stack_size, type & PERF_SAMPLE_STACK_USER ? 24 : 0);
	assert_int_equal(sample->stack_asked, type & PERF_SAMPLE_STACK_USER ? 32 : 0);
	if (type & PERF_SAMPLE_STACK_USER)
		assert_memory_equal(seen->stack, "0123456789abcdef01234567", 24);
}

static void check_sample_type(uint64_t type, uint64_t branch_type)
{
	struct build_event event = {.attr = software_event(0, type)};
	event.attr.branch_sample_type = branch_type;
	event.attr.sample_regs_user = USER_MASK;
	event.attr.sample_regs_intr = INTERRUPT_MASK;
	CLEANUP_BUF struct buf records = {0};
	put_full_sample(&records, &event.attr);
	CLEANUP_BUF struct buf file = build_file(&event, 1, &records, NULL, 0);
	struct seen seen = {0};
	struct perfdata *data;
	assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
	assert_int_equal(seen.samples, 1);
	check_fixed_fields(&seen.sample, type);
	check_variable_fields(&seen, &event.attr);
	assert_int_equal(perfdata_quality(data)->malformed, 0);
	perfdata_close(data);
	seen_release(&seen);
}

static void samples_with_each_field_alone_and_in_pairs(void **state)
{
	(void)state;
	for (unsigned a = 0; a < 25; a++)
		for (unsigned b = a; b < 25; b++)
			check_sample_type(1ull << a | 1ull << b, 0);
}

static void samples_with_any_set_of_fields(void **state)
{
	(void)state;
	uint64_t random = 1;
	for (unsigned i = 0; i < 1000; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		check_sample_type(random >> 32 & 0x1ffffff,
				  (random & 1 ? BRANCH_HW_INDEX : 0) | (random & 2 ? BRANCH_COUNTERS : 0));
	}
	check_sample_type(0x1ffffff, BRANCH_HW_INDEX | BRANCH_COUNTERS);
}

static void samples_without_user_memory_have_neither_registers_nor_stack(void **state)
{
	(void)state;
	struct build_event event = {
		.attr = software_event(0, PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT)};
	event.attr.sample_regs_user = USER_MASK;
	CLEANUP_BUF struct buf records = {0};
	put_words(&records, PERF_RECORD_SAMPLE, 0, 0, 0, 42); /* abi 0, stack size 0 */
	CLEANUP_BUF struct buf file = build_file(&event, 1, &records, NULL, 0);
	struct seen seen = {0};
	struct perfdata *data;
	assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
	assert_int_equal(seen.sample.user.abi, 0);
	assert_int_equal(seen.sample.stack_size, 0);
	assert_int_equal(seen.sample.weight, 42);
	perfdata_close(data);
	seen_release(&seen);
}

static void stacks_of_odd_size_are_followed_by_the_rest(void **state)
{
	(void)state;
	struct build_event event = {
		.attr = software_event(0, PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_CGROUP)};
	CLEANUP_BUF struct buf records = {0};
	for (uint64_t i = 0; i < 3; i++) { /* the second and third are not aligned */
		CLEANUP_BUF struct buf body = {0};
		put64(&body, 28);
		buf_add(&body, "0123456789abcdef0123456789AB", 28);
		put64(&body, 20 + i);
		put64(&body, 42 + i);
		put64(&body, 77 + i);
		put_record(&records, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &body);
	}
	CLEANUP_BUF struct buf file = build_file(&event, 1, &records, NULL, 0);
	struct seen seen = {0};
	struct perfdata *data;
	assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
	assert_int_equal(seen.samples, 3);
	assert_int_equal(seen.sample.stack_asked, 28);
	assert_int_equal(seen.sample.stack_size, 22);
	assert_memory_equal(seen.stack, "0123456789abcdef012345", 22);
	assert_int_equal(seen.sample.weight, 44);
	assert_int_equal(seen.sample.cgroup, 79);
	assert_int_equal(perfdata_quality(data)->malformed, 0);
	perfdata_close(data);
	seen_release(&seen);
}

static void sizes_that_lie_cost_their_record_only(void **state)
{
	(void)state;
	const uint64_t lies[] = {1, 5, 0xffff, 0x10000, 1ull << 32, 1ull << 61, UINT64_MAX / 8, UINT64_MAX};
	const uint64_t types[] = {PERF_SAMPLE_CALLCHAIN,  PERF_SAMPLE_RAW,       PERF_SAMPLE_BRANCH_STACK,
				  PERF_SAMPLE_STACK_USER, PERF_SAMPLE_REGS_USER, PERF_SAMPLE_READ};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		for (size_t j = 0; j < sizeof lies / sizeof *lies; j++) {
			struct build_event event = {.attr = software_event(0, types[i])};
			event.attr.sample_regs_user = USER_MASK;
			event.attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
			CLEANUP_BUF struct buf records = {0};
			put_words(&records, PERF_RECORD_SAMPLE, 0, lies[j] ? lies[j] : 1);
			put_simple_comm(&records, "after", 1, 5);
			CLEANUP_BUF struct buf file = build_file(&event, 1, &records, NULL, 0);
			struct seen seen = {0};
			struct perfdata *data;
			assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
			bool raw_is_empty = types[i] == PERF_SAMPLE_RAW && (uint32_t)lies[j] <= 4;
			assert_int_equal(seen.samples, raw_is_empty ? 1 : 0);
			assert_int_equal(perfdata_quality(data)->malformed, raw_is_empty ? 0 : 1);
			assert_non_null(strstr(seen_text(&seen), "comm after"));
			perfdata_close(data);
			seen_release(&seen);
		}
	}
}

static void counter_groups_give_each_event_what_it_moved_by(void **state)
{
	(void)state;
	const uint64_t first_ids[] = {11}, second_ids[] = {22};
	uint64_t type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_READ | PERF_SAMPLE_ID;
	struct build_event events[] = {
		{software_event(PERF_COUNT_SW_CPU_CLOCK, type), first_ids, 1},
		{software_event(PERF_COUNT_SW_PAGE_FAULTS, type), second_ids, 1},
	};
	for (int i = 0; i < 2; i++)
		events[i].attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | READ_FORMAT_LOST |
					     PERF_FORMAT_TOTAL_TIME_ENABLED;
	CLEANUP_BUF struct buf records = {0};
	put_words(&records, PERF_RECORD_SAMPLE, 0, 0x10, 1, 100, 11, 2, 999, 1000, 11, 0, 7, 22, 0);
	put_words(&records, PERF_RECORD_SAMPLE, 0, 0x20, 1, 200, 11, 2, 999, 1500, 11, 0, 7, 22, 0);
	CLEANUP_BUF struct buf file = build_file(events, 2, &records, NULL, 0);
	struct seen seen = {0};
	struct perfdata *data;
	assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
	/* The second event did not move between the samples. */
	assert_string_equal(seen_text(&seen), "sample 10 0 100\nsample 10 0 100\nsample 20 0 200\n");
	assert_int_equal(seen.sample.source, 0);
	assert_int_equal(seen.sample.period, 500);
	perfdata_close(data);
	seen_release(&seen);
}

static void call_chains_that_come_later_are_joined(void **state)
{
	(void)state;
	struct build_event event = {.attr = software_event(0, SIMPLE_TYPE | PERF_SAMPLE_CALLCHAIN)};
	CLEANUP_BUF struct buf records = {0};
	uint64_t thread_7 = 7ull << 32 | 1, thread_8 = 8ull << 32 | 1;
	put_words(&records, PERF_RECORD_SAMPLE, 0, 0xa, thread_7, 10, 4, PERF_CONTEXT_KERNEL, 0xa,
		  CONTEXT_USER_DEFERRED, 99);
	put_words(&records, PERF_RECORD_SAMPLE, 0, 0xb, thread_8, 20, 2, CONTEXT_USER_DEFERRED, 99);
	put_words(&records, RECORD_CALLCHAIN_DEFERRED, 0, 98, 1, 0x333, thread_7, 25);
	put_words(&records, RECORD_CALLCHAIN_DEFERRED, 0, 99, 3, PERF_CONTEXT_USER, 0x111, 0x222, thread_7, 30);
	put_words(&records, PERF_RECORD_EXIT, 0, 1, 8, 40, thread_8, 40);
	CLEANUP_BUF struct buf file = build_file(&event, 1, &records, NULL, 0);
	struct seen seen = {.stop_after = 1};
	struct perfdata *data;
	assert_int_equal(read_bytes(file.data, file.size, &data, &seen), ERR_LIMIT);
	const uint64_t joined[] = {PERF_CONTEXT_KERNEL, 0xa, PERF_CONTEXT_USER, 0x111, 0x222};
	assert_int_equal(seen.sample.chain_count, 5);
	assert_memory_equal(seen.chain, joined, sizeof joined);
	perfdata_close(data);
	seen_release(&seen);

	seen = (struct seen){0};
	assert_int_equal(read_bytes(file.data, file.size, &data, &seen), 0);
	assert_string_equal(seen_text(&seen), "sample a 7 10\nsample b 8 20\nexit 1/8 40\n");
	assert_int_equal(seen.sample.chain_count, 0); /* the marker and the cookie are no addresses */
	assert_int_equal(perfdata_quality(data)->deferred_missing, 1);
	perfdata_close(data);
	seen_release(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_with_each_field_alone_and_in_pairs),
		cmocka_unit_test(samples_with_any_set_of_fields),
		cmocka_unit_test(samples_without_user_memory_have_neither_registers_nor_stack),
		cmocka_unit_test(stacks_of_odd_size_are_followed_by_the_rest),
		cmocka_unit_test(sizes_that_lie_cost_their_record_only),
		cmocka_unit_test(counter_groups_give_each_event_what_it_moved_by),
		cmocka_unit_test(call_chains_that_come_later_are_joined),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
