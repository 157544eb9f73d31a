/* Requests perf maps while their processes are recorded. */
#include "recorder/perf_maps.h"

#include "base/clock.h"
#include "base/mem.h"
#include "runtime/launch.h"

#include <stdlib.h>
#include <string.h>

#define INTERVAL (10 * CLOCK_SECOND)
#define RETRY CLOCK_SECOND /* of one that has just started */
#define FINISH (3 * CLOCK_SECOND)
#define PROCESSES_MAX 256
#define SILENT_MAX 3

void perf_maps_open(struct perf_maps *maps, unsigned launched)
{
	maps->attacher = attacher_start();
	maps->launched = launched;
}

void perf_maps_close(struct perf_maps *maps)
{
	attacher_stop(maps->attacher, !maps->kept);
	free(maps->processes);
	*maps = (struct perf_maps){0};
}

static struct map_process *find(const struct perf_maps *maps, int32_t pid)
{
	for (size_t i = 0; i < maps->count; i++)
		if (maps->processes[i].pid == pid)
			return &maps->processes[i];
	return NULL;
}

static void add(struct perf_maps *maps, int32_t pid, uint64_t due)
{
	if (find(maps, pid) || maps->count == PROCESSES_MAX)
		return;
	MEM_ROOM(maps->processes, maps->count, maps->capacity);
	maps->processes[maps->count++] = (struct map_process){.pid = pid, .due = due};
}

/* Also when it executes another program: it is added again when that is a JVM. */
static void drop(struct perf_maps *maps, int32_t pid)
{
	struct map_process *process = find(maps, pid);
	if (process)
		*process = maps->processes[--maps->count];
}

static void take_mapping(struct perf_maps *maps, const struct event_mmap *mmap)
{
	const char *slash = strrchr(mmap->path, '/'), *name = slash ? slash + 1 : "";
	if (!strcmp(name, "libjvm.so") && !find(maps, mmap->pid)) {
		/* What was there before the recording has no time. One that has just started needs a moment. */
		uint64_t delay = !mmap->time ? 0 : maps->launched & LAUNCH_JAVA ? INTERVAL : RETRY;
		add(maps, mmap->pid, clock_now() + delay);
		if (mmap->time && maps->launched & LAUNCH_JAVA)
			attacher_note(maps->attacher, mmap->pid);
	} else if (maps->launched & LAUNCH_NODE && mmap->time &&
		   (!strcmp(name, "node") || !strcmp(name, "nodejs") || !strncmp(name, "libnode.so", 10))) {
		attacher_note(maps->attacher, mmap->pid);
	}
}

void perf_maps_take(struct perf_maps *maps, const struct event *event)
{
	if (!maps->attacher)
		return;
	if (event->type == EVENT_MMAP && event->mmap->pid > 0)
		take_mapping(maps, event->mmap);
	else if (event->type == EVENT_EXIT && event->task->pid == event->task->tid)
		drop(maps, event->task->pid);
	else if (event->type == EVENT_COMM && event->comm->exec)
		drop(maps, event->comm->pid);
}

static void take_reply(struct perf_maps *maps, const struct attacher_reply *reply, uint64_t now)
{
	struct map_process *process = find(maps, reply->pid);
	if (!process)
		return;
	process->asked = false;
	process->due = now + (reply->result == ATTACH_NOT_READY ? RETRY : INTERVAL);
	process->silent = reply->result == ATTACH_TIMED_OUT ? process->silent + 1 : 0;
	process->refuses = reply->result == ATTACH_DENIED || reply->result == ATTACH_REFUSED ||
			   reply->result == ATTACH_GONE || process->silent == SILENT_MAX;
}

static void ask(struct perf_maps *maps, struct map_process *process)
{
	process->asked = !process->refuses && attacher_request(maps->attacher, process->pid);
	process->refuses = !process->asked;
}

void perf_maps_round(struct perf_maps *maps, uint64_t now)
{
	struct attacher_reply reply;
	if (!maps->count)
		return;
	while (attacher_take(maps->attacher, 0, &reply))
		take_reply(maps, &reply, now);
	for (size_t i = 0; i < maps->count; i++) {
		struct map_process *process = &maps->processes[i];
		if (!process->asked && !process->refuses && process->due <= now)
			ask(maps, process);
	}
}

static bool waits(const struct perf_maps *maps)
{
	for (size_t i = 0; i < maps->count; i++)
		if (maps->processes[i].asked)
			return true;
	return false;
}

static void wait_for_all(struct perf_maps *maps, uint64_t until)
{
	struct attacher_reply reply;
	for (uint64_t now = clock_now(); waits(maps) && now < until; now = clock_now())
		if (attacher_take(maps->attacher, (int)((until - now) / 1000000) + 1, &reply))
			take_reply(maps, &reply, now);
}

void perf_maps_finish(struct perf_maps *maps)
{
	uint64_t until = clock_now() + FINISH;
	if (!maps->count)
		return;
	/* One that was asked a moment ago answers with code that may be incomplete by now. */
	wait_for_all(maps, until);
	for (size_t i = 0; i < maps->count; i++)
		if (!maps->processes[i].asked)
			ask(maps, &maps->processes[i]);
	wait_for_all(maps, until);
}
