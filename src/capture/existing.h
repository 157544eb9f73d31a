/* What runs already when a recording begins, in the form of records. */
#ifndef WICK_CAPTURE_EXISTING_H
#define WICK_CAPTURE_EXISTING_H

#include "event/event.h"

#include <stddef.h>

/* Processes with names of threads and mappings, without build-ids. A process that ends meanwhile is omitted. */
int existing_processes(const struct event_sink *sink, const int32_t *pids, size_t count);
int existing_all_processes(const struct event_sink *sink);
/* Only the mappings of one process. */
int existing_mappings(const struct event_sink *sink, int32_t pid);
/* The kernel itself, and its modules. */
int existing_kernel(const struct event_sink *sink);

#endif
