/*
 * Why frames of modules have no names and what would help, found out beside other work: it takes some milliseconds a
 * module to find the package that a file belongs to. Only the modules where it matters most are asked about.
 */
#ifndef WICK_SYMBOLIZE_REMEDIES_H
#define WICK_SYMBOLIZE_REMEDIES_H

#include "module/module_code.h"

#define REMEDIES_MAX 8

struct remedies {
	struct module_store *codes;
	pthread_t thread;
	bool started;
	struct remedy {
		module_id module;
		struct buf text;
	} items[REMEDIES_MAX];
	size_t count;
};

/* `amounts` by module id + 1 is how much each one matters. `remedies` must not move until remedies_end(). */
void remedies_start(struct remedies *remedies, struct module_store *codes, const uint64_t *amounts);
/* The modules that matter most, at most REMEDIES_MAX. Gives their number. */
size_t remedies_rank(const struct module_store *codes, const uint64_t *amounts, module_id *ret_modules);
/* The text for a module, "" when nothing is missing; it is found out now, where it is not known yet. */
const struct buf *remedies_text(struct remedies *remedies, module_id module, struct buf *room);
void remedies_end(struct remedies *remedies);

#endif
