#include "capture/engine.h"

#include "base/hash.h"
#include "capture/bpf_counts.h"
#include "capture/bpf_loader.h"
#include "capture/bpf_tables.h"
#include "capture/bpf_waits.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define IDLE 4 /* of bpf_tables_now(): a module that was not needed for so long may give way */
#define PATIENCE 8 /* until a table for which there was no room is tried again */

enum module_state {
	MODULE_UNKNOWN,
	MODULE_ASKED, /* its table is being built */
	MODULE_PLACED,
	MODULE_BARE, /* it has no table */
	MODULE_REFUSED, /* no room for it */
};

struct engine_module {
	enum module_state state;
	struct bpf_placed placed;
	uint32_t refused_at; /* seconds */
};

/* A process as far as the kernel must know it. */
struct engine_process {
	int32_t pid;
	uint32_t generation;
	bool wanted; /* samples hit it */
	bool changed; /* its list is behind */
	struct bpf_list list;
};

/* A mapping that took the place of another: until it is told in the order of time. */
struct replaced {
	int32_t pid;
	uint64_t time, start;
};

struct engine {
	struct bpf_programs *programs;
	struct bpf_tables tables;
	struct bpf_counts counts;
	struct bpf_loader loader;
	struct ring_buffer *ring;
	struct codes *codes;
	int epoll;
	/* What the records tell, at once. The strings of its modules are not used: modules are those of `codes`. */
	struct processes processes;
	struct engine_process *items;
	size_t count, capacity;
	struct index_map map; /* by pid */
	bool some_changed;
	struct engine_module *modules; /* by module id */
	size_t module_capacity, placed_count, evicted, refused;
	struct layout_mapping *list; /* room for one */
	size_t list_count, list_capacity;
	/* Records that wait for their turn: number `first_number` is waiting[head]. */
	struct layout_record **waiting;
	size_t head, waiting_count, waiting_capacity;
	uint64_t first_number;
	struct replaced *replaced;
	size_t replaced_count, replaced_capacity;
	size_t heeded; /* waiting[…heeded) have said what they lack */
	struct engine_waits waits;
	struct bpf_waits_span span;
	uint64_t left_out; /* waits, at the end */
};

/* --- opening --- */

static int take_record(void *context, void *data, size_t size);

static int watch(struct engine *engine, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};
	return epoll_ctl(engine->epoll, EPOLL_CTL_ADD, fd, &event);
}

int engine_open(struct engine **ret_engine, const struct engine_options *options, struct err *err)
{
	struct bpf_programs *programs;
	int result = bpf_programs_load(&programs, options, err);
	if (result)
		return result;
	struct engine *engine = mem_zalloc(1, sizeof *engine);
	struct bpf_maps maps = bpf_programs_maps(programs);
	engine->programs = programs;
	engine->waits = options->waits;
	engine->epoll = epoll_create1(EPOLL_CLOEXEC);
	processes_init(&engine->processes, NULL);
	bpf_loader_init(&engine->loader);
	bpf_counts_init(&engine->counts, &maps, options);
	result = bpf_tables_open(&engine->tables, &maps, err);
	if (!result) {
		engine->ring = ring_buffer__new(maps.records, take_record, engine, NULL);
		if (!engine->ring || engine->epoll < 0 || watch(engine, ring_buffer__epoll_fd(engine->ring)) ||
		    watch(engine, engine->loader.fd))
			result = err_set(err, ERR_SYSTEM, "cannot read the ring buffer of the BPF programs");
	}
	if (result)
		engine_close(engine);
	else
		*ret_engine = engine;
	return result;
}

void engine_close(struct engine *engine)
{
	if (!engine)
		return;
	bpf_loader_release(&engine->loader);
	ring_buffer__free(engine->ring);
	for (size_t i = engine->head; i < engine->waiting_count; i++)
		free(engine->waiting[i]);
	for (size_t i = 0; i < engine->module_capacity; i++)
		free(engine->modules[i].placed.items);
	bpf_counts_release(&engine->counts);
	bpf_tables_release(&engine->tables);
	processes_release(&engine->processes);
	index_map_release(&engine->map);
	if (engine->epoll >= 0)
		close(engine->epoll);
	bpf_programs_free(engine->programs);
	free(engine->items);
	free(engine->modules);
	free(engine->list);
	free(engine->waiting);
	free(engine->replaced);
	free(engine);
}

int engine_attach(struct engine *engine, size_t source, int event_fd, struct err *err)
{
	return bpf_programs_attach(engine->programs, source, event_fd, err);
}

