/*
 * What the programs in the kernel need to follow stacks: the mappings of the processes that samples hit, and the unwind
 * tables of the modules mapped there. Both are supplied when a sample lacked them, and give way to others when they are
 * not needed any more.
 */
#ifndef WICK_ENGINE_BPF_SUPPLY_H
#define WICK_ENGINE_BPF_SUPPLY_H

#include "engine/bpf_load.h"
#include "engine/bpf_loader.h"
#include "engine/bpf_tables.h"
#include "process/process.h"
#include "runtime/python/live.h"

struct supplied_module;
struct supplied_process;
struct replaced_mapping;

struct bpf_supply {
	struct bpf_programs *programs;
	struct bpf_tables tables;
	struct bpf_loader loader;
	struct module_store *codes;
	/* What the records report, at once. The strings of its modules are not used: modules are those of `codes`. */
	struct processes processes;
	struct supplied_process *items;
	size_t count, capacity;
	struct id_map map; /* of the items, by process */
	size_t ended; /* of them, since those that ended were last forgotten */
	uint32_t last_generation; /* no two processes have the same */
	bool some_changed;
	struct supplied_module *modules; /* by module id */
	size_t module_capacity, placed_count, evicted, refused;
	struct layout_mapping *list; /* room for one */
	size_t list_count, list_capacity;
	bool python; /* interpreters are looked for */
	struct python_live pythons;
	struct replaced_mapping *replaced;
	size_t replaced_head, replaced_count, replaced_capacity; /* [head…count) wait */
};

int bpf_supply_init(struct bpf_supply *supply, struct bpf_programs *programs, struct err *err);
void bpf_supply_release(struct bpf_supply *supply);

/* What the records report, as soon as they come. */
int bpf_supply_mmap(struct bpf_supply *supply, const struct event_mmap *mmap);
int bpf_supply_exec(struct bpf_supply *supply, const struct event_comm *comm);
int bpf_supply_fork(struct bpf_supply *supply, const struct event_task *task);
int bpf_supply_exit(struct bpf_supply *supply, const struct event_task *task);

/* What a stack that the kernel could not follow lacks; bpf_supply_give() then supplies it, as soon as it is there. */
void bpf_supply_note_miss(struct bpf_supply *supply, const struct layout_record *record);
void bpf_supply_give(struct bpf_supply *supply);

/* Looks for the interpreter of a process before its table is built, so that its frames can be read from memory. */
void bpf_supply_seek_python(struct bpf_supply *supply, int32_t pid);
/* Looks for the tasks of asyncio if the process may have some now. */
void bpf_supply_seek_tasks(struct bpf_supply *supply, int32_t pid);
/* The functions of an interpreter that a thread waits in, read from its memory: see engine_interpreted(). */
size_t bpf_supply_interpreted(struct bpf_supply *supply, int32_t pid, int32_t tid, uint64_t *words, size_t max);

/* Whether a mapping took the place of another; asked once for each, in the order of time. */
bool bpf_supply_replaced(struct bpf_supply *supply, const struct event_mmap *mmap);
/* How many processes the kernel knows. */
size_t bpf_supply_processes(const struct bpf_supply *supply);

#endif
