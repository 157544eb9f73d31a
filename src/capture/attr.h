/* How samples are requested: the attributes that do not depend on which event it is. */
#ifndef WICK_CAPTURE_ATTR_H
#define WICK_CAPTURE_ATTR_H

#include "base/err.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

enum call_graph {
	CALL_GRAPH_DWARF, /* registers and a copy of the stack, unwound by tables */
	CALL_GRAPH_FP, /* the kernel follows frame pointers */
	CALL_GRAPH_LBR, /* the processor's record of the last branches, in call-stack mode */
};

#define STACK_SIZE_MAX 63488u /* a record has at most 64 KiB, with everything else that is in it */
#define STACK_SIZE_USUAL 16384u /* where rings have no room for more */

struct attr_shape {
	enum call_graph call_graph;
	uint32_t stack_size; /* bytes of CALL_GRAPH_DWARF, a multiple of 8; 0: as much as the rings have room for */
	uint64_t frequency; /* samples a second, or: */
	uint64_t period; /* one of so many events; 0: by frequency */
	bool inherit; /* threads and processes started later too */
	bool enable_on_exec;
	bool switches; /* the tracking event also reports when threads switch */
	/* Not in every kernel: counts of lost records (6.0), build-ids of mappings (5.12), a choice of clocks (4.1) */
	bool losses, build_ids, clock;
	bool cgroups; /* that samples are of: since 5.7, and not in every configuration */
};

/* Completes the attributes of an event; it is disabled. A period that it has stays; `bare` is without a stack. */
void attr_shape_event(struct perf_event_attr *attr, const struct attr_shape *shape, bool bare);
/* An event that counts nothing and brings the records of mappings, names, forks and exits. */
struct perf_event_attr attr_tracking(const struct attr_shape *shape);

#endif
