/* Applies records of mappings, names, forks and exits to processes and threads. */
#include "process/process.h"

#include "base/hash.h"
#include "process/maps.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ENDED_MIN 64 /* fewer are not worth making room */
#define ENDED_GRACE 5000000000ull /* nanoseconds in which samples of what ended may come */

void processes_init(struct processes *processes, struct modules *modules)
{
	*processes = (struct processes){.modules = modules};
	strpool_init(&processes->strings);
}

void processes_release(struct processes *processes)
{
	for (size_t i = 0; i < processes->count; i++)
		map_set_release(processes->items[i].maps);
	map_set_release(processes->kernel_maps);
	strpool_release(&processes->strings);
	free(processes->items);
	free(processes->threads);
	id_map_release(&processes->map);
	index_map_release(&processes->thread_map);
}

static struct process *find_process(const struct processes *processes, int32_t pid)
{
	uint32_t at = id_map_find(&processes->map, pid);
	return at == INDEX_NONE ? NULL : &processes->items[at];
}

static struct process *get_process(struct processes *processes, int32_t pid)
{
	struct process *process = find_process(processes, pid);
	if (process)
		return process;
	MEM_ROOM(processes->items, processes->count, processes->capacity);
	process = &processes->items[processes->count++];
	*process = (struct process){.pid = pid};
	id_map_add(&processes->map, pid);
	return process;
}

static struct thread_name *find_thread(const struct processes *processes, int32_t pid, int32_t tid)
{
	struct index_probe probe;
	uint64_t hash = hash_pair((uint32_t)pid, (uint32_t)tid);
	for (uint32_t i = index_map_first(&processes->thread_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&processes->thread_map, &probe))
		if (processes->threads[i].pid == pid && processes->threads[i].tid == tid)
			return &processes->threads[i];
	return NULL;
}

static struct thread_name *get_thread(struct processes *processes, int32_t pid, int32_t tid)
{
	struct thread_name *thread = find_thread(processes, pid, tid);
	if (thread)
		return thread;
	MEM_ROOM(processes->threads, processes->thread_count, processes->thread_capacity);
	thread = &processes->threads[processes->thread_count];
	*thread = (struct thread_name){.pid = pid, .tid = tid};
	index_map_insert(&processes->thread_map, hash_pair((uint32_t)pid, (uint32_t)tid),
			 (uint32_t)processes->thread_count++);
	return thread;
}

/* The set that may be changed now: the one there is, or a copy when others may be reading it. */
static struct map_set *writable(struct processes *processes, struct map_set **maps, bool *shared)
{
	if (!*maps || *shared) {
		struct map_set *copy = map_set_copy(*maps);
		copy->serial = ++processes->last_serial;
		map_set_release(*maps);
		*maps = copy;
	}
	*shared = false;
	return *maps;
}

void processes_mmap(struct processes *processes, int32_t pid, struct mapping mapping)
{
	if (pid < 0) {
		map_set_add(writable(processes, &processes->kernel_maps, &processes->kernel_shared), mapping);
		return;
	}
	struct process *process = get_process(processes, pid);
	process->ended = 0;
	map_set_add(writable(processes, &process->maps, &process->shared), mapping);
}

void processes_name(struct processes *processes, int32_t pid, int32_t tid, const char *comm)
{
	get_thread(processes, pid, tid)->comm = strpool_add(&processes->strings, comm, strlen(comm));
}

void processes_comm(struct processes *processes, int32_t pid, int32_t tid, const char *comm, bool exec)
{
	processes_name(processes, pid, tid, comm);
	get_thread(processes, pid, tid)->recorded = true;
	struct process *process = exec ? find_process(processes, pid) : NULL;
	if (!process)
		return;
	/* exec starts with an empty address space. */
	map_set_release(process->maps);
	process->maps = NULL;
	process->shared = false;
	process->ended = 0;
}

void processes_fork(struct processes *processes, int32_t pid, int32_t tid, int32_t parent_pid, int32_t parent_tid)
{
	struct thread_name *parent = find_thread(processes, parent_pid, parent_tid);
	str_id comm = parent ? parent->comm : 0;
	struct thread_name *thread = get_thread(processes, pid, tid);
	thread->comm = comm;
	thread->recorded = true;
	thread->ended = 0;
	if (pid == parent_pid)
		return;
	struct map_set *maps = processes_maps(processes, parent_pid);
	struct process *child = get_process(processes, pid);
	map_set_release(child->maps); /* a process that had this pid before */
	child->maps = maps;
	child->shared = true;
	child->ended = 0;
}

