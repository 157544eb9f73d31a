/*
 * A perf.data that is made here: the input is a program that says which events, records and features it has and which
 * values are in them. Sizes and counts are right unless the program says otherwise, so that hostile values reach what
 * is behind the decoder: order, mappings, unwinding, names and sums.
 */
#include "harness.h"
#include "parse.h"
#include "perfdata/format.h"
#include "perfdata_read.h"

#include "base/buf.h"
#include "collect/collect.h"

#include <zstd.h>

#define EVENTS_MAX 4
#define RECORDS_MAX 512
#define CHAIN_MAX 40
#define STACK_MAX 256
#define NESTING_MAX 2 /* of records in compressed ones */

struct program {
	const uint8_t *at, *end;
	struct perf_event_attr attrs[EVENTS_MAX];
	size_t event_count;
	uint64_t last; /* value */
	uint64_t time;
	unsigned records, nesting;
};

/* --- values --- */

static uint8_t take(struct program *program)
{
	return program->at < program->end ? *program->at++ : 0;
}

static uint64_t take_bytes(struct program *program, size_t size)
{
	uint64_t value = 0;
	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)take(program) << 8 * i;
	return value;
}

/* One byte for what is worth trying, more for any other number. */
static uint64_t value(struct program *program)
{
	static const uint64_t special[] = {
		0,
		1,
		UINT64_MAX,
		INT64_MAX,
		(uint64_t)INT64_MIN,
		UINT32_MAX,
		INT32_MAX,
		0xffffffff81000000,
		0x400000,
		0x401000,
		0x7f0000000000,
		(uint64_t)PERF_CONTEXT_KERNEL,
		(uint64_t)PERF_CONTEXT_USER,
		(uint64_t)PERF_CONTEXT_GUEST,
		(uint64_t)PERF_CONTEXT_MAX,
		CONTEXT_USER_DEFERRED,
	};
	uint8_t choice = take(program);
	switch (choice >> 4) {
	case 0:
		return program->last = special[choice & 15];
	case 1:
		return program->last = take_bytes(program, 1u + (choice & 7));
	case 2:
		return program->last += choice & 15;
	case 3:
		return program->last -= choice & 15;
	case 4:
		return program->last << (choice & 15);
	default:
		return choice & 0x7f;
	}
}

static uint64_t next_time(struct program *program)
{
	uint8_t choice = take(program);
	if (choice < 224)
		return program->time += choice * 1000u;
	return choice < 240 ? value(program) : program->time - (choice - 240u) * 100000u;
}

static const char *text(struct program *program)
{
	static const char *const texts[] = {
		"/usr/bin/program",
		"[kernel.kallsyms]_text",
		"//anon",
		"[vdso]",
		"/tmp/perf-7.map",
		"",
		"/memfd:code (deleted)",
		"[module]",
		"/nonexistent/jit-7.dump",
		"a;b c\nd",
		"\xff\xfe",
		"swapper",
		"[kernel.kallsyms]",
		"/usr/lib/libnode.so (deleted)",
		"cpu-clock",
		"/SYSV00000000",
	};
	return texts[take(program) % 16];
}

/* --- records --- */

static void put(struct buf *out, uint64_t word)
{
	buf_add(out, &word, sizeof word);
}

static void put_text(struct buf *out, const char *string)
{
	size_t size = strlen(string) + 1;
	buf_add(out, string, size);
	for (; size % 8; size++)
		buf_char(out, 0);
}

/* A count of what follows: right except for a program that requests another. */
static void put_count(struct program *program, struct buf *out, uint64_t count)
{
	put(out, program->at < program->end && *program->at == 0xee ? (take(program), value(program)) : count);
}

static void put_words(struct program *program, struct buf *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put(out, value(program));
}

static void put_record(struct buf *out, uint32_t type, uint16_t misc, const struct buf *body)
{
	struct perf_event_header header = {type, misc, (uint16_t)(8 + body->size)};
	if (body->size > 65520)
		return;
	buf_add(out, &header, sizeof header);
	buf_add(out, body->data, body->size);
}

static void put_tid(struct program *program, struct buf *out)
{
	uint8_t choice = take(program);
	put(out, choice == 0xff ? value(program) : (uint64_t)(choice & 15) << 32 | (uint64_t)(choice >> 4));
}

