/* Opening perf events for a target. */
#ifndef WICK_CAPTURE_OPEN_EVENT_H
#define WICK_CAPTURE_OPEN_EVENT_H

#include "capture/events.h"
#include "capture/target.h"

/* What events of a target are opened for: threads, a cgroup's folder, or −1 for everybody. */
const int32_t *open_tasks(const struct target *target, size_t *ret_count);
/* An event on one of these tasks and a CPU (−1: any). The descriptor, or −1 with errno. */
int open_event(struct perf_event_attr *attr, const struct target *target, int32_t task, int32_t cpu);
/* ERR_SYSTEM, and in words why the kernel did not open it (errno `error`). `event` NULL: that of mappings. */
int open_refused(const struct capture_event *event, const struct target *target, int32_t task, int error,
		 struct err *err);

#endif
