/* Follows the mappings of sampled processes, and fills and evicts unwind tables. */
#include "engine/bpf_supply.h"

#include "engine/bpf_python.h"

#include <string.h>

/* Seconds of bpf_tables_now(): */
#define IDLE 4 /* until a module, or process, that was not needed may be removed */
#define RETRY_AFTER 8 /* until a table for which there was no room is tried again */
#define ENDED_MIN 64 /* processes; fewer are not worth making room */

enum module_state {
	MODULE_UNKNOWN,
	MODULE_ASKED, /* its table is being built */
	MODULE_PLACED,
	MODULE_BARE, /* it has no table */
	MODULE_REFUSED, /* no room for it */
};

struct supplied_module {
	enum module_state state;
	struct bpf_placed placed;
	uint32_t refused_at; /* seconds */
};

/* A process as far as the kernel must know it. */
struct supplied_process {
	int32_t pid;
	uint32_t generation;
	bool wanted; /* samples hit it */
	bool changed; /* its list is behind */
	struct bpf_list list;
};

/* A mapping that took the place of another: until it is delivered in the order of time. */
struct replaced_mapping {
	int32_t pid;
	uint64_t time, start;
};

/* --- modules and processes --- */

int bpf_supply_init(struct bpf_supply *supply, struct bpf_programs *programs, struct err *err)
{
	struct bpf_maps maps = bpf_programs_maps(programs);
	supply->programs = programs;
	processes_init(&supply->processes, NULL);
	bpf_loader_init(&supply->loader);
	return bpf_tables_open(&supply->tables, &maps, err);
}

void bpf_supply_release(struct bpf_supply *supply)
{
	bpf_loader_release(&supply->loader);
	for (size_t i = 0; i < supply->module_capacity; i++)
		free(supply->modules[i].placed.items);
	bpf_tables_release(&supply->tables);
	processes_release(&supply->processes);
	python_live_release(&supply->pythons);
	id_map_release(&supply->map);
	free(supply->items);
	free(supply->modules);
	free(supply->list);
	free(supply->replaced);
}

static struct supplied_module *module_at(struct bpf_supply *supply, module_id id)
{
	if (id >= supply->module_capacity) {
		size_t old = supply->module_capacity;
		supply->modules =
			mem_grow(supply->modules, &supply->module_capacity, (size_t)id + 1, sizeof *supply->modules);
		memset(supply->modules + old, 0, (supply->module_capacity - old) * sizeof *supply->modules);
	}
	return &supply->modules[id];
}

static struct supplied_process *find_process(const struct bpf_supply *supply, int32_t pid)
{
	uint32_t at = id_map_find(&supply->map, pid);
	return at == INDEX_NONE ? NULL : &supply->items[at];
}

static struct supplied_process *get_process(struct bpf_supply *supply, int32_t pid)
{
	struct supplied_process *process = find_process(supply, pid);
	if (process)
		return process;
	id_map_add(&supply->map, pid);
	MEM_ROOM(supply->items, supply->count, supply->capacity);
	process = &supply->items[supply->count++];
	*process = (struct supplied_process){.pid = pid, .generation = ++supply->last_generation};
	return process;
}

static void process_changed(struct bpf_supply *supply, struct supplied_process *process)
{
	process->changed = true;
	supply->some_changed = true;
}

static void ask_for_module(struct bpf_supply *supply, module_id id)
{
	struct supplied_module *module = module_at(supply, id);
	if (module->state == MODULE_REFUSED && module->refused_at + RETRY_AFTER > bpf_tables_now())
		return;
	if (module->state == MODULE_PLACED || module->state == MODULE_BARE)
		return;
	module->state = MODULE_ASKED;
	bpf_loader_ask(&supply->loader, id);
}

/* --- what the records report --- */

/* What is mapped there now: the very same, something else, or nothing. */
enum overlap { OVERLAP_NONE, OVERLAP_SAME, OVERLAP_OTHER };

