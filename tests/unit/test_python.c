/* CPython's objects and lines in memory that the test makes, also such that no interpreter would have. */
#include "python_maker.h"

#include "base/buf.h"
#include "runtime/python/code.h"
#include "runtime/python/name.h"
#include "runtime/python/text.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* --- layouts --- */

static void versions_have_rows(void **state)
{
	(void)state;
	struct python_layout layout;
	for (uint32_t version = 0x0308; version <= 0x030c; version++) {
		assert_true(python_layout_of_version(version, &layout));
		assert_int_equal(layout.version, version);
		assert_int_equal(layout.thread_next, 8);
		assert_int_equal(layout.code_qualname == PYTHON_NO_OFFSET, version < 0x030b);
	}
	assert_false(python_layout_of_version(0x0307, &layout));
	assert_false(python_layout_of_version(0x030d, &layout));
	assert_false(python_layout_of_version(0, &layout));
}

static void the_table_describes_the_interpreter(void **state)
{
	(void)state;
	struct python_layout layout;
	assert_true(python_layout_of_table((const uint8_t *)maker_3_13, sizeof maker_3_13, &layout));
	assert_int_equal(layout.version, 0x030d);
	assert_false(layout.free_threaded);
	assert_int_equal(layout.entry, PYTHON_ENTRY_SHIM);
	assert_int_equal(layout.position, PYTHON_POSITION_POINTER);
	assert_int_equal(layout.runtime_interpreters, 632);
	assert_int_equal(layout.interpreter_next, 7264);
	assert_int_equal(layout.interpreter_threads, 7344);
	assert_int_equal(layout.thread_frame, 72);
	assert_int_equal(layout.thread_id, 152);
	assert_int_equal(layout.thread_native_id, 160);
	assert_int_equal(layout.thread_status, 32);
	assert_int_equal(layout.frame_owner, 70);
	assert_int_equal(layout.code_first_line, 68);
	assert_int_equal(layout.code_instructions, 200);
	assert_int_equal(layout.string_ascii, 40);
	assert_int_equal(layout.string_compact, 56);
	assert_int_equal(layout.bytes_data, 32);
	assert_int_equal(layout.frame_bytecode, PYTHON_NO_OFFSET);
	assert_true(python_layout_of_table((const uint8_t *)maker_3_14, sizeof maker_3_14, &layout));
	assert_int_equal(layout.frame_owner, 74);
	assert_int_equal(layout.code_instructions, 208);
	assert_int_equal(layout.code_bytecodes, PYTHON_NO_OFFSET);
}

static bool table_accepted(unsigned word, uint64_t value)
{
	uint64_t words[COUNT(maker_3_13)];
	struct python_layout layout;
	memcpy(words, maker_3_13, sizeof words);
	words[word] = value;
	return python_layout_of_table((const uint8_t *)words, sizeof words, &layout);
}

static void a_table_that_cannot_be_is_refused(void **state)
{
	(void)state;
	struct python_layout layout;
	assert_true(table_accepted(2, 1));
	assert_false(table_accepted(2, 2));
	assert_false(table_accepted(0, MAKER_COOKIE + 1));
	assert_true(table_accepted(1, 0x030d0bf0));
	assert_false(table_accepted(1, 0x030c00f0));
	assert_false(table_accepted(1, 0x031000f0));
	assert_false(table_accepted(1, 0x1000000030d00f0));
	for (size_t size = 0; size < sizeof maker_3_13; size += 8)
		assert_false(python_layout_of_table((const uint8_t *)maker_3_13, size, &layout));
}

static void offsets_have_bounds(void **state)
{
	(void)state;
	unsigned refused = 0;
	for (unsigned word = 3; word < COUNT(maker_3_13); word++)
		refused += !table_accepted(word, 1ull << 32);
	assert_int_equal(refused, 27);
	assert_true(table_accepted(5, (1 << 20) - 1)); /* of the runtime */
	assert_false(table_accepted(5, 1 << 20));
	assert_true(table_accepted(33, PYTHON_FRAME_BYTES - 9)); /* of a frame */
	assert_false(table_accepted(33, PYTHON_FRAME_BYTES - 8));
	assert_true(table_accepted(35, 4095)); /* of an object */
	assert_false(table_accepted(35, 4096));
}

/* --- strings --- */