static void put_read(struct program *program, struct buf *out, uint64_t format)
{
	uint64_t times = (uint64_t)__builtin_popcountll(
		format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
	uint64_t each = 1u + !!(format & PERF_FORMAT_ID) + !!(format & READ_FORMAT_LOST);
	uint64_t count = format & PERF_FORMAT_GROUP ? take(program) % 4 : 1;
	if (format & PERF_FORMAT_GROUP)
		put_count(program, out, count);
	put_words(program, out, times + count * each);
}

static void put_registers(struct program *program, struct buf *out, uint64_t mask)
{
	uint64_t abi = take(program) % 3;
	put(out, abi);
	if (abi)
		put_words(program, out, (size_t)__builtin_popcountll(mask));
}

static void put_raw(struct program *program, struct buf *out)
{
	uint32_t size = 4u + 8u * (take(program) % 8);
	buf_add(out, &size, sizeof size);
	for (uint32_t i = 0; i < size; i++)
		buf_char(out, (char)take(program));
}

static void put_branches(struct program *program, struct buf *out, uint64_t type)
{
	uint64_t count = take(program) % 8;
	put_count(program, out, count);
	put_words(program, out, (type & BRANCH_HW_INDEX ? 1 : 0) + count * 3 + (type & BRANCH_COUNTERS ? count : 0));
}

static void put_stack(struct program *program, struct buf *out)
{
	uint64_t size = take(program) % (STACK_MAX / 8) * 8u;
	put_count(program, out, size);
	put_words(program, out, size / 8);
	if (size)
		put_count(program, out, size);
}

/* The fields in the order of the kernel. */
static void put_sample(struct program *program, struct buf *out)
{
	CLEANUP_BUF struct buf body = {0};
	size_t number = take(program) % program->event_count;
	const struct perf_event_attr *attr = &program->attrs[number];
	uint64_t type = attr->sample_type;
	uint16_t misc = take(program) % 8;
	const uint64_t id = number + 1;
	if (type & PERF_SAMPLE_IDENTIFIER)
		put_count(program, &body, id);
	if (type & PERF_SAMPLE_IP)
		put(&body, value(program));
	if (type & PERF_SAMPLE_TID)
		put_tid(program, &body);
	if (type & PERF_SAMPLE_TIME)
		put(&body, next_time(program));
	if (type & PERF_SAMPLE_ADDR)
		put(&body, value(program));
	if (type & PERF_SAMPLE_ID)
		put_count(program, &body, id);
	put_words(program, &body,
		  (size_t)__builtin_popcountll(type & (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)));
	if (type & PERF_SAMPLE_READ)
		put_read(program, &body, attr->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		size_t count = take(program) % CHAIN_MAX;
		put_count(program, &body, count);
		put_words(program, &body, count);
	}
	if (type & PERF_SAMPLE_RAW)
		put_raw(program, &body);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		put_branches(program, &body, attr->branch_sample_type);
	if (type & PERF_SAMPLE_REGS_USER)
		put_registers(program, &body, attr->sample_regs_user);
	if (type & PERF_SAMPLE_STACK_USER)
		put_stack(program, &body);
	put_words(program, &body,
		  (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT) ? 1 : 0) +
			  (size_t)__builtin_popcountll(type & (PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION)));
	if (type & PERF_SAMPLE_REGS_INTR)
		put_registers(program, &body, attr->sample_regs_intr);
	put_words(program, &body,
		  (size_t)__builtin_popcountll(type & (PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |
						       PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)));
	put_record(out, PERF_RECORD_SAMPLE, misc, &body);
}

/* What ends the records that are no samples. */
static void put_trailer(struct program *program, struct buf *out)
{
	uint64_t type = program->attrs[0].sample_type;
	if (!program->attrs[0].sample_id_all)
		return;
	if (type & PERF_SAMPLE_TID)
		put_tid(program, out);
	if (type & PERF_SAMPLE_TIME)
		put(out, next_time(program));
	put_words(program, out,
		  (size_t)__builtin_popcountll(type & (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU)));
	if (type & PERF_SAMPLE_IDENTIFIER)
		put(out, 1 + take(program) % program->event_count);
}

