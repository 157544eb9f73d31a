/*
 * The Python interpreters of processes that run: gives frames their functions and lines while their memory can still be
 * read. One thread uses it.
 */
#ifndef WICK_RUNTIME_PYTHON_LIVE_H
#define WICK_RUNTIME_PYTHON_LIVE_H

#include "runtime/interpreted.h"
#include "runtime/python/layout.h"
#include "runtime/python/moment.h"
#include "runtime/python/tasks.h"

struct python_process;

struct python_live {
	struct interpreted *functions; /* set before the first process is added */
	struct python_process **items;
	size_t count, capacity;
	struct index_map map; /* by pid */
	size_t line_bytes; /* of all tables of lines */
	bool wants_tasks; /* set before the first process is added: see python_live_seek_tasks() */
	uint64_t unnamed; /* frames whose code object was gone before it could be read */
};

void python_live_release(struct python_live *live);
/* A process, or the program that it became (`generation`), has an interpreter, with _PyRuntime at `runtime`. */
void python_live_add(struct python_live *live, int32_t pid, uint32_t generation, const struct python_layout *layout,
		     uint64_t runtime);
/* The same of the child of a process that has one. */
void python_live_fork(struct python_live *live, int32_t parent, int32_t child, uint32_t generation);
bool python_live_has(const struct python_live *live, int32_t pid);
/* Its memory is gone. What is known about it stays for a while: samples of it may still come. */
void python_live_exit(struct python_live *live, int32_t pid);

/*
 * Frames of a stack that was just taken, as struct layout_record has them (bpf/layout.h): two words each, a code object
 * and an offset. Afterwards the first one is the number of a function (struct interpreted), and the second its line.
 * The last frame may be a task of asyncio, with PYTHON_TASK_LINE as first line. It is replaced by frames of the task
 * and those that await it, where it was called, as far as there is room for so many words. Returns how many there are.
 */
size_t python_live_name(struct python_live *live, int32_t pid, uint32_t generation, uint64_t *words, size_t count,
			size_t room);
#define PYTHON_TASK_LINE 0xffffffffu
#define PYTHON_TASKS_FILE "asyncio" /* of frames that are tasks */

/* True where the tasks of a process, which may just have imported asyncio, have been found. Then they are returned. */
bool python_live_seek_tasks(struct python_live *live, int32_t pid);
/* What was found about its tasks elsewhere. */
void python_live_set_tasks(struct python_live *live, int32_t pid, const struct python_tasks *tasks);
/* NULL: not known. */
const struct python_tasks *python_live_tasks(const struct python_live *live, int32_t pid);

/*
 * Reads the frames of a thread from memory; it runs meanwhile, so they are those of a moment after its sample. Fills
 * named words and returns how many. `pid` and `tid` are numbers in the namespace of /proc.
 */
size_t python_live_read(struct python_live *live, int32_t pid, int32_t tid, uint64_t *words, size_t max);

/*
 * The same for a thread of which a sample has just come: the frames are those of the sample, as far as it shows them. A
 * function that is not known is the frame of number INTERPRETED_UNKNOWN; if none is known, there is one such frame.
 */
size_t python_live_match(struct python_live *live, int32_t pid, int32_t tid, const struct python_moment *moment,
			 uint64_t *words, size_t max);

#endif
