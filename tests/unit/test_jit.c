/* Perf maps, jitdump files, and code ranges compared with a linear search. */
#include "shell.h"

#include "symbol/code_ranges.h"
#include "symbol/jitdump.h"
#include "symbol/perfmap.h"
#include "unwind/unwind.h"

#include <sys/stat.h>

/* --- ranges --- */

static void the_range_of_the_time_is_found(void **state)
{
	(void)state;
	struct code_ranges ranges = {0};
	code_ranges_add(&ranges, 100, 50, 10, 1);
	code_ranges_add(&ranges, 120, 10, 20, 2);
	code_ranges_add(&ranges, 100, 50, 30, 3);
	assert_false(code_ranges_add(&ranges, 100, 0, 30, 4));
	code_ranges_finish(&ranges);
	static const struct {
		uint64_t address, time;
		uint32_t value;
	} rows[] = {
		{100, 10, 1}, {125, 10, 1},         {125, 19, 1}, {125, 20, 2}, {131, 20, 1},
		{125, 30, 3}, {149, UINT64_MAX, 3}, {125, 0, 1}, /* before all of them: the first one to come */
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(code_ranges_find(&ranges, rows[i].address, rows[i].time)->value, rows[i].value);
	assert_null(code_ranges_find(&ranges, 99, 10));
	assert_null(code_ranges_find(&ranges, 150, 10));
	code_ranges_release(&ranges);
	code_ranges_finish(&ranges);
	assert_null(code_ranges_find(&ranges, 100, 10));
}

static void random_ranges_are_found_as_by_looking_at_all(void **state)
{
	(void)state;
	enum { COUNT = 300, SPACE = 2000, TIMES = 40 };
	static struct code_range all[COUNT];
	uint64_t seed = 99991;
	for (int round = 0; round < 5; round++) {
		struct code_ranges ranges = {0};
		for (uint32_t i = 0; i < COUNT; i++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			uint64_t start = seed % SPACE, size = 1 + (seed >> 20) % (round % 2 ? 30 : 900);
			all[i] = (struct code_range){start, start + size, (seed >> 40) % TIMES, i};
			code_ranges_add(&ranges, start, size, all[i].time, i);
		}
		code_ranges_finish(&ranges);
		for (uint64_t address = 0; address < SPACE + 1000; address += 3) {
			uint64_t time = address % (TIMES + 2);
			const struct code_range *before = NULL, *after = NULL;
			for (int i = 0; i < COUNT; i++) {
				if (address < all[i].start || address >= all[i].end)
					continue;
				if (all[i].time <= time && (!before || all[i].time >= before->time))
					before = &all[i];
				if (all[i].time > time && (!after || all[i].time < after->time))
					after = &all[i];
			}
			const struct code_range *expected = before ? before : after;
			const struct code_range *found = code_ranges_find(&ranges, address, time);
			assert_int_equal(!expected, !found);
			if (found)
				assert_int_equal(found->value, expected->value);
		}
		code_ranges_release(&ranges);
	}
}

/* --- perf maps --- */

static struct perfmap *map_of(const char *text)
{
	struct perfmap *map = NULL;
	assert_int_equal(perfmap_open_bytes(&map, text, strlen(text), SIZE_MAX, NULL), 0);
	return map;
}

static void perf_maps_of_all_writers_are_read(void **state)
{
	(void)state;
	struct perfmap *map = map_of("7f0000001000 40 plain\n"
				     "0x00007f0000002000 0x0080 java.lang.String::hashCode\n"
				     "7F0000003000 1F LazyCompile:~ f /a b.js:1:2 \r\n"
				     "  7f0000004000\t20\ttabs\n"
				     "\n"
				     "000000007f0000005000 20 many zeros\n"
				     "7f0000006000 20 no newline");
	uint64_t start = 0;
	assert_string_equal(perfmap_find(map, 0x7f0000001000, &start), "plain");
	assert_int_equal(start, 0x7f0000001000);
	assert_string_equal(perfmap_find(map, 0x7f000000103f, NULL), "plain");
	assert_null(perfmap_find(map, 0x7f0000001040, NULL));
	assert_string_equal(perfmap_find(map, 0x7f000000207f, NULL), "java.lang.String::hashCode");
	assert_string_equal(perfmap_find(map, 0x7f0000003001, NULL), "LazyCompile:~ f /a b.js:1:2");
	assert_string_equal(perfmap_find(map, 0x7f0000004001, NULL), "tabs");
	assert_string_equal(perfmap_find(map, 0x7f0000005001, NULL), "many zeros");
	assert_string_equal(perfmap_find(map, 0x7f0000006001, NULL), "no newline");
	assert_int_equal(perfmap_count(map), 6);
	assert_int_equal(perfmap_bad_lines(map), 0);
	perfmap_close(map);
}

static void later_lines_replace_earlier_ones(void **state)
{
	(void)state;
	struct perfmap *map = map_of("1000 100 old\n1080 100 new\n1010 8 newest\n");
	assert_string_equal(perfmap_find(map, 0x1000, NULL), "old");
	assert_string_equal(perfmap_find(map, 0x1010, NULL), "newest");
	assert_string_equal(perfmap_find(map, 0x1018, NULL), "old");
	assert_string_equal(perfmap_find(map, 0x107f, NULL), "old");
	assert_string_equal(perfmap_find(map, 0x1080, NULL), "new");
	assert_string_equal(perfmap_find(map, 0x117f, NULL), "new");
	assert_null(perfmap_find(map, 0x1180, NULL));
	perfmap_close(map);
}

static void lines_that_make_no_sense_are_counted(void **state)
{
	(void)state;
	struct perfmap *map = map_of("zz 10 a\n1000 zz a\n1000 10\n1000 10 \n1000 0 empty\n10000000000000000 1 long\n"
				     "-1 2 a\n1000 1g a\nffffffffffffffff ff wraps\n2000 10");
	assert_int_equal(perfmap_bad_lines(map), 9);
	assert_int_equal(perfmap_count(map), 1);
	assert_null(perfmap_find(map, 0, NULL));
	perfmap_close(map);
	struct perfmap *none = NULL;
	struct err err;
	assert_int_equal(perfmap_open_bytes(&none, "", 0, SIZE_MAX, &err), ERR_EMPTY);
	assert_int_equal(perfmap_open_bytes(&none, "\n\n\0\n", 4, SIZE_MAX, &err), ERR_EMPTY);
	assert_int_equal(perfmap_open(&none, "missing", geteuid(), SIZE_MAX, &err), ERR_OPEN);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(perfmap_open(&none, "fifo", geteuid(), SIZE_MAX, &err), ERR_OPEN);
	assert_null(none);
}

/* What a process writes about itself, and nobody else. */
static void perf_maps_of_others_are_not_believed(void **state)
{
	(void)state;
	struct perfmap *map = NULL;
	struct err err;
	shell("printf '10 10 f\\n' >genuine; ln -s genuine link; cp genuine forged");
	shell("cp genuine holes; truncate -s 1T holes");
	assert_int_equal(perfmap_open(&map, "link", geteuid(), SIZE_MAX, &err), ERR_OPEN);
	if (geteuid() == 0) {
		shell("chown nobody forged");
		assert_int_equal(perfmap_open(&map, "forged", 12345, SIZE_MAX, &err), ERR_OPEN);
		assert_non_null(strstr(err.text, "does not belong to the user"));
	}
	assert_null(map);
	assert_int_equal(perfmap_open(&map, "holes", geteuid(), SIZE_MAX, &err), 0);
	assert_int_equal(perfmap_count(map), 1);
	perfmap_close(map);
}

static void perf_map_files_are_read(void **state)
{
	(void)state;
	FILE *file = fopen("perf-1.map", "we");
	for (int i = 0; i < 100000; i++)
		fprintf(file, "%x 10 function number %d\n", 0x1000 + 16 * i, i);
	fclose(file);
	struct perfmap *map = NULL;
	assert_int_equal(perfmap_open(&map, "perf-1.map", geteuid(), SIZE_MAX, NULL), 0);
	assert_int_equal(perfmap_count(map), 100000);
	assert_string_equal(perfmap_find(map, 0x1000, NULL), "function number 0");
	assert_string_equal(perfmap_find(map, 0x1000 + 16 * 77777 + 15, NULL), "function number 77777");
	size_t bytes = perfmap_bytes(map);
	assert_true(bytes > 100000 * 60 && bytes < 100000 * 300);
	perfmap_close(map);
	/* As much as there is room for. */
	assert_int_equal(perfmap_open(&map, "perf-1.map", geteuid(), bytes / 2, NULL), 0);
	assert_in_range(perfmap_count(map), 1000, 90000);
	assert_true(perfmap_bytes(map) < bytes);
	perfmap_close(map);
	assert_int_equal(perfmap_open(&map, "perf-1.map", geteuid(), 0, NULL), ERR_EMPTY);
}

/* --- jitdump --- */

static struct buf file;

static int release_file(void **state)
{
	(void)state;
	buf_release(&file);
	return 0;
}

static void add_header(uint64_t flags)
{
	uint32_t words[] = {0x4a695444, 1, 40, 62, 0, 77};
	uint64_t longs[] = {1000, flags};
	buf_add(&file, words, sizeof words);
	buf_add(&file, longs, sizeof longs);
}

static void add_record(uint32_t id, uint64_t time, const void *body, size_t size)
{
	uint32_t words[] = {id, (uint32_t)size + 16};
	buf_add(&file, words, sizeof words);
	buf_add(&file, &time, sizeof time);
	buf_add(&file, body, size);
}

static void add_load(uint64_t time, uint64_t address, uint64_t size, uint64_t index, const char *name)
{
	CLEANUP_BUF struct buf body = {0};
	uint32_t words[] = {77, 77};
	uint64_t longs[] = {address, address, size, index};
	buf_add(&body, words, sizeof words);
	buf_add(&body, longs, sizeof longs);
	buf_add(&body, name, strlen(name) + 1);
	buf_add(&body, "code", 4);
	add_record(0, time, body.data, body.size);
}

static void add_move(uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	struct {
		uint32_t words[2];
		uint64_t longs[5];
	} body = {{77, 77}, {to, from, to, size, index}};
	add_record(1, time, &body, sizeof body);
}

struct entry {
	uint64_t address;
	uint32_t line;
	const char *file;
};

static void add_debug(uint64_t address, const struct entry *entries, uint64_t count)
{
	CLEANUP_BUF struct buf body = {0};
	uint64_t longs[] = {address, count};
	buf_add(&body, longs, sizeof longs);
	for (uint64_t i = 0; i < count; i++) {
		uint32_t words[] = {entries[i].line, 0};
		buf_add(&body, &entries[i].address, 8);
		buf_add(&body, words, sizeof words);
		buf_add(&body, entries[i].file, strlen(entries[i].file) + 1);
	}
	add_record(2, 0, body.data, body.size);
}

/* .eh_frame as Python 3.13 writes it for a trampoline of 11 bytes, 16 bytes behind its start, and then the header. */
static const uint8_t python_frames[] = {
	0x14, 0,    0,    0,    0,    0, 0, 0,    1,    'z',  'R',  0,    1,    0x78, 0x10, 1,    0x1b,
	0x0c, 7,    8,    0x90, 1,    0, 0, 0x14, 0,    0,    0,    0x1c, 0,    0,    0,    0xd0, 0xff,
	0xff, 0xff, 0x0b, 0,    0,    0, 0, 0x44, 0x0e, 0x10, 0x46, 0x0e, 8,    0,    1,    0x1b, 3,
	0x3b, 0xcc, 0xff, 0xff, 0xff, 1, 0, 0,    0,    0xc0, 0xff, 0xff, 0xff, 0xe8, 0xff, 0xff, 0xff};
enum { PYTHON_HEADER = 20, PYTHON_CODE = 11 };

static void add_unwinding(uint64_t size, uint64_t header_size, const void *bytes, size_t count)
{
	CLEANUP_BUF struct buf body = {0};
	uint64_t longs[] = {size, header_size, 0};
	buf_add(&body, longs, sizeof longs);
	buf_add(&body, bytes, count);
	buf_add(&body, "\0\0\0", 4);
	add_record(4, 0, body.data, body.size);
}

static const char *found(const struct jitdump *dump, uint64_t address, uint64_t time)
{
	struct jitdump_frame frame;
	return jitdump_find(dump, address, time, &frame) ? frame.name : "-";
}

static void code_is_found_by_its_time(void **state)
{
	(void)state;
	struct jitdump *dump = NULL;
	add_header(0);
	add_load(10, 0x1000, 0x100, 1, "first");
	add_load(20, 0x1000, 0x80, 2, "second");
	add_move(30, 0x1000, 0x3000, 0x80, 2);
	add_record(4, 31, "unwinding table", 16);
	add_record(77, 32, "from the future", 16);
	add_load(40, 0x1000, 0x40, 3, "third");
	add_record(3, 50, "", 0);
	add_load(60, 0x1000, 0x40, 3, "after the end");
	assert_int_equal(jitdump_open_bytes(&dump, file.data, file.size, NULL), 0);
	assert_string_equal(found(dump, 0x1000, 10), "first");
	assert_string_equal(found(dump, 0x1000, 25), "second");
	assert_string_equal(found(dump, 0x1090, 25), "first");
	assert_string_equal(found(dump, 0x3010, 30), "second");
	assert_string_equal(found(dump, 0x1000, 45), "third");
	assert_string_equal(found(dump, 0x1000, UINT64_MAX), "third");
	assert_string_equal(found(dump, 0x1000, 1), "first");
	assert_string_equal(found(dump, 0x1100, 25), "-");
	struct jitdump_facts facts = jitdump_facts(dump);
	assert_int_equal(facts.pid, 77);
	assert_int_equal(facts.functions, 4);
	assert_false(facts.arch_clock);
	assert_false(facts.cut);
	jitdump_close(dump);
}

static void lines_go_with_the_code_that_follows_them(void **state)
{
	(void)state;
	struct jitdump *dump = NULL;
	struct jitdump_frame frame;
	const struct entry entries[] = {
		{0x1020, 8, "a.js"}, {0x1000, 7, "\xff"}, {0x1030, 9, "b.js"}, {0x10, 1, "c.js"}};
	const struct entry others[] = {{0x2000, 1, "d.js"}};
	add_header(1);
	add_debug(0x1000, entries, 4);
	add_load(10, 0x1000, 0x100, 1, "with lines");
	add_load(10, 0x2000, 0x100, 2, "without");
	add_debug(0x9999, others, 1);
	add_load(10, 0x4000, 0x100, 3, "of another");
	add_move(20, 0x1000, 0x5000, 0x100, 1);
	assert_int_equal(jitdump_open_bytes(&dump, file.data, file.size, NULL), 0);
	assert_true(jitdump_facts(dump).arch_clock);
	assert_true(jitdump_find(dump, 0x1005, UINT64_MAX, &frame));
	assert_int_equal(frame.line, 7);
	assert_string_equal(frame.file, "a.js");
	assert_true(jitdump_find(dump, 0x102f, UINT64_MAX, &frame));
	assert_int_equal(frame.line, 8);
	assert_true(jitdump_find(dump, 0x50ff, UINT64_MAX, &frame));
	assert_int_equal(frame.line, 9);
	assert_string_equal(frame.file, "b.js");
	assert_int_equal(frame.start, 0x5000);
	assert_true(jitdump_find(dump, 0x2000, UINT64_MAX, &frame));
	assert_null(frame.file);
	assert_true(jitdump_find(dump, 0x4000, UINT64_MAX, &frame));
	assert_null(frame.file);
	jitdump_close(dump);
}

/* How far up a table finds the return address of code at an address; 0: it does not. */
static uint64_t way_up(const struct unwind_table *table, uint64_t address);

static void unwinding_goes_with_the_code_that_follows_it(void **state)
{
	(void)state;
	struct jitdump *dump = NULL;
	struct jitdump_code code;
	add_header(0);
	add_unwinding(sizeof python_frames, PYTHON_HEADER, python_frames, sizeof python_frames);
	add_load(10, 0x1000, PYTHON_CODE, 1, "with");
	add_load(10, 0x2000, PYTHON_CODE, 2, "without");
	add_unwinding(sizeof python_frames, PYTHON_HEADER, python_frames, sizeof python_frames);
	add_load(10, 0x3000, PYTHON_CODE, 3, "with the same");
	add_move(20, 0x3000, 0x5000, PYTHON_CODE, 3);
	assert_int_equal(jitdump_open_bytes(&dump, file.data, file.size, NULL), 0);
	assert_true(jitdump_facts(dump).unwinding);
	assert_false(jitdump_code(dump, jitdump_version(dump, 0x2000, 10), &code));
	static const uint64_t starts[] = {0x1000, 0x3000, 0x5000};
	for (size_t i = 0; i < 3; i++) {
		struct unwind_table *table = NULL;
		uint64_t start = starts[i];
		assert_true(jitdump_code(dump, jitdump_version(dump, start + 4, UINT64_MAX), &code));
		assert_int_equal(code.start, start);
		assert_int_equal(code.end, start + PYTHON_CODE);
		assert_int_equal(code.eh_frame_size, sizeof python_frames - PYTHON_HEADER);
		struct unwind_code described = {code.start, code.end, code.eh_frame, code.eh_frame_size,
						code.eh_frame_address};
		assert_int_equal(unwind_table_build_code(&table, &described, NULL), 0);
		assert_int_equal(way_up(table, start), 8);
		assert_int_equal(way_up(table, start + 4), 16);
		assert_int_equal(way_up(table, start + 6), 16);
		assert_int_equal(way_up(table, start + 10), 8);
		assert_int_equal(way_up(table, start + 11), 0);
		unwind_table_free(table);
		/* Written for another place, it is for the start of the code. */
		described.eh_frame_address += 0x123450;
		assert_int_equal(unwind_table_build_code(&table, &described, NULL), 0);
		assert_int_equal(way_up(table, start + 6), 16);
		unwind_table_free(table);
	}
	jitdump_close(dump);
}

struct one_table {
	const struct unwind_table *table;
};

static struct unwind_place one_place(void *context, uint64_t ip)
{
	const struct one_table *one = context;
	return (struct unwind_place){.table = ip < 0x10000 ? one->table : NULL, .mapped = true};
}

static uint64_t way_up(const struct unwind_table *table, uint64_t address)
{
	static const uint64_t words[] = {0x10000, 0x20000};
	struct one_table one = {table};
	struct unwind_space space = {
		.context = &one,
		.stack = (const uint8_t *)words,
		.stack_start = 0x700000,
		.stack_size = sizeof words,
		.find = one_place,
	};
	struct unwind_registers registers = {.ip = address, .sp = 0x700000, .fp = 1};
	bool exact = true;
	enum unwind_end end;
	if (!unwind_step(&space, &registers, &exact, &end))
		return 0;
	assert_int_equal(registers.ip, words[(registers.sp - 0x700000) / 8 - 1]);
	return registers.sp - 0x700000;
}

static void unwinding_that_makes_no_sense_is_skipped(void **state)
{
	(void)state;
	static const struct {
		uint64_t size, header_size;
		size_t bytes;
	} rows[] = {
		{68, 20, 10}, /* truncated */
		{UINT64_MAX, 20, 68},
		{68, 69, 68},
		{68, UINT64_MAX, 68},
		{20, 20, 20}, /* a header only, as V8 writes it for its stubs */
		{0, 0, 0},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct jitdump *dump = NULL;
		struct jitdump_code code;
		buf_clear(&file);
		add_header(0);
		add_unwinding(rows[i].size, rows[i].header_size, python_frames, rows[i].bytes);
		add_load(10, 0x1000, PYTHON_CODE, 1, "code");
		assert_int_equal(jitdump_open_bytes(&dump, file.data, file.size, NULL), 0);
		assert_false(jitdump_facts(dump).unwinding);
		assert_false(jitdump_code(dump, 1, &code));
		assert_string_equal(found(dump, 0x1000, 10), "code");
		jitdump_close(dump);
	}
	struct unwind_table *table = NULL;
	for (size_t size = 0; size < 48; size++) {
		struct unwind_code code = {0x1000, 0x1000 + PYTHON_CODE, python_frames, size, 0x1010};
		assert_int_equal(unwind_table_build_code(&table, &code, NULL), ERR_EMPTY);
	}
	uint8_t header_first[sizeof python_frames];
	memcpy(header_first, python_frames + 48, PYTHON_HEADER);
	memcpy(header_first + PYTHON_HEADER, python_frames, 48);
	struct jitdump *dump = NULL;
	struct jitdump_code code;
	buf_clear(&file);
	add_header(0);
	add_unwinding(sizeof header_first, PYTHON_HEADER, header_first, sizeof header_first);
	add_load(10, 0x1000, PYTHON_CODE, 1, "code");
	assert_int_equal(jitdump_open_bytes(&dump, file.data, file.size, NULL), 0);
	assert_true(jitdump_code(dump, 1, &code));
	assert_memory_equal(code.eh_frame, python_frames, 48);
	jitdump_close(dump);
}

static void cut_dumps_give_what_is_there(void **state)
{
	(void)state;
	const struct entry entries[] = {{0x1000, 7, "a.js"}};
	add_header(0);
	add_load(10, 0x1000, 0x100, 1, "first");
	size_t whole = file.size;
	add_debug(0x2000, entries, 1);
	size_t debug = file.size;
	add_load(20, 0x2000, 0x100, 2, "second");
	for (size_t size = 0; size < file.size; size++) {
		CLEANUP_FREE char *cut = mem_alloc(size ? size : 1);
		memcpy(cut, file.data, size);
		struct jitdump *dump = NULL;
		int code = jitdump_open_bytes(&dump, cut, size, NULL);
		assert_int_equal(!code, size >= whole);
		if (code)
			continue;
		assert_string_equal(found(dump, 0x1000, 10), "first");
		assert_string_equal(found(dump, 0x2000, 20), "-");
		assert_int_equal(jitdump_facts(dump).cut, size != whole && size != debug);
		jitdump_close(dump);
	}
}

static void what_is_no_jitdump_is_refused(void **state)
{
	(void)state;
	struct jitdump *dump = NULL;
	struct err err;
	assert_int_equal(jitdump_open(&dump, "missing", geteuid(), SIZE_MAX, &err), ERR_OPEN);
	assert_int_equal(jitdump_open(&dump, ".", geteuid(), SIZE_MAX, &err), ERR_OPEN);
	fclose(fopen("empty.dump", "we"));
	assert_int_equal(jitdump_open(&dump, "empty.dump", geteuid(), SIZE_MAX, &err), ERR_FORMAT);
	add_header(0);
	assert_int_equal(jitdump_open_bytes(&dump, file.data, file.size, &err), ERR_EMPTY);
	file.data[8] = 39; /* size of the header */
	assert_int_equal(jitdump_open_bytes(&dump, file.data, file.size, &err), ERR_FORMAT);
	file.data[8] = 40;
	file.data[0] ^= 1;
	assert_int_equal(jitdump_open_bytes(&dump, file.data, file.size, &err), ERR_FORMAT);
	memcpy(file.data, "JiTD", 4);
	assert_int_equal(jitdump_open_bytes(&dump, file.data, file.size, &err), ERR_FORMAT);
	assert_null(dump);
	buf_clear(&file);
	add_header(0);
	add_load(10, 0x1000, 0x100, 1, "first");
	FILE *written = fopen("jit-77.dump", "we");
	fwrite(file.data, 1, file.size, written);
	fclose(written);
	assert_int_equal(jitdump_open(&dump, "jit-77.dump", geteuid(), SIZE_MAX, &err), 0);
	assert_string_equal(found(dump, 0x1000, 10), "first");
	assert_true(jitdump_bytes(dump) >= file.size / 2);
	jitdump_close(dump);
	assert_int_equal(jitdump_open(&dump, "jit-77.dump", geteuid(), 0, &err), ERR_FORMAT);
	assert_int_equal(jitdump_open(&dump, "jit-77.dump", geteuid(), file.size - 1, &err), ERR_EMPTY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_range_of_the_time_is_found),
		cmocka_unit_test(random_ranges_are_found_as_by_looking_at_all),
		cmocka_unit_test(perf_maps_of_all_writers_are_read),
		cmocka_unit_test(later_lines_replace_earlier_ones),
		cmocka_unit_test(lines_that_make_no_sense_are_counted),
		cmocka_unit_test(perf_maps_of_others_are_not_believed),
		cmocka_unit_test(perf_map_files_are_read),
		cmocka_unit_test_teardown(code_is_found_by_its_time, release_file),
		cmocka_unit_test_teardown(lines_go_with_the_code_that_follows_them, release_file),
		cmocka_unit_test_teardown(unwinding_goes_with_the_code_that_follows_it, release_file),
		cmocka_unit_test_teardown(unwinding_that_makes_no_sense_is_skipped, release_file),
		cmocka_unit_test_teardown(cut_dumps_give_what_is_there, release_file),
		cmocka_unit_test_teardown(what_is_no_jitdump_is_refused, release_file),
	};
	return cmocka_run_group_tests(tests, shell_enter, shell_leave);
}