/* Words and perhaps a text: the layout of most records. */
static const struct {
	uint32_t type;
	uint8_t words; /* behind the first, which is a thread */
	bool thread, text;
} kernel_records[] = {
	{PERF_RECORD_MMAP, 3, true, true},       {PERF_RECORD_MMAP2, 7, true, true},
	{PERF_RECORD_COMM, 0, true, true},       {PERF_RECORD_FORK, 2, true, false},
	{PERF_RECORD_EXIT, 2, true, false},      {PERF_RECORD_LOST, 2, false, false},
	{PERF_RECORD_THROTTLE, 3, false, false}, {PERF_RECORD_UNTHROTTLE, 3, false, false},
	{PERF_RECORD_READ, 4, true, false},      {PERF_RECORD_LOST_SAMPLES, 1, false, false},
	{PERF_RECORD_SWITCH, 0, false, false},   {PERF_RECORD_SWITCH_CPU_WIDE, 0, true, false},
	{PERF_RECORD_KSYMBOL, 2, false, true},   {PERF_RECORD_BPF_EVENT, 2, false, false},
	{PERF_RECORD_CGROUP, 1, false, true},    {PERF_RECORD_TEXT_POKE, 4, false, false},
	{PERF_RECORD_AUX, 3, false, false},      {PERF_RECORD_ITRACE_START, 0, true, false},
};
#define KERNEL_RECORDS (sizeof kernel_records / sizeof *kernel_records)

static void put_kernel_record(struct program *program, struct buf *out, size_t number)
{
	CLEANUP_BUF struct buf body = {0};
	static const uint16_t miscs[] = {1, 2, 0x2000, 0x2002, 0x4002, 0x8000, 0x4000, 0};
	uint16_t misc = miscs[take(program) % 8];
	if (kernel_records[number].thread)
		put_tid(program, &body);
	put_words(program, &body, kernel_records[number].words);
	if (kernel_records[number].text)
		put_text(&body, text(program));
	put_trailer(program, &body);
	put_record(out, kernel_records[number].type, misc, &body);
}

static void put_namespaces(struct program *program, struct buf *out)
{
	CLEANUP_BUF struct buf body = {0};
	size_t count = take(program) % 8;
	put_tid(program, &body);
	put_count(program, &body, count);
	put_words(program, &body, 2 * count);
	put_trailer(program, &body);
	put_record(out, PERF_RECORD_NAMESPACES, 0, &body);
}

static void put_deferred(struct program *program, struct buf *out)
{
	CLEANUP_BUF struct buf body = {0};
	size_t count = take(program) % CHAIN_MAX;
	put(&body, value(program));
	put_count(program, &body, count);
	put_words(program, &body, count);
	put_trailer(program, &body);
	put_record(out, RECORD_CALLCHAIN_DEFERRED, 2, &body);
}

static void put_bytes(struct program *program, struct buf *out, size_t size)
{
	for (size_t i = 0; i < size; i++)
		buf_char(out, (char)take(program));
}

/* The payload of a feature: numbers of 32 bits and texts with their lengths, in the order that the program says. */
static void put_feature_bytes(struct program *program, struct buf *out)
{
	for (unsigned count = take(program) % 16; count; count--) {
		uint8_t choice = take(program);
		uint32_t number = (uint32_t)value(program);
		const char *string = text(program);
		if (choice & 1)
			number = (uint32_t)strlen(string) + 1;
		buf_add(out, &number, sizeof number);
		if (choice & 1)
			buf_add(out, string, number);
	}
}

static void put_attr_record(struct program *program, struct buf *out, const struct perf_event_attr *attr, uint64_t id)
{
	CLEANUP_BUF struct buf body = {0};
	buf_add(&body, attr, sizeof *attr);
	put_count(program, &body, id);
	put_record(out, USER_ATTR, 0, &body);
}

static void put_records(struct program *program, struct buf *out);

