/* --max-memory, of all commands that read or record. */
#ifndef WICK_CMD_MAX_MEMORY_H
#define WICK_CMD_MAX_MEMORY_H

#include "cmd/command.h"

#include <stdint.h>

/* clang-format off */
/* The row of the option; `at` is the offset of a const char *. */
#define MAX_MEMORY_ROW(at)                                                                                            \
	{.name = "max-memory", .type = OPTION_STRING, .offset = (at), .argument = "SIZE",                             \
	 .help = "Stop with exit code 4 if wick needs more than SIZE of memory: 500M, 2G. A recording ends at a "     \
		 "third of it and writes its files. Default: a quarter of the memory of the machine, or of the "      \
		 "limit of its cgroup; at least 256M if there is so much."}

#define MAX_MEMORY_EXIT {"4", "the memory limit was reached (--max-memory)"}
/* clang-format on */

/* What holds without the option. */
uint64_t max_memory_default(void);
/* Sets the limit; NULL: the default stays. -1 to go on, else the exit code to leave with. */
int max_memory_apply(const char *text);

#endif
