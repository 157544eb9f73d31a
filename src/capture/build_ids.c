/* Reads build IDs of mapped files, and remembers them by file and by path. */
#include "capture/build_ids.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/index_map.h"
#include "base/mem.h"
#include "object/elf.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

struct known_file {
	dev_t device;
	ino_t inode;
	struct timespec changed; /* another file can be written in its place */
	struct build_id build_id;
};

/* What a record calls a file, and which one that was found to be. What was mapped before then needs no other look. */
struct look {
	uint32_t major, minor;
	uint64_t inode, generation;
	uint64_t time;
	uint32_t file;
};

struct build_ids {
	struct known_file *files;
	size_t count, capacity;
	struct index_map map;
	struct look *looks;
	size_t look_count, look_capacity;
	struct index_map look_map;
};

struct build_ids *build_ids_new(void)
{
	return mem_zalloc(1, sizeof(struct build_ids));
}

void build_ids_free(struct build_ids *ids)
{
	if (!ids)
		return;
	free(ids->files);
	free(ids->looks);
	index_map_release(&ids->map);
	index_map_release(&ids->look_map);
	free(ids);
}

/*
 * Where the file can be opened: by its path, when that is the same file here, else through the process's own root
 * folder, as in a container. There the device may go by another number (btrfs, overlays).
 */
static bool find_file(const struct event_mmap *mmap, char *path, size_t room, struct stat *status)
{
	snprintf(path, room, "%s", mmap->path);
	if (!stat(path, status) && status->st_ino == mmap->inode && status->st_dev == makedev(mmap->major, mmap->minor))
		return S_ISREG(status->st_mode);
	snprintf(path, room, "/proc/%d/root%s", (int)mmap->pid, mmap->path);
	if (!stat(path, status) && status->st_ino == mmap->inode)
		return S_ISREG(status->st_mode);
	/* Deleted or replaced, but still mapped. */
	snprintf(path, room, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)mmap->pid, mmap->start,
		 mmap->start + mmap->length);
	return !stat(path, status) && status->st_ino == mmap->inode && S_ISREG(status->st_mode);
}

static struct build_id read_build_id(const char *path)
{
	struct elf_file *elf;
	struct build_id id = {0};
	if (elf_open(&elf, path, NULL))
		return id;
	id = elf_build_id(elf);
	elf_close(elf);
	return id;
}

static uint32_t known_file(struct build_ids *ids, const char *path, const struct stat *status)
{
	uint64_t hash = hash_mix(status->st_ino ^ HASH_K0, status->st_dev ^ HASH_K1);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&ids->map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&ids->map, &probe)) {
		const struct known_file *file = &ids->files[i];
		if (file->inode == status->st_ino && file->device == status->st_dev &&
		    file->changed.tv_sec == status->st_mtim.tv_sec && file->changed.tv_nsec == status->st_mtim.tv_nsec)
			return i;
	}
	MEM_ROOM(ids->files, ids->count, ids->capacity);
	index_map_insert(&ids->map, hash, (uint32_t)ids->count);
	ids->files[ids->count] =
		(struct known_file){status->st_dev, status->st_ino, status->st_mtim, read_build_id(path)};
	return (uint32_t)ids->count++;
}

static uint64_t hash_of_look(const struct event_mmap *mmap)
{
	return hash_mix(mmap->inode ^ HASH_K0, hash_pair(mmap->major, mmap->minor) ^ mmap->inode_generation);
}

static struct look *find_look(const struct build_ids *ids, const struct event_mmap *mmap)
{
	struct index_probe probe;
	for (uint32_t i = index_map_first(&ids->look_map, hash_of_look(mmap), &probe); i != INDEX_NONE;
	     i = index_map_next(&ids->look_map, &probe)) {
		struct look *look = &ids->looks[i];
		if (look->inode == mmap->inode && look->generation == mmap->inode_generation &&
		    look->major == mmap->major && look->minor == mmap->minor)
			return look;
	}
	return NULL;
}

static void note_look(struct build_ids *ids, struct look *look, const struct event_mmap *mmap, uint64_t time,
		      uint32_t file)
{
	if (!look) {
		MEM_ROOM(ids->looks, ids->look_count, ids->look_capacity);
		index_map_insert(&ids->look_map, hash_of_look(mmap), (uint32_t)ids->look_count);
		look = &ids->looks[ids->look_count++];
	}
	*look = (struct look){mmap->major, mmap->minor, mmap->inode, mmap->inode_generation, time, file};
}

struct build_id build_ids_of(struct build_ids *ids, const struct event_mmap *mmap)
{
	char path[64 + FILENAME_MAX];
	struct stat status;
	if (mmap->path[0] != '/' || mmap->path[1] == '/') /* "[vdso]", "//anon" */
		return (struct build_id){0};
	struct look *look = find_look(ids, mmap);
	if (look && mmap->time && mmap->time <= look->time)
		return ids->files[look->file].build_id;
	uint64_t time = clock_now();
	if (!find_file(mmap, path, sizeof path, &status))
		return (struct build_id){0};
	uint32_t file = known_file(ids, path, &status);
	note_look(ids, look, mmap, time, file);
	return ids->files[file].build_id;
}

static int take(void *context, const struct event *event)
{
	const struct build_ids_filler *filler = context;
	if (event->type != EVENT_MMAP || event->mmap->build_id.size || event->mmap->kernel)
		return sink_take(&filler->sink, event);
	struct event_mmap filled = *event->mmap;
	filled.build_id = build_ids_of(filler->ids, event->mmap);
	return sink_mmap(&filler->sink, &filled);
}

struct event_sink build_ids_sink(struct build_ids_filler *filler, struct build_ids *ids, const struct event_sink *sink)
{
	*filler = (struct build_ids_filler){.ids = ids, .sink = *sink};
	return (struct event_sink){.context = filler, .take = take};
}
