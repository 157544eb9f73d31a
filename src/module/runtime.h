/* Language runtimes that name the code they generate if they are asked to: which one a process runs, and how to ask. */
#ifndef WICK_MODULE_RUNTIME_H
#define WICK_MODULE_RUNTIME_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

enum runtime_kind { RUNTIME_NONE, RUNTIME_NODE, RUNTIME_JAVA, RUNTIME_DOTNET, RUNTIME_ERLANG, RUNTIME_PYTHON };

struct runtime {
	enum runtime_kind kind;
	unsigned major, minor; /* of Python; else 0 */
};

/* The runtime that a file, given by its path, is the program or the library of. */
struct runtime runtime_of_path(const char *path);

/* Why JIT code of a process has no names and what to do about it, one line. `mapped`: there is a perf map. */
void runtime_jit_advice(struct buf *out, enum runtime_kind kind, int32_t pid, const char *map_path, bool mapped);
/* What makes stacks through its code complete; "" if nothing is known to. A constant. */
const char *runtime_stack_advice(enum runtime_kind kind);
/* How Python functions get names, one line; nothing if this version cannot. */
void runtime_python_advice(struct buf *out, struct runtime python);

#endif
