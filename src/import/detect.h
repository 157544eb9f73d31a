/* Which format an input has, by its first bytes. */
#ifndef WICK_IMPORT_DETECT_H
#define WICK_IMPORT_DETECT_H

#include "import/shard.h"

/*
 * NULL when it is none that wick reads; `ret_guess` then says what it seems to be and what to do. With `perl` a single
 * line of perf script is enough to take everything for that, and format_perf_perl is the format of it.
 */
const struct import_format *detect_format(const char *data, size_t size, bool perl, const char **ret_guess);

#endif
