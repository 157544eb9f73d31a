/*
 * The symbols of a kernel and its modules: /proc/kallsyms of the running one, perf's copy for a recorded one, and
 * vmlinux for inlines and lines where there is one.
 */
#ifndef WICK_SYMBOL_KERNEL_H
#define WICK_SYMBOL_KERNEL_H

#include "symbol/symbols.h"

struct kernel_options {
	struct build_id build_id; /* of the kernel that was recorded; size 0: the running one */
	/*
	 * Where the recorded kernel had the symbol `text_symbol` ("_text" or "_stext", as its mapping says; NULL:
	 * "_text"); 0: where it is now. The same kernel lies elsewhere after every boot.
	 */
	uint64_t text_address;
	const char *text_symbol;
	const char *kallsyms; /* a file to read instead of all others; NULL normally */
	const char *root; /* prefix of the paths of vmlinux; NULL or "" normally */
	bool vmlinux; /* look for one: worth it for inlines and lines only */
	struct symbol_options symbols; /* how to read vmlinux */
	struct cache
		*cache; /* keeps what /proc/kallsyms says; NULL: nothing is kept. Must stay as long as the kernel */
};

enum kernel_state {
	KERNEL_SYMBOLS, /* functions */
	KERNEL_DEBUG, /* with inlines and lines, by vmlinux */
	KERNEL_HIDDEN, /* kernel.kptr_restrict: all addresses are zero */
	KERNEL_OTHER, /* another kernel than the running one was recorded, and there is no copy of its symbols */
	KERNEL_MISSING, /* no /proc/kallsyms */
};

struct kernel;

/* Of the running kernel; size 0 if it is unknown. */
struct build_id kernel_running_build_id(void);

/* Never fails: the state says what is missing. `options` NULL: the running kernel, without vmlinux. */
struct kernel *kernel_open(const struct kernel_options *options);
/* NULL is allowed. */
void kernel_close(struct kernel *kernel);
enum kernel_state kernel_state(const struct kernel *kernel);
/* One line: why there are no symbols and what to do about it; nothing when there are. */
void kernel_advice(const struct kernel *kernel, struct buf *out);

/*
 * Code that came while recording (BPF programs, trampolines: PERF_RECORD_KSYMBOL). The name is copied. Thread-safe.
 */
void kernel_add(struct kernel *kernel, uint64_t start, uint64_t size, const char *name);

/*
 * As symbols_find(), with run-time addresses. `ret_module` (may be NULL) becomes "[kernel.kallsyms]", "[module]", or
 * for what kernel_add() added its own name, as perf shows them. Strings stay until kernel_close(). Thread-safe.
 */
size_t kernel_find(struct kernel *kernel, uint64_t address, struct symbol_frame *frames, size_t max,
		   const char **ret_module);

#endif
