/*
 * The JIT code of one process: its names and unwind information, from /tmp/perf-PID.map and jit-PID.dump, and its bytes
 * while the process runs. Both files are opened when first needed, and again when they have grown.
 */
#ifndef WICK_MODULE_JIT_H
#define WICK_MODULE_JIT_H

#include "module/module_code.h"

struct jit;

/* `path` is that of the perf map, and stays with the caller. */
struct jit *jit_new(struct module_store *codes, int32_t pid, const char *path);
void jit_free(struct jit *jit);

/* As module_code_version() and module_code_find(). Thread-safe, as the next two. */
uint32_t jit_version(struct jit *jit, uint64_t address, uint64_t time);
size_t jit_find(struct jit *jit, uint64_t address, uint32_t version, struct symbol_frame *ret_frame);

/*
 * The unwind information at an address, for [*ret_start, *ret_end); NULL: there is none. It stays until jit_free().
 * `time` is that of the sample by CLOCK_MONOTONIC, UINT64_MAX when it is not known.
 */
const struct unwind_table *jit_unwind_table(struct jit *jit, uint64_t address, uint64_t time, uint64_t *ret_start,
					    uint64_t *ret_end);
/* Code at an address: of the process while it runs, or that of a known template. False when it is not known. */
bool jit_read_code(struct jit *jit, uint64_t address, uint8_t *bytes, size_t size);
/* Whether the runtime writes unwind information, as far as it is known by now. */
bool jit_has_unwinding(struct jit *jit);

/* Reads what has grown. While nobody asks. */
void jit_reread(struct jit *jit);
/* Opens the perf map that was read, as it is now, for reading; -1: there is none. */
int jit_open_map(const struct jit *jit);
/* Whether a file with names was found. */
bool jit_is_named(const struct jit *jit);

#endif
