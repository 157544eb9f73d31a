/*
 * Who is alive and what is mapped where, as the records report it in the order of time.
 *
 * What is mapped is a module: a file (by path and build-id), the kernel, or the just-in-time code of one process. The
 * mappings of a process at one moment are a `struct map_set`, immutable once it was handed out, so that other threads
 * can look addresses up in it while later records change the process.
 */
#ifndef WICK_PROCESS_PROCESS_H
#define WICK_PROCESS_PROCESS_H

#include "base/id_map.h"
#include "base/strpool.h"
#include "object/elf.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef uint32_t module_id;
#define MODULE_NONE UINT32_MAX

enum module_kind {
	MODULE_FILE,
	MODULE_VDSO,
	MODULE_KERNEL, /* the kernel proper; its addresses are absolute */
	MODULE_KERNEL_MODULE, /* addresses are absolute too */
	MODULE_JIT, /* anonymous executable memory of `pid`; addresses are absolute */
};

struct module {
	str_id path; /* in modules.strings; as the record has it */
	struct build_id build_id;
	enum module_kind kind;
	int32_t pid; /* MODULE_JIT: whose; else -1 */
};

struct modules {
	struct strpool strings;
	struct module *items;
	size_t count, capacity;
	struct index_map map;
};

void modules_init(struct modules *modules);
void modules_release(struct modules *modules);
module_id modules_add(struct modules *modules, const char *path, const struct build_id *build_id, int32_t pid);
static inline const char *module_path(const struct modules *modules, module_id id)
{
	return strpool_text(&modules->strings, modules->items[id].path);
}

struct mapping {
	uint64_t start, end;
	uint64_t offset; /* in the file, of `start` */
	module_id module;
};

struct map_set {
	atomic_uint references;
	uint64_t serial; /* no other set of the same `struct processes` has it; not 0 */
	size_t count, capacity;
	struct mapping *items; /* sorted, without overlap */
};

/* The mapping at an address, or NULL. */
const struct mapping *map_set_find(const struct map_set *maps, uint64_t address);
void map_set_release(struct map_set *maps);

struct process {
	int32_t pid;
	struct map_set *maps; /* NULL: none known */
	bool shared; /* `maps` was handed out: copy before changing */
	uint64_t ended; /* when its main thread ended; 0: it is there */
};

struct thread_name {
	int32_t pid, tid;
	str_id comm; /* in processes.strings; 0: not known */
	bool recorded; /* records mention it: it is one of those that were recorded */
	uint64_t ended; /* when; 0: it is there */
};

struct processes {
	struct modules *modules;
	struct strpool strings;
	struct process *items;
	size_t count, capacity;
	struct id_map map; /* of the items */
	struct thread_name *threads;
	size_t thread_count, thread_capacity;
	struct index_map thread_map;
	struct map_set *kernel_maps;
	bool kernel_shared;
	uint64_t last_serial;
	size_t ended; /* how many exits came since those that ended were last forgotten */
	uint64_t looked; /* when that was, by the time of records */
	uint64_t forgotten_threads, forgotten_processes; /* which were recorded */
};

void processes_init(struct processes *processes, struct modules *modules);
void processes_release(struct processes *processes);

/*
 * What the records say. `pid` −1 is the kernel. An exit changes nothing at once: samples taken before it may be
 * recorded behind it, and a new process of the same pid begins with a fork or an exec, which replace what was there.
 */
void processes_mmap(struct processes *processes, int32_t pid, struct mapping mapping);
void processes_name(struct processes *processes, int32_t pid, int32_t tid, const char *comm); /* known otherwise */
void processes_comm(struct processes *processes, int32_t pid, int32_t tid, const char *comm, bool exec);
void processes_fork(struct processes *processes, int32_t pid, int32_t tid, int32_t parent_pid, int32_t parent_tid);

/*
 * A live thread ended. Some time after the exit of a process its mappings and names are forgotten, so that memory does
 * not grow with the number of processes that come and go. Not for files: what ended there may have another pid now.
 */
void processes_exit(struct processes *processes, int32_t pid, int32_t tid, uint64_t time);

/* How many threads the records mention, and of how many processes, without the idle ones. */
uint64_t processes_recorded(const struct processes *processes, uint64_t *ret_processes);
/* The mappings of a process as they are now, until the next change. NULL when none is known. */
const struct map_set *processes_look(const struct processes *processes, int32_t pid);
/* The same, which stay as they are; the caller releases. */
struct map_set *processes_maps(struct processes *processes, int32_t pid);
struct map_set *processes_kernel_maps(struct processes *processes);
/* The name of a thread, else of its process, else "". */
const char *processes_comm_of(const struct processes *processes, int32_t pid, int32_t tid);

#endif
