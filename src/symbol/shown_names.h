/* Names of symbols as they are shown, made once each: for any thread. */
#ifndef WICK_SYMBOL_SHOWN_NAMES_H
#define WICK_SYMBOL_SHOWN_NAMES_H

#include "base/index_map.h"
#include "base/mem.h"
#include "name/demangle.h"
#include "symbol/symtab.h"

#include <pthread.h>

struct shown_name;

#define SHOWN_NAMES_PARTS 16

struct shown_names {
	enum name_style style;
	/* The functions of the module, for who sets it: NULL until then, and from then on unchanged. */
	const struct symtab *table;
	pthread_mutex_t twins_lock; /* of making what follows */
	struct rust_twins *twins; /* NULL until it is needed */
	/* By hash, so that threads seldom wait for each other. */
	struct shown_names_part {
		pthread_mutex_t lock; /* of what follows */
		struct shown_name *items;
		size_t count, capacity;
		struct index_map map; /* by address of the symbol's own name */
		struct arena arena;
	} parts[SHOWN_NAMES_PARTS];
};

void shown_names_init(struct shown_names *names, enum name_style style);
void shown_names_release(struct shown_names *names);

/* `name` must stay where it is and unchanged: its address stands for it. `plt`: shown as name@plt. */
const char *shown_name(struct shown_names *names, const char *name, bool plt);

#endif