static enum overlap overlap_of(struct bpf_supply *supply, int32_t pid, const struct mapping *mapping)
{
	const struct map_set *maps = processes_look(&supply->processes, pid);
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

/*
 * Frames of an interpreter can be read only from the first sample on that finds everything supplied, so its table is
 * built before one lacks it.
 */
static void expect_samples(struct bpf_supply *supply, struct supplied_process *process, module_id module)
{
	process->wanted = true;
	ask_for_module(supply, module);
}

int bpf_supply_mmap(struct bpf_supply *supply, const struct event_mmap *mmap)
{
	uint64_t end;
	if (mmap->kernel || mmap->pid < 0)
		return 0;
	if (__builtin_add_overflow(mmap->start, mmap->length, &end))
		end = UINT64_MAX;
	struct mapping mapping = {
		.start = mmap->start,
		.end = end,
		.offset = mmap->offset,
		.module = module_store_add(supply->codes, mmap->path, &mmap->build_id, mmap->pid),
	};
	enum overlap overlap = overlap_of(supply, mmap->pid, &mapping);
	if (overlap == OVERLAP_SAME) /* another protection, most of all */
		return 0;
	if (overlap == OVERLAP_OTHER && mmap->time) {
		MEM_ROOM(supply->replaced, supply->replaced_count, supply->replaced_capacity);
		supply->replaced[supply->replaced_count++] =
			(struct replaced_mapping){mmap->pid, mmap->time, mmap->start};
	}
	processes_mmap(&supply->processes, mmap->pid, mapping);
	bool interpreter = supply->python && runtime_of_path(mmap->path).kind == RUNTIME_PYTHON;
	struct supplied_process *process = interpreter ? get_process(supply, mmap->pid) :
							 find_process(supply, mmap->pid);
	if (interpreter)
		expect_samples(supply, process, mapping.module);
	if (process)
		process_changed(supply, process);
	return 0;
}

/* Most processes that come and go are never hit by a sample: the kernel gets a list again when one needs it. */
static void forget(struct bpf_supply *supply, struct supplied_process *process)
{
	process->wanted = false;
	if (process->list.count)
		bpf_tables_unset(&supply->tables, process->pid, &process->list);
}

int bpf_supply_exec(struct bpf_supply *supply, const struct event_comm *comm)
{
	processes_comm(&supply->processes, comm->pid, comm->tid, "", true);
	module_store_process_changed(supply->codes, comm->pid);
	struct supplied_process *process = find_process(supply, comm->pid);
	if (process) {
		process->generation = ++supply->last_generation;
		forget(supply, process);
	}
	return 0;
}

int bpf_supply_fork(struct bpf_supply *supply, const struct event_task *task)
{
	if (task->pid == task->parent_pid)
		return 0;
	processes_fork(&supply->processes, task->pid, task->tid, task->parent_pid, task->parent_tid);
	module_store_process_changed(supply->codes, task->pid);
	struct supplied_process *child = find_process(supply, task->pid); /* of another process that had its pid */
	if (child) {
		child->generation = ++supply->last_generation;
		forget(supply, child);
	}
	return 0;
}

/* Those whose mappings are not known any more have ended some time ago. */
static void drop_ended(struct bpf_supply *supply)
{
	size_t kept = 0;
	if (supply->ended < ENDED_MIN || supply->ended * 2 < supply->count)
		return;
	id_map_clear(&supply->map);
	supply->ended = 0;
	for (size_t i = 0; i < supply->count; i++) {
		struct supplied_process process = supply->items[i];
		if (!process.wanted && !process.list.count && !processes_look(&supply->processes, process.pid))
			continue;
		id_map_add(&supply->map, process.pid);
		supply->items[kept++] = process;
	}
	supply->count = kept;
}

int bpf_supply_exit(struct bpf_supply *supply, const struct event_task *task)
{
	struct supplied_process *process = task->pid == task->tid ? find_process(supply, task->pid) : NULL;
	if (process)
		forget(supply, process);
	supply->ended += process != NULL;
	if (process)
		python_live_exit(&supply->pythons, task->pid);
	processes_exit(&supply->processes, task->pid, task->tid, task->time);
	drop_ended(supply);
	return 0;
}

/* --- what the kernel gets --- */

static void add_to_list(struct bpf_supply *supply, struct layout_mapping item)
{
	MEM_ROOM(supply->list, supply->list_count, supply->list_capacity);
	supply->list[supply->list_count++] = item;
}

/* A mapping of a module whose table is in the kernel: a row for each part that it meets, and for what lies between. */
static void list_placed(struct bpf_supply *supply, const struct mapping *mapping, const struct bpf_placed *placed)
{
	struct module_code *code = module_store_get(supply->codes, mapping->module);
	uint64_t bias = mapping->start - module_code_address(code, mapping, mapping->start), at = mapping->start;
	struct layout_mapping bare = {.part = LAYOUT_PART_SILENT, .module = mapping->module, .bias = bias};
	for (size_t i = 0; i < placed->count && at < mapping->end; i++) {
		const struct bpf_place *place = &placed->items[i];
		uint64_t start = place->start + bias, end = place->end + bias;
		if (end <= at || start >= mapping->end)
			continue;
		if (start > at) {
			bare.start = at;
			bare.end = start;
			add_to_list(supply, bare);
			at = start;
		}
		end = end < mapping->end ? end : mapping->end;
		add_to_list(supply, (struct layout_mapping){at, end, bias, place->part, mapping->module});
		at = end;
	}
	if (at < mapping->end) {
		bare.start = at;
		bare.end = mapping->end;
		add_to_list(supply, bare);
	}
}

static void list_mapping(struct bpf_supply *supply, const struct mapping *mapping)
{
	const struct supplied_module *module = module_at(supply, mapping->module);
	if (module->state == MODULE_PLACED) {
		list_placed(supply, mapping, &module->placed);
		return;
	}
	uint32_t part = LAYOUT_PART_WANTED;
	if (module->state == MODULE_BARE)
		part = module_code_has_jit_tables(module_store_get(supply->codes, mapping->module)) ? LAYOUT_PART_JIT :
												      LAYOUT_PART_NONE;
	add_to_list(supply,
		    (struct layout_mapping){
			    .start = mapping->start, .end = mapping->end, .part = part, .module = mapping->module});
}

/* The process that no sample has hit for the longest time is removed. */
static bool forget_idle_process(struct bpf_supply *supply)
{
	struct supplied_process *oldest = NULL;
	uint32_t oldest_used = UINT32_MAX;
	for (size_t i = 0; i < supply->count; i++) {
		struct supplied_process *process = &supply->items[i];
		if (!process->list.count)
			continue;
		uint32_t used = bpf_tables_process_used(&supply->tables, process->pid);
		if (used < oldest_used) {
			oldest = process;
			oldest_used = used;
		}
	}
	if (!oldest || oldest_used + IDLE > bpf_tables_now())
		return false;
	oldest->wanted = false;
	bpf_tables_unset(&supply->tables, oldest->pid, &oldest->list);
	bpf_tables_settle(&supply->tables);
	return true;
}

/* From 3.14 on, the file that contains asyncio describes its tasks. */
static void find_tasks(struct bpf_supply *supply, int32_t pid, module_id interpreter)
{
	const struct map_set *maps = processes_look(&supply->processes, pid);
	uint8_t bytes[PYTHON_TASKS_SECTION_BYTES];
	struct python_tasks tasks;
	for (size_t i = 0; maps && i < maps->count && !python_live_tasks(&supply->pythons, pid); i++) {
		struct module_code *code = module_store_get(supply->codes, maps->items[i].module);
		if (maps->items[i].module != interpreter && !strstr(code_path(code), "/_asyncio."))
			continue;
		if (module_code_read_section(code, PYTHON_TASKS_SECTION, bytes, sizeof bytes) &&
		    python_tasks_of_section(bytes, sizeof bytes, &tasks))
			python_live_set_tasks(&supply->pythons, pid, &tasks);
	}
}

void bpf_supply_seek_tasks(struct bpf_supply *supply, int32_t pid)
{
	struct supplied_process *process = find_process(supply, pid);
	if (process && python_live_seek_tasks(&supply->pythons, pid))
		process_changed(supply, process);
}

/* Whether a mapping is that of an interpreter; `layout` is what the kernel needs of it. */
static bool is_python(struct bpf_supply *supply, const struct supplied_process *process, const struct mapping *mapping,
		      struct layout_python *layout)
{
	struct module_code *code = module_store_get(supply->codes, mapping->module);
	const struct python_image *image = module_code_python(code);
	if (!image)
		return false;
	uint64_t bias = mapping->start - module_code_address(code, mapping, mapping->start);
	python_live_add(&supply->pythons, process->pid, process->generation, &image->layout, image->runtime + bias);
	if (supply->pythons.wants_tasks && image->layout.version >= 0x030e)
		find_tasks(supply, process->pid, mapping->module);
	*layout = bpf_python_layout(image, bias, python_live_tasks(&supply->pythons, process->pid));
	return true;
}

/* The interpreter of a process, if it has one. */
static bool find_python(struct bpf_supply *supply, const struct supplied_process *process, const struct map_set *maps,
			struct layout_python *layout)
{
	for (size_t i = 0; maps && i < maps->count && supply->python; i++) {
		const struct mapping *mapping = &maps->items[i];
		if (module_at(supply, mapping->module)->state != MODULE_PLACED)
			continue; /* it is looked for when the table is built */
		if (is_python(supply, process, mapping, layout))
			return true;
	}
	return false;
}

/* All waits pass through the C library. */
static void expect_waits(struct bpf_supply *supply, struct supplied_process *process, const struct map_set *maps)
{
	for (size_t i = 0; i < maps->count; i++) {
		struct module_code *code = module_store_get(supply->codes, maps->items[i].module);
		if (module_code_python(code) || strstr(code_path(code), "/libc.so"))
			expect_samples(supply, process, maps->items[i].module);
	}
	process_changed(supply, process);
}

/*
 * Files are opened only of a process that has something of Python mapped: where the interpreter is part of another
 * program, these are modules of its library.
 */
void bpf_supply_seek_python(struct bpf_supply *supply, int32_t pid)
{
	if (!supply->python || python_live_has(&supply->pythons, pid))
		return;
	struct layout_python layout;
	bool likely = false, found = false;
	const struct map_set *maps = processes_look(&supply->processes, pid);
	for (size_t i = 0; maps && i < maps->count && !likely; i++)
		likely = strstr(code_path(module_store_get(supply->codes, maps->items[i].module)), "python");
	for (size_t i = 0; likely && i < maps->count && !found; i++)
		found = is_python(supply, get_process(supply, pid), &maps->items[i], &layout);
	if (found)
		expect_waits(supply, get_process(supply, pid), maps);
}

size_t bpf_supply_interpreted(struct bpf_supply *supply, int32_t pid, int32_t tid, uint64_t *words, size_t max)
{
	bpf_supply_seek_python(supply, pid);
	return python_live_read(&supply->pythons, pid, tid, words, max);
}

static void give_list(struct bpf_supply *supply, struct supplied_process *process)
{
	struct layout_python python;
	const struct map_set *maps = processes_look(&supply->processes, process->pid);
	process->changed = false;
	supply->list_count = 0;
	for (size_t i = 0; maps && i < maps->count; i++)
		list_mapping(supply, &maps->items[i]);
	const struct layout_python *found = find_python(supply, process, maps, &python) ? &python : NULL;
	while (!bpf_tables_set(&supply->tables, process->pid, supply->list, supply->list_count, process->generation,
			       found, &process->list))
		if (!supply->list_count || supply->list_count > LAYOUT_LIST_MAX || !forget_idle_process(supply))
			break;
	bpf_programs_tables_changed(supply->programs);
}

static void give_lists(struct bpf_supply *supply)
{
	if (!supply->some_changed)
		return;
	supply->some_changed = false;
	for (size_t i = 0; i < supply->count; i++)
		if (supply->items[i].changed && supply->items[i].wanted)
			give_list(supply, &supply->items[i]);
}

static bool process_maps_module(struct bpf_supply *supply, int32_t pid, module_id module)
{
	const struct map_set *maps = processes_look(&supply->processes, pid);
	bool found = false;
	for (size_t i = 0; maps && i < maps->count && !found; i++)
		found = maps->items[i].module == module;
	return found;
}

/* All lists with the module are made again. */
static void module_changed(struct bpf_supply *supply, module_id module)
{
	for (size_t i = 0; i < supply->count; i++)
		if (supply->items[i].wanted && process_maps_module(supply, supply->items[i].pid, module))
			process_changed(supply, &supply->items[i]);
}

/* The module that was not needed for the longest time is removed. */
static bool evict_idle_module(struct bpf_supply *supply)
{
	module_id oldest = MODULE_NONE;
	uint32_t oldest_used = UINT32_MAX;
	for (size_t i = 0; i < supply->module_capacity; i++) {
		struct supplied_module *module = &supply->modules[i];
		if (module->state != MODULE_PLACED)
			continue;
		uint32_t used = bpf_tables_used(&supply->tables, &module->placed);
		if (used < oldest_used) {
			oldest = (module_id)i;
			oldest_used = used;
		}
	}
	if (oldest == MODULE_NONE || oldest_used + IDLE > bpf_tables_now())
		return false;
	supply->modules[oldest].state = MODULE_UNKNOWN;
	module_changed(supply, oldest);
	give_lists(supply);
	bpf_tables_remove(&supply->tables, &supply->modules[oldest].placed);
	bpf_tables_settle(&supply->tables);
	supply->placed_count--;
	supply->evicted++;
	return true;
}

static void place_module(struct bpf_supply *supply, module_id id)
{
	if (module_at(supply, id)->state == MODULE_PLACED)
		return; /* was requested again while its table was made */
	const struct unwind_table *table = module_code_unwind_table(module_store_get(supply->codes, id));
	enum module_state state = MODULE_BARE;
	struct bpf_placed placed = {0};
	if (table) {
		state = MODULE_PLACED;
		while (!bpf_tables_add(&supply->tables, table, &placed))
			if (!evict_idle_module(supply)) {
				state = MODULE_REFUSED;
				supply->refused++;
				break;
			}
	}
	supply->placed_count += state == MODULE_PLACED;
	*module_at(supply, id) = (struct supplied_module){state, placed, bpf_tables_now()};
	module_changed(supply, id);
}

void bpf_supply_note_miss(struct bpf_supply *supply, const struct layout_record *record)
{
	if (record->kind != LAYOUT_COPY && record->kind != LAYOUT_COPY_LEFT)
		return;
	if (record->key.end == LAYOUT_WANTED) {
		ask_for_module(supply, record->module);
	} else if (record->key.end == LAYOUT_UNKNOWN_PROCESS) {
		struct supplied_process *process = get_process(supply, (int32_t)record->key.pid);
		if (!process->list.count || !process->wanted) {
			process->wanted = true;
			process_changed(supply, process);
		}
	}
}

void bpf_supply_give(struct bpf_supply *supply)
{
	module_id module;
	bpf_tables_settle(&supply->tables);
	while (bpf_loader_take(&supply->loader, &module))
		place_module(supply, module);
	give_lists(supply);
}

/* What was delivered is dropped when it is half of all. */
static void forget_replaced(struct bpf_supply *supply)
{
	if (supply->replaced_head * 2 < supply->replaced_count)
		return;
	supply->replaced_count -= supply->replaced_head;
	memmove(supply->replaced, supply->replaced + supply->replaced_head,
		supply->replaced_count * sizeof *supply->replaced);
	supply->replaced_head = 0;
}

bool bpf_supply_replaced(struct bpf_supply *supply, const struct event_mmap *mmap)
{
	struct replaced_mapping *all = supply->replaced;
	for (size_t i = supply->replaced_head; i < supply->replaced_count; i++) {
		if (all[i].pid != mmap->pid || all[i].time != mmap->time || all[i].start != mmap->start)
			continue;
		/* Mostly the first: they are delivered in the order in which they came. */
		memmove(all + supply->replaced_head + 1, all + supply->replaced_head,
			(i - supply->replaced_head) * sizeof *all);
		supply->replaced_head++;
		forget_replaced(supply);
		return true;
	}
	return false;
}

size_t bpf_supply_processes(const struct bpf_supply *supply)
{
	size_t known = 0;
	for (size_t i = 0; i < supply->count; i++)
		known += supply->items[i].list.count != 0;
	return known;
}
