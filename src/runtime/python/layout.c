/*
 * The rows of the versions without a table, and which words of the table are which offsets. scripts/python-layout
 * prints both from the headers of an interpreter, and checks that they are here.
 */
#include "runtime/python/layout.h"

#include "base/bytes.h"

#define NONE PYTHON_NO_OFFSET

static const struct python_layout rows[] = {
	{
		.version = 0x0308,
		.entry = PYTHON_ENTRY_EACH,
		.position = PYTHON_POSITION_BYTES,
		.runtime_interpreters = 32,
		.interpreter_next = 0,
		.interpreter_threads = 8,
		.interpreter_modules = 56,
		.thread_next = 8,
		.thread_id = 176,
		.thread_native_id = NONE,
		.runtime_holder = 1368,
		.thread_status = NONE,
		.thread_frame = 24,
		.cframe_frame = NONE,
		.cframe_previous = NONE,
		.frame_code = 32,
		.frame_back = 24,
		.frame_position = 104,
		.frame_owner = NONE,
		.frame_bytecode = NONE,
		.code_file = 104,
		.code_name = 112,
		.code_qualname = NONE,
		.code_first_line = 40,
		.code_lines = 120,
		.code_instructions = NONE,
		.code_string = 48,
		.code_bytecodes = NONE,
		.generator_code = 32,
		.string_length = 16,
		.string_state = 32,
		.string_ascii = 48,
		.string_compact = 72,
		.bytes_size = 16,
		.bytes_data = 32,
	},
	{
		.version = 0x0309,
		.entry = PYTHON_ENTRY_EACH,
		.position = PYTHON_POSITION_BYTES,
		.runtime_interpreters = 32,
		.interpreter_next = 0,
		.interpreter_threads = 8,
		.interpreter_modules = 856,
		.thread_next = 8,
		.thread_id = 176,
		.thread_native_id = NONE,
		.runtime_holder = 568,
		.thread_status = NONE,
		.thread_frame = 24,
		.cframe_frame = NONE,
		.cframe_previous = NONE,
		.frame_code = 32,
		.frame_back = 24,
		.frame_position = 104,
		.frame_owner = NONE,
		.frame_bytecode = NONE,
		.code_file = 104,
		.code_name = 112,
		.code_qualname = NONE,
		.code_first_line = 40,
		.code_lines = 120,
		.code_instructions = NONE,
		.code_string = 48,
		.code_bytecodes = NONE,
		.generator_code = 32,
		.string_length = 16,
		.string_state = 32,
		.string_ascii = 48,
		.string_compact = 72,
		.bytes_size = 16,
		.bytes_data = 32,
	},
	{
		.version = 0x030a,
		.entry = PYTHON_ENTRY_EACH,
		.position = PYTHON_POSITION_UNITS,
		.runtime_interpreters = 32,
		.interpreter_next = 0,
		.interpreter_threads = 8,
		.interpreter_modules = 856,
		.thread_next = 8,
		.thread_id = 176,
		.thread_native_id = NONE,
		.runtime_holder = 568,
		.thread_status = NONE,
		.thread_frame = 24,
		.cframe_frame = NONE,
		.cframe_previous = NONE,
		.frame_code = 32,
		.frame_back = 24,
		.frame_position = 96,
		.frame_owner = NONE,
		.frame_bytecode = NONE,
		.code_file = 104,
		.code_name = 112,
		.code_qualname = NONE,
		.code_first_line = 40,
		.code_lines = 120,
		.code_instructions = NONE,
		.code_string = 48,
		.code_bytecodes = NONE,
		.generator_code = 24,
		.string_length = 16,
		.string_state = 32,
		.string_ascii = 48,
		.string_compact = 72,
		.bytes_size = 16,
		.bytes_data = 32,
	},
	{
		.version = 0x030b,
		.entry = PYTHON_ENTRY_FLAG,
		.position = PYTHON_POSITION_POINTER,
		.runtime_interpreters = 40,
		.interpreter_next = 0,
		.interpreter_threads = 16,
		.interpreter_modules = 888,
		.thread_next = 8,
		.thread_id = 152,
		.thread_native_id = 160,
		.runtime_holder = 576,
		.thread_status = NONE,
		.thread_frame = 56,
		.cframe_frame = 8,
		.cframe_previous = 16,
		.frame_code = 32,
		.frame_back = 48,
		.frame_position = 56,
		.frame_owner = 68,
		.frame_bytecode = NONE,
		.code_file = 112,
		.code_name = 120,
		.code_qualname = 128,
		.code_first_line = 72,
		.code_lines = 136,
		.code_instructions = 184,
		.code_string = NONE,
		.code_bytecodes = NONE,
		.generator_code = 16,
		.string_length = 16,
		.string_state = 32,
		.string_ascii = 48,
		.string_compact = 72,
		.bytes_size = 16,
		.bytes_data = 32,
	},
	{
		.version = 0x030c,
		.entry = PYTHON_ENTRY_SHIM,
		.position = PYTHON_POSITION_POINTER,
		.runtime_interpreters = 40,
		.interpreter_next = 0,
		.interpreter_threads = 72,
		.interpreter_modules = 944,
		.thread_next = 8,
		.thread_id = 136,
		.thread_native_id = 144,
		.runtime_holder = NONE,
		.thread_status = 24,
		.thread_frame = 56,
		.cframe_frame = 0,
		.cframe_previous = 8,
		.frame_code = 0,
		.frame_back = 8,
		.frame_position = 56,
		.frame_owner = 70,
		.frame_bytecode = NONE,
		.code_file = 112,
		.code_name = 120,
		.code_qualname = 128,
		.code_first_line = 68,
		.code_lines = 136,
		.code_instructions = 192,
		.code_string = NONE,
		.code_bytecodes = NONE,
		.generator_code = 72,
		.string_length = 16,
		.string_state = 32,
		.string_ascii = 40,
		.string_compact = 56,
		.bytes_size = 16,
		.bytes_data = 32,
	},
};

