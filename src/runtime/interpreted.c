/* Numbers the functions of interpreters by name and file. */
#include "runtime/interpreted.h"

#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

#define FUNCTIONS_MAX (1u << 20) /* a program may create functions without end */

void interpreted_init(struct interpreted *functions)
{
	*functions = (struct interpreted){0};
	pthread_mutex_init(&functions->lock, NULL);
}

void interpreted_release(struct interpreted *functions)
{
	for (size_t i = 0; i < functions->count; i++) {
		free((char *)functions->items[i].name);
		free((char *)functions->items[i].file);
	}
	free(functions->items);
	index_map_release(&functions->map);
	pthread_mutex_destroy(&functions->lock);
}

static uint64_t hash_of(const char *name, const char *file)
{
	return hash_mix(hash_bytes(name, strlen(name)), hash_bytes(file, strlen(file)) ^ HASH_K2);
}

static uint32_t find(const struct interpreted *functions, uint64_t hash, const char *name, const char *file)
{
	struct index_probe probe;
	for (uint32_t i = index_map_first(&functions->map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&functions->map, &probe))
		if (!strcmp(functions->items[i].name, name) && !strcmp(functions->items[i].file, file))
			return i + 1;
	return INTERPRETED_UNKNOWN;
}

uint32_t interpreted_add(struct interpreted *functions, const char *name, const char *file)
{
	uint64_t hash = hash_of(name, file);
	pthread_mutex_lock(&functions->lock);
	uint32_t number = find(functions, hash, name, file);
	if (number == INTERPRETED_UNKNOWN && functions->count < FUNCTIONS_MAX) {
		index_map_insert(&functions->map, hash, (uint32_t)functions->count);
		MEM_ROOM(functions->items, functions->count, functions->capacity);
		functions->items[functions->count++] =
			(struct interpreted_function){mem_strdup(name), mem_strdup(file)};
		number = (uint32_t)functions->count;
	}
	pthread_mutex_unlock(&functions->lock);
	return number;
}

bool interpreted_get(struct interpreted *functions, uint32_t number, struct interpreted_function *ret_function)
{
	pthread_mutex_lock(&functions->lock);
	bool known = number > INTERPRETED_UNKNOWN && number <= functions->count;
	if (known)
		*ret_function = functions->items[number - 1];
	pthread_mutex_unlock(&functions->lock);
	return known;
}

/* --- as a mapping --- */

#define PREFIX "[python] "
#define BEFORE_FILE " ("

void interpreted_write_path(struct buf *out, const struct interpreted_function *function)
{
	buf_printf(out, PREFIX "%s" BEFORE_FILE "%s)", function->name, function->file);
}

static char *cut(const char *from, const char *to)
{
	size_t length = to > from ? (size_t)(to - from) : 0;
	char *text = mem_alloc(length + 1);
	memcpy(text, from, length);
	text[length] = '\0';
	return text;
}

uint32_t interpreted_add_path(struct interpreted *functions, const char *path)
{
	size_t length = strlen(path), prefix = strlen(PREFIX);
	const char *file = NULL;
	if (strncmp(path, PREFIX, prefix) || path[length - 1] != ')')
		return INTERPRETED_UNKNOWN;
	for (const char *at = path; (at = strstr(at, BEFORE_FILE)); at++)
		file = at;
	if (!file)
		return INTERPRETED_UNKNOWN;
	CLEANUP_FREE char *name = cut(path + prefix, file);
	file += strlen(BEFORE_FILE);
	CLEANUP_FREE char *file_name = cut(file, path + length - 1);
	return interpreted_add(functions, name, file_name);
}