static void put_compressed(struct program *program, struct buf *out, bool second_form)
{
	CLEANUP_BUF struct buf inner = {0}, body = {0};
	unsigned length = take(program);
	const uint8_t *end = program->end;
	if (program->nesting == NESTING_MAX)
		return;
	program->nesting++;
	program->end = length < end - program->at ? program->at + length : end;
	put_records(program, &inner);
	program->at = program->end;
	program->end = end;
	program->nesting--;
	size_t room = ZSTD_compressBound(inner.size);
	if (second_form)
		put(&body, 0);
	size_t size = ZSTD_compress(buf_reserve(&body, room), room, inner.data ? inner.data : "", inner.size, 1);
	body.size += ZSTD_isError(size) ? 0 : size;
	if (second_form)
		memcpy(body.data, &size, sizeof size);
	while (body.size % 8 && second_form)
		buf_char(&body, 0);
	put_record(out, second_form ? USER_COMPRESSED2 : USER_COMPRESSED, 0, &body);
}

static void put_user_record(struct program *program, struct buf *out, unsigned choice)
{
	CLEANUP_BUF struct buf body = {0};
	uint32_t types[] = {USER_FINISHED_ROUND, USER_ID_INDEX,   USER_EVENT_UPDATE, USER_TIME_CONV,
			    USER_FEATURE,        USER_THREAD_MAP, USER_CPU_MAP,      USER_BUILD_ID};
	uint32_t type = types[choice % 8];
	if (type == USER_EVENT_UPDATE) {
		put(&body, take(program) % 5u);
		put(&body, 1 + take(program) % program->event_count);
		put_text(&body, text(program));
	} else if (type == USER_FEATURE) {
		put(&body, take(program) % 36u);
		put_feature_bytes(program, &body);
	} else if (type == USER_BUILD_ID) {
		put_bytes(program, &body, 28);
		put_text(&body, text(program));
	} else if (type != USER_FINISHED_ROUND) {
		put_words(program, &body, take(program) % 12);
	}
	while (body.size % 8)
		buf_char(&body, 0);
	put_record(out, type, take(program) & 1 ? 2 : MISC_BUILD_ID_SIZE, &body);
}

static void put_records(struct program *program, struct buf *out)
{
	while (program->at < program->end && program->records++ < RECORDS_MAX) {
		uint8_t choice = take(program);
		if (choice < 128)
			put_sample(program, out);
		else if (choice < 128 + KERNEL_RECORDS)
			put_kernel_record(program, out, choice - 128u);
		else if (choice < 200)
			put_kernel_record(program, out, choice % 5); /* mappings, names and tasks */
		else if (choice < 208)
			put_namespaces(program, out);
		else if (choice < 216)
			put_deferred(program, out);
		else if (choice < 224)
			put_compressed(program, out, choice & 1);
		else if (choice < 228)
			put_attr_record(program, out, &program->attrs[choice % program->event_count], choice);
		else
			put_user_record(program, out, choice);
	}
}

/* --- the file --- */

static void make_events(struct program *program)
{
	program->event_count = 1 + take(program) % EVENTS_MAX;
	for (size_t i = 0; i < program->event_count; i++) {
		uint8_t flags = take(program);
		program->attrs[i] = (struct perf_event_attr){
			.type = flags & 1 ? PERF_TYPE_TRACEPOINT : PERF_TYPE_SOFTWARE,
			.size = sizeof(struct perf_event_attr),
			.config = flags & 2 ? value(program) : 0,
			.sample_period = flags & 4 ? value(program) : 1,
			.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
			.sample_id_all = !(flags & 8),
			.freq = !!(flags & 16),
			.inherit = !!(flags & 32),
			.sample_regs_user = 0xff0fff,
			.sample_regs_intr = 0xff0fff,
			.sample_stack_user = STACK_MAX,
		};
		struct perf_event_attr *attr = &program->attrs[i];
		if (flags & 64)
			attr->sample_type = take_bytes(program, 4) & ((1u << 25) - 1);
		else if (flags & 128)
			attr->sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		else
			attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
		/* With several events their samples must be distinguished. */
		if (program->event_count > 1)
			attr->sample_type |= PERF_SAMPLE_IDENTIFIER;
		attr->read_format = attr->sample_type & PERF_SAMPLE_READ ? take(program) & 31u : 0;
		if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
			attr->branch_sample_type = take_bytes(program, 3);
	}
}

static void make_pipe(struct program *program, struct buf *out)
{
	buf_add(out, PERFDATA_MAGIC, 8);
	put(out, PIPE_HEADER_SIZE);
	for (size_t i = 0; i < program->event_count; i++)
		put_attr_record(program, out, &program->attrs[i], i + 1);
	put_records(program, out);
}