/* Numbers of the 64-bit words of the table; 0: the table of this version does not have it. */
struct table_words {
	uint16_t version, words;
	uint8_t runtime_interpreters;
	uint8_t interpreter_next, interpreter_threads, interpreter_modules;
	uint8_t thread_next, thread_id, thread_native_id;
	uint8_t thread_status, thread_interpreter, interpreter_gil, gil_enabled, thread_frame;
	uint8_t frame_code, frame_back, frame_position, frame_owner, frame_bytecode;
	uint8_t code_file, code_name, code_qualname, code_first_line, code_lines, code_instructions, code_bytecodes;
	uint8_t generator_frame;
	uint8_t string_length, string_state, string_ascii;
	uint8_t bytes_size, bytes_data;
};

static const struct table_words tables[] = {
	{
		.version = 0x030d,
		.words = 73,
		.runtime_interpreters = 5,
		.interpreter_next = 8,
		.interpreter_threads = 9,
		.interpreter_modules = 11,
		.thread_next = 21,
		.thread_id = 24,
		.thread_native_id = 25,
		.thread_status = 27,
		.thread_interpreter = 22,
		.interpreter_gil = 15,
		.gil_enabled = 16,
		.thread_frame = 23,
		.frame_code = 30,
		.frame_back = 29,
		.frame_position = 31,
		.frame_owner = 33,
		.frame_bytecode = 0,
		.code_file = 35,
		.code_name = 36,
		.code_qualname = 37,
		.code_first_line = 39,
		.code_lines = 38,
		.code_instructions = 43,
		.code_bytecodes = 0,
		.generator_frame = 0,
		.string_length = 69,
		.string_state = 68,
		.string_ascii = 70,
		.bytes_size = 65,
		.bytes_data = 66,
	},
	{
		.version = 0x030e,
		.words = 95,
		.runtime_interpreters = 5,
		.interpreter_next = 8,
		.interpreter_threads = 9,
		.interpreter_modules = 12,
		.thread_next = 24,
		.thread_id = 27,
		.thread_native_id = 28,
		.thread_status = 30,
		.thread_interpreter = 25,
		.interpreter_gil = 16,
		.gil_enabled = 17,
		.thread_frame = 26,
		.frame_code = 33,
		.frame_back = 32,
		.frame_position = 34,
		.frame_owner = 36,
		.frame_bytecode = 38,
		.code_file = 40,
		.code_name = 41,
		.code_qualname = 42,
		.code_first_line = 44,
		.code_lines = 43,
		.code_instructions = 48,
		.code_bytecodes = 49,
		.generator_frame = 85,
		.string_length = 79,
		.string_state = 78,
		.string_ascii = 80,
		.bytes_size = 75,
		.bytes_data = 76,
	},
	{
		.version = 0x030f,
		.words = 111,
		.runtime_interpreters = 5,
		.interpreter_next = 8,
		.interpreter_threads = 9,
		.interpreter_modules = 12,
		.thread_next = 24,
		.thread_id = 30,
		.thread_native_id = 31,
		.thread_status = 33,
		.thread_interpreter = 25,
		.interpreter_gil = 16,
		.gil_enabled = 17,
		.thread_frame = 26,
		.frame_code = 41,
		.frame_back = 40,
		.frame_position = 42,
		.frame_owner = 44,
		.frame_bytecode = 46,
		.code_file = 48,
		.code_name = 49,
		.code_qualname = 50,
		.code_first_line = 52,
		.code_lines = 51,
		.code_instructions = 56,
		.code_bytecodes = 57,
		.generator_frame = 101,
		.string_length = 91,
		.string_state = 90,
		.string_ascii = 92,
		.bytes_size = 87,
		.bytes_data = 88,
	},
};

