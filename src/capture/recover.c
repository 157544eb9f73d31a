/* Compares processes in /proc with what the records said, and emits the differences. */
#include "capture/recover.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "capture/existing.h"

#include <string.h>

#define MILLISECOND 1000000ull
#define PAUSE_MIN (100 * MILLISECOND) /* between two looks at all processes */
#define PAUSE_SHARE 20 /* and so many times what the last one took */
#define SLICE (10 * MILLISECOND) /* of a round */
#define LAST_SLICE (50 * MILLISECOND)
#define UNKNOWN_MAX 32u /* processes in PAUSE_MIN */
#define RETRY (1000 * MILLISECOND) /* for a process that was not there */
#define ROUNDS_UNTIL_DELIVERED 3 /* of what is in the rings when a round is under way */
#define GONE_MIN 256u /* fewer are not worth making room */

/* --- who lives --- */

static struct recover_thread *find(const struct recover *recover, int32_t tid)
{
	uint32_t at = id_map_find(&recover->index, tid);
	return at == INDEX_NONE ? NULL : &recover->threads[at];
}

/* A table of indexes forgets nothing, so that it is built again without those that are gone. */
static void make_room(struct recover *recover)
{
	size_t kept = 0;
	id_map_clear(&recover->index);
	for (size_t i = 0; i < recover->count; i++) {
		if (recover->threads[i].gone)
			continue;
		id_map_add(&recover->index, recover->threads[i].tid);
		recover->threads[kept++] = recover->threads[i];
	}
	recover->count = kept;
	recover->gone = 0;
}

/* Valid until the next call. */
static struct recover_thread *get(struct recover *recover, int32_t pid, int32_t tid)
{
	struct recover_thread *thread = find(recover, tid);
	if (!thread) {
		if (recover->gone >= GONE_MIN && recover->gone * 2 > recover->count)
			make_room(recover);
		MEM_ROOM(recover->threads, recover->count, recover->capacity);
		id_map_add(&recover->index, tid);
		thread = &recover->threads[recover->count++];
		*thread = (struct recover_thread){.pid = pid, .tid = tid};
	} else if (thread->gone) { /* another one with its number */
		recover->gone--;
		*thread = (struct recover_thread){.pid = pid, .tid = tid};
	}
	thread->pid = pid;
	return thread;
}

static void leave(struct recover *recover, struct recover_thread *thread)
{
	recover->gone += !thread->gone;
	thread->gone = true;
}

static void note_time(struct recover *recover, uint64_t time)
{
	if (time > recover->latest)
		recover->latest = time;
}

static uint64_t hash_of_mapping(const struct event_mmap *mmap)
{
	if (!strcmp(mmap->path, "[vsyscall]")) /* is in every process, and no record has it */
		return 0;
	uint64_t range = hash_mix(mmap->start ^ HASH_K0, mmap->length ^ HASH_K1);
	return hash_mix(range ^ mmap->offset, hash_bytes(mmap->path, strlen(mmap->path)));
}

static int note_mmap(struct recover *recover, const struct event_mmap *mmap)
{
	note_time(recover, mmap->time);
	if (!mmap->kernel && mmap->pid > 0)
		get(recover, mmap->pid, mmap->pid)->maps += hash_of_mapping(mmap);
	return 0;
}

static int note_comm(struct recover *recover, const struct event_comm *comm)
{
	struct recover_thread *thread = get(recover, comm->pid, comm->tid);
	note_time(recover, comm->time);
	thread->comm = hash_bytes(comm->comm, strlen(comm->comm));
	if (comm->exec)
		thread->maps = 0;
	return 0;
}

static int note_fork(struct recover *recover, const struct event_task *task)
{
	const struct recover_thread *parent = find(recover, task->parent_tid);
	const struct recover_thread *process = find(recover, task->parent_pid);
	uint64_t comm = parent ? parent->comm : 0;
	uint64_t maps = process && task->pid != task->parent_pid ? process->maps : 0;
	struct recover_thread *thread = get(recover, task->pid, task->tid);
	note_time(recover, task->time);
	thread->comm = comm;
	thread->maps = maps;
	return 0;
}

static int note_exit(struct recover *recover, const struct event_task *task)
{
	struct recover_thread *thread = find(recover, task->tid);
	note_time(recover, task->time);
	if (thread)
		leave(recover, thread);
	return 0;
}