void engine_begin(struct engine *engine, uint64_t time, int32_t command)
{
	if (engine->waits.counted && command)
		bpf_waits_add(&engine->counts.maps, command, command);
	if (!engine->span.began)
		engine->span.began = time;
	bpf_programs_began(engine->programs, engine->span.began);
}

void engine_end(struct engine *engine, uint64_t time)
{
	engine->span.ended = time;
	bpf_programs_ended(engine->programs, time);
}

void engine_start(struct engine *engine, struct codes *codes)
{
	engine->codes = codes;
	bpf_programs_tell_symbols(engine->programs, codes);
	bpf_loader_start(&engine->loader, codes);
}

void engine_stop(struct engine *engine)
{
	bpf_loader_stop(&engine->loader);
}

int engine_fd(const struct engine *engine)
{
	return engine->epoll;
}

/* --- modules and processes --- */

static struct engine_module *module_at(struct engine *engine, module_id id)
{
	if (id >= engine->module_capacity) {
		size_t old = engine->module_capacity;
		engine->modules =
			mem_grow(engine->modules, &engine->module_capacity, (size_t)id + 1, sizeof *engine->modules);
		memset(engine->modules + old, 0, (engine->module_capacity - old) * sizeof *engine->modules);
	}
	return &engine->modules[id];
}

static struct engine_process *find_process(const struct engine *engine, int32_t pid)
{
	struct index_probe probe;
	for (uint32_t i = index_map_first(&engine->map, hash_u64((uint32_t)pid), &probe); i != INDEX_NONE;
	     i = index_map_next(&engine->map, &probe))
		if (engine->items[i].pid == pid)
			return &engine->items[i];
	return NULL;
}

static struct engine_process *get_process(struct engine *engine, int32_t pid)
{
	struct engine_process *process = find_process(engine, pid);
	if (process)
		return process;
	index_map_insert(&engine->map, hash_u64((uint32_t)pid), (uint32_t)engine->count);
	MEM_ROOM(engine->items, engine->count, engine->capacity);
	process = &engine->items[engine->count++];
	*process = (struct engine_process){.pid = pid};
	return process;
}

static void process_changed(struct engine *engine, struct engine_process *process)
{
	process->changed = true;
	engine->some_changed = true;
}

/* --- what the records tell --- */

/* What is mapped there now: the very same, something else, or nothing. */
enum overlap { OVERLAP_NONE, OVERLAP_SAME, OVERLAP_OTHER };

static enum overlap overlap_of(struct engine *engine, int32_t pid, const struct mapping *mapping)
{
	const struct map_set *maps = processes_look(&engine->processes, pid);
	enum overlap result = OVERLAP_NONE;
	for (size_t i = 0; maps && i < maps->count; i++) {
		const struct mapping *old = &maps->items[i];
		if (old->end <= mapping->start || old->start >= mapping->end)
			continue;
		bool same = old->module == mapping->module &&
			    old->start - old->offset == mapping->start - mapping->offset;
		if (!same)
			result = OVERLAP_OTHER;
		else if (result == OVERLAP_NONE && old->start <= mapping->start && old->end >= mapping->end)
			result = OVERLAP_SAME;
	}
	return result;
}

static int hear_mmap(void *context, const struct event_mmap *mmap)
{
	struct engine *engine = context;
	uint64_t end;
	if (mmap->kernel || mmap->pid < 0)
		return 0;
	if (__builtin_add_overflow(mmap->start, mmap->length, &end))
		end = UINT64_MAX;
	struct mapping mapping = {
		.start = mmap->start,
		.end = end,
		.offset = mmap->offset,
		.module = codes_add_module(engine->codes, mmap->path, &mmap->build_id, mmap->pid),
	};
	enum overlap overlap = overlap_of(engine, mmap->pid, &mapping);
	if (overlap == OVERLAP_SAME) /* another protection, most of all */
		return 0;
	if (overlap == OVERLAP_OTHER && mmap->time) {
		MEM_ROOM(engine->replaced, engine->replaced_count, engine->replaced_capacity);
		engine->replaced[engine->replaced_count++] = (struct replaced){mmap->pid, mmap->time, mmap->start};
	}
	processes_mmap(&engine->processes, mmap->pid, mapping);
	struct engine_process *process = find_process(engine, mmap->pid);
	if (process)
		process_changed(engine, process);
	return 0;
}

/* Most processes that come and go are never hit by a sample: the kernel gets a list again when one asks for it. */
static void forget(struct engine *engine, struct engine_process *process)
{
	process->wanted = false;
	if (process->list.count)
		bpf_tables_unset(&engine->tables, process->pid, &process->list);
}