const struct map_set *processes_look(const struct processes *processes, int32_t pid)
{
	const struct process *process = find_process(processes, pid);
	return process ? process->maps : NULL;
}

struct map_set *processes_maps(struct processes *processes, int32_t pid)
{
	struct process *process = find_process(processes, pid);
	if (!process || !process->maps)
		return NULL;
	process->shared = true;
	return map_set_hold(process->maps);
}

struct map_set *processes_kernel_maps(struct processes *processes)
{
	processes->kernel_shared = true;
	return map_set_hold(processes->kernel_maps);
}

const char *processes_comm_of(const struct processes *processes, int32_t pid, int32_t tid)
{
	const struct thread_name *thread = find_thread(processes, pid, tid);
	if (!thread || !thread->comm)
		thread = find_thread(processes, pid, pid);
	return thread ? strpool_text(&processes->strings, thread->comm) : "";
}

/* --- those that ended --- */

/* The main thread may end before the others, and exec gives its number to another thread. */
static bool is_gone(int32_t pid)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	return access(path, F_OK) != 0;
}

static bool ended_before(uint64_t ended, uint64_t time)
{
	return ended && ended < time;
}

static void forget_processes(struct processes *processes, uint64_t before)
{
	size_t kept = 0;
	id_map_clear(&processes->map);
	for (size_t i = 0; i < processes->count; i++) {
		struct process process = processes->items[i];
		if (ended_before(process.ended, before) && is_gone(process.pid)) {
			map_set_release(process.maps);
			continue;
		}
		id_map_add(&processes->map, process.pid);
		processes->items[kept++] = process;
	}
	processes->count = kept;
}

/* The main thread stays as long as the process: it gives the others their name. */
static bool forget_thread(struct processes *processes, const struct thread_name *thread, uint64_t before)
{
	bool main_thread = thread->pid == thread->tid;
	if (!ended_before(thread->ended, before) || (main_thread && !is_gone(thread->pid)))
		return false;
	processes->forgotten_threads += thread->recorded && thread->pid > 0;
	processes->forgotten_processes += thread->recorded && thread->pid > 0 && main_thread;
	return true;
}

static void forget_threads(struct processes *processes, uint64_t before)
{
	size_t kept = 0;
	index_map_clear(&processes->thread_map);
	for (size_t i = 0; i < processes->thread_count; i++) {
		struct thread_name thread = processes->threads[i];
		if (forget_thread(processes, &thread, before))
			continue;
		index_map_insert(&processes->thread_map, hash_pair((uint32_t)thread.pid, (uint32_t)thread.tid),
				 (uint32_t)kept);
		processes->threads[kept++] = thread;
	}
	processes->thread_count = kept;
}

/* All of them are looked at, so that there must be many that ended, and no more than once in a while. */
static void forget_ended(struct processes *processes, uint64_t time)
{
	bool many = processes->ended >= ENDED_MIN && processes->ended * 4 >= processes->count + processes->thread_count;
	if (!many || time < processes->looked + ENDED_GRACE)
		return;
	forget_processes(processes, time - ENDED_GRACE);
	forget_threads(processes, time - ENDED_GRACE);
	processes->looked = time;
	processes->ended = 0;
}

void processes_exit(struct processes *processes, int32_t pid, int32_t tid, uint64_t time)
{
	struct thread_name *thread = find_thread(processes, pid, tid);
	struct process *process = pid == tid ? find_process(processes, pid) : NULL;
	if (!time)
		return;
	if (thread)
		thread->ended = time;
	if (process)
		process->ended = time;
	processes->ended++;
	forget_ended(processes, time);
}

/* --- who was recorded --- */

static int ascending(const void *left, const void *right)
{
	int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
	return (a > b) - (a < b);
}

uint64_t processes_recorded(const struct processes *processes, uint64_t *ret_processes)
{
	CLEANUP_FREE int32_t *pids = mem_alloc((processes->thread_count + 1) * sizeof *pids);
	size_t count = 0, distinct = 0;
	for (size_t i = 0; i < processes->thread_count; i++)
		if (processes->threads[i].recorded && processes->threads[i].pid > 0)
			pids[count++] = processes->threads[i].pid;
	qsort(pids, count, sizeof *pids, ascending);
	for (size_t i = 0; i < count; i++)
		distinct += !i || pids[i] != pids[i - 1];
	*ret_processes = distinct + processes->forgotten_processes;
	return count + processes->forgotten_threads;
}