/* --- what is read again --- */

/* A process while it is read. */
struct reading {
	struct recover *recover;
	const struct event_sink *to;
	int32_t pid;
	uint64_t time; /* of what is emitted */
	bool found, unknown; /* unknown: no record has it */
	uint64_t maps;
};

static int emit_fork(const struct reading *reading)
{
	int32_t parent = find_parent(reading->pid);
	struct event_task task = {.pid = reading->pid,
				  .tid = reading->pid,
				  .parent_pid = parent,
				  .parent_tid = parent,
				  .time = reading->time};
	return sink_fork(reading->to, &task);
}

/* A process that no record has: what an older one with its number had does not hold, as after an exec. */
static int emit_comm(struct reading *reading, const struct event_comm *comm)
{
	const struct recover_thread *known = find(reading->recover, comm->tid);
	bool first = comm->pid == comm->tid && reading->unknown;
	reading->found = true;
	if (known && !known->gone && known->comm == hash_bytes(comm->comm, strlen(comm->comm)) && !first)
		return 0;
	int result = first && !reading->recover->options.everybody ? emit_fork(reading) : 0;
	struct event_comm timed = *comm;
	timed.time = reading->time;
	timed.exec = first;
	return result < 0 ? result : sink_comm(reading->to, &timed);
}

/* First everything is looked at: names are emitted, mappings only summed up. */
static int look(void *context, const struct event *event)
{
	struct reading *reading = context;
	if (event->type == EVENT_COMM)
		return emit_comm(reading, event->comm);
	if (event->type == EVENT_MMAP)
		reading->maps += hash_of_mapping(event->mmap);
	return 0;
}

static int emit_mapping(void *context, const struct event *event)
{
	const struct reading *reading = context;
	if (event->type != EVENT_MMAP)
		return 0;
	struct event_mmap timed = *event->mmap;
	timed.time = reading->time;
	return sink_mmap(reading->to, &timed);
}

/* What is as the records said is not reported again. */
static int read_process(struct recover *recover, int32_t pid, uint64_t time, const struct event_sink *to)
{
	const struct recover_thread *known = find(recover, pid);
	struct reading reading = {
		.recover = recover, .to = to, .pid = pid, .time = time, .unknown = !known || known->gone};
	int result = existing_processes(&(struct event_sink){&reading, look}, &pid, 1);
	struct recover_thread *process = find(recover, pid);
	if (!reading.found && process)
		leave(recover, process);
	if (result < 0 || !reading.found || !process || reading.maps == process->maps)
		return result;
	process->maps = 0;
	return existing_mappings(&(struct event_sink){&reading, emit_mapping}, pid);
}

static void list_processes(struct recover *recover)
{
	recover->list.count = recover->at = 0;
	if (recover->options.everybody) {
		find_processes(&recover->list, &(struct find_filter){0});
		return;
	}
	for (size_t i = 0; i < recover->count; i++) {
		const struct recover_thread *thread = &recover->threads[i];
		if (thread->gone || thread->pid != thread->tid)
			continue;
		MEM_ROOM(recover->list.items, recover->list.count, recover->list.capacity);
		recover->list.items[recover->list.count++] = thread->pid;
	}
	if (recover->options.children)
		find_descendants(&recover->list);
}

/*
 * What is read at once may be overwritten by records that were written before that, and are delivered after. When all
 * of them have been, it is read again.
 */
static void plan(struct recover *recover, uint64_t round, bool last)
{
	recover->round = round;
	if (!recover->repeat || (!last && round < recover->repeat_round) || recover->at < recover->list.count)
		return;
	recover->repeat = false;
	recover->repeats = true;
	recover->pending = true;
	recover->not_before = 0;
}

static void begin(struct recover *recover)
{
	recover->pending = false;
	recover->cost = 0;
	recover->repeat = !recover->repeats;
	recover->repeats = false;
	recover->repeat_round = recover->round + ROUNDS_UNTIL_DELIVERED;
	list_processes(recover);
}

