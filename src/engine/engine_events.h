/* Which events of a recording the BPF engine takes, and how they change when it does. */
#ifndef WICK_ENGINE_ENGINE_EVENTS_H
#define WICK_ENGINE_ENGINE_EVENTS_H

#include "capture/attr.h"
#include "capture/target.h"
#include "engine/engine.h"
#include "engine/engine_choice.h"

/* Marks the events whose samples a BPF program can take; false when there are none. */
bool engine_events_mark(struct capture_events *events);
void engine_events_unmark(struct capture_events *events);
/*
 * What the programs must know of a recording whose events are marked. With `any_cpu`, where events of anybody may be
 * opened, those that happen at intervals are opened on CPUs instead of threads if the programs can choose whose samples
 * they take: so threads that are shorter than an interval count too.
 */
struct engine_options engine_options_of(const struct capture_options *capture, const struct target *target,
					const struct attr_shape *shape, const struct engine_facts *facts, bool any_cpu);
/* Opens them on CPUs without the engine; false when there are none. */
bool engine_events_rings_on_cpus(struct capture_events *events);
/* The engine takes them as described. True when sizes of huge pages get lost by that. */
bool engine_events_taken(struct capture_events *events, const struct engine_options *engine);

#endif