static void assert_text(struct maker *maker, uint64_t address, const char *wanted)
{
	CLEANUP_BUF struct buf out = {0};
	assert_true(python_text_read(&maker->memory, &maker->layout, address, PYTHON_NAME_MAX, &out));
	assert_string_equal(out.data ? out.data : "", wanted);
}

static void strings_of_all_kinds_are_read(void **state)
{
	(void)state;
	static const uint32_t latin[] = {'n', 0xe4, 'h'}, wide[] = {0x3b1, '.', 0x4e2d}, widest[] = {0x1f40d, 'x'};
	for (unsigned i = 0; i < MAKER_LAYOUTS; i++) {
		struct maker *maker = maker_layout(i);
		for (unsigned how = 0; how <= MAKER_KIND_NOT_COMPACT; how += MAKER_KIND_NOT_COMPACT) {
			assert_text(maker, maker_string(maker, how, (const uint32_t[]){'a', 'b'}, 2), "ab");
			assert_text(maker, maker_string(maker, how | 1, latin, 3), "näh");
			assert_text(maker, maker_string(maker, how | 2, wide, 3), "α.中");
			assert_text(maker, maker_string(maker, how | 4, widest, 2), "🐍x");
			assert_text(maker, maker_string(maker, how, NULL, 0), "");
		}
	}
}

static void what_is_no_text_is_replaced(void **state)
{
	(void)state;
	struct maker *maker = maker_of_version(0x030c);
	static const uint32_t control[] = {'a', '\n', 0x1b, 0, 0x7f, 0x85, 'z'};
	static const uint32_t surrogate[] = {0xdc80, 'b'}, beyond[] = {0x110000, UINT32_MAX};
	assert_text(maker, maker_string(maker, 1, control, 7), "a?????z");
	assert_text(maker, maker_string(maker, 2, surrogate, 2),
		    "\xef\xbf\xbd"
		    "b");
	assert_text(maker, maker_string(maker, 4, beyond, 2), "\xef\xbf\xbd\xef\xbf\xbd");
}

static void long_strings_are_cut_between_characters(void **state)
{
	(void)state;
	struct maker *maker = maker_of_version(0x0308);
	uint32_t characters[700];
	CLEANUP_BUF struct buf out = {0};
	for (size_t i = 0; i < COUNT(characters); i++)
		characters[i] = 0x4e2d;
	uint64_t string = maker_string(maker, 2, characters, COUNT(characters));
	buf_str(&out, "kept");
	assert_true(python_text_read(&maker->memory, &maker->layout, string, 1000, &out));
	assert_int_equal(out.size, 4 + 999);
	buf_clear(&out);
	assert_true(python_text_read(&maker->memory, &maker->layout, string, 5000, &out));
	assert_int_equal(out.size, 2100);
}

static void what_is_no_string_is_refused(void **state)
{
	(void)state;
	struct maker *maker = maker_of_version(0x030b);
	const struct python_layout *layout = &maker->layout;
	CLEANUP_BUF struct buf out = {0};
	buf_str(&out, "kept");
	uint64_t string = maker_ascii(maker, "abcdef");
	maker_room(maker, 64); /* characters of 4 bytes would end there */
	assert_false(python_text_read(&maker->memory, layout, 0, 100, &out));
	assert_false(python_text_read(&maker->memory, layout, UINT64_MAX - 20, 100, &out));
	maker_put64(maker, string + layout->string_length, 100000); /* beyond the end of memory */
	assert_false(python_text_read(&maker->memory, layout, string, 100, &out));
	maker_put64(maker, string + layout->string_length, UINT64_MAX);
	assert_false(python_text_read(&maker->memory, layout, string, 100, &out));
	maker_put64(maker, string + layout->string_length, 6);
	for (uint32_t kind = 0; kind < 8; kind++) {
		maker_put32(maker, string + layout->string_state, kind << 2 | 1 << 5);
		assert_int_equal(python_text_read(&maker->memory, layout, string, 0, &out),
				 kind == 1 || kind == 2 || kind == 4);
		maker_put32(maker, string + layout->string_state, kind << 2 | 3 << 5);
		assert_int_equal(python_text_read(&maker->memory, layout, string, 0, &out), kind == 1);
	}
	maker_put32(maker, string + layout->string_state, 1 << 2); /* not compact, and the pointer leads nowhere */
	maker_put64(maker, string + layout->string_compact, 1ull << 60);
	assert_false(python_text_read(&maker->memory, layout, string, 100, &out));
	assert_string_equal(out.data, "kept");
}

