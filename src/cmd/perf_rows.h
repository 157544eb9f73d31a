/* Options of perf's commands that read recordings, for the `perf_options` of wick's. */
#ifndef WICK_CMD_PERF_ROWS_H
#define WICK_CMD_PERF_ROWS_H

#include "cmd/command.h"

#define PERF_IGNORED(text) .name = text, .type = OPTION_IGNORED
#define PERF_REFUSED(text, instead) .name = text, .type = OPTION_REFUSED, .help = instead
#define PERF_NO_KERNEL_FILE "not needed: the kernel is found by its build ID, on this machine or with debuginfod"
#define PERF_NO_ITRACE "wick does not decode instruction traces; use perf"

/* Tables for OPTION_TABLE. Those of commands whose options begin with a struct input_options: */
extern const struct option_row perf_file_rows[]; /* -i and -f */
extern const struct option_row perf_reading_rows[]; /* these and those that say what is read */

#endif
