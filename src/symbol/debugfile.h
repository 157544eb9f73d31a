/*
 * Finding files on this machine: the one that was mapped, its separate debug file, and the file that dwz moved shared
 * parts of it to. What is found is opened and checked: a file with another build-id is as good as none.
 */
#ifndef WICK_SYMBOL_DEBUGFILE_H
#define WICK_SYMBOL_DEBUGFILE_H

#include "object/elf.h"

struct debugfile_query {
	const char *path; /* as it was mapped, without root */
	const char *root; /* "" normally; else a prefix, tried before the system's own folders */
	const struct build_id *build_id; /* size 0: not known */
};

enum debugfile_result {
	DEBUGFILE_FOUND,
	DEBUGFILE_MISSING,
	DEBUGFILE_MISMATCH,
	DEBUGFILE_DAMAGED, /* not an ELF file */
	DEBUGFILE_UNSUPPORTED, /* an ELF file for other machines */
};

/*
 * The mapped file: root + path, else by its build-id the copies that perf (~/.debug) and debuginfod's client keep. On
 * DEBUGFILE_FOUND the caller owns both results; else the result says what is wrong at root + path.
 */
enum debugfile_result debugfile_open_main(struct elf_file **ret_elf, char **ret_path,
					  const struct debugfile_query *query);

/*
 * The separate debug file, NULL when none is there: by build-id in /usr/lib/debug/.build-id, by the .gnu_debuglink of
 * `elf` (may be NULL) beside it, in .debug/ and below /usr/lib/debug, by build-id in the copies of perf and of
 * debuginfod's client. One with debug information is preferred to one with a symbol table only. The caller owns both.
 */
struct elf_file *debugfile_open_debug(char **ret_path, const struct debugfile_query *query, struct elf_file *elf);

/* The alternate file that the .gnu_debugaltlink of `elf` names, NULL when there is none. `path` is where `elf` is. */
struct elf_file *debugfile_open_alternate(struct elf_file *elf, const char *path, const char *root);

/* The vDSO with this build-id in perf's copies; NULL: none. */
struct elf_file *debugfile_open_vdso(const struct build_id *build_id);

/*
 * Length of the path before the " (deleted)" that the kernel appends to names of files that are gone; 0: it is not
 * there.
 */
size_t debugfile_path_deleted(const char *path);

/*
 * The file in perf's copies, of the kind "elf", "debug", "vdso" or "kallsyms"; NULL when HOME is not known. Caller
 * frees.
 */
char *debugfile_perf_copy(const struct build_id *build_id, const char *kind);

#endif