static int go_on(struct recover *recover, bool last)
{
	bool under_way = recover->at < recover->list.count;
	uint64_t start = under_way || recover->pending ? clock_now() : 0, time = start;
	int result = 0;
	if (!under_way && (!recover->pending || (!last && start < recover->not_before)))
		return 0;
	if (!under_way)
		begin(recover);
	for (; result >= 0 && recover->at < recover->list.count && time - start < (last ? LAST_SLICE : SLICE);
	     time = clock_now())
		result = read_process(recover, recover->list.items[recover->at++], recover->latest, &recover->in_round);
	time = clock_now();
	recover->cost += time - start;
	uint64_t pause = recover->cost * PAUSE_SHARE;
	recover->not_before = time + (pause > PAUSE_MIN ? pause : PAUSE_MIN);
	return result;
}

int recover_round(struct recover *recover, uint64_t round, bool last)
{
	recover->ended = last;
	plan(recover, round, last);
	return go_on(recover, last);
}

/* A fork that was dropped: its process is read when its first sample is there. */
static int read_unknown(struct recover *recover, int32_t pid, uint64_t sampled)
{
	uint64_t time = clock_now();
	if (time >= recover->unknown_until) {
		recover->unknown_until = time + PAUSE_MIN;
		recover->unknown_left = UNKNOWN_MAX;
	}
	if (!recover->unknown_left)
		return 0;
	recover->unknown_left--;
	int result =
		read_process(recover, pid, sampled > recover->latest ? sampled : recover->latest, &recover->in_sample);
	const struct recover_thread *found = find(recover, pid);
	if (found && !found->gone)
		return result;
	struct recover_thread *missing = get(recover, pid, pid);
	missing->tried = time;
	leave(recover, missing);
	return result;
}

/* Events that are taken of everybody report something about those who are recorded, in the process of another. */
static bool is_of_another(const struct recover *recover, const struct event_sample *sample)
{
	const struct capture_events *events = recover->options.events;
	return !recover->options.everybody && events && sample->source < events->count &&
	       events->items[sample->source].everywhere;
}

static int note_sample(struct recover *recover, const struct event_sample *sample)
{
	if (!recover->lossy || sample->pid <= 0 || is_of_another(recover, sample))
		return 0;
	const struct recover_thread *thread = find(recover, sample->pid);
	if (thread && (!thread->gone || clock_now() - thread->tried < RETRY))
		return 0;
	return read_unknown(recover, sample->pid, sample->since ? sample->since : sample->time);
}

static int note_lost(struct recover *recover, const struct event_lost *lost)
{
	if (lost->kind == LOST_SAMPLES || recover->ended)
		return 0;
	note_time(recover, lost->time);
	recover->lossy = recover->pending = true;
	return go_on(recover, false);
}

/* --- the stage --- */

static int note(struct recover *recover, const struct event *event)
{
	switch (event->type) {
	case EVENT_SAMPLE:
		return note_sample(recover, event->sample);
	case EVENT_MMAP:
		return note_mmap(recover, event->mmap);
	case EVENT_COMM:
		return note_comm(recover, event->comm);
	case EVENT_FORK:
		return note_fork(recover, event->task);
	case EVENT_EXIT:
		return note_exit(recover, event->task);
	case EVENT_LOST:
		return note_lost(recover, event->lost);
	default:
		return 0;
	}
}

static int take(void *context, const struct event *event)
{
	struct recover *recover = context;
	int result = note(recover, event);
	return result < 0 ? result : sink_take(&recover->next, event);
}

struct event_sink recover_init(struct recover *recover, const struct recover_options *options,
			       const struct event_sink *next)
{
	*recover = (struct recover){.options = *options, .next = *next};
	struct event_sink sink = {.context = recover, .take = take};
	recover_connect(recover, &(struct event_sink){0}, &sink);
	return sink;
}

void recover_connect(struct recover *recover, const struct event_sink *early, const struct event_sink *front)
{
	recover->round_tee = (struct event_tee){.first = *early, .second = *front};
	recover->sample_tee = (struct event_tee){.first = *early, .second = {.context = recover, .take = take}};
	recover->in_round = event_tee_sink(&recover->round_tee);
	recover->in_sample = event_tee_sink(&recover->sample_tee);
}

void recover_release(struct recover *recover)
{
	free(recover->threads);
	id_map_release(&recover->index);
	pid_list_release(&recover->list);
	*recover = (struct recover){0};
}
