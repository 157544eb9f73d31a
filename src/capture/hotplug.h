/*
 * CPUs that go offline and come back, or come for the first time, while they are recorded. The kernel takes the events
 * of a CPU away when it goes offline, for good and without a notice, also when the machine sleeps for a while. So each
 * CPU has a counter that is looked at: one that does not count any more was taken away with the others.
 */
#ifndef WICK_CAPTURE_HOTPLUG_H
#define WICK_CAPTURE_HOTPLUG_H

#include "base/buf.h"
#include "capture/target.h"

#include <stdbool.h>
#include <stdint.h>

struct hotplug_cpu {
	int32_t cpu;
	int fd; /* its counter; -1: it is away */
	uint64_t opened, enabled; /* when its counter was opened, and how long that had counted when it was last read */
	uint64_t left; /* when it went, or when the recording began without it */
	uint64_t away; /* nanoseconds that it was not recorded, but for the time since `left` */
};

struct hotplug {
	struct hotplug_cpu *cpus;
	size_t count, capacity;
	bool chosen; /* the user chose the CPUs: others are of no interest */
	uint64_t checked;
};

/* Opens a counter on each CPU of the target. Watches nothing where the kernel does not allow that. */
void hotplug_open(struct hotplug *hotplug, const struct target *target, bool chosen, uint64_t now);
void hotplug_close(struct hotplug *hotplug);

/*
 * Looks, not more often than some times a second. `back` is called for each CPU that came back or is new, and has no
 * events; when it returns false, the CPU stays away and is tried again.
 */
void hotplug_check(struct hotplug *hotplug, uint64_t now, bool (*back)(void *context, int32_t cpu), void *context);

/* "not recorded while offline: CPU 1 (2.3 s)"; nothing if all were recorded. */
void hotplug_describe(struct hotplug *hotplug, uint64_t now, struct buf *out);

#endif
