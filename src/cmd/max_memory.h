/* --max-memory, of all commands that read or record. */
#ifndef WICK_CMD_MAX_MEMORY_H
#define WICK_CMD_MAX_MEMORY_H

#include "cmd/command.h"

#include <stdint.h>

/* The row of the option, for OPTION_TABLE: the options of the command begin with a struct input_options. */
extern const struct option_row max_memory_rows[];

/* clang-format off */
#define MAX_MEMORY_EXIT {"4", "the memory limit was reached (--max-memory)"}
/* clang-format on */

/* What holds without the option. */
uint64_t max_memory_default(void);
/* Sets the limit; NULL: the default stays. PROCEED, or the exit code to leave with. */
int max_memory_apply(const char *text);

#endif
