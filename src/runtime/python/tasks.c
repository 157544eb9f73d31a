/* Finds the running task, and follows from a task to those that await it. */
#include "runtime/python/tasks.h"

#include "base/bytes.h"
#include "runtime/python/text.h"

#include <ctype.h>
#include <string.h>

#define NONE PYTHON_NO_OFFSET
#define POINTER_TAGS 7ull

/* --- dictionaries, up to 3.13 --- */

enum {
	DICTIONARY_KEYS = 32,
	ENTRIES_MAX = 1 << 16,
	MODULE_DICTIONARY = 16, /* of a module */
	NAME_MAX_BYTES = 64, /* of the names that are looked for, and more */
};

/* What the keys of a dictionary point to. */
struct dictionary {
	uint64_t entries, count;
	uint32_t size; /* bytes of an entry: a hash where keys are not all strings, the key, the value */
};

/* Its header, a table of indices, and the entries. */
static bool read_dictionary(const struct target_memory *memory, const struct python_layout *layout, uint64_t address,
			    struct dictionary *ret)
{
	uint64_t keys;
	uint8_t header[40];
	if (!address || !target_memory_read(memory, address + DICTIONARY_KEYS, &keys, sizeof keys) ||
	    !target_memory_read(memory, keys, header, sizeof header))
		return false;
	if (layout->version >= 0x030b) {
		uint8_t log_bytes = header[9], kind = header[10];
		*ret = (struct dictionary){keys + 32 + (1ull << (log_bytes & 31)), bytes_load64(header + 24),
					   kind ? 16 : 24};
	} else {
		uint64_t places = bytes_load64(header + 8);
		uint64_t width = places <= 0xff ? 1 : places <= 0xffff ? 2 : places <= UINT32_MAX ? 4 : 8;
		*ret = (struct dictionary){keys + 40 + places * width, bytes_load64(header + 32), 24};
	}
	return ret->count <= ENTRIES_MAX;
}

/* The value of a key; 0: there is none. */
static uint64_t value_of(const struct target_memory *memory, const struct python_layout *layout, uint64_t address,
			 const char *key)
{
	CLEANUP_BUF struct buf name = {0};
	struct dictionary dictionary;
	if (!read_dictionary(memory, layout, address, &dictionary))
		return 0;
	for (uint64_t i = 0; i < dictionary.count; i++) {
		uint64_t pair[2];
		uint64_t at = dictionary.entries + (i + 1) * dictionary.size - sizeof pair;
		buf_clear(&name);
		if (!target_memory_read(memory, at, pair, sizeof pair))
			return 0;
		if (pair[0] && pair[1] && python_text_read(memory, layout, pair[0], NAME_MAX_BYTES, &name) &&
		    name.size && !strcmp(name.data, key))
			return pair[1];
	}
	return 0;
}

/* --- versions --- */

/* scripts/python-layout does not know these: they are in no header. tests/e2e/python fails if they are wrong. */
static const struct {
	uint16_t version, name, coroutine;
} rows[] = {
	{0x0308, 120, 112}, {0x0309, 160, 152}, {0x030a, 168, 160},
	{0x030b, 144, 136}, {0x030c, 144, 136}, {0x030d, 128, 120},
};

/* The dictionary of the running tasks, by loop. */
static uint64_t find_current(const struct target_memory *memory, const struct python_layout *layout, uint64_t runtime)
{
	uint64_t interpreter, modules, names;
	if (!target_memory_read(memory, runtime + layout->runtime_interpreters, &interpreter, sizeof interpreter) ||
	    !target_memory_read(memory, interpreter + layout->interpreter_modules, &modules, sizeof modules))
		return 0;
	uint64_t module = value_of(memory, layout, modules, "_asyncio");
	if (!module || !target_memory_read(memory, module + MODULE_DICTIONARY, &names, sizeof names))
		return 0;
	return value_of(memory, layout, names, "_current_tasks");
}

bool python_tasks_of_version(const struct target_memory *memory, const struct python_layout *layout, uint64_t runtime,
			     struct python_tasks *ret_tasks)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows && !layout->free_threaded; i++) {
		if (rows[i].version != layout->version)
			continue;
		*ret_tasks = (struct python_tasks){
			.current = find_current(memory, layout, runtime),
			.first = layout->version >= 0x030b ? 56 : 64,
			.thread_task = NONE,
			.awaited_by = NONE,
			.is_task = NONE,
			.awaited_by_is_set = NONE,
			.name = rows[i].name,
			.coroutine = rows[i].coroutine,
		};
		return ret_tasks->current;
	}
	return false;
}