/* --- names --- */

static void modules_are_named_by_their_files(void **state)
{
	(void)state;
	static const char *const files[][2] = {
		{"/usr/lib/python3.11/json/decoder.py", "json.decoder"},
		{"/usr/lib/python3.11/json/__init__.py", "json"},
		{"/usr/lib/python3.11/os.py", "os"},
		{"/opt/lib/python3.13t/asyncio/base_events.py", "asyncio.base_events"},
		{"/usr/lib/python3/dist-packages/yaml/loader.py", "yaml.loader"},
		{"/venv/lib/python3.8/site-packages/numpy/core/__init__.py", "numpy.core"},
		{"/venv/lib/python3.8/site-packages/a/lib/python3.8/site-packages/b.py", "b"},
		{"lib/python3.10/abc.py", "abc"},
		{"site-packages/x/y.py", "x.y"},
		{"/srv/lib/pythonic/x.py", "x"},
		{"/srv/lib/python3/x.py", "x"},
		{"/srv/mysite-packages/x.py", "x"},
		{"/home/u/app.py", "app"},
		{"app.py", "app"},
		{"app", "app"},
		{"/home/u/tool.pyw", "tool.pyw"},
		{"/home/u/pkg/__init__.py", "pkg"},
		{"/home/u/pkg/__main__.py", "__main__"},
		{"__init__.py", "__init__"},
		{"<frozen importlib._bootstrap>", "importlib._bootstrap"},
		{"<frozen >", ""},
		{"<frozen ", "<frozen "},
		{"<string>", "<string>"},
		{"<stdin>", "<stdin>"},
		{"<", "<"},
		{"", ""},
		{"/", ""},
		{"//.py", ""},
		{"/usr/lib/python3.11/", ""},
	};
	for (size_t i = 0; i < COUNT(files); i++) {
		CLEANUP_BUF struct buf out = {0};
		python_module_name(&out, files[i][0]);
		assert_string_equal(out.data ? out.data : "", files[i][1]);
	}
}

/* --- lines --- */

static uint32_t line_at(uint32_t version, uint32_t first_line, const char *lines, size_t size, uint32_t offset)
{
	struct python_layout layout = {.version = version};
	struct python_code code = {.first_line = first_line, .lines = (uint8_t *)lines, .lines_size = size};
	return python_code_line(&code, &layout, offset);
}

#define LINE(version, first_line, lines, offset) line_at(version, first_line, lines, sizeof(lines) - 1, offset)

static void lines_up_to_3_9_are_pairs(void **state)
{
	(void)state;
	/* From 0: 11; from 6: 10 (backwards); from 6 + 255 + 5 on: 10 + 127 + 3. */
	static const char lines[] = "\x00\x01\x06\xff\xff\x00\x05\x7f\x00\x03\x09";
	for (uint32_t version = 0x0308; version <= 0x0309; version++) {
		assert_int_equal(LINE(version, 10, lines, 0), 11);
		assert_int_equal(LINE(version, 10, lines, 5), 11);
		assert_int_equal(LINE(version, 10, lines, 6), 10);
		assert_int_equal(LINE(version, 10, lines, 265), 10);
		assert_int_equal(LINE(version, 10, lines, 266), 140);
		assert_int_equal(LINE(version, 10, lines, 100000), 140);
		assert_int_equal(LINE(version, 10, lines, UINT32_MAX), 10); /* before the first instruction */
		assert_int_equal(LINE(version, 10, "", 4), 10);
		assert_int_equal(LINE(version, 1, "\x00\x80", 4), 1); /* before the first line of a file */
	}
}

static void lines_of_3_10_are_ranges(void **state)
{
	(void)state;
	/* [0, 4): 7; [4, 6): none; [6, 10): 6; and nothing behind. */
	static const char lines[] = "\x00\x05\x04\x02\x02\x80\x04\xff\x08";
	assert_int_equal(LINE(0x030a, 0, lines, 0), 7);
	assert_int_equal(LINE(0x030a, 0, lines, 2), 7);
	assert_int_equal(LINE(0x030a, 0, lines, 4), 0);
	assert_int_equal(LINE(0x030a, 0, lines, 6), 6);
	assert_int_equal(LINE(0x030a, 0, lines, 8), 6);
	assert_int_equal(LINE(0x030a, 3, lines, 10), 3);
	assert_int_equal(LINE(0x030a, 3, lines, UINT32_MAX), 3);
}

