/* Files that crash a parser are noted, so that they do so once. */
#include "object/reading.h"

#include <string.h>

#define KIND "crash"

/* A file does not need a build-id to be noted: its identity is enough. */
static const struct build_id no_build_id = {.size = 8, .bytes = "crashed"};

static _Thread_local const struct reading *current;

void reading_begin(const struct reading *reading)
{
	current = reading;
}

void reading_end(void)
{
	current = NULL;
}

/* Not all of this is made for a signal handler. But nothing else is lost when it fails, and nobody waits for it. */
const char *reading_note_crash(void)
{
	const struct reading *reading = current;
	if (!reading)
		return NULL;
	current = NULL;
	if (reading->cache && reading->file)
		cache_put(reading->cache, &no_build_id, reading->file, KIND, reading->path, strlen(reading->path));
	return reading->path;
}

bool reading_has_crashed(struct cache *cache, const struct file_identity *file)
{
	struct cache_bytes bytes;
	if (!cache_get(cache, &no_build_id, file, KIND, &bytes))
		return false;
	cache_bytes_release(&bytes);
	return true;
}
