/*
 * The file that a thread reads just now. If wick crashes there, a file that somebody else wrote has most likely found a
 * fault in a parser: it is noted in the cache, and skipped from then on.
 */
#ifndef WICK_OBJECT_READING_H
#define WICK_OBJECT_READING_H

#include "object/cache.h"

struct reading {
	struct cache *cache; /* NULL: nothing is noted */
	const struct file_identity *file;
	const char *path;
};

/* Everything it refers to stays until reading_end(), and so does `reading`. */
void reading_begin(const struct reading *reading);
void reading_end(void);

/* Notes that this thread crashed. Returns the path; NULL: it read nothing. For the handler of a fatal signal. */
const char *reading_note_crash(void);
/* Whether wick crashed when it read this file. */
bool reading_has_crashed(struct cache *cache, const struct file_identity *file);

#endif