static int hear_comm(void *context, const struct event_comm *comm)
{
	struct engine *engine = context;
	if (engine->waits.counted && engine->waits.unseen && !engine->span.began)
		bpf_waits_add(&engine->counts.maps, comm->pid, comm->tid);
	if (!comm->exec)
		return 0;
	processes_comm(&engine->processes, comm->pid, comm->tid, "", true);
	codes_process_changed(engine->codes, comm->pid);
	struct engine_process *process = find_process(engine, comm->pid);
	if (process) {
		process->generation++;
		forget(engine, process);
	}
	return 0;
}

static int hear_fork(void *context, const struct event_task *task)
{
	struct engine *engine = context;
	if (task->pid == task->parent_pid)
		return 0;
	processes_fork(&engine->processes, task->pid, task->tid, task->parent_pid, task->parent_tid);
	codes_process_changed(engine->codes, task->pid);
	struct engine_process *child = find_process(engine, task->pid); /* of another process that had its pid */
	if (child) {
		child->generation++;
		forget(engine, child);
	}
	return 0;
}

static int hear_exit(void *context, const struct event_task *task)
{
	struct engine *engine = context;
	struct engine_process *process = task->pid == task->tid ? find_process(engine, task->pid) : NULL;
	if (process)
		forget(engine, process);
	return 0;
}

struct event_sink engine_early(struct engine *engine)
{
	return (struct event_sink){
		.context = engine,
		.mmap = hear_mmap,
		.comm = hear_comm,
		.fork = hear_fork,
		.exit = hear_exit,
	};
}

/* --- what the kernel gets --- */

static void add_to_list(struct engine *engine, struct layout_mapping item)
{
	MEM_ROOM(engine->list, engine->list_count, engine->list_capacity);
	engine->list[engine->list_count++] = item;
}

/* A mapping of a module whose table is in the kernel: a row for each part that it meets, bare code between. */
static void list_placed(struct engine *engine, const struct mapping *mapping, const struct bpf_placed *placed)
{
	struct code *code = codes_get(engine->codes, mapping->module);
	uint64_t bias = mapping->start - code_address(code, mapping, mapping->start), at = mapping->start;
	struct layout_mapping bare = {.part = LAYOUT_PART_NONE, .module = mapping->module, .bias = bias};
	for (size_t i = 0; i < placed->count && at < mapping->end; i++) {
		const struct bpf_place *place = &placed->items[i];
		uint64_t start = place->start + bias, end = place->end + bias;
		if (end <= at || start >= mapping->end)
			continue;
		if (start > at) {
			bare.start = at;
			bare.end = start;
			add_to_list(engine, bare);
			at = start;
		}
		end = end < mapping->end ? end : mapping->end;
		add_to_list(engine, (struct layout_mapping){at, end, bias, place->part, mapping->module});
		at = end;
	}
	if (at < mapping->end) {
		bare.start = at;
		bare.end = mapping->end;
		add_to_list(engine, bare);
	}
}

static void list_mapping(struct engine *engine, const struct mapping *mapping)
{
	const struct engine_module *module = module_at(engine, mapping->module);
	if (module->state == MODULE_PLACED) {
		list_placed(engine, mapping, &module->placed);
		return;
	}
	bool bare = module->state == MODULE_BARE;
	add_to_list(engine, (struct layout_mapping){.start = mapping->start,
						    .end = mapping->end,
						    .part = bare ? LAYOUT_PART_NONE : LAYOUT_PART_WANTED,
						    .module = mapping->module});
}

/* The process that no sample has hit for the longest time gives way. */
static bool forget_idle_process(struct engine *engine)
{
	struct engine_process *oldest = NULL;
	uint32_t oldest_used = UINT32_MAX;
	for (size_t i = 0; i < engine->count; i++) {
		struct engine_process *process = &engine->items[i];
		if (!process->list.count)
			continue;
		uint32_t used = bpf_tables_process_used(&engine->tables, process->pid);
		if (used < oldest_used) {
			oldest = process;
			oldest_used = used;
		}
	}
	if (!oldest || oldest_used + IDLE > bpf_tables_now())
		return false;
	oldest->wanted = false;
	bpf_tables_unset(&engine->tables, oldest->pid, &oldest->list);
	bpf_tables_settle(&engine->tables);
	return true;
}

