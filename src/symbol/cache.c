#include "symbol/cache.h"

#include "base/buf.h"
#include "base/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "WICKKEPT"
#define TEMPORARY_PREFIX ".new-"
#define TEMPORARY_SECONDS 3600 /* after that its writer has died */
#define TOUCH_SECONDS 600 /* time of last use is no more exact than this */

struct header {
	char magic[8];
	uint64_t version; /* of wick: entries are private to it */
	uint64_t size, hash; /* of what follows */
	uint64_t owner; /* hash of build-id and kind: a renamed file is not taken for another */
	uint64_t reserved[3];
};
_Static_assert(sizeof(struct header) == 64, "what follows is aligned to 64");

struct cache {
	int folder;
	uint64_t most;
	pthread_mutex_t lock;
	uint64_t written; /* since the folder was last looked through */
	bool looked;
	unsigned temporaries;
};

/* --- the folder --- */

static bool default_folder(struct buf *path)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	/* By its specification a relative XDG_CACHE_HOME does not count. */
	if (cache && cache[0] == '/')
		buf_printf(path, "%s/wick", cache);
	else if (home && home[0] == '/')
		buf_printf(path, "%s/.cache/wick", home);
	return path->size;
}

static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	mkdir(path, 0700);
}

struct cache *cache_open(const char *folder, uint64_t most)
{
	CLEANUP_BUF struct buf path = {0};
	if (folder)
		buf_str(&path, folder);
	else
		default_folder(&path);
	if (!path.size)
		return NULL;
	make_folders(path.data);
	int fd = open(path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat status;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) || status.st_uid != geteuid() || status.st_mode & (S_IWGRP | S_IWOTH)) {
		close(fd);
		return NULL;
	}
	struct cache *cache = mem_zalloc(1, sizeof *cache);
	cache->folder = fd;
	cache->most = most;
	pthread_mutex_init(&cache->lock, NULL);
	return cache;
}

void cache_close(struct cache *cache)
{
	if (!cache)
		return;
	close(cache->folder);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

/* --- entries --- */

#define NAME_SIZE (BUILD_ID_TEXT + 32)

static bool entry_name(char name[NAME_SIZE], const struct build_id *id, const char *kind)
{
	char text[BUILD_ID_TEXT];
	if (!id->size)
		return false;
	int length = snprintf(name, NAME_SIZE, "%s.%s", build_id_text(id, text), kind);
	return length > 0 && length < NAME_SIZE;
}

static uint64_t version(void)
{
	static const char text[] = WICK_VERSION;
	return hash_bytes(text, sizeof text);
}

static bool header_matches(const struct header *header, const char *name, size_t file_size)
{
	return !memcmp(header->magic, MAGIC, sizeof header->magic) && header->version == version() &&
	       header->owner == hash_bytes(name, strlen(name)) && header->size == file_size - sizeof *header;
}

static void touch(int fd, const struct stat *status)
{
	if (time(NULL) - status->st_mtime > TOUCH_SECONDS)
		futimens(fd, NULL);
}

bool cache_get(struct cache *cache, const struct build_id *id, const char *kind, struct cache_bytes *ret_bytes)
{
	char name[NAME_SIZE];
	if (!cache || !entry_name(name, id, kind))
		return false;
	int fd = openat(cache->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	struct stat status;
	void *mapped = MAP_FAILED;
	size_t size = 0;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size >= (off_t)sizeof(struct header)) {
		size = (size_t)status.st_size;
		mapped = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (mapped == MAP_FAILED) {
		close(fd);
		return false;
	}
	const struct header *header = mapped;
	const char *bytes = (const char *)(header + 1);
	bool fine = header_matches(header, name, size) && hash_bytes(bytes, header->size) == header->hash;
	if (fine) {
		touch(fd, &status);
		*ret_bytes = (struct cache_bytes){bytes, header->size, mapped, size};
	} else {
		munmap(mapped, size);
		/* Of another version, or damaged: in the way of nobody but the next one. */
		unlinkat(cache->folder, name, 0);
	}
	close(fd);
	return fine;
}

void cache_bytes_release(struct cache_bytes *bytes)
{
	if (bytes->mapped)
		munmap(bytes->mapped, bytes->mapped_size);
	*bytes = (struct cache_bytes){0};
}

/* --- the limit --- */

struct file {
	char *name;
	uint64_t size;
	struct timespec used;
};

static int compare_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct file *)a)->used, *y = &((const struct file *)b)->used;
	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/* Removes what a dead writer left; true when it is a temporary file. */
