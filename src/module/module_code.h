/*
 * The code of the modules that samples hit: opened on first use, by any thread. Answers where in a module an
 * address lies, how to unwind there, and what it is called.
 */
#ifndef WICK_MODULE_MODULE_CODE_H
#define WICK_MODULE_MODULE_CODE_H

#include "module/live_files.h"
#include "module/runtime.h"
#include "process/process.h"
#include "runtime/interpreted.h"
#include "runtime/python/image.h"
#include "symbol/kept_names.h"
#include "unwind/unwind.h"

#include <pthread.h>
#include <stdatomic.h>

struct module_code; /* of one module */

struct jit_file {
	int32_t pid;
	char *path; /* of its jitdump */
};

struct kernel_symbol {
	uint64_t start, size;
	char *name;
};

struct held_module {
	module_id module;
	const char *path; /* of live_files_hold() */
};

/* The language runtime of a process. */
struct process_runtime {
	int32_t pid;
	struct runtime runtime;
};

struct module_store {
	struct modules *modules;
	struct symbol_options options;
	pthread_mutex_t lock; /* guards all that follows, and `modules` */
	struct module_code **items; /* by module id */
	size_t capacity;
	struct jit_file *dumps;
	size_t dump_count, dump_capacity;
	struct process_runtime *runtimes;
	size_t runtime_count, runtime_capacity;
	pthread_mutex_t kernel_lock; /* guards the opening of `kernel`; taken before `lock` */
	struct kernel *kernel; /* opened on first use */
	struct build_id kernel_build_id; /* what is known of it until then */
	uint64_t kernel_text;
	char *kernel_text_symbol;
	struct kernel_symbol *kernel_symbols; /* code that came while recording */
	size_t kernel_symbol_count, kernel_symbol_capacity;
	struct cache *cache; /* NULL: none */
	/* Provides files that are not here; NULL: none. Set it before the first module is opened. */
	struct debuginfod *debuginfod;
	bool fetch_at_once; /* debug files too, when a module is opened; else module_code_fetch() does it */
	pthread_mutex_t fetch_lock; /* one download at a time */
	unsigned not_fetched; /* modules that the budget did not suffice for */
	bool live; /* processes still run: files are looked for where they see them */
	struct live_files files; /* when live */
	const char **module_roots; /* by module id, when live */
	size_t root_capacity;
	struct held_module *held; /* deleted files that processes have mapped, when live */
	size_t held_count, held_capacity;
	struct interpreted interpreted; /* has a lock of its own */
	atomic_size_t jit_bytes; /* of all perf maps and jitdumps */
};

void module_store_init(struct module_store *codes, struct modules *modules, const struct symbol_options *options);
void module_store_release(struct module_store *codes);
/* The records are of processes that run now; before the first module is added. */
void module_store_set_live(struct module_store *codes);
/* A live process began, or became another program. */
void module_store_process_changed(struct module_store *codes, int32_t pid);
/* As modules_add(), while other threads may be asking. */
module_id module_store_add(struct module_store *codes, const char *path, const struct build_id *build_id, int32_t pid);

/* What the records say of the kernel. A mapping that comes after the first module_code_find() in it is not used. */
void module_store_kernel_mapping(struct module_store *codes, const char *path, uint64_t text_address,
				 const struct build_id *build_id);
/* Code that the kernel got while it was recorded, at any time. */
void module_store_kernel_symbol(struct module_store *codes, uint64_t start, uint64_t size, const char *name);

/* Reads the kernel's symbols now, which takes a while; a thread of its own can do it beside other work. */
void module_store_open_kernel(struct module_store *codes);

/* The code of a module; the pointer stays valid until module_store_release(). */
struct module_code *module_store_get(struct module_store *codes, module_id module);

/* Reads the maps of just-in-time code again that have grown since. While nobody asks. */
void module_store_reread_maps(struct module_store *codes);

