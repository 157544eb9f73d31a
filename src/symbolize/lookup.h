/* What many addresses are called: each is looked up once, on all cores. */
#ifndef WICK_SYMBOLIZE_LOOKUP_H
#define WICK_SYMBOLIZE_LOOKUP_H

#include "module/module_code.h"
#include "profile/profile.h"

#include <stdatomic.h>

/* What addresses are called that differ in nothing that is shown. */
struct answer {
	function_id function; /* of `addresses`: the module */
	uint32_t kind;
	const char *module; /* what is shown as its module */
	size_t named; /* free for the asker, zero at first */
	size_t count;
	struct symbol_frame frames[]; /* innermost first */
};

/* Looking up the frames of `addresses` (see symbolize.h) from `from` on. The asker sets the first six. */
struct lookup {
	const struct profile *addresses;
	struct module_store *codes;
	const module_id *module; /* by function of `addresses` */
	size_t from;
	unsigned threads;
	bool lines; /* they are shown or kept */

	size_t count;
	struct answer **answers; /* by frame − from; NULL: nothing is known */
	uint32_t *order; /* frames, sorted by module and address, those of the kernel last */
	size_t *starts; /* where in `order` a module begins */
	size_t start_count;
	struct module_code **code; /* by function of `addresses`; NULL: none */
	atomic_size_t next_start, next;
	struct answerer *answerers; /* by thread */
};

void lookup_run(struct lookup *lookup);
/* Keeps the answers in the cache, for when the files are not here any more. */
void lookup_keep(const struct lookup *lookup);
void lookup_release(struct lookup *lookup);

#endif
