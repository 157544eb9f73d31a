/*
 * jit-PID.dump, which compilers inside a process write: what code was made, where it lay from what time on, and of
 * which lines it was made. Its times are CLOCK_MONOTONIC unless the header says otherwise.
 */
#ifndef WICK_SYMBOL_JITDUMP_H
#define WICK_SYMBOL_JITDUMP_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct jitdump;

struct jitdump_facts {
	uint32_t pid;
	bool arch_clock; /* times are of the processor's counter: they cannot be compared, ask with UINT64_MAX */
	bool cut; /* the file ends inside a record, or with one that makes no sense */
	bool unwinding; /* some function has unwind information */
	size_t functions; /* loaded or moved */
};

struct jitdump_frame {
	const char *name;
	const char *file; /* NULL: not known */
	uint32_t line;
	uint64_t start;
};

/* Code and its unwind information, which describes it as if it stood right behind the code, at a multiple of 8. */
struct jitdump_code {
	uint64_t start, end;
	const uint8_t *eh_frame;
	size_t eh_frame_size;
	uint64_t eh_frame_address;
};

/* Whether it is called jit-PID.dump. Compilers map it once, as a sign that it is there. */
bool jitdump_has_path(const char *path);

/* ERR_FORMAT when it is no jitdump, ERR_EMPTY when it holds no code. At most `max` bytes are read. */
int jitdump_open(struct jitdump **ret_dump, const char *path, uid_t user, size_t max, struct err *err);
/* The same from bytes, which need not stay. */
int jitdump_open_bytes(struct jitdump **ret_dump, const void *bytes, size_t size, struct err *err);
void jitdump_close(struct jitdump *dump);
/* The memory that it takes, in bytes. */
size_t jitdump_bytes(const struct jitdump *dump);

struct jitdump_facts jitdump_facts(const struct jitdump *dump);

/*
 * Code lies at an address until other code takes its place: which of them was there at the time (UINT64_MAX: at the
 * end); 0: none. Thread-safe, as the next ones.
 */
uint32_t jitdump_version(const struct jitdump *dump, uint64_t address, uint64_t time);
/* What an address in a version is. Strings stay until jitdump_close(). */
struct jitdump_frame jitdump_frame(const struct jitdump *dump, uint64_t address, uint32_t version);
/* The code of a version; false when there is no unwind information. Its bytes stay until jitdump_close(). */
bool jitdump_code(const struct jitdump *dump, uint32_t version, struct jitdump_code *ret_code);
/* Both at once; false: nothing lay there. */
bool jitdump_find(const struct jitdump *dump, uint64_t address, uint64_t time, struct jitdump_frame *ret_frame);

#endif
