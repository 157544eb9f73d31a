/* Which events of a recording the BPF engine takes, and how they change when it does. */
#ifndef WICK_ENGINE_ENGINE_EVENTS_H
#define WICK_ENGINE_ENGINE_EVENTS_H

#include "capture/events.h"
#include "engine/engine.h"

/* Marks the events whose samples a BPF program can take; false when there are none. */
bool engine_events_mark(struct capture_events *events);
void engine_events_unmark(struct capture_events *events);
/* What the programs must know of them. With `singly` waits are not added up in the kernel. */
void engine_events_describe(const struct capture_events *events, bool singly, struct engine_options *engine);
/* Opens those that happen at intervals on CPUs instead of threads: threads shorter than an interval count then too. */
void engine_events_use_cpus(struct capture_events *events, struct engine_options *engine);
/* The same without the engine; false when there are none. */
bool engine_events_rings_on_cpus(struct capture_events *events);
/* The engine takes them as described. True when sizes of huge pages get lost by that. */
bool engine_events_taken(struct capture_events *events, const struct engine_options *engine);

#endif
