/* Events that the kernel describes in files: tracepoints in tracefs, those of PMUs in sysfs. */
#ifndef WICK_CAPTURE_PMU_H
#define WICK_CAPTURE_PMU_H

#include "base/buf.h"
#include "base/err.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* "sched", "sched_switch" → attr. */
int pmu_tracepoint(struct perf_event_attr *attr, const char *system, const char *name, struct err *err);

/* The text that describes a tracepoint's data. False when it cannot be read. */
bool pmu_tracepoint_format(struct buf *out, const char *system, const char *name);

/*
 * The place in a program or library where a function begins, or an offset in the file when `function` is NULL. The
 * caller sets config1 to where the path lies, which must stay as long as events are opened.
 */
int pmu_probe(struct perf_event_attr *attr, const char *path, const char *function, uint64_t offset, struct err *err);

/* "cpu", "event=0x3c,umask=1" → attr. `root` is the folder of the PMUs, NULL: that of the running system. */
int pmu_event(struct perf_event_attr *attr, const char *root, const char *pmu, const char *terms, struct err *err);

/* True when the PMU of the processor counts cycles and interrupts. */
bool pmu_has_cycles(void);

#endif
