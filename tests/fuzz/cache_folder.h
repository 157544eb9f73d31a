/* A cache in a directory of its own, for harnesses of what is read from it. It is removed at exit. */
#ifndef WICK_TESTS_FUZZ_CACHE_FOLDER_H
#define WICK_TESTS_FUZZ_CACHE_FOLDER_H

#include "base/buf.h"
#include "object/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static char cache_folder[64];
static struct cache *fuzz_cache;

static inline void cache_folder_empty(void)
{
	DIR *folder = opendir(cache_folder);
	for (struct dirent *entry; folder && (entry = readdir(folder));)
		if (entry->d_name[0] != '.' || entry->d_name[1])
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
}

static void cache_folder_remove(void)
{
	cache_close(fuzz_cache);
	cache_folder_empty();
	rmdir(cache_folder);
}

/* The cache, which is opened once. */
static inline struct cache *cache_folder_open(void)
{
	if (fuzz_cache)
		return fuzz_cache;
	snprintf(cache_folder, sizeof cache_folder, "%s/wick-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(cache_folder) || !(fuzz_cache = cache_open(cache_folder, (uint64_t)64 << 20)))
		abort();
	atexit(cache_folder_remove);
	return fuzz_cache;
}

#endif
