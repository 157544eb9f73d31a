/*
 * What was computed about a file, kept on disk under its build-id, if it has one: in $XDG_CACHE_HOME/wick,
 * ~/.cache/wick, or for root /var/cache/wick where these are not root's. Several runs may share it. An entry is whole
 * or absent, is checked when it is read, and those not used for longest go when all of them together exceed the limit.
 * Nothing here ever fails a run: what cannot be kept is computed again.
 */
#ifndef WICK_OBJECT_CACHE_H
#define WICK_OBJECT_CACHE_H

#include "object/build_id.h"
#include "object/file_identity.h"

#define CACHE_USUAL ((uint64_t)512 << 20)

/* Names of files in its directory: how those of entries end, and how those begin that are not complete. */
#define CACHE_ENTRIES ".wick"
#define CACHE_TEMPORARIES ".wick-new-"

struct cache;

/*
 * `folder` NULL: the usual one. NULL when there is no place for it, or another user could lead us to a different one
 * (see base/directory.h). `max` bytes are kept.
 */
struct cache *cache_open(const char *folder, uint64_t max);
/* NULL is allowed, here and below: such a cache is empty and keeps nothing. */
void cache_close(struct cache *cache);
/* A descriptor of its directory, which stays its own; -1: none. */
int cache_directory(const struct cache *cache);

struct cache_bytes {
	const void *bytes; /* aligned to 64 */
	size_t size;
	void *mapped; /* private */
	size_t mapped_size;
};

/*
 * `kind` is a short word, part of the file's name. With `file` it is only found for the very same file, which must not
 * have changed and needs no build-id; NULL: whoever asks knows that the build-id is enough. On success release the
 * bytes. Thread-safe, as is cache_put().
 */
bool cache_get(struct cache *cache, const struct build_id *id, const struct file_identity *file, const char *kind,
	       struct cache_bytes *ret_bytes);
void cache_bytes_release(struct cache_bytes *bytes);
/* True when it was kept. */
bool cache_put(struct cache *cache, const struct build_id *id, const struct file_identity *file, const char *kind,
	       const void *bytes, size_t size);

#endif
