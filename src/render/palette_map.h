/* Colors by function name that last from one picture to the next: flamegraph.pl's palette.map, "name->rgb(r,g,b)". */
#ifndef WICK_RENDER_PALETTE_MAP_H
#define WICK_RENDER_PALETTE_MAP_H

#include "base/err.h"
#include "base/strpool.h"
#include "render/palette.h"

struct palette_map_entry {
	struct rgb colour;
	bool known; /* the pool always holds "", the map does not */
};

struct palette_map {
	struct strpool names;
	struct palette_map_entry *entries; /* by name */
	size_t capacity;
	uint64_t bad_lines; /* of the file read: kept out */
};

void palette_map_init(struct palette_map *map);
void palette_map_release(struct palette_map *map);

/* Adds the colors of a file. A file that does not exist is an empty one. */
int palette_map_read(struct palette_map *map, const char *path, struct err *err);
/* Writes all of them, sorted by name. */
int palette_map_write(const struct palette_map *map, const char *path, struct err *err);

bool palette_map_get(const struct palette_map *map, const char *name, size_t length, struct rgb *ret_colour);
void palette_map_put(struct palette_map *map, const char *name, size_t length, struct rgb colour);

#endif
