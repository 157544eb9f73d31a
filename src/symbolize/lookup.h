/* What the frames of a trace are called: each is looked up once, on all cores. */
#ifndef WICK_SYMBOLIZE_LOOKUP_H
#define WICK_SYMBOLIZE_LOOKUP_H

#include "module/module_code.h"
#include "trace/trace.h"

#include <stdatomic.h>

/* What frames are called that differ in nothing that is shown. */
struct answer {
	module_id module;
	uint8_t kind, flags; /* as the frames have them; of the flags TRACE_INVERTED */
	const char *shown_module;
	size_t named; /* free for the asker, zero at first */
	size_t count;
	struct symbol_frame frames[]; /* innermost first */
};

/* Looking up the frames of `trace` from `from` on. The asker sets the first five. */
struct lookup {
	const struct trace *trace;
	struct module_store *codes;
	size_t from;
	unsigned threads;
	bool lines; /* they are shown or kept */

	size_t count;
	struct answer **answers; /* by frame − from; NULL: nothing is known */
	uint32_t *order; /* frames, sorted by module and address, those of the kernel last */
	size_t *starts; /* where in `order` a module begins */
	size_t start_count;
	struct module_code **code; /* by module */
	atomic_size_t next_start, next;
	struct answerer *answerers; /* by thread */
};

void lookup_run(struct lookup *lookup);
/* Keeps the answers in the cache, for when the files are not here any more. */
void lookup_keep(const struct lookup *lookup);
void lookup_release(struct lookup *lookup);

#endif
