/* Names the code objects of running interpreters, each once for as long as it stays the same. */
#include "runtime/python/live.h"

#include "base/hash.h"
#include "base/mem.h"
#include "runtime/python/code.h"
#include "runtime/python/instructions.h"
#include "runtime/python/stack.h"
#include "runtime/thread_number.h"
#include "trace/word.h"

#include <string.h>

#define CODES_MAX 65536u /* of one process; a program may create them without end */
#define LINE_BYTES_MAX \
	(64u << 20) /* of tables of lines in all; without one a frame has the first line of its function */
#define ENDED_MAX 16u /* processes */
#define FRAMES_MAX 1024u
#define READ_AGAIN_MAX 8u
#define INSTRUCTION_BYTES 2u
#define TASKS_KEPT 256u /* of one process */

struct known_code {
	uint64_t address;
	uint32_t function; /* number among the interpreted ones */
	struct python_code code; /* name and file are not kept */
};

/* A task as it was when it could be read. */
struct known_task {
	uint64_t task;
	uint32_t function, count; /* what it began with, and words: */
	uint64_t words[PYTHON_AWAITING_MAX * 2];
};

struct python_process {
	int32_t pid;
	uint32_t generation;
	bool ended;
	bool same_numbers; /* its threads are known to have no other numbers than those in /proc */
	struct python_layout layout;
	uint64_t runtime;
	bool uses_tasks; /* it executes asyncio, and its tasks were not looked for yet */
	bool has_tasks;
	struct python_tasks tasks;
	struct known_task *known_tasks; /* TASKS_KEPT, by hash; NULL: none yet */
	struct known_code *codes;
	size_t count, capacity;
	struct index_map map; /* by address */
	struct python_instructions instructions; /* of the codes */
};

/* --- processes --- */

static void release_codes(struct python_live *live, struct python_process *process)
{
	for (size_t i = 0; i < process->count; i++) {
		live->line_bytes -= process->codes[i].code.lines_size;
		python_code_release(&process->codes[i].code);
	}
	process->count = 0;
	process->instructions.count = 0;
	index_map_clear(&process->map);
}

static void release_process(struct python_live *live, struct python_process *process)
{
	release_codes(live, process);
	index_map_release(&process->map);
	python_instructions_release(&process->instructions);
	free(process->known_tasks);
	free(process->codes);
	free(process);
}

void python_live_release(struct python_live *live)
{
	for (size_t i = 0; i < live->count; i++)
		release_process(live, live->items[i]);
	free(live->items);
	index_map_release(&live->map);
}

static struct python_process *find_process(const struct python_live *live, int32_t pid)
{
	struct index_probe probe;
	for (uint32_t i = index_map_first(&live->map, hash_u64((uint32_t)pid), &probe); i != INDEX_NONE;
	     i = index_map_next(&live->map, &probe))
		if (live->items[i]->pid == pid)
			return live->items[i];
	return NULL;
}

void python_live_add(struct python_live *live, int32_t pid, uint32_t generation, const struct python_layout *layout,
		     uint64_t runtime)
{
	struct python_process *process = find_process(live, pid);
	if (process && process->generation == generation && process->runtime == runtime)
		return;
	if (!process) {
		process = mem_zalloc(1, sizeof *process);
		index_map_insert(&live->map, hash_u64((uint32_t)pid), (uint32_t)live->count);
		MEM_ROOM(live->items, live->count, live->capacity);
		live->items[live->count++] = process;
	}
	release_codes(live, process);
	process->pid = pid;
	process->generation = generation;
	process->layout = *layout;
	process->runtime = runtime;
	process->ended = false;
	process->same_numbers = false;
	process->uses_tasks = process->has_tasks = false;
	free(process->known_tasks);
	process->known_tasks = NULL;
}

void python_live_fork(struct python_live *live, int32_t parent, int32_t child, uint32_t generation)
{
	const struct python_process *process = find_process(live, parent);
	if (process && !process->ended)
		python_live_add(live, child, generation, &process->layout, process->runtime);
}

bool python_live_has(const struct python_live *live, int32_t pid)
{
	const struct python_process *process = find_process(live, pid);
	return process && !process->ended;
}

void python_live_exit(struct python_live *live, int32_t pid)
{
	struct python_process *process = find_process(live, pid);
	size_t ended = 0, kept = 0;
	if (!process)
		return;
	process->ended = true;
	for (size_t i = 0; i < live->count; i++)
		ended += live->items[i]->ended;
	if (ended < ENDED_MAX * 2)
		return;
	/* The oldest half goes. */
	index_map_clear(&live->map);
	for (size_t i = 0; i < live->count; i++) {
		if (live->items[i]->ended && ended-- > ENDED_MAX) {
			release_process(live, live->items[i]);
			continue;
		}
		index_map_insert(&live->map, hash_u64((uint32_t)live->items[i]->pid), (uint32_t)kept);
		live->items[kept++] = live->items[i];
	}
	live->count = kept;
}

