/* Code objects of a running CPython: names, files and lines of functions. All bytes are the target's: not trusted. */
#ifndef WICK_RUNTIME_PYTHON_CODE_H
#define WICK_RUNTIME_PYTHON_CODE_H

#include "runtime/memory.h"
#include "runtime/python/layout.h"

#define PYTHON_NAME_MAX 1024u /* bytes of a name or path; the rest is cut */
#define PYTHON_LINES_MAX (256u << 10) /* bytes of a table of lines; a larger one is not used */

struct python_code {
	char *name; /* module.qualname, UTF-8 without control characters */
	char *file;
	uint32_t first_line;
	uint8_t *lines;
	size_t lines_size;
	uint64_t bytecode; /* where its instructions are */
	uint32_t bytecode_size; /* 0: not known */
	uint64_t identity; /* of what its members point to: another function at the same address has another */
};

/* False when there is no code object, or none that can be believed. */
bool python_code_read(const struct target_memory *memory, const struct python_layout *layout, uint64_t address,
		      struct python_code *ret_code);
void python_code_release(struct python_code *code);
/* The identity of what is at the address now, by one read; 0: nothing can be read there. */
uint64_t python_code_identity(const struct target_memory *memory, const struct python_layout *layout, uint64_t address);
/* The line of an instruction, by its offset in bytes in the bytecode; the first line when it is not known. */
uint32_t python_code_line(const struct python_code *code, const struct python_layout *layout, uint32_t offset);

#endif