static void lines_from_3_11_are_locations(void **state)
{
	(void)state;
	static const char lines[] = "\x80\x11" /* short, 1 unit: 100 */
				    "\xd9\x01\x02" /* next line, 2 units: 101 */
				    "\xe8\x85" /* without columns, 1 unit: 101 - 2 = 99; 5 is -2, in one byte */
				    "\xf0\x50\x01\x02\x03\x44\x05" /* long, 1 unit; -8 … */;
	static const char no_columns[] = "\xe8\x05";
	static const char far[] = "\xf0\x60\x46\x01\x02\x43\x01\x42\x01" /* 0x1000 + 0x180 + 0x20 = 0x11a0: +0x8d0 */
				  "\xf9" /* none, 2 units */
				  "\xe7\x03\x04"; /* 2 lines further, 8 units */
	assert_int_equal(LINE(0x030b, 100, lines, 0), 100);
	assert_int_equal(LINE(0x030b, 100, lines, 2), 101);
	assert_int_equal(LINE(0x030b, 100, lines, 4), 101);
	assert_int_equal(LINE(0x030b, 100, no_columns, 0), 98);
	for (uint32_t version = 0x030b; version <= 0x030f; version++) {
		assert_int_equal(LINE(version, 100, far, 0), 100 + 0x8d0);
		assert_int_equal(LINE(version, 100, far, 2), 100);
		assert_int_equal(LINE(version, 100, far, 4), 100);
		assert_int_equal(LINE(version, 100, far, 6), 100 + 0x8d0 + 2);
		assert_int_equal(LINE(version, 100, far, 21), 100 + 0x8d0 + 2);
		assert_int_equal(LINE(version, 100, far, 22), 100);
		assert_int_equal(LINE(version, 100, far, UINT32_MAX - 1), 100);
	}
}

static void broken_tables_end(void **state)
{
	(void)state;
	/* No location begins like this. */
	assert_int_equal(LINE(0x030b, 5, "\xd8\x01\x02\x10\x10", 2), 5);
	/* Numbers that do not end, or are too large. */
	assert_int_equal(LINE(0x030b, 5, "\xe8\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f", 0), 5);
	assert_int_equal(LINE(0x030b, 5, "\xe8\x7e\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x3f", 0), 5);
	assert_int_equal(LINE(0x030b, 5, "\xe8", 0), 5);
	assert_int_equal(LINE(0x030a, 5, "\x02", 0), 5);
	assert_int_equal(LINE(0x030a, 5, "\x02\x81", 0), 5);
}

/* --- code objects --- */

static void code_objects_are_read(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MAKER_LAYOUTS; i++) {
		struct maker *maker = maker_layout(i);
		uint64_t address = maker_code(maker, "/usr/lib/python3.9/x/y.py", "Class.method", 42);
		struct python_code code;
		maker_lines(maker, address, "\x00\x01", 2);
		assert_true(python_code_read(&maker->memory, &maker->layout, address, &code));
		assert_string_equal(code.name, i < 3 ? "x.y.method" : "x.y.Class.method");
		assert_string_equal(code.file, "/usr/lib/python3.9/x/y.py");
		assert_int_equal(code.first_line, 42);
		assert_int_equal(code.lines_size, 2);
		assert_memory_equal(code.lines, "\x00\x01", 2);
		assert_true(code.identity);
		assert_int_equal(code.identity, python_code_identity(&maker->memory, &maker->layout, address));
		python_code_release(&code);
	}
}

static void another_function_has_another_identity(void **state)
{
	(void)state;
	struct maker *maker = maker_of_version(0x030b);
	const struct python_layout *layout = &maker->layout;
	uint64_t code = maker_code(maker, "a.py", "f", 1);
	uint64_t before = python_code_identity(&maker->memory, layout, code);
	const uint16_t members[] = {layout->code_file, layout->code_name, layout->code_qualname,
				    layout->code_first_line, layout->code_lines};
	for (size_t i = 0; i < COUNT(members); i++) {
		uint8_t *byte = &maker->bytes[code + members[i]];
		++*byte;
		assert_int_not_equal(python_code_identity(&maker->memory, layout, code), before);
		--*byte;
	}
	assert_int_equal(python_code_identity(&maker->memory, layout, code), before);
	assert_int_equal(python_code_identity(&maker->memory, layout, 0), 0);
	assert_int_equal(python_code_identity(&maker->memory, layout, 1ull << 50), 0);
}