static bool is_temporary(const struct cache *cache, const char *name, const struct stat *status)
{
	if (strncmp(name, TEMPORARY_PREFIX, sizeof TEMPORARY_PREFIX - 1))
		return false;
	if (time(NULL) - status->st_mtime > TEMPORARY_SECONDS)
		unlinkat(cache->folder, name, 0);
	return true;
}

static void make_place(struct cache *cache)
{
	int copy = openat(cache->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = copy < 0 ? NULL : fdopendir(copy);
	if (!folder) {
		if (copy >= 0)
			close(copy);
		return;
	}
	struct file *files = NULL;
	size_t count = 0, capacity = 0;
	uint64_t total = 0;
	struct dirent *entry;
	while ((entry = readdir(folder))) {
		struct stat status;
		if (fstatat(cache->folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode) ||
		    is_temporary(cache, entry->d_name, &status))
			continue;
		MEM_ROOM(files, count, capacity);
		files[count++] = (struct file){mem_strdup(entry->d_name), (uint64_t)status.st_size, status.st_mtim};
		total += (uint64_t)status.st_size;
	}
	closedir(folder);
	if (count)
		qsort(files, count, sizeof *files, compare_use);
	/* Below the limit by a quarter, so that the next entry does not make the same work again. */
	uint64_t wanted = total > cache->most ? cache->most / 4 * 3 : total;
	for (size_t i = 0; i < count; i++) {
		if (total > wanted)
			total -= unlinkat(cache->folder, files[i].name, 0) ? 0 : files[i].size;
		free(files[i].name);
	}
	free(files);
}

static void make_place_sometimes(struct cache *cache, uint64_t more)
{
	cache->written += more;
	if (cache->looked && cache->written < cache->most / 16)
		return;
	make_place(cache);
	cache->looked = true;
	cache->written = 0;
}

/* --- writing --- */

static bool write_all(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;
	while (size) {
		ssize_t count = write(fd, at, size);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return false;
		at += count;
		size -= (size_t)count;
	}
	return true;
}

bool cache_put(struct cache *cache, const struct build_id *id, const char *kind, const void *bytes, size_t size)
{
	char name[NAME_SIZE], temporary[64];
	if (!cache || !entry_name(name, id, kind) || size > cache->most / 4)
		return false;
	struct header header = {
		.magic = MAGIC,
		.version = version(),
		.size = size,
		.hash = hash_bytes(bytes, size),
		.owner = hash_bytes(name, strlen(name)),
	};
	pthread_mutex_lock(&cache->lock);
	unsigned number = cache->temporaries++;
	pthread_mutex_unlock(&cache->lock);
	snprintf(temporary, sizeof temporary, TEMPORARY_PREFIX "%ld-%u", (long)getpid(), number);
	/* In another PID namespace the same number can be in use: then this entry is not kept. */
	int fd = openat(cache->folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	bool fine = write_all(fd, &header, sizeof header) && write_all(fd, bytes, size);
	fine &= !close(fd);
	fine = fine && !renameat(cache->folder, temporary, cache->folder, name);
	if (!fine)
		unlinkat(cache->folder, temporary, 0);
	pthread_mutex_lock(&cache->lock);
	make_place_sometimes(cache, size);
	pthread_mutex_unlock(&cache->lock);
	return fine;
}