/*
 * Opens the perf maps of Java and Node.js whose names were used, one after the other. When all frames have names.
 */
void module_store_each_map(struct module_store *codes, void *context, void (*take)(void *context, int32_t pid, int fd));

/* A file or the vDSO: its addresses do not depend on where it is mapped. */
bool module_code_is_file(const struct module_code *code);
bool module_code_is_jit(const struct module_code *code);
/* As the record has it; stays. */
const char *code_path(const struct module_code *code);
/* The address in the module's own address space of a run-time address in `mapping`. */
uint64_t module_code_address(struct module_code *code, const struct mapping *mapping, uint64_t ip);
/* Asks debuginfod for the debug file, if it is missing; only before the first module_code_find() in this module. */
void module_code_fetch(struct module_code *code);
/* NULL: the module has none. Built on first use. */
const struct unwind_table *module_code_unwind_table(struct module_code *code);
/* The interpreter in the module; NULL: there is none. Looked for on first use; stays until module_store_release(). */
const struct python_image *module_code_python(struct module_code *code);
/* Copies a section of exactly that size from the file. False: there is none. */
bool module_code_read_section(struct module_code *code, const char *name, uint8_t *bytes, size_t size);
/* Whether the rule for unwinding at an address of the module is derived; false when the table was not needed so far. */
bool module_code_is_derived(struct module_code *code, uint64_t address);

/*
 * The unwind information of JIT code at an address, for [*ret_start, *ret_end); NULL: there is none. `time` as below.
 */
const struct unwind_table *module_code_jit_table(struct module_code *code, uint64_t address, uint64_t time,
						 uint64_t *ret_start, uint64_t *ret_end);
/* Whether JIT code has unwind information, as far as it is known by now. */
bool module_code_has_jit_tables(struct module_code *code);
/* Code at an address of the module, zeros behind its end; false when it cannot be read. */
bool code_read(struct module_code *code, uint64_t address, uint8_t *bytes, size_t size);

/*
 * Just-in-time code lies at an address until other code takes its place: a number for what was there at the time, by
 * CLOCK_MONOTONIC. 0 where that is not known (`time` UINT64_MAX), and for all other code.
 */
uint32_t module_code_version(struct module_code *code, uint64_t address, uint64_t time);
/*
 * Fills frames innermost first; 0: nothing is known. `address` is the module's own, minus one for return addresses;
 * `version` is module_code_version()'s, 0 for what was there last.
 */
size_t module_code_find(struct module_code *code, uint64_t address, uint32_t version, struct symbol_frame *frames,
			size_t max);
/*
 * The same for the last byte of a call. Frame pointers that are none lead to numbers such as the first byte of a
 * virtual function: where no function has the byte before, that is what the number is, as perf shows it.
 */
size_t module_code_find_call(struct module_code *code, uint64_t address, uint32_t version, struct symbol_frame *frames,
			     size_t max);
/* Whether module_code_find() has its final answer already: not for JIT code, nor when debuginfod may help. */
bool module_code_is_settled(struct module_code *code);
/* Keeps what was found, sorted by address, for when the file is not here any more. */
void module_code_keep_names(struct module_code *code, const struct name_entry *entries, size_t count);
/* The module of an address in it as perf names it: a path, or a name in brackets. */
const char *module_code_module_name(struct module_code *code, uint64_t address);
/* What profiles show: the same, but MODULE_JIT_NAME for all JIT code. */
const char *module_code_shown_module(const struct module_code *code);
const char *module_code_shown_module_at(struct module_code *code, uint64_t address);
/* Why frames of this module have no symbols and what to do about it, one line; empty when they have. */
/* Whether its file was written to since it was opened: names found in it are nonsense. */
bool code_changed(struct module_code *code);
void module_code_advice(struct module_code *code, struct buf *out);
/* What makes stacks through this module complete; "": nothing known. A constant. */
const char *module_code_stack_advice(struct module_code *code);

#endif