static void what_is_no_code_is_refused(void **state)
{
	(void)state;
	struct maker *maker = maker_of_version(0x030b);
	const struct python_layout *layout = &maker->layout;
	uint64_t address = maker_code(maker, "a.py", "f", 1);
	struct python_code code;
	const uint16_t members[] = {layout->code_file, layout->code_qualname, layout->code_first_line};
	for (size_t i = 0; i < COUNT(members); i++) {
		uint64_t was;
		memcpy(&was, maker->bytes + address + members[i], sizeof was);
		maker_put64(maker, address + members[i], 0xffffffffffffull);
		assert_false(python_code_read(&maker->memory, layout, address, &code));
		maker_put64(maker, address + members[i], was);
	}
	assert_false(python_code_read(&maker->memory, layout, 0, &code));
	assert_false(python_code_read(&maker->memory, layout, maker->used - 8, &code));
	uint64_t unnamed = maker_code(maker, "a.py", "", 1);
	assert_false(python_code_read(&maker->memory, layout, unnamed, &code));
}

static void a_function_without_lines_has_its_first_one(void **state)
{
	(void)state;
	struct maker *maker = maker_of_version(0x030c);
	const struct python_layout *layout = &maker->layout;
	uint64_t address = maker_code(maker, "<string>", "f", 7);
	const uint64_t sizes[] = {0, 1000000, PYTHON_LINES_MAX, PYTHON_LINES_MAX + 1, UINT64_MAX};
	struct python_code code;
	for (size_t i = 0; i < COUNT(sizes) + 1; i++) {
		if (i) {
			maker_lines(maker, address, "\x80\x01", 2);
			uint64_t lines;
			memcpy(&lines, maker->bytes + address + layout->code_lines, sizeof lines);
			maker_put64(maker, lines + layout->bytes_size, sizes[i - 1]);
		}
		assert_true(python_code_read(&maker->memory, layout, address, &code));
		assert_string_equal(code.name, "<string>.f");
		assert_null(code.lines);
		assert_int_equal(python_code_line(&code, layout, 0), 7);
		python_code_release(&code);
	}
}

static void long_names_are_cut(void **state)
{
	(void)state;
	struct maker *maker = maker_of_version(0x030c);
	char path[1500], name[1500];
	struct python_code code;
	memset(path, 'p', sizeof path - 1);
	memset(name, 'n', sizeof name - 1);
	path[sizeof path - 1] = name[sizeof name - 1] = '\0';
	assert_true(python_code_read(&maker->memory, &maker->layout, maker_code(maker, path, name, 7), &code));
	assert_int_equal(strlen(code.file), PYTHON_NAME_MAX);
	assert_int_equal(strlen(code.name), PYTHON_NAME_MAX);
	python_code_release(&code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_have_rows),
		cmocka_unit_test(the_table_describes_the_interpreter),
		cmocka_unit_test(a_table_that_cannot_be_is_refused),
		cmocka_unit_test(offsets_have_bounds),
		cmocka_unit_test(strings_of_all_kinds_are_read),
		cmocka_unit_test(what_is_no_text_is_replaced),
		cmocka_unit_test(long_strings_are_cut_between_characters),
		cmocka_unit_test(what_is_no_string_is_refused),
		cmocka_unit_test(modules_are_named_by_their_files),
		cmocka_unit_test(lines_up_to_3_9_are_pairs),
		cmocka_unit_test(lines_of_3_10_are_ranges),
		cmocka_unit_test(lines_from_3_11_are_locations),
		cmocka_unit_test(broken_tables_end),
		cmocka_unit_test(code_objects_are_read),
		cmocka_unit_test(another_function_has_another_identity),
		cmocka_unit_test(what_is_no_code_is_refused),
		cmocka_unit_test(a_function_without_lines_has_its_first_one),
		cmocka_unit_test(long_names_are_cut),
	};
	return cmocka_run_group_tests_name("python", tests, NULL, NULL);
}
