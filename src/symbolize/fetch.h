/* Debug files from debuginfod for the modules that samples hit, the hottest first, until its budget is used up. */
#ifndef WICK_SYMBOLIZE_FETCH_H
#define WICK_SYMBOLIZE_FETCH_H

#include "module/module_code.h"
#include "trace/trace.h"

/* Does nothing when nobody can be asked. */
void fetch_debug_files(struct module_store *codes, const struct trace *trace);

#endif