static void give_list(struct engine *engine, struct engine_process *process)
{
	const struct map_set *maps = processes_look(&engine->processes, process->pid);
	process->changed = false;
	engine->list_count = 0;
	for (size_t i = 0; maps && i < maps->count; i++)
		list_mapping(engine, &maps->items[i]);
	while (!bpf_tables_set(&engine->tables, process->pid, engine->list, engine->list_count, process->generation,
			       &process->list))
		if (!engine->list_count || engine->list_count > LAYOUT_LIST_MOST || !forget_idle_process(engine))
			break;
	bpf_programs_tables_changed(engine->programs);
}

static void give_lists(struct engine *engine)
{
	if (!engine->some_changed)
		return;
	engine->some_changed = false;
	for (size_t i = 0; i < engine->count; i++)
		if (engine->items[i].changed && engine->items[i].wanted)
			give_list(engine, &engine->items[i]);
}

static bool process_maps_module(struct engine *engine, int32_t pid, module_id module)
{
	const struct map_set *maps = processes_look(&engine->processes, pid);
	bool found = false;
	for (size_t i = 0; maps && i < maps->count && !found; i++)
		found = maps->items[i].module == module;
	return found;
}

/* All lists with the module are made anew. */
static void module_changed(struct engine *engine, module_id module)
{
	for (size_t i = 0; i < engine->count; i++)
		if (engine->items[i].wanted && process_maps_module(engine, engine->items[i].pid, module))
			process_changed(engine, &engine->items[i]);
}

/* The module that was not needed for the longest time gives way. */
static bool evict_idle_module(struct engine *engine)
{
	module_id oldest = MODULE_NONE;
	uint32_t oldest_used = UINT32_MAX;
	for (size_t i = 0; i < engine->module_capacity; i++) {
		struct engine_module *module = &engine->modules[i];
		if (module->state != MODULE_PLACED)
			continue;
		uint32_t used = bpf_tables_used(&engine->tables, &module->placed);
		if (used < oldest_used) {
			oldest = (module_id)i;
			oldest_used = used;
		}
	}
	if (oldest == MODULE_NONE || oldest_used + IDLE > bpf_tables_now())
		return false;
	engine->modules[oldest].state = MODULE_UNKNOWN;
	module_changed(engine, oldest);
	give_lists(engine);
	bpf_tables_remove(&engine->tables, &engine->modules[oldest].placed);
	bpf_tables_settle(&engine->tables);
	engine->placed_count--;
	engine->evicted++;
	return true;
}

static void place_module(struct engine *engine, module_id id)
{
	if (module_at(engine, id)->state == MODULE_PLACED)
		return; /* was asked for again while its table was made */
	const struct unwind_table *table = code_unwind_table(codes_get(engine->codes, id));
	enum module_state state = MODULE_BARE;
	struct bpf_placed placed = {0};
	if (table) {
		state = MODULE_PLACED;
		while (!bpf_tables_add(&engine->tables, table, &placed))
			if (!evict_idle_module(engine)) {
				state = MODULE_REFUSED;
				engine->refused++;
				break;
			}
	}
	engine->placed_count += state == MODULE_PLACED;
	*module_at(engine, id) = (struct engine_module){state, placed, bpf_tables_now()};
	module_changed(engine, id);
}

static void ask_for_module(struct engine *engine, module_id id)
{
	struct engine_module *module = module_at(engine, id);
	if (module->state == MODULE_REFUSED && module->refused_at + PATIENCE > bpf_tables_now())
		return;
	if (module->state == MODULE_PLACED || module->state == MODULE_BARE)
		return;
	module->state = MODULE_ASKED;
	bpf_loader_ask(&engine->loader, id);
}

/* --- records --- */

static int take_record(void *context, void *data, size_t size)
{
	struct engine *engine = context;
	if (size < sizeof(struct layout_record))
		return 0;
	struct layout_record *record = mem_alloc(size);
	memcpy(record, data, size);
	MEM_ROOM(engine->waiting, engine->waiting_count, engine->waiting_capacity);
	engine->waiting[engine->waiting_count++] = record;
	return 0;
}

void engine_look(struct engine *engine, void (*add)(void *context, uint64_t time, uint64_t number), void *context)
{
	size_t from = engine->waiting_count;
	ring_buffer__consume(engine->ring);
	for (size_t i = from; i < engine->waiting_count; i++)
		add(context, engine->waiting[i]->time, engine->first_number + i);
}

