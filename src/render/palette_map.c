/* Reads, extends and writes a map from function names to colors. */
#include "render/palette_map.h"

#include "base/outfile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void palette_map_init(struct palette_map *map)
{
	*map = (struct palette_map){0};
	strpool_init(&map->names);
}

void palette_map_release(struct palette_map *map)
{
	strpool_release(&map->names);
	free(map->entries);
	*map = (struct palette_map){0};
}

void palette_map_put(struct palette_map *map, const char *name, size_t length, struct rgb colour)
{
	str_id id = strpool_add(&map->names, name, length);
	if (id >= map->capacity) {
		size_t before = map->capacity;
		map->entries = mem_grow(map->entries, &map->capacity, (size_t)id + 1, sizeof *map->entries);
		memset(map->entries + before, 0, (map->capacity - before) * sizeof *map->entries);
	}
	map->entries[id] = (struct palette_map_entry){.colour = colour, .known = true};
}

bool palette_map_get(const struct palette_map *map, const char *name, size_t length, struct rgb *ret_colour)
{
	str_id id = strpool_find(&map->names, name, length);
	if (id == INDEX_NONE || id >= map->capacity || !map->entries[id].known)
		return false;
	*ret_colour = map->entries[id].colour;
	return true;
}

/* The last arrow divides: C++ has an operator of that name. */
static char *last_arrow(char *line)
{
	char *arrow = NULL;
	for (char *at = line; (at = strstr(at, "->")); at += 2)
		arrow = at;
	return arrow;
}

static void read_line(struct palette_map *map, char *line)
{
	char *arrow = last_arrow(line);
	struct rgb colour;
	if (arrow && rgb_parse(arrow + 2, &colour))
		palette_map_put(map, line, (size_t)(arrow - line), colour);
	else
		map->bad_lines++;
}

int palette_map_read(struct palette_map *map, const char *path, struct err *err)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? 0 : err_set(err, ERR_OPEN, "cannot open %s: %s", path, strerror(errno));
	CLEANUP_FREE char *line = NULL;
	size_t capacity = 0;
	ssize_t length;
	while ((length = getline(&line, &capacity, file)) >= 0) {
		while (length && (line[length - 1] == '\n' || line[length - 1] == '\r'))
			line[--length] = '\0';
		if (length)
			read_line(map, line);
	}
	int failed = ferror(file) ? errno : 0;
	fclose(file);
	return failed ? err_set(err, ERR_IO, "cannot read %s: %s", path, strerror(failed)) : 0;
}

static int by_name(const void *left, const void *right, void *context)
{
	const struct strpool *names = context;
	str_id a = *(const str_id *)left, b = *(const str_id *)right;
	size_t a_length = strpool_length(names, a), b_length = strpool_length(names, b);
	int order = memcmp(strpool_text(names, a), strpool_text(names, b), a_length < b_length ? a_length : b_length);
	return order ? order : (a_length > b_length) - (a_length < b_length);
}

int palette_map_write(const struct palette_map *map, const char *path, struct err *err)
{
	struct outfile out;
	int code = outfile_open(&out, path, err);
	if (code)
		return code;
	CLEANUP_FREE str_id *order = mem_alloc((map->names.count + 1) * sizeof *order);
	size_t count = 0;
	for (str_id id = 0; id < map->names.count && id < map->capacity; id++)
		if (map->entries[id].known)
			order[count++] = id;
	qsort_r(order, count, sizeof *order, by_name, (void *)&map->names);
	for (size_t i = 0; i < count; i++) {
		struct rgb colour = map->entries[order[i]].colour;
		outfile_add(&out, strpool_text(&map->names, order[i]), strpool_length(&map->names, order[i]));
		outfile_printf(&out, "->rgb(%u,%u,%u)\n", colour.r, colour.g, colour.b);
	}
	return outfile_commit(&out, err);
}