/* Up to three sections behind the data, whose bits are set in the header. */
struct made_features {
	struct file_section sections[3];
	struct buf bytes;
	unsigned count;
};

static void make_features(struct program *program, struct made_features *features, struct file_header *header)
{
	unsigned feature = 1;
	for (unsigned i = 0; i < features->count; i++, feature++) {
		feature += take(program) % 12u;
		header->features[feature / 64] |= 1ull << feature % 64;
		size_t start = features->bytes.size;
		put_feature_bytes(program, &features->bytes);
		features->sections[i] = (struct file_section){start, features->bytes.size - start};
	}
}

static void put_features(struct buf *out, struct made_features *features)
{
	size_t start = out->size + features->count * sizeof *features->sections;
	for (unsigned i = 0; i < features->count; i++)
		features->sections[i].offset += start;
	buf_add(out, features->sections, features->count * sizeof *features->sections);
	buf_add(out, features->bytes.data, features->bytes.size);
	buf_release(&features->bytes);
}

static void make_file(struct program *program, struct buf *out, unsigned feature_count)
{
	struct made_features features = {.count = feature_count};
	struct file_header header = {
		.magic = PERFDATA_MAGIC,
		.size = sizeof header,
		.attr_size = sizeof *program->attrs + sizeof(struct file_section),
	};
	size_t count = program->event_count;
	header.attrs = (struct file_section){sizeof header + count * 8, count * header.attr_size};
	header.data.offset = header.attrs.offset + header.attrs.size;
	buf_add(out, &header, sizeof header);
	for (size_t i = 0; i < count; i++)
		put(out, i + 1);
	for (size_t i = 0; i < count; i++) {
		buf_add(out, &program->attrs[i], sizeof *program->attrs);
		put(out, sizeof header + i * 8);
		put(out, 8);
	}
	make_features(program, &features, &header);
	put_records(program, out);
	header.data.size = out->size - header.data.offset;
	put_features(out, &features);
	memcpy(out->data, &header, sizeof header);
}

/* --- what becomes of it --- */

static const struct event_source *sources_of(void *data, size_t *ret_count)
{
	return perfdata_sources(data, ret_count);
}

static void check_profile(struct profile *profile)
{
	for (unsigned reverse = 0; reverse < 2; reverse++) {
		struct calltree_options options = {.values = {profile_first_value(profile), PROFILE_NONE},
						   .reverse = reverse};
		if (options.values[0] != PROFILE_NONE)
			check_tree(profile, &options);
	}
}

static void collect(const struct buf *bytes, bool count_samples)
{
	static const struct build_id another = {.size = 20, .bytes = "another kernel......"};
	struct collect_options options = {
		.threads = 1, .count_samples = count_samples, .symbols = {.inlines = true, .root = "/nonexistent"}};
	struct perfdata *data;
	struct err err = {0};
	struct profile profile;
	int fd = memfd_create("input", MFD_CLOEXEC);
	if (fd < 0 || write(fd, bytes->data, bytes->size) != (ssize_t)bytes->size)
		abort();
	if (perfdata_open_fd(&data, fd, "input", NULL, 0, &err))
		return;
	profile_init(&profile);
	struct collector *collector = collector_new(&options);
	struct event_sink sink = collector_sink(collector);
	collector_set_reader(collector, &(struct collect_reader){.context = data, .sources = sources_of});
	collector_build_id(collector, "[kernel.kallsyms]", &another);
	perfdata_read(data, &sink, &err);
	collector_finish(collector, &profile);
	check_profile(&profile);
	collector_free(collector);
	profile_release(&profile);
	perfdata_close(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct program program = {.at = data, .end = data + size, .time = 1000000000};
	CLEANUP_BUF struct buf bytes = {0};
	if (size < 4)
		return 0;
	uint8_t flags = take(&program);
	make_events(&program);
	if (flags & 1)
		make_pipe(&program, &bytes);
	else
		make_file(&program, &bytes, flags >> 2 & 3);
	if (bytes.size <= 65536)
		read_both_ways(bytes.data, bytes.size);
	collect(&bytes, flags & 2);
	return 0;
}