/* --- code objects --- */

/* False: it has ended. */
static bool open_memory(struct python_process *process, struct target_memory *ret_memory)
{
	*ret_memory = (struct target_memory){&process->pid, process_memory_read};
	return !process->ended;
}

static struct known_code *find_code(const struct python_process *process, uint64_t address)
{
	struct index_probe probe;
	for (uint32_t i = index_map_first(&process->map, hash_u64(address), &probe); i != INDEX_NONE;
	     i = index_map_next(&process->map, &probe))
		if (process->codes[i].address == address)
			return &process->codes[i];
	return NULL;
}

static void fill_code(struct python_live *live, struct known_code *known, struct python_code code)
{
	live->line_bytes -= known->code.lines_size;
	python_code_release(&known->code);
	known->function = interpreted_add(live->functions, code.name, code.file);
	free(code.name);
	free(code.file);
	code.name = code.file = NULL;
	if (live->line_bytes + code.lines_size > LINE_BYTES_MAX) {
		free(code.lines);
		code.lines = NULL;
		code.lines_size = 0;
	}
	live->line_bytes += code.lines_size;
	known->code = code;
}

static struct known_code *add_code(struct python_process *process, uint64_t address)
{
	if (process->count >= CODES_MAX)
		return NULL;
	index_map_insert(&process->map, hash_u64(address), (uint32_t)process->count);
	MEM_ROOM(process->codes, process->count, process->capacity);
	struct known_code *known = &process->codes[process->count++];
	*known = (struct known_code){.address = address};
	return known;
}

/*
 * The code object at an address, which was at `first_line` when the sample was taken. Where memory can be read, a known
 * one is compared with what is there now: code objects are freed, and others take their place.
 */
static const struct known_code *get_code(struct python_live *live, struct python_process *process, uint64_t address,
					 uint32_t first_line)
{
	struct target_memory memory;
	struct known_code *known = find_code(process, address);
	bool readable = open_memory(process, &memory);
	uint64_t identity = readable ? python_code_identity(&memory, &process->layout, address) : 0;
	if (!known || (identity && known->code.identity != identity)) {
		struct python_code code;
		if (!identity || !python_code_read(&memory, &process->layout, address, &code))
			return NULL;
		if (!known)
			known = add_code(process, address);
		if (!known) {
			python_code_release(&code);
			return NULL;
		}
		process->uses_tasks |= live->wants_tasks && !process->has_tasks && strstr(code.file, "/asyncio/");
		fill_code(live, known, code);
		python_instructions_set(&process->instructions, code.bytecode, code.bytecode + code.bytecode_size,
					(uint32_t)(known - process->codes));
	}
	return known->code.first_line == first_line ? known : NULL;
}

static void name_frame(struct python_live *live, struct python_process *process, uint64_t words[2])
{
	uint32_t offset = (uint32_t)words[1], first_line = (uint32_t)(words[1] >> 32);
	int entry = trace_word_is_exact(words[0]);
	const struct known_code *known = process ? get_code(live, process, trace_word_address(words[0]), first_line) :
						   NULL;
	live->unnamed += !known;
	words[0] = trace_word(TRACE_PYTHON, known ? known->function : INTERPRETED_UNKNOWN, (uint32_t)entry);
	words[1] = known ? python_code_line(&known->code, &process->layout, offset) : 0;
}

/* --- tasks --- */

bool python_live_seek_tasks(struct python_live *live, int32_t pid)
{
	struct python_process *process = live->wants_tasks ? find_process(live, pid) : NULL;
	struct target_memory memory;
	if (!process || !process->uses_tasks || process->has_tasks || !open_memory(process, &memory))
		return false;
	process->uses_tasks = false;
	process->has_tasks = python_tasks_of_version(&memory, &process->layout, process->runtime, &process->tasks);
	return process->has_tasks;
}

void python_live_set_tasks(struct python_live *live, int32_t pid, const struct python_tasks *tasks)
{
	struct python_process *process = find_process(live, pid);
	if (!process)
		return;
	process->tasks = *tasks;
	process->has_tasks = true;
}

const struct python_tasks *python_live_tasks(const struct python_live *live, int32_t pid)
{
	const struct python_process *process = find_process(live, pid);
	return process && process->has_tasks ? &process->tasks : NULL;
}

