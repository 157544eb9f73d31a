/*
 * Functions that were inlined, for perf script text without them: they are looked up in the files that it names.
 * Threads may share one.
 */
#ifndef WICK_IMPORT_UNINLINE_H
#define WICK_IMPORT_UNINLINE_H

#include "import/perf_frame.h"
#include "symbol/symbols.h"

struct uninliner;

/* `options` is copied; its strings must stay. */
struct uninliner *uninliner_new(const struct symbol_options *options);
/* NULL is allowed. */
void uninliner_free(struct uninliner *uninliner);

/*
 * Fills `frames` innermost first; the last one is the function that the line names. 0: nothing is known, or what lies
 * there now is another function. Names stay until uninliner_free().
 */
size_t uninliner_find(struct uninliner *uninliner, const struct perf_frame *line, struct symbol_frame *frames,
		      size_t max);

#endif