static void heed(struct engine *engine, const struct layout_record *record)
{
	if (record->kind != LAYOUT_COPY && record->kind != LAYOUT_COPY_LEFT)
		return;
	if (record->key.end == LAYOUT_WANTED) {
		ask_for_module(engine, record->module);
	} else if (record->key.end == LAYOUT_UNKNOWN_PROCESS) {
		struct engine_process *process = get_process(engine, (int32_t)record->key.pid);
		if (!process->list.count || !process->wanted) {
			process->wanted = true;
			process_changed(engine, process);
		}
	}
}

void engine_supply(struct engine *engine)
{
	module_id module;
	bpf_tables_settle(&engine->tables);
	for (; engine->heeded < engine->waiting_count; engine->heeded++)
		if (engine->waiting[engine->heeded])
			heed(engine, engine->waiting[engine->heeded]);
	while (bpf_loader_take(&engine->loader, &module))
		place_module(engine, module);
	give_lists(engine);
}

/* Forgets what was delivered, when that is most of it. */
static void compact(struct engine *engine)
{
	while (engine->head < engine->waiting_count && !engine->waiting[engine->head])
		engine->head++;
	if (engine->head < engine->waiting_count / 2 || engine->heeded < engine->head)
		return;
	engine->waiting_count -= engine->head;
	memmove(engine->waiting, engine->waiting + engine->head, engine->waiting_count * sizeof *engine->waiting);
	engine->first_number += engine->head;
	engine->heeded -= engine->head;
	engine->head = 0;
}

int engine_deliver(struct engine *engine, uint64_t number, const struct event_sink *sink)
{
	struct layout_record **place = &engine->waiting[number - engine->first_number];
	struct layout_record *record = *place;
	*place = NULL;
	int result = bpf_counts_record(&engine->counts, record, sink);
	compact(engine);
	return result;
}

int engine_retire(struct engine *engine, int32_t pid, int32_t tid, const struct event_sink *sink)
{
	return bpf_counts_retire(&engine->counts, pid, tid, sink);
}

int engine_exit(struct engine *engine, const struct event_task *task, const struct event_sink *sink)
{
	return engine->waits.counted ? bpf_waits_exit(&engine->counts, &engine->waits, task, sink) : 0;
}

bool engine_replaced(struct engine *engine, const struct event_mmap *mmap)
{
	for (size_t i = 0; i < engine->replaced_count; i++) {
		const struct replaced *replaced = &engine->replaced[i];
		if (replaced->pid == mmap->pid && replaced->time == mmap->time && replaced->start == mmap->start) {
			engine->replaced[i] = engine->replaced[--engine->replaced_count];
			return true;
		}
	}
	return false;
}

/* --- counts --- */

static uint64_t statistic(const struct engine *engine, uint32_t which)
{
	struct bpf_maps maps = bpf_programs_maps(engine->programs);
	CLEANUP_FREE uint64_t *values = mem_zalloc(maps.cpus, sizeof *values);
	uint64_t sum = 0;
	if (bpf_map_lookup_elem(maps.statistics, &which, values))
		return 0;
	for (unsigned i = 0; i < maps.cpus; i++)
		sum += values[i];
	return sum;
}

struct engine_statistics engine_statistics(const struct engine *engine)
{
	struct engine_statistics statistics = {
		.taken = statistic(engine, LAYOUT_TAKEN),
		.copied = statistic(engine, LAYOUT_COPIED),
		.lost = statistic(engine, LAYOUT_LOST),
		.uncounted = statistic(engine, LAYOUT_UNCOUNTED),
		.told = engine->counts.told,
		.left_out = statistic(engine, LAYOUT_LEFT_OUT) + engine->left_out,
		.modules = engine->placed_count,
		.evicted = engine->evicted,
		.refused = engine->refused,
		.kernel_bytes = bpf_programs_bytes(engine->programs) + bpf_tables_bytes(&engine->tables),
	};
	bpf_programs_cost(engine->programs, &statistics.runs, &statistics.nanoseconds);
	for (size_t i = 0; i < engine->count; i++)
		statistics.processes += engine->items[i].list.count != 0;
	return statistics;
}

int engine_counts(struct engine *engine, const struct event_sink *sink, bool last)
{
	int result = last && engine->waits.counted ?
			     bpf_waits_finish(&engine->counts, &engine->waits, engine->span, sink, &engine->left_out) :
			     0;
	if (result >= 0)
		result = bpf_counts_flush(&engine->counts, sink);
	uint64_t taken = last ? statistic(engine, LAYOUT_TAKEN) : 0;
	if (result < 0 || taken <= engine->counts.told || !sink->lost)
		return result;
	struct event_lost lost = {.count = taken - engine->counts.told, .source = UINT32_MAX};
	return sink->lost(sink->context, &lost);
}