/* The function that a task began with; INTERPRETED_UNKNOWN: not known. */
static uint32_t first_function(struct python_live *live, struct python_process *process,
			       const struct target_memory *memory, uint64_t code)
{
	uint32_t first_line;
	if (!code ||
	    !target_memory_read(memory, code + process->layout.code_first_line, &first_line, sizeof first_line))
		return INTERPRETED_UNKNOWN;
	const struct known_code *known = get_code(live, process, code, first_line);
	return known ? known->function : INTERPRETED_UNKNOWN;
}

/* The frame of a task: "[task NAME]", by its own name or else that of a function. */
static uint64_t task_frame(struct python_live *live, const char *name, uint32_t function)
{
	CLEANUP_BUF struct buf text = {0};
	struct interpreted_function first;
	bool known = !name && interpreted_get(live->functions, function, &first);
	buf_printf(&text, "[task %s]", name ? name : known ? first.name : "?");
	return trace_word(TRACE_PYTHON, interpreted_add(live->functions, text.data, PYTHON_TASKS_FILE), 0);
}

/* Reads the task and those that await it. False: nothing is known about it, it has ended meanwhile. */
static bool read_task(struct python_live *live, struct python_process *process, uint64_t task, struct known_task *ret)
{
	const struct python_layout *layout = &process->layout;
	uint64_t awaiting[PYTHON_AWAITING_MAX];
	struct target_memory memory;
	size_t count = 0;
	*ret = (struct known_task){.task = task};
	if (open_memory(process, &memory))
		count = python_tasks_awaiting(&memory, layout, &process->tasks, task, awaiting);
	for (size_t i = 0; i < count; i++) {
		CLEANUP_BUF struct buf name = {0};
		uint64_t code = python_task_code(&memory, layout, &process->tasks, awaiting[i]);
		uint32_t first = first_function(live, process, &memory, code);
		if (first == INTERPRETED_UNKNOWN)
			break;
		ret->function = i ? ret->function : first;
		bool named = python_task_name(&memory, layout, &process->tasks, awaiting[i], code, &name);
		ret->words[ret->count] = task_frame(live, named ? name.data : NULL, first);
		ret->count += 2;
	}
	return ret->count;
}

/* Words up to the outermost frame of a function that native code called; 0: there is none. */
static size_t words_up_to(const uint64_t *words, size_t count, uint32_t function)
{
	for (size_t i = count; i >= 2; i -= 2)
		if (trace_word_address(words[i - 2]) == function && trace_word_is_exact(words[i - 2]))
			return i;
	return 0;
}

/* The same for the function that the loop called. */
static size_t words_in_loop(const struct python_live *live, const uint64_t *words, size_t count)
{
	struct interpreted_function function;
	for (size_t i = 0; i < count; i += 2)
		if (interpreted_get(live->functions, (uint32_t)trace_word_address(words[i]), &function) &&
		    (!strcmp(function.name, "asyncio.events.Handle._run") ||
		     !strcmp(function.name, "asyncio.events._run")))
			return i;
	return 0;
}

/* The task as it is, or was when it was seen before. Returns where its frames are inserted; 0: nowhere. */
static size_t get_task(struct python_live *live, struct python_process *process, uint64_t task, const uint64_t *words,
		       size_t count, struct known_task *ret)
{
	if (!process->known_tasks)
		process->known_tasks = mem_zalloc(TASKS_KEPT, sizeof *process->known_tasks);
	struct known_task *known = &process->known_tasks[hash_u64(task) % TASKS_KEPT];
	size_t at = read_task(live, process, task, ret) ? words_up_to(words, count, ret->function) : 0;
	if (at) {
		*known = *ret;
		return at;
	}
	*ret = *known;
	at = known->task == task ? words_up_to(words, count, known->function) : 0;
	if (at)
		return at;
	at = words_in_loop(live, words, count);
	if (at)
		*ret = (struct known_task){
			.count = 2,
			.words = {task_frame(live, NULL, (uint32_t)trace_word_address(words[at - 2]))},
		};
	return at;
}

static size_t insert_tasks(struct python_live *live, struct python_process *process, uint64_t task, uint64_t *words,
			   size_t count, size_t room)
{
	struct known_task found;
	size_t at = process->has_tasks ? get_task(live, process, task, words, count, &found) : 0;
	if (!at || found.count > room - count)
		return count;
	/* What native code called ends behind them. */
	uint64_t *last = &found.words[found.count - 2], first = words[at - 2];
	*last = trace_word(TRACE_PYTHON, trace_word_address(*last), (uint32_t)trace_word_is_exact(first));
	words[at - 2] = trace_word(TRACE_PYTHON, trace_word_address(first), 0);
	memmove(words + at + found.count, words + at, (count - at) * sizeof *words);
	memcpy(words + at, found.words, found.count * sizeof *words);
	return count + found.count;
}

