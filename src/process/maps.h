/* Map sets while they are made: what src/process/ itself needs beyond process.h. */
#ifndef WICK_PROCESS_MAPS_H
#define WICK_PROCESS_MAPS_H

#include "process/process.h"

struct map_set *map_set_new(void);
struct map_set *map_set_hold(struct map_set *maps);
struct map_set *map_set_copy(const struct map_set *maps);
/* Adds a mapping; what it overlaps is cut, as mmap(2) over existing mappings does. Not on a set that was handed out. */
void map_set_add(struct map_set *maps, struct mapping mapping);

#endif
