/* Which format an input has, told from its first bytes. */
#ifndef WICK_IMPORT_DETECT_H
#define WICK_IMPORT_DETECT_H

#include "import/shard.h"

/* NULL when it is none that wick reads; `ret_guess` then says what it seems to be and what to do. */
const struct import_format *detect_format(const char *data, size_t size, const char **ret_guess);

#endif
