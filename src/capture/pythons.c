/* Finds interpreters among the mappings of processes, and reads the frames of their threads. */
#include "capture/pythons.h"

#include "base/clock.h"
#include "base/remote_memory.h"
#include "capture/existing.h"
#include "module/runtime.h"

#include <errno.h>
#include <string.h>

void pythons_init(struct pythons *pythons, struct module_store *codes)
{
	*pythons = (struct pythons){.codes = codes};
	if (codes)
		pythons->live.functions = &codes->interpreted;
}

void pythons_release(struct pythons *pythons)
{
	python_live_release(&pythons->live);
	*pythons = (struct pythons){0};
}

/* Looks into the file. */
static void check_mapping(struct pythons *pythons, const struct event_mmap *mmap)
{
	struct mapping mapping = {
		.start = mmap->start,
		.end = mmap->start + mmap->length,
		.offset = mmap->offset,
		.module = module_store_add(pythons->codes, mmap->path, &mmap->build_id, mmap->pid),
	};
	struct module_code *code = module_store_get(pythons->codes, mapping.module);
	const struct python_image *image = module_code_python(code);
	if (!image)
		return;
	uint64_t bias = mapping.start - module_code_address(code, &mapping, mapping.start);
	python_live_add(&pythons->live, mmap->pid, ++pythons->generation, &image->layout, image->runtime + bias);
}

static int check_existing(void *context, const struct event *event)
{
	struct pythons *pythons = context;
	if (event->type == EVENT_MMAP && !python_live_has(&pythons->live, event->mmap->pid))
		check_mapping(pythons, event->mmap);
	return 0;
}

/* If the interpreter is a part of another program, that has modules of the library of Python mapped. */
static void take_mmap(struct pythons *pythons, const struct event_mmap *mmap)
{
	if (mmap->kernel || !strstr(mmap->path, "python"))
		return;
	if (runtime_of_path(mmap->path).kind == RUNTIME_PYTHON)
		check_mapping(pythons, mmap);
	else if (!python_live_has(&pythons->live, mmap->pid))
		existing_mappings(&(struct event_sink){pythons, check_existing}, mmap->pid);
}

void pythons_take(struct pythons *pythons, const struct event *event)
{
	const struct event_task *task = event->task;
	if (!pythons->codes)
		return;
	if (event->type == EVENT_MMAP)
		take_mmap(pythons, event->mmap);
	else if (event->type == EVENT_COMM && event->comm->exec)
		python_live_exit(&pythons->live, event->comm->pid);
	else if (event->type == EVENT_FORK && task->pid != task->parent_pid)
		python_live_fork(&pythons->live, task->parent_pid, task->pid, ++pythons->generation);
	else if (event->type == EVENT_EXIT && task->pid == task->tid)
		python_live_exit(&pythons->live, task->pid);
}

/* Asks the kernel once for several samples of a process. */
static bool may_read(struct pythons *pythons, int32_t pid)
{
	uint8_t byte;
	if (pid == pythons->allowed)
		return true;
	if (remote_memory_read(pid, 0, &byte, sizeof byte) == -EPERM) {
		pythons->denied = pid;
		python_live_exit(&pythons->live, pid);
		return false;
	}
	pythons->allowed = pid;
	return true;
}

size_t pythons_match(struct pythons *pythons, const struct event_sample *sample, uint64_t words[PYTHONS_WORDS_MAX])
{
	struct python_moment moment = {
		.registers = sample->user.values,
		.register_count = sample->user.abi ? (size_t)__builtin_popcountll(sample->user.mask) : 0,
		.stack = sample->stack,
		.stack_size = sample->stack_size,
	};
	if (!pythons->codes || !python_live_has(&pythons->live, sample->pid) || !may_read(pythons, sample->pid))
		return 0;
	pythons->last = clock_now();
	return python_live_match(&pythons->live, sample->pid, sample->tid, &moment, words, PYTHONS_WORDS_MAX);
}

size_t pythons_read(struct pythons *pythons, int32_t pid, int32_t tid, uint64_t *words, size_t max)
{
	return pythons->codes ? python_live_read(&pythons->live, pid, tid, words, max) : 0;
}

static int note_python(void *context, const struct event *event)
{
	bool *found = context;
	*found = *found || (event->type == EVENT_MMAP && strstr(event->mmap->path, "python"));
	return 0;
}

bool pythons_has_any(const struct target *target)
{
	bool found = false;
	for (size_t i = 0; i < target->pid_count && !found; i++)
		existing_mappings(&(struct event_sink){&found, note_python}, target->pids[i]);
	return found;
}
