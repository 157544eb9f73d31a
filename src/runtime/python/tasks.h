/* Tasks of asyncio in a running CPython: their names, and who awaits them. All bytes are the target's: not trusted. */
#ifndef WICK_RUNTIME_PYTHON_TASKS_H
#define WICK_RUNTIME_PYTHON_TASKS_H

#include "base/buf.h"
#include "runtime/memory.h"
#include "runtime/python/layout.h"

#define PYTHON_TASKS_SECTION ".AsyncioDebug" /* of the file that contains the module _asyncio, from 3.14 on */
#define PYTHON_TASKS_SECTION_BYTES 104u
#define PYTHON_AWAITING_MAX 30u /* tasks, of which each one awaits another */

/* Where a version keeps what is needed. */
struct python_tasks {
	/* Up to 3.13 a dictionary has the running task: */
	uint64_t current; /* its address; 0: not found, or not that version */
	uint16_t first; /* from its keys to the first value */
	/* From 3.14 on the state of the thread has it. PYTHON_NO_OFFSET before, and for the next three. */
	uint16_t thread_task;
	uint16_t awaited_by; /* of a future: another one, or a set of them */
	uint16_t is_task, awaited_by_is_set; /* bytes of it */
	uint16_t name, coroutine; /* of a task */
};

/* Up to 3.13. False: not such a version, or the interpreter has not imported asyncio yet. */
bool python_tasks_of_version(const struct target_memory *memory, const struct python_layout *layout, uint64_t runtime,
			     struct python_tasks *ret_tasks);
/* From 3.14 on, by the section. False: it cannot be. */
bool python_tasks_of_section(const uint8_t *bytes, size_t size, struct python_tasks *ret_tasks);

/* Fills in the task, what awaits it, what awaits that, and so on, as far as it is known. Returns how many. */
size_t python_tasks_awaiting(const struct target_memory *memory, const struct python_layout *layout,
			     const struct python_tasks *tasks, uint64_t task, uint64_t awaiting[PYTHON_AWAITING_MAX]);
/*
 * Appends the name that the program gave to the task. `code` is a code object of the interpreter. False: it has none,
 * or one that asyncio made up ("Task-7").
 */
bool python_task_name(const struct target_memory *memory, const struct python_layout *layout,
		      const struct python_tasks *tasks, uint64_t task, uint64_t code, struct buf *out);
/* The code object of its coroutine; 0: not known. */
uint64_t python_task_code(const struct target_memory *memory, const struct python_layout *layout,
			  const struct python_tasks *tasks, uint64_t task);

#endif
