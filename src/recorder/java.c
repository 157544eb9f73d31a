/* Asks JVMs for perf maps while they are recorded. */
#include "recorder/java.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define INTERVAL (10 * CLOCK_SECOND)
#define RETRY CLOCK_SECOND /* of one that has just started */
#define FINISH (3 * CLOCK_SECOND)
#define PROCESSES_MAX 256
#define SILENT_MAX 3

void java_open(struct java *java, bool describes_itself)
{
	java->attacher = attacher_start();
	java->patience = describes_itself ? INTERVAL : RETRY;
}

void java_close(struct java *java)
{
	attacher_stop(java->attacher);
	free(java->processes);
	*java = (struct java){0};
}

static struct java_process *find(const struct java *java, int32_t pid)
{
	for (size_t i = 0; i < java->count; i++)
		if (java->processes[i].pid == pid)
			return &java->processes[i];
	return NULL;
}

static void add(struct java *java, int32_t pid, uint64_t due)
{
	if (find(java, pid) || java->count == PROCESSES_MAX)
		return;
	MEM_ROOM(java->processes, java->count, java->capacity);
	java->processes[java->count++] = (struct java_process){.pid = pid, .due = due};
}

/* Also when it executes another program: it is added again when that is a JVM. */
static void drop(struct java *java, int32_t pid)
{
	struct java_process *process = find(java, pid);
	if (process)
		*process = java->processes[--java->count];
}

static bool is_jvm(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && !strcmp(slash, "/libjvm.so");
}

void java_take(struct java *java, const struct event *event)
{
	if (!java->attacher)
		return;
	/* What was there before the recording has no time. */
	if (event->type == EVENT_MMAP && event->mmap->pid > 0 && is_jvm(event->mmap->path))
		add(java, event->mmap->pid, clock_now() + (event->mmap->time ? java->patience : 0));
	else if (event->type == EVENT_EXIT && event->task->pid == event->task->tid)
		drop(java, event->task->pid);
	else if (event->type == EVENT_COMM && event->comm->exec)
		drop(java, event->comm->pid);
}

static void take_reply(struct java *java, const struct attacher_reply *reply, uint64_t now)
{
	struct java_process *process = find(java, reply->pid);
	java->answered += reply->result == ATTACH_DONE;
	if (!process)
		return;
	process->asked = false;
	process->due = now + (reply->result == ATTACH_NOT_READY ? RETRY : INTERVAL);
	process->silent = reply->result == ATTACH_TIMED_OUT ? process->silent + 1 : 0;
	process->refuses = reply->result == ATTACH_DENIED || reply->result == ATTACH_REFUSED ||
			   reply->result == ATTACH_GONE || process->silent == SILENT_MAX;
}

static void ask(struct java *java, struct java_process *process)
{
	process->asked = !process->refuses && attacher_request(java->attacher, process->pid);
	process->refuses = !process->asked;
}

void java_round(struct java *java, uint64_t now)
{
	struct attacher_reply reply;
	if (!java->count)
		return;
	while (attacher_take(java->attacher, 0, &reply))
		take_reply(java, &reply, now);
	for (size_t i = 0; i < java->count; i++) {
		struct java_process *process = &java->processes[i];
		if (!process->asked && !process->refuses && process->due <= now)
			ask(java, process);
	}
}

static bool waits(const struct java *java)
{
	for (size_t i = 0; i < java->count; i++)
		if (java->processes[i].asked)
			return true;
	return false;
}

static void wait_for_all(struct java *java, uint64_t until)
{
	struct attacher_reply reply;
	for (uint64_t now = clock_now(); waits(java) && now < until; now = clock_now())
		if (attacher_take(java->attacher, (int)((until - now) / 1000000) + 1, &reply))
			take_reply(java, &reply, now);
}

void java_finish(struct java *java)
{
	uint64_t until = clock_now() + FINISH;
	if (!java->count)
		return;
	/* One that was asked a moment ago answers with code that may be incomplete by now. */
	wait_for_all(java, until);
	for (size_t i = 0; i < java->count; i++)
		if (!java->processes[i].asked)
			ask(java, &java->processes[i]);
	wait_for_all(java, until);
}
