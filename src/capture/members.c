/* The set of recorded processes or threads, and the choice of samples by it. */
#include "capture/members.h"

#include "base/mem.h"
#include "system/proc_list.h"

#define GONE_MIN 64 /* fewer are not worth making room */

static struct member *find(const struct members *members, int32_t id)
{
	uint32_t at = id_map_find(&members->index, id);
	return at == INDEX_NONE ? NULL : &members->items[at];
}

/* A table of indexes forgets nothing, so that it is built again without those that are gone. */
static void make_room(struct members *members)
{
	size_t kept = 0;
	id_map_clear(&members->index);
	members->gone = 0;
	for (size_t i = 0; i < members->count; i++) {
		if (!members->items[i].threads && !members->items[i].coming)
			continue;
		members->items[kept] = members->items[i];
		id_map_add(&members->index, members->items[kept].id);
		members->gone += !members->items[kept++].threads;
	}
	members->count = kept;
}

static void add(struct members *members, int32_t id, int32_t threads)
{
	struct member *known = find(members, id);
	if (known) {
		members->gone -= !known->threads;
		*known = (struct member){.id = id, .threads = threads};
		return;
	}
	if (members->gone >= GONE_MIN && members->gone * 2 > members->count)
		make_room(members);
	MEM_ROOM(members->items, members->count, members->capacity);
	id_map_add(&members->index, id);
	members->items[members->count++] = (struct member){.id = id, .threads = threads};
}

static int32_t count_threads(int32_t pid)
{
	struct proc_list threads = proc_list_threads(pid);
	int32_t count = 0;
	for (int32_t tid; proc_list_next(&threads, &tid);)
		count++;
	return count;
}

void members_add(struct members *members, int32_t id)
{
	int32_t threads = members->threads ? 1 : count_threads(id);
	add(members, id, threads > 0 ? threads : 1);
}

void members_init(struct members *members, const struct target *target, const struct capture_events *events,
		  bool children)
{
	*members = (struct members){.threads = target->by_thread, .children = children, .events = events};
	for (size_t i = 0; i < (members->threads ? target->tid_count : target->pid_count); i++) {
		int32_t id = members->threads ? target->tids[i] : target->pids[i];
		if (id != target->command)
			members_add(members, id);
	}
}

void members_release(struct members *members)
{
	free(members->items);
	id_map_release(&members->index);
	*members = (struct members){0};
}

bool members_has(const struct members *members, int32_t pid, int32_t tid)
{
	const struct member *member = find(members, members->threads ? tid : pid);
	return member && member->threads;
}

void members_expect(struct members *members, const struct event_task *task)
{
	int32_t child = members->threads ? task->tid : task->pid;
	if (!members->children || !members_expects(members, task->parent_pid, task->parent_tid) ||
	    members_expects(members, task->pid, task->tid))
		return;
	add(members, child, 0);
	members->gone++;
	find(members, child)->coming = true;
}

bool members_expects(const struct members *members, int32_t pid, int32_t tid)
{
	const struct member *member = find(members, members->threads ? tid : pid);
	return (member && (member->threads || member->coming)) || (members->awaited && pid == members->awaited);
}

static void leave(struct members *members, struct member *member)
{
	members->gone += member->threads != 0;
	member->threads = 0;
}

/* --- records --- */

static int take_sample(struct members *members, const struct event_sample *sample)
{
	bool by_cpu = sample->source < members->events->count && members->events->items[sample->source].by_cpu;
	if (by_cpu && !members_has(members, sample->pid, sample->tid))
		return 0;
	if (!members->tails)
		return sink_sample(&members->next, sample);
	struct event_sample whole = tails_complete(members->tails, sample);
	return sink_sample(&members->next, &whole);
}

static int take_fork(struct members *members, const struct event_task *task)
{
	struct member *parent = find(members, members->threads ? task->parent_tid : task->parent_pid);
	if (parent && parent->threads && members->children) {
		if (!members->threads && task->pid == task->parent_pid)
			parent->threads++;
		else
			add(members, members->threads ? task->tid : task->pid, 1);
	}
	return sink_fork(&members->next, task);
}

/*
 * A process ends with its last thread. Records of forks may be lost: so many threads may be there, though they were not
 * counted, as long as the first one is.
 */
static int take_exit(struct members *members, const struct event_task *task)
{
	struct member *member = find(members, members->threads ? task->tid : task->pid);
	int result = sink_exit(&members->next, task);
	if (!member || !member->threads)
		return result;
	member->ended = member->ended || task->pid == task->tid || members->threads;
	if (member->ended && member->threads == 1)
		leave(members, member);
	else if (member->threads > 1)
		member->threads--;
	return result;
}

/* A thread that executes a program is the only one left of its process, and gets the number of that. */
static int take_comm(struct members *members, const struct event_comm *comm)
{
	if (comm->exec && comm->pid == members->awaited) {
		add(members, comm->pid, 1);
		members->awaited = 0;
	} else if (comm->exec && members_has(members, comm->pid, comm->tid)) {
		add(members, members->threads ? comm->tid : comm->pid, 1);
	}
	return sink_comm(&members->next, comm);
}

static int take(void *context, const struct event *event)
{
	struct members *members = context;
	switch (event->type) {
	case EVENT_SAMPLE:
		return take_sample(members, event->sample);
	case EVENT_FORK:
		return take_fork(members, event->task);
	case EVENT_EXIT:
		return take_exit(members, event->task);
	case EVENT_COMM:
		return take_comm(members, event->comm);
	default:
		return sink_take(&members->next, event);
	}
}

struct event_sink members_sink(struct members *members, const struct event_sink *next)
{
	members->next = *next;
	return (struct event_sink){.context = members, .take = take};
}
