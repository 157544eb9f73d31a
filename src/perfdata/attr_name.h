/* Event names made of attributes, for files that store none. */
#ifndef WICK_PERFDATA_ATTR_NAME_H
#define WICK_PERFDATA_ATTR_NAME_H

#include "base/buf.h"

#include <linux/perf_event.h>

/* "cycles:u", "L1-dcache-load-misses", "r1c2", "mem:0x1000:rw"; `pmu` (may be NULL) is the name of a dynamic type. */
void event_name(struct buf *out, const struct perf_event_attr *attr, const char *pmu);

#endif
