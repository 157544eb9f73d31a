/* What the kernel does not let this process do, and the one step that would allow it. */
#ifndef WICK_SYSTEM_DENIED_H
#define WICK_SYSTEM_DENIED_H

#include "base/err.h"
#include "system/system.h"

/* How to get CAP_PERFMON, as a sentence part: "run with sudo"; another where this user is root already. A constant. */
const char *denied_step(const struct system *system);

/* A seccomp filter, and not the kernel, answers perf_event_open() with `error`. */
bool denied_by_filter(const struct system *system, int error);

/*
 * perf_event_open() failed with `error` (EACCES or EPERM): sets ERR_DENIED. `what` was to be recorded, and `owner` is
 * true when the user that it belongs to could do it.
 */
int denied_set(struct err *err, const struct system *system, const char *what, bool owner, int error);
/* The same for a command of this user, which only a setting or a filter forbids. */
int denied_set_own(struct err *err, const struct system *system, int error);

#endif