size_t python_live_name(struct python_live *live, int32_t pid, uint32_t generation, uint64_t *words, size_t count,
			size_t room)
{
	struct python_process *process = find_process(live, pid);
	uint64_t task = 0;
	if (process && process->generation != generation)
		process = NULL;
	if (count >= 2 && words[count - 1] >> 32 == PYTHON_TASK_LINE) {
		count -= 2;
		task = trace_word_address(words[count]);
	}
	for (size_t i = 0; i + 1 < count; i += 2)
		name_frame(live, process, words + i);
	return task && process ? insert_tasks(live, process, task, words, count, room) : count;
}

/* The interpreter knows its threads by the numbers in its namespace. */
static int32_t own_number(struct python_process *process, int32_t tid)
{
	return process->same_numbers ? tid : thread_number_inside(process->pid, tid, &process->same_numbers);
}

/* Changes frames to named words. */
static size_t name_frames(struct python_live *live, struct python_process *process, const struct python_frame *frames,
			  size_t count, uint64_t *words)
{
	for (size_t i = 0; i < count; i++) {
		words[i * 2] = trace_word(TRACE_PYTHON, frames[i].code, frames[i].entry);
		words[i * 2 + 1] = frames[i].offset | (uint64_t)frames[i].first_line << 32;
		name_frame(live, process, words + i * 2);
		words[i * 2 + 1] |= (frames[i].doubtful ? TRACE_WORD_DOUBTFUL : 0) |
				    (frames[i].shown ? TRACE_WORD_SHOWN : 0);
	}
	return count * 2;
}

size_t python_live_read(struct python_live *live, int32_t pid, int32_t tid, uint64_t *words, size_t max)
{
	struct python_process *process = find_process(live, pid);
	struct python_frame frames[FRAMES_MAX];
	struct target_memory memory;
	enum python_end end;
	if (!process || !open_memory(process, &memory))
		return 0;
	size_t count = python_stack_read(&memory, &process->layout, process->runtime, own_number(process, tid), frames,
					 max / 2 < FRAMES_MAX ? max / 2 : FRAMES_MAX, &end);
	if (end != PYTHON_END_WHOLE)
		return 0; /* they changed while they were read */
	return name_frames(live, process, frames, count, words);
}

/* --- frames of a sample --- */

static bool find_instruction(void *context, uint64_t next, struct python_frame *ret_frame)
{
	const struct python_process *process = context;
	uint32_t number = python_instructions_before(&process->instructions, next);
	if (number == PYTHON_NO_CODE)
		return false;
	const struct known_code *known = &process->codes[number];
	*ret_frame = (struct python_frame){
		.code = known->address,
		.offset = (uint32_t)(next - known->code.bytecode - INSTRUCTION_BYTES),
		.first_line = known->code.first_line,
	};
	return true;
}

size_t python_live_match(struct python_live *live, int32_t pid, int32_t tid, const struct python_moment *moment,
			 uint64_t *words, size_t max)
{
	struct python_process *process = find_process(live, pid);
	struct python_frame frames[FRAMES_MAX];
	struct target_memory all;
	enum python_end end;
	if (!process || max < 4 || !open_memory(process, &all))
		return 0;
	struct memory_pages pages = {.memory = &all};
	struct target_memory memory = {&pages, memory_pages_read};
	size_t most = max / 2 < FRAMES_MAX ? max / 2 : FRAMES_MAX;
	size_t count = python_stack_read(&memory, &process->layout, process->runtime, own_number(process, tid), frames,
					 most, &end);
	/* They changed while they were read. The outer ones will not for a while. */
	for (unsigned i = 0; end == PYTHON_END_BROKEN && i < READ_AGAIN_MAX; i++) {
		memset(pages.addresses, 0, sizeof pages.addresses);
		count = python_stack_read(&memory, &process->layout, process->runtime, own_number(process, tid), frames,
					  most, &end);
	}
	if (end == PYTHON_END_NO_THREAD)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (!find_code(process, frames[i].code))
			get_code(live, process, frames[i].code, frames[i].first_line);
	struct python_known known = {&memory, &process->layout, process, find_instruction};
	count = python_moment_match(moment, &known, frames, end == PYTHON_END_WHOLE ? count : 0, most);
	if (!count)
		frames[count++] = (struct python_frame){.entry = true};
	return name_frames(live, process, frames, count, words);
}