enum {
	WORD_COOKIE,
	WORD_VERSION,
	WORD_FREE_THREADED,
	/* No structure is as large: an offset beyond is no offset. */
	MAX_STATE = 1 << 20,
	MAX_FRAME = PYTHON_FRAME_BYTES - 8,
	MAX_OBJECT = 4096,
	/* What a string that is not ASCII has between the header of an ASCII string and its characters. */
	UTF8_MEMBERS = 16,
	/* Of a generator of 3.13, between the header of the object and the frame. */
	GENERATOR_MEMBERS = 56,
};

bool python_layout_of_version(uint32_t version, struct python_layout *ret_layout)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].version != version)
			continue;
		*ret_layout = rows[i];
		return true;
	}
	return false;
}

struct table {
	const uint8_t *bytes;
	bool bad; /* an offset is too large */
};

static uint64_t word_of(const uint8_t *bytes, unsigned word)
{
	return bytes_load64(bytes + (size_t)word * 8);
}

static uint32_t offset_below(struct table *table, uint8_t word, uint32_t limit)
{
	uint64_t offset = word_of(table->bytes, word);
	if (offset < limit)
		return (uint32_t)offset;
	table->bad = true;
	return 0;
}

static uint16_t in_frame(struct table *table, uint8_t word)
{
	return (uint16_t)offset_below(table, word, MAX_FRAME);
}

static uint16_t in_object(struct table *table, uint8_t word)
{
	return (uint16_t)offset_below(table, word, MAX_OBJECT);
}

static bool layout_of_words(const struct table_words *words, const uint8_t *bytes, struct python_layout *ret_layout)
{
	struct table table = {bytes, false};
	bool copies = words->code_bytecodes && word_of(bytes, WORD_FREE_THREADED);
	struct python_layout layout = {
		.version = words->version,
		.free_threaded = word_of(bytes, WORD_FREE_THREADED),
		.entry = PYTHON_ENTRY_SHIM,
		.position = PYTHON_POSITION_POINTER,
		.runtime_interpreters = offset_below(&table, words->runtime_interpreters, MAX_STATE),
		.interpreter_next = offset_below(&table, words->interpreter_next, MAX_STATE),
		.interpreter_threads = offset_below(&table, words->interpreter_threads, MAX_STATE),
		.interpreter_modules = offset_below(&table, words->interpreter_modules, MAX_STATE),
		.thread_next = in_object(&table, words->thread_next),
		.thread_id = in_object(&table, words->thread_id),
		.thread_native_id = in_object(&table, words->thread_native_id),
		.runtime_holder = NONE,
		.thread_status = in_object(&table, words->thread_status),
		.thread_interpreter = in_object(&table, words->thread_interpreter),
		.interpreter_gil = offset_below(&table, words->interpreter_gil, MAX_STATE) +
				   offset_below(&table, words->gil_enabled, MAX_OBJECT),
		.thread_frame = in_object(&table, words->thread_frame),
		.cframe_frame = NONE,
		.cframe_previous = NONE,
		.frame_code = in_frame(&table, words->frame_code),
		.frame_back = in_frame(&table, words->frame_back),
		.frame_position = in_frame(&table, words->frame_position),
		.frame_owner = in_frame(&table, words->frame_owner),
		.frame_bytecode = copies ? in_frame(&table, words->frame_bytecode) : NONE,
		.code_file = in_object(&table, words->code_file),
		.code_name = in_object(&table, words->code_name),
		.code_qualname = in_object(&table, words->code_qualname),
		.code_first_line = in_object(&table, words->code_first_line),
		.code_lines = in_object(&table, words->code_lines),
		.code_instructions = in_object(&table, words->code_instructions),
		.code_string = NONE,
		.code_bytecodes = copies ? in_object(&table, words->code_bytecodes) : NONE,
		.string_length = in_object(&table, words->string_length),
		.string_state = in_object(&table, words->string_state),
		.string_ascii = in_object(&table, words->string_ascii),
		.bytes_size = in_object(&table, words->bytes_size),
		.bytes_data = in_object(&table, words->bytes_data),
	};
	layout.string_compact = layout.string_ascii + UTF8_MEMBERS;
	/* Before 3.14 it is not in the table; it is behind the first members of the generator. */
	layout.generator_code = words->generator_frame ? in_object(&table, words->generator_frame) :
							 layout.string_length + GENERATOR_MEMBERS;
	layout.generator_code += layout.frame_code;
	if (table.bad)
		return false;
	*ret_layout = layout;
	return true;
}

bool python_layout_of_table(const uint8_t *table, size_t size, struct python_layout *ret_layout)
{
	if (size < (WORD_FREE_THREADED + 1) * 8 || memcmp(table, "xdebugpy", 8) != 0)
		return false;
	uint64_t version = word_of(table, WORD_VERSION) >> 16; /* below are patch level and alpha, beta, final */
	if (word_of(table, WORD_FREE_THREADED) > 1)
		return false;
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (tables[i].version == version)
			return size >= (size_t)tables[i].words * 8 && layout_of_words(&tables[i], table, ret_layout);
	return false;
}
