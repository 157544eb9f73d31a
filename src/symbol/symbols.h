/*
 * The symbols of one module: everything that can be known about an address in it, from its debug information, else from
 * its symbol table. A module is found by build-id and path; files that do not match the build-id are not used.
 */
#ifndef WICK_SYMBOL_SYMBOLS_H
#define WICK_SYMBOL_SYMBOLS_H

#include "base/buf.h"
#include "name/demangle.h"
#include "object/elf.h"

/* Why a module has no or poor symbols. */
enum symbol_state {
	SYMBOLS_DEBUG, /* debug information with inlines and lines */
	SYMBOLS_TABLE, /* .symtab, or .gnu_debugdata: functions, no lines */
	SYMBOLS_DYNAMIC, /* .dynsym only: exported functions; local ones are missing (stripped) */
	SYMBOLS_NONE, /* the file has no symbols at all (stripped) */
	SYMBOLS_MISSING, /* the file is not there (deleted, other mount namespace, another machine) */
	SYMBOLS_MISMATCH, /* the file there has another build-id: it was replaced since */
	SYMBOLS_DAMAGED, /* the file is no ELF file */
	SYMBOLS_UNSUPPORTED, /* an ELF file that is not for 64-bit machines of this byte order */
	SYMBOLS_CRASHED, /* wick crashed when it read the file before (see reading.h) */
};

struct symbol_options {
	enum name_style names;
	bool inlines, lines;
	bool cache; /* use the cache on disk */
	struct cache *store; /* that cache, once it is open; NULL: nothing is kept. Must stay as long as the symbols */
	const char *root; /* prefix for paths, "" or NULL normally */
	const char *recording; /* path of perf.data, beside which copies of perf maps are: PATH.PID.map; NULL: none */
};

struct symbol_frame {
	const char *name; /* demangled; stays until symbols_close() */
	const char *file; /* NULL: not known */
	uint32_t line;
	bool inlined; /* into the next frame */
	uint64_t start; /* where the function that is not inlined begins, as the symbol table has it; 0: not known */
};

struct symbols;
struct reading;

/* Never fails: a module without symbols is one whose state says why. `path` may be a candidate only. */
struct symbols *symbols_open(const char *path, const struct build_id *build_id, const struct symbol_options *options);
void symbols_close(struct symbols *symbols);
enum symbol_state symbols_state(const struct symbols *symbols);
/* One line: why, and the one action that would fix it ("stripped: apt install libfoo-dbgsym"). */
void symbols_advice(const struct symbols *symbols, struct buf *out);

/* Whether one of the files was written to since it was opened: then names are nonsense, and the advice says so. */
bool symbols_changed(const struct symbols *symbols);

/* For others who read the file, such as unwind tables. */
const struct reading *symbols_reading(const struct symbols *symbols);

/* The ELF file that is mapped (for unwind tables), and the separate debug file; NULL: none. Owned by `symbols`. */
struct elf_file *symbols_elf(struct symbols *symbols);
struct elf_file *symbols_debug_elf(struct symbols *symbols);

/*
 * Asks debuginfod for what is missing: the debug file, and the file itself when it is not here. True when the state
 * became better. Only before the first symbols_find(); the hottest modules should come first, since all share one
 * budget.
 */
struct debuginfod;
bool symbols_fetch(struct symbols *symbols, struct debuginfod *client, struct err *err);

/*
 * Fills frames innermost first; returns 0 when nothing is known. `address` is in the file's virtual address space,
 * already minus one for return addresses. Thread-safe.
 */
size_t symbols_find(struct symbols *symbols, uint64_t address, struct symbol_frame *frames, size_t max);

#endif
