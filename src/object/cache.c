/* Directory and entries of the cache: reading, writing, and removal of the least recently used. */
#include "object/cache.h"

#include "base/buf.h"
#include "base/directory.h"
#include "base/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "WICKKEPT"
#define ROOT_FOLDER "/var/cache/wick" /* where the home is not root's */
#define TEMPORARY_SECONDS 3600 /* after that its writer has died */
#define TOUCH_SECONDS 600 /* time of last use is no more exact than this */

struct header {
	char magic[8];
	uint64_t version; /* of wick: entries are private to it */
	uint64_t size, hash; /* of what follows */
	uint64_t name; /* hash of the file's name: a renamed file is not taken for another */
	struct file_identity file; /* what it was computed from; all zero: no file */
	uint64_t reserved[4];
};
_Static_assert(sizeof(struct header) == 128, "what follows is aligned to 64");

struct cache {
	int folder;
	uint64_t max;
	pthread_mutex_t lock;
	uint64_t written; /* since the folder was last looked through */
	bool looked;
	unsigned temporaries;
};

/* --- the folder --- */

static int open_named(const char *folder)
{
	CLEANUP_BUF struct buf path = {0};
	CLEANUP_FREE char *here = folder[0] == '/' ? NULL : getcwd(NULL, 0);
	if (folder[0] != '/' && !here)
		return -errno;
	buf_printf(&path, "%s%s%s", here ? here : "", here ? "/" : "", folder);
	return directory_open_private(path.data);
}

static int open_below(const char *folder, const char *below)
{
	CLEANUP_BUF struct buf path = {0};
	/* By its specification a relative XDG_CACHE_HOME does not count. */
	if (!folder || folder[0] != '/')
		return -ENOENT;
	buf_printf(&path, "%s%s", folder, below);
	return directory_open_private(path.data);
}

/* Under sudo the home may still be the user's: files of root would be in the user's way, and lead root elsewhere. */
static int open_default(void)
{
	const char *home = getenv("HOME");
	int fd = open_below(getenv("XDG_CACHE_HOME"), "/wick");
	if (fd == -ENOENT && home && (geteuid() || directory_is_own(home)))
		fd = open_below(home, "/.cache/wick");
	if (fd < 0 && geteuid() == 0)
		fd = directory_open_private(ROOT_FOLDER);
	return fd;
}

struct cache *cache_open(const char *folder, uint64_t max)
{
	int fd = folder ? open_named(folder) : open_default();
	if (fd < 0)
		return NULL;
	struct cache *cache = mem_zalloc(1, sizeof *cache);
	cache->folder = fd;
	cache->max = max;
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

int cache_directory(const struct cache *cache)
{
	return cache ? cache->folder : -1;
}

/* --- entries --- */

#define NAME_SIZE (BUILD_ID_TEXT + 96)

/* Files of the same build-id have entries of their own, and so have files without one. */
static bool entry_name(char name[NAME_SIZE], const struct build_id *id, const struct file_identity *file,
		       const char *kind)
{
	char text[BUILD_ID_TEXT], of_file[40] = "";
	if (!id->size && !file)
		return false;
	if (file)
		snprintf(of_file, sizeof of_file, ".%" PRIx64 "-%" PRIx64, file->device, file->inode);
	int length = snprintf(name, NAME_SIZE, "%s%s.%s" CACHE_ENTRIES, id->size ? build_id_text(id, text) : "file",
			      of_file, kind);
	return length > 0 && length < NAME_SIZE;
}

static uint64_t version(void)
{
	static const char text[] = WICK_VERSION;
	return hash_bytes(text, sizeof text);
}

static struct header make_header(const char *name, const struct file_identity *file, const void *bytes, size_t size)
{
	return (struct header){
		.magic = MAGIC,
		.version = version(),
		.size = size,
		.hash = hash_bytes(bytes, size),
		.name = hash_bytes(name, strlen(name)),
		.file = file ? *file : (struct file_identity){0},
	};
}

/* All but the hash of the bytes, which takes longer. */
static bool header_matches(const struct header *header, const char *name, const struct file_identity *file,
			   size_t file_size)
{
	static const struct file_identity none;
	return !memcmp(header->magic, MAGIC, sizeof header->magic) && header->version == version() &&
	       header->name == hash_bytes(name, strlen(name)) && header->size == file_size - sizeof *header &&
	       !memcmp(&header->file, file ? file : &none, sizeof none);
}

static void touch(int fd, const struct stat *status)
{
	if (time(NULL) - status->st_mtime > TOUCH_SECONDS)
		futimens(fd, NULL);
}

bool cache_get(struct cache *cache, const struct build_id *id, const struct file_identity *file, const char *kind,
	       struct cache_bytes *ret_bytes)
{
	char name[NAME_SIZE];
	if (!cache || !entry_name(name, id, file, kind))
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
	bool fine = header_matches(header, name, file, size) && hash_bytes(bytes, header->size) == header->hash;
	if (fine) {
		touch(fd, &status);
		*ret_bytes = (struct cache_bytes){bytes, header->size, mapped, size};
	} else {
		munmap(mapped, size);
		/* Of another version or file, or damaged: in the way of nobody but the next one. */
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
	if (strncmp(name, CACHE_TEMPORARIES, sizeof CACHE_TEMPORARIES - 1))
		return false;
	if (time(NULL) - status->st_mtime > TEMPORARY_SECONDS)
		unlinkat(cache->folder, name, 0);
	return true;
}

/* By its name and its first bytes. */
static bool is_entry(const struct cache *cache, const char *name)
{
	size_t length = strlen(name);
	char magic[sizeof MAGIC - 1];
	if (length < sizeof CACHE_ENTRIES || strcmp(name + length - (sizeof CACHE_ENTRIES - 1), CACHE_ENTRIES))
		return false;
	int fd = openat(cache->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool fine = fd >= 0 && read(fd, magic, sizeof magic) == sizeof magic && !memcmp(magic, MAGIC, sizeof magic);
	if (fd >= 0)
		close(fd);
	return fine;
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
		    is_temporary(cache, entry->d_name, &status) || !is_entry(cache, entry->d_name))
			continue;
		MEM_ROOM(files, count, capacity);
		files[count++] = (struct file){mem_strdup(entry->d_name), (uint64_t)status.st_size, status.st_mtim};
		total += (uint64_t)status.st_size;
	}
	closedir(folder);
	if (count)
		qsort(files, count, sizeof *files, compare_use);
	/* Below the limit by a quarter, so that the next entry does not make the same work again. */
	uint64_t wanted = total > cache->max ? cache->max / 4 * 3 : total;
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
	if (cache->looked && cache->written < cache->max / 16)
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

bool cache_put(struct cache *cache, const struct build_id *id, const struct file_identity *file, const char *kind,
	       const void *bytes, size_t size)
{
	char name[NAME_SIZE], temporary[64];
	if (!cache || !entry_name(name, id, file, kind) || size > cache->max / 4)
		return false;
	struct header header = make_header(name, file, bytes, size);
	pthread_mutex_lock(&cache->lock);
	unsigned number = cache->temporaries++;
	pthread_mutex_unlock(&cache->lock);
	snprintf(temporary, sizeof temporary, CACHE_TEMPORARIES "%ld-%u", (long)getpid(), number);
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
