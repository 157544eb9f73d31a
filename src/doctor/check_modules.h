/* What the files of a target offer to a profiler: names, source lines, ways to unwind. */
#ifndef WICK_DOCTOR_CHECK_MODULES_H
#define WICK_DOCTOR_CHECK_MODULES_H

#include "base/err.h"
#include "doctor/check.h"
#include "symbol/symbols.h"

enum frame_pointers {
	FRAME_POINTERS_UNKNOWN, /* no functions to look at, or not this processor */
	FRAME_POINTERS_NO,
	FRAME_POINTERS_YES,
};

struct check_module {
	char *path;
	enum check_verdict verdict;
	enum symbol_state symbols;
	bool unwind_table;
	bool unwind_derived; /* most of it, from the code */
	enum frame_pointers frame_pointers;
	struct buf advice; /* what fixes its symbols; may be empty */
};

struct check_modules {
	struct check_module *items;
	size_t count, capacity;
	char root[32]; /* before all paths */
	int root_fd; /* that `root` refers to, or 0 */
	const char *program; /* the command's, the first of the items; NULL: a process */
};

void check_modules_release(struct check_modules *modules);

/* Lists the executable mappings of a process, to be seen through its own root. No file is read. */
int check_modules_of_process(struct check_modules *modules, int pid, struct err *err);
/*
 * Lists a program (looked up in PATH when it has no slash) and the libraries its loader would take. It is not run. The
 * loader is, and may run code that the program names: so only for programs that nobody else can write.
 */
int check_modules_of_command(struct check_modules *modules, const char *command, struct err *err);
/* Reads the files that were listed. */
int check_modules_read(struct check_modules *modules, struct err *err);

/* Do its functions set up a frame pointer? By the beginnings that .eh_frame_hdr lists. */
enum frame_pointers check_frame_pointers(struct elf_file *elf);
/* From what was found out. */
enum check_verdict check_module_verdict(const struct check_module *module);

#endif