bool python_tasks_of_section(const uint8_t *bytes, size_t size, struct python_tasks *ret_tasks)
{
	enum { TASK_SIZE, NAME, AWAITED_BY, IS_TASK, IS_SET, COROUTINE, THREAD_TASK = 11, WORDS = 13 };
	uint64_t words[WORDS];
	if (size != sizeof words)
		return false;
	memcpy(words, bytes, sizeof words);
	for (unsigned i = NAME; i <= COROUTINE; i++)
		if (words[i] >= words[TASK_SIZE] || words[i] >= NONE)
			return false;
	if (words[THREAD_TASK] >= NONE)
		return false;
	*ret_tasks = (struct python_tasks){
		.thread_task = (uint16_t)words[THREAD_TASK],
		.awaited_by = (uint16_t)words[AWAITED_BY],
		.is_task = (uint16_t)words[IS_TASK],
		.awaited_by_is_set = (uint16_t)words[IS_SET],
		.name = (uint16_t)words[NAME],
		.coroutine = (uint16_t)words[COROUTINE],
	};
	return true;
}

/* --- tasks --- */

/* 0: it cannot be read. */
static uint64_t word_at(const struct target_memory *memory, uint64_t address)
{
	uint64_t word;
	return target_memory_read(memory, address, &word, sizeof word) ? word : 0;
}

static uint8_t byte_at(const struct target_memory *memory, uint64_t address)
{
	uint8_t byte;
	return target_memory_read(memory, address, &byte, sizeof byte) ? byte : 0;
}

/* A member of a set; 0: none was found. */
static uint64_t member_of(const struct target_memory *memory, const struct python_layout *layout, uint64_t set)
{
	enum { PLACES_MAX = 1024 };
	uint16_t header = layout->string_length; /* of every object */
	uint64_t mask = word_at(memory, set + header + 16), table = word_at(memory, set + header + 24);
	for (uint64_t i = 0; i <= mask && i < PLACES_MAX; i++) {
		uint64_t entry[2]; /* the member and its hash; that of a removed one is -1 */
		if (!target_memory_read(memory, table + i * sizeof entry, entry, sizeof entry))
			return 0;
		if (entry[0] && entry[1] != UINT64_MAX)
			return entry[0];
	}
	return 0;
}

size_t python_tasks_awaiting(const struct target_memory *memory, const struct python_layout *layout,
			     const struct python_tasks *tasks, uint64_t task, uint64_t awaiting[PYTHON_AWAITING_MAX])
{
	size_t count = 0;
	/* Between tasks there are other futures, such as those of gather(). */
	for (size_t steps = 0; task && count < PYTHON_AWAITING_MAX && steps < 2 * PYTHON_AWAITING_MAX; steps++) {
		if (!steps || byte_at(memory, task + tasks->is_task) == 1)
			awaiting[count++] = task;
		if (tasks->awaited_by == NONE)
			break;
		uint64_t next = word_at(memory, task + tasks->awaited_by);
		bool set = next && byte_at(memory, task + tasks->awaited_by_is_set);
		task = set ? member_of(memory, layout, next) : next;
	}
	return count;
}

/* A name as asyncio makes up. */
static bool is_number(const char *name)
{
	if (strncmp(name, "Task-", 5) != 0)
		return false;
	for (name += 5; isdigit((unsigned char)*name); name++)
		;
	return !*name;
}

/* The type is the last member of the header of an object. */
static uint64_t type_of(const struct target_memory *memory, const struct python_layout *layout, uint64_t object)
{
	return object ? word_at(memory, object + layout->string_length - sizeof(uint64_t)) : 0;
}

bool python_task_name(const struct target_memory *memory, const struct python_layout *layout,
		      const struct python_tasks *tasks, uint64_t task, uint64_t code, struct buf *out)
{
	CLEANUP_BUF struct buf name = {0};
	uint64_t object = word_at(memory, task + tasks->name);
	uint64_t string = type_of(memory, layout, word_at(memory, code + layout->code_name));
	/* It may be a number, which becomes a name when that is needed. */
	if (!string || type_of(memory, layout, object) != string ||
	    !python_text_read(memory, layout, object, NAME_MAX_BYTES, &name) || !name.size || is_number(name.data))
		return false;
	buf_add(out, name.data, name.size);
	return true;
}

uint64_t python_task_code(const struct target_memory *memory, const struct python_layout *layout,
			  const struct python_tasks *tasks, uint64_t task)
{
	uint64_t coroutine = word_at(memory, task + tasks->coroutine);
	return coroutine ? word_at(memory, coroutine + layout->generator_code) & ~POINTER_TAGS : 0;
}
