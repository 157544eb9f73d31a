/* Code objects: their members are read at once, then what these point to. */
#include "runtime/python/code.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "runtime/python/name.h"
#include "runtime/python/text.h"

enum {
	MAX_BYTES = 8192, /* of a code object up to the last member that is read */
	MAX_LINE = 1 << 30,
	MAX_BYTECODE = 1 << 26,
	UNIT = 2, /* bytes of an instruction */
};

/* Of a code object; all but the line are addresses. */
struct members {
	uint64_t file, name, qualname, lines;
	uint32_t first_line;
};

static uint16_t least(uint16_t a, uint16_t b)
{
	return a < b ? a : b;
}

static uint16_t greatest(uint16_t a, uint16_t b)
{
	return a > b ? a : b;
}

static bool read_members(const struct target_memory *memory, const struct python_layout *layout, uint64_t address,
			 struct members *ret)
{
	uint8_t bytes[MAX_BYTES];
	bool qualified = layout->code_qualname != PYTHON_NO_OFFSET;
	uint16_t qualname = qualified ? layout->code_qualname : layout->code_name;
	uint16_t first = least(least(layout->code_file, layout->code_name), least(qualname, layout->code_lines));
	uint16_t last =
		greatest(greatest(layout->code_file, layout->code_name), greatest(qualname, layout->code_lines));
	first = least(first, layout->code_first_line);
	last = greatest(last, layout->code_first_line);
	size_t size = (size_t)last - first + 8;
	if (!address || size > sizeof bytes || !target_memory_read(memory, address + first, bytes, size))
		return false;
	ret->file = bytes_load64(bytes + layout->code_file - first);
	ret->name = bytes_load64(bytes + layout->code_name - first);
	ret->qualname = bytes_load64(bytes + qualname - first);
	ret->lines = bytes_load64(bytes + layout->code_lines - first);
	ret->first_line = bytes_load32(bytes + layout->code_first_line - first);
	return true;
}

static uint64_t identity_of(const struct members *members)
{
	const uint64_t words[] = {members->file, members->name, members->qualname, members->lines, members->first_line};
	uint64_t hash = hash_bytes((const char *)words, sizeof words);
	return hash ? hash : 1;
}

uint64_t python_code_identity(const struct target_memory *memory, const struct python_layout *layout, uint64_t address)
{
	struct members members;
	return read_members(memory, layout, address, &members) ? identity_of(&members) : 0;
}

/* A table that cannot be read is none: the function still has its name. */
static void read_lines(const struct target_memory *memory, const struct python_layout *layout, uint64_t address,
		       struct python_code *code)
{
	uint64_t size;
	if (!address || !target_memory_read(memory, address + layout->bytes_size, &size, sizeof size) || !size ||
	    size > PYTHON_LINES_MAX)
		return;
	code->lines = mem_alloc(size);
	code->lines_size = size;
	if (target_memory_read(memory, address + layout->bytes_data, code->lines, size))
		return;
	free(code->lines);
	code->lines = NULL;
	code->lines_size = 0;
}

/* The instructions are a part of the code object, or in an object of their own (up to 3.10). */
static void read_bytecode(const struct target_memory *memory, const struct python_layout *layout, uint64_t address,
			  struct python_code *code)
{
	uint64_t object = address, size;
	bool apart = layout->code_string != PYTHON_NO_OFFSET;
	if (apart && !target_memory_read(memory, address + layout->code_string, &object, sizeof object))
		return;
	if (!target_memory_read(memory, object + layout->bytes_size, &size, sizeof size) || size > MAX_BYTECODE)
		return;
	code->bytecode = object + (apart ? layout->bytes_data : layout->code_instructions);
	code->bytecode_size = (uint32_t)size * (apart ? 1 : UNIT);
}

/* At most PYTHON_NAME_MAX bytes, none of them a part of a character. */
static char *copy_name(const struct buf *name)
{
	size_t length = name->size;
	if (length > PYTHON_NAME_MAX) {
		length = PYTHON_NAME_MAX;
		while (length && ((uint8_t)name->data[length] & 0xc0) == 0x80)
			length--;
	}
	char *copy = mem_alloc(length + 1);
	memcpy(copy, name->data, length);
	copy[length] = '\0';
	return copy;
}

/* The name and the file. */
static bool read_names(const struct target_memory *memory, const struct python_layout *layout,
		       const struct members *members, struct python_code *code)
{
	CLEANUP_BUF struct buf file = {0}, name = {0};
	buf_str(&file, ""); /* NUL-terminated, even if it has no characters */
	if (!python_text_read(memory, layout, members->file, PYTHON_NAME_MAX, &file))
		return false;
	python_module_name(&name, file.data);
	if (name.size)
		buf_char(&name, '.');
	size_t module = name.size;
	if (!python_text_read(memory, layout, members->qualname, PYTHON_NAME_MAX, &name) || name.size == module)
		return false;
	code->name = copy_name(&name);
	code->file = copy_name(&file);
	return true;
}

bool python_code_read(const struct target_memory *memory, const struct python_layout *layout, uint64_t address,
		      struct python_code *ret_code)
{
	struct members members;
	struct python_code code = {0};
	if (!read_members(memory, layout, address, &members) || members.first_line > MAX_LINE)
		return false;
	if (!read_names(memory, layout, &members, &code))
		return false;
	read_lines(memory, layout, members.lines, &code);
	read_bytecode(memory, layout, address, &code);
	code.first_line = members.first_line;
	code.identity = identity_of(&members);
	/* The process runs meanwhile: what was read belongs together only if nobody has replaced the code object. */
	if (python_code_identity(memory, layout, address) != code.identity) {
		python_code_release(&code);
		return false;
	}
	*ret_code = code;
	return true;
}

void python_code_release(struct python_code *code)
{
	free(code->name);
	free(code->file);
	free(code->lines);
	*code = (struct python_code){0};
}
